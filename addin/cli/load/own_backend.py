"""A backend to load when none is named: a process of its own before the embedded service, all made up."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from addin.config.settings import PREFIX
from addin.errors import AddinError
from dataservice.server import Store, import_directory, running, write_sample

STOP_S = 30.0


@dataclass(frozen=True, slots=True)
class OwnBackend:
    """Its address, a key for each user, its first process, and what the service before which it stands has stored."""

    url: str
    keys: tuple[str, ...] = field(repr=False)
    pid: int
    store: Store


@contextmanager
def own_backend(users: int, workers: int) -> Iterator[OwnBackend]:
    """A backend with so many users and workers inside the block, in a folder that is removed at its end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="addin-loadtest-")))
        write_sample(folder / "data")
        store = stack.enter_context(Store(folder / "service.db"))
        import_directory(store, folder / "data")
        service = stack.enter_context(running(store))
        keys = tuple(store.create_key("pro", label=f"user {number}") for number in range(users))
        environ = _environ(folder, service.url, users)
        process = stack.enter_context(_started(environ, workers))
        yield OwnBackend(_address(process), keys, process.pid, store)


@contextmanager
def _started(environ: Mapping[str, str], workers: int) -> Iterator[subprocess.Popen[str]]:
    """`addin serve` in a process of its own, which tells its address."""
    command = [sys.executable, "-m", "addin.cli.main", "serve", "--http", "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.communicate(timeout=STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    for line in process.stdout or ():
        for word in line.split():
            if word.startswith("http://"):
                return word
    raise AddinError("the backend to load did not start; its reason is above")


def _environ(folder: Path, service_url: str, users: int) -> dict[str, str]:
    """The environment without any setting of the user's, which would load something else than what is told."""
    (folder / "config.toml").touch()
    given = {
        "CONFIG": str(folder / "config.toml"),
        "URL": service_url,
        "CACHE_DIR": str(folder / "cache"),
        "PER_USER_KEYS": "true",
        "MAX_USERS": str(users),
        "MAX_NEW_KEYS": str(2 * users),
        "MAX_CONNECTIONS": str(4 * users + 100),
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return kept | {f"{PREFIX}{name}": value for name, value in given.items()}
