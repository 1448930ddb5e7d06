"""Noticing that another version of the program was installed, and whether it can be started."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path

from dataservice.extras import installed

PACKAGES = ("addin", "udfs", "dataservice")
CODE = frozenset({".py", ".js", ".html", ".css"})

PROBE_S = 60.0
"""How long a new version may take to tell its number: right after an update its files are read for the first time."""

_log = logging.getLogger(__name__)


def code_now(root: Path | None = None) -> Hashable:
    """Return what changes with every update: the version, and the size and time of every file of code."""
    folder = Path(__file__).resolve().parents[2] if root is None else root
    found = installed()
    return (found.version if found else None, frozenset(_files(folder)))


class NewVersion:
    """Tells when the code on the disk is another one than that of this process, and can be started.

    An update writes hundreds of files: it is over when two looks in a row find the same. `starts` tries the new
    version; one that fails is reported once, and the old one goes on.
    """

    def __init__(self, look: Callable[[], Hashable], starts: Callable[[], bool]) -> None:
        self._look = look
        self._starts = starts
        self._running = self._last = look()
        self._refused: Hashable = None

    def is_here(self) -> bool:
        """Return whether there is a new version now."""
        before, self._last = self._last, self._look()
        if self._last in (self._running, self._refused) or self._last != before:
            return False
        if self._starts():
            return True
        self._refused = self._last
        _log.warning("the code on the disk has changed but cannot be started; the old version goes on")
        return False


def can_be_started() -> bool:
    """Return whether the program on the disk starts."""
    command = [sys.executable, "-P", "-m", "addin", "--version"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=PROBE_S)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    for package in PACKAGES:
        for path in (folder / package).rglob("*"):
            if path.suffix in CODE:
                try:
                    status = path.stat()
                except OSError:  # deleted by the update just now
                    continue
                yield str(path.relative_to(folder)), status.st_size, status.st_mtime_ns
