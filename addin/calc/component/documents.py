"""The calling document's situation: can its cells be filled in later, or do they need their values at once?"""

from __future__ import annotations

import os
import subprocess
import time
from datetime import date
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Sequence

SCREENLESS = frozenset({"headless", "convert-to", "convert-images-to", "print-to-file", "pt", "cat", "script-cat"})
"""The options of soffice that open no window; it accepts them with one dash and with two."""


class Situation(Enum):
    """The moment at which the cells of a document must have their values."""

    SHOWN = "on the screen: cells are filled in when the values arrive"
    LOADING = "being loaded without a window: when it is loaded"
    HIDDEN = "used by a program: when the call returns"


def situation_of(document: Any, *, screenless: bool) -> Situation:
    """The situation of the calling document."""
    try:
        given = {item.Name: item.Value for item in document.getArgs()}
    except Exception:  # noqa: BLE001 - the document of a macro's `FunctionAccess` has no arguments
        return Situation.HIDDEN
    if not screenless and not given.get("Hidden"):
        return Situation.SHOWN
    # A document gets its address only at the end of loading, and its controller after that.
    loading = "FilterName" in given and not document.getURL() and document.getCurrentController() is None
    return Situation.LOADING if loading else Situation.HIDDEN


class DayCounts:
    """The day counts of documents; the last one is kept for a moment, because asking takes as long as a call."""

    REMEMBERED_S = 1.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: tuple[Any, int, float] = (None, 0, 0.0)

    def days_later(self, document: Any) -> int:
        """Return how many days later than usual the document begins to count."""
        last, days, until = self._last
        now = self._clock()
        if now >= until or document != last:
            days = days_later(document)
            self._last = (document, days, now + self.REMEMBERED_S)
        return days


def days_later(document: Any) -> int:
    """Return how many days later than usual the document begins to count: 1462 where it counts from 1904."""
    try:
        begin = document.NullDate
        return (date(begin.Year, begin.Month, begin.Day) - date(1899, 12, 30)).days
    except Exception:  # noqa: BLE001 - the document of a macro's `FunctionAccess` may have no such date
        return 0


def is_screenless(command_line: Sequence[str]) -> bool:
    """Return whether soffice was started without a screen, by its command line."""
    return any(argument.startswith("-") and argument.lstrip("-") in SCREENLESS for argument in command_line)


@lru_cache(maxsize=1)
def own_command_line() -> list[str]:
    """The command line of this process, which soffice's Python does not have; empty where it cannot be read."""
    try:
        if os.name == "nt":
            return _windows_command_line().split()
        record = Path("/proc/self/cmdline")
        if record.exists():
            return record.read_text(encoding="utf-8", errors="replace").split("\0")
        listing = ["ps", "-o", "args=", "-p", str(os.getpid())]
        return subprocess.run(listing, check=True, capture_output=True, text=True, timeout=5).stdout.split()  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return []


def _windows_command_line() -> str:
    import ctypes

    read = getattr(ctypes, "windll").kernel32.GetCommandLineW  # noqa: B009 - there is none on other systems
    read.restype = ctypes.c_wchar_p
    return str(read())
