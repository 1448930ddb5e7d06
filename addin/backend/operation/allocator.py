"""The memory of this process, and what the C library is told about it (glibc; elsewhere nothing)."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

ARENA_MAX, ARENAS = -8, 2
"""Threads share so few parts of memory: each keeps what it once took, and seldom gives it back."""

MMAP_THRESHOLD, LARGE_BYTES = -3, 2**20
"""What is larger gets memory of its own, which goes back at once; else glibc soon keeps tens of MB in one heap, where
bodies that grow side by side leave holes."""


class _Mallinfo(ctypes.Structure):
    """What glibc tells of its heaps: `hblkhd` and `uordblks` are the bytes in use, large ones and others."""

    _fields_ = (
        ("heaps", ctypes.c_size_t * 4),
        ("hblkhd", ctypes.c_size_t),
        ("free", ctypes.c_size_t * 2),
        ("uordblks", ctypes.c_size_t),
        ("rest", ctypes.c_size_t * 2),
    )


def used_bytes() -> int:
    """Return how much memory the C library has handed out; 0 where it does not tell."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            told = ctypes.CDLL("libc.so.6").mallinfo2
            told.restype = _Mallinfo
            found = told()
            return int(found.hblkhd + found.uordblks)
    return 0


def give_back() -> None:
    """Let the C library return what is free to the system, where it can (glibc)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def share_arenas() -> None:
    """Let all threads share a few parts of memory, and keep large bodies out of them (glibc)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            libc = ctypes.CDLL("libc.so.6")
            libc.mallopt(ARENA_MAX, ARENAS)
            libc.mallopt(MMAP_THRESHOLD, LARGE_BYTES)


def memory_bytes() -> int:
    """The memory that this process holds now; 0 where the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
