"""Programs in processes of their own that call the functions, as scripts and notebooks do."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.embedded import EmbeddedService
from tests.forking import run_code

STRICT = ("-W", "error")
"""Whatever is left open says so on stderr at the end."""


@dataclass(frozen=True)
class User:
    """A user with an empty home folder, and the service and key in the environment."""

    service: EmbeddedService
    home: Path

    def environment(self, **more: str) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("DATA_SERVICE_")}
        return {
            **own,
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "DATA_SERVICE_URL": self.service.url,
            "DATA_SERVICE_API_KEY": self.service.key,
            **more,
        }

    def runs(self, program: str, **environment: str) -> str:
        """Run `program` in a new interpreter to its end, which must be a clean one; return what it prints."""
        done = subprocess.run(
            [sys.executable, *STRICT, "-c", program],
            env=self.environment(**environment),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return _printed(done)

    def runs_forked(self, program: str, **environment: str) -> str:
        """Run it in a process forked from one that has imported everything; return what it prints."""
        return _printed(run_code(program, environ=self.environment(**environment), cwd=self.home))


def _printed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout
