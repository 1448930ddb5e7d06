"""Running `addin` as users do: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.embedded import EmbeddedService
from tests.forking import run_forked

PROGRAM = "addin.cli.main:main"


def addin(
    *arguments: str, environ: Mapping[str, str] | None = None, given: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """`addin` with arguments, run to its end."""
    return run_forked(PROGRAM, arguments, environ=os.environ if environ is None else environ, given=given, cwd=cwd)


def addin_anew(*arguments: str, environ: Mapping[str, str], given: str = "") -> subprocess.CompletedProcess[str]:
    """`addin` in an interpreter of its own, for what depends on how Python itself starts."""
    return subprocess.run(
        command(arguments), env=environ, input=given, capture_output=True, text=True, check=False, timeout=120
    )


def command(arguments: Sequence[str]) -> list[str]:
    """The command line of `addin` with arguments."""
    return [sys.executable, "-m", "addin.cli.main", *arguments]


def environment(folder: Path, service: EmbeddedService | None = None, **settings: str) -> dict[str, str]:
    """The environment of a user whose files are all in `folder`, without a keychain."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DATA_SERVICE_")}
    given = {f"DATA_SERVICE_{name.upper()}": value for name, value in settings.items()}
    if service is not None:
        given = {"DATA_SERVICE_URL": service.url, "DATA_SERVICE_API_KEY": service.key, **given}
    share_the_compiled_engine(folder / "cache")
    return {
        **kept,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "COLUMNS": "120",
        **given,
    }


def share_the_compiled_engine(cache: Path) -> None:
    """Show a user's cache where this machine keeps the compiled calculation engine: compiling takes five seconds.

    A missing one is compiled by the first who calculates, and serves all who follow.
    """
    compiled = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wasmtime"
    compiled.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        (cache / compiled.name).symlink_to(compiled, target_is_directory=True)
