"""A test run has a temporary directory of its own, and fails where its tests leave anything in it.

Imported by the root's conftest. What pytest itself keeps there for each test goes away with the directory; to look at
it, give `--basetemp=FOLDER`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

KEPT_BY_PYTEST = "pytest-of-"
OF_A_PROCESS = "pymp-"
"""multiprocessing's, which goes with the process that made it: xdist cuts one short that is slow to end."""
LEFT = pytest.StashKey[list[str]]()
FOLDER = pytest.StashKey[Path]()
BEFORE = pytest.StashKey[set[Path]]()
SOCKETS = Path("/", "tmp")
"""LibreOffice makes its sockets there, whatever TMPDIR says. They do not tell whose they are, so they fail no run."""

SETTLING_S = 2.0
"""A LibreOffice of someone else that ends just now has removed its sockets after this time."""


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty directory, for this process and all that it starts."""
    if hasattr(config, "workerinput"):
        return
    folder = Path(tempfile.mkdtemp(prefix="ds-tests-"))
    config.stash[FOLDER], config.stash[BEFORE] = folder, _sockets()
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # the next one who asks looks at TMPDIR again


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Look at what is left, after everything else has ended."""
    yield
    folder = session.config.stash.get(FOLDER, None)
    if folder is None:
        return
    left = sorted(_left_in(folder))
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    session.config.stash[LEFT] = left + sorted(_dead_sockets(session.config.stash[BEFORE]))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Tell what was left, and remove the directory."""
    folder = config.stash.get(FOLDER, None)
    if folder is None:
        return
    for name in config.stash.get(LEFT, []):
        whose = "a LibreOffice of this run or of someone else" if name.startswith(str(SOCKETS)) else "a test"
        print(f"left in the temporary directory by {whose}: {name}")  # noqa: T201
    os.environ["TMPDIR"] = str(folder.parent)
    tempfile.tempdir = None
    shutil.rmtree(folder, ignore_errors=True)


def _left_in(folder: Path) -> Iterator[str]:
    return (each.name for each in folder.iterdir() if not each.name.startswith((KEPT_BY_PYTEST, OF_A_PROCESS)))


def _sockets() -> set[Path]:
    return set(SOCKETS.glob(f"OSL_PIPE_{os.getuid() if os.name == 'posix' else 0}_*"))


def _dead_sockets(before: set[Path]) -> Iterator[str]:
    """LibreOffice's sockets that were not there before, and on which nobody listens any more."""
    if found := _sockets() - before - _listening():
        threading.Event().wait(SETTLING_S)
    return (str(each) for each in found & _sockets() - _listening())


def _listening() -> set[Path]:
    record = Path("/proc/net/unix")
    text = record.read_text(encoding="utf-8", errors="replace") if record.exists() else ""
    return {Path(line.split()[-1]) for line in text.splitlines()}
