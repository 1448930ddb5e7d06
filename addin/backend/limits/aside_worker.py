"""The process apart: takes a piece of work from standard input, does it, and writes what it makes of it."""

from __future__ import annotations

import faulthandler
import gc
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from addin.backend.operation.allocator import give_back
from addin.errors import AddinError

Work: TypeAlias = Callable[[bytes, str], bytes]
"""A function of a module, which makes bytes of a body, with options."""

HEAD = struct.Struct(">BQ")
"""Before each text: a status, and how many bytes follow."""


READY = b"!"
"""Written once the work is loaded: its time begins."""


class Status(IntEnum):
    """The end of a piece of work."""

    DONE = 0
    REFUSED = 1
    UNREADABLE = 2
    FAILED = 3


NICENESS = 5
"""The backend's loop goes first."""

LARGE_BYTES = 2**17
"""With that much to read and write the work takes so long that to give memory back afterwards is not noticed."""

OUT_OF_MEMORY = 75
"""The exit status of a process that wanted more memory than it may hold: what it held goes back with it."""

ENDS_ITSELF_S = 60
"""Should nobody watch it any more, it ends after so long."""


def main() -> None:
    """Work until nobody sends anything more."""
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    source = sys.stdin.buffer
    while (module := _next(source)) is not None:
        work = getattr(import_module(module.decode()), (_next(source) or b"").decode())
        out.write(READY)
        out.flush()
        try:
            bound_memory(int(_next(source) or 0))
            options, body = _next(source) or b"", _next(source) or b""
            faulthandler.dump_traceback_later(ENDS_ITSELF_S, exit=True)
            status, content = _done(work, body, options.decode())
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        is_large = len(body) + len(content) > LARGE_BYTES
        del body
        if is_large:  # before the answer: then it is seen what the process holds on to
            gc.collect()
            give_back()
        faulthandler.cancel_dump_traceback_later()
        out.write(HEAD.pack(status, len(content)))
        out.write(content)
        out.flush()


def bound_memory(most: int) -> None:
    """Let the system refuse this process more than so many bytes in use, where it can.

    Who looks from outside looks twenty times a second: between two looks a body is decoded more than once.
    """
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        _, resident, shared, _, _, data, _ = Path("/proc/self/statm").read_text(encoding="ascii").split()
        room = max(0, most - (int(resident) - int(shared)) * resource.getpagesize())
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (int(data) * resource.getpagesize() + room, hard))


def _done(work: Work, body: bytes, options: str) -> tuple[int, bytes]:
    try:
        return Status.DONE, work(body, options)
    except MemoryError:
        raise
    except AddinError as error:
        return Status.REFUSED, str(error).encode(errors="replace")
    except msgspec.MsgspecError:
        return Status.UNREADABLE, b""
    except BaseException as error:  # noqa: BLE001 - whatever it is, the caller is told, and the next one is served
        return Status.FAILED, type(error).__name__.encode()


def _next(source: IO[bytes]) -> bytes | None:
    head = source.read(HEAD.size)
    return source.read(HEAD.unpack(head)[1]) if len(head) == HEAD.size else None
