"""What the C library is told about memory (glibc; elsewhere nothing)."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

ARENA_MAX, ARENAS = -8, 2
"""Threads share so few parts of memory: each keeps what it once took, and seldom gives it back."""


def give_back() -> None:
    """Let the C library return what is free to the system, where it can (glibc)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def share_arenas() -> None:
    """Let all threads share a few parts of memory, where the C library has several (glibc)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").mallopt(ARENA_MAX, ARENAS)
