"""Calculation engines, each in a process of its own: whatever an engine does, it ends this process and nothing else.

Two serve: formulon, which is right nearly always, and formualizer, which is fast and judges. Both understand the same
few requests, see `Engine`.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from typing import IO, Any, Protocol, Self, TypeAlias

import msgspec

from addin.config.secrets import without_secrets
from addin.errors import AddinError
from dataservice.extras import this_environment

TIME_LIMIT_S = 60.0
"""How long one evaluation may take; 50,000 formulas take about a second."""

EngineCell: TypeAlias = tuple[str, int, int, str, Any]
"""Sheet, row, column, kind, content: a value (None, bool, float, str or `{"error": "#N/A"}`), or a formula's text.

The kind is one of those below, or the area that an array formula fills, such as `A1:B3`.
"""
VALUE, PLAIN, DYNAMIC = "value", "plain", "dynamic"
"""Kinds of cells: a value, a formula that shows one value, one that spills."""


class EngineFailedError(AddinError):
    """The engine gave no result: it stopped, took too long, or refused."""


class Engine(Protocol):
    """Holds the cells of a book and works out its formulas; every method raises `EngineFailedError`."""

    def load(self, sheets: Sequence[str], cells: Sequence[EngineCell]) -> list[list[Any]]:
        """Make the sheets and fill them; sheet, row, column and reason of each formula that cannot be read."""
        ...

    def set(self, cells: Sequence[EngineCell]) -> list[list[Any]]:
        """Put other values and formulas into cells; like `load`, the formulas that cannot be read."""
        ...

    def evaluate(self) -> None:
        """Work everything out."""
        ...

    def values(self, cells: Sequence[tuple[str, tuple[int, int]]]) -> list[Any]:
        """Return what cells show."""
        ...

    def extents(self, cells: Sequence[tuple[str, tuple[int, int]]]) -> list[tuple[int, int] | None]:
        """The rows and columns that the formula in each cell fills; None for a single value."""
        ...

    def arrays(self, formulas: Sequence[tuple[str, int, int, str]]) -> list[list[list[Any]] | None]:
        """The rows that formulas come to in these cells, where nothing is written; None for what cannot be read."""
        ...


class Kind(StrEnum):
    """The engines."""

    FORMULON = "formulon"
    FORMUALIZER = "formualizer"

    @property
    def module(self) -> str:
        """The module whose `main` serves requests."""
        return f"addin.workbook.calculation.engine.{self}_worker"


@cache
def is_installed(kind: Kind = Kind.FORMULON) -> bool:
    """Return whether an engine is there."""
    return importlib.util.find_spec(kind) is not None


def how_to_install() -> str:
    """Return what to run where an engine is missing."""
    return f"install the calculation engine: {this_environment().install(list(Kind))}"


class EngineProcess:
    """An engine in a child process, which is ended when it takes too long; a context manager.

    `now` is the time in seconds that TODAY and NOW show, `offset_s` the time zone's distance from UTC.
    """

    def __init__(
        self,
        kind: Kind,
        *,
        now: float,
        offset_s: float = 0.0,
        dates_from_1904: bool = False,
        time_limit_s: float = TIME_LIMIT_S,
    ) -> None:
        self._kind = kind
        self._time_limit_s = time_limit_s
        self._options = {"now": now, "offset_s": offset_s, "dates_from_1904": dates_from_1904}
        self._process: subprocess.Popen[bytes] | None = None
        self._is_sound = self._has_failed = self._is_to_evaluate = False

    @property
    def process_id(self) -> int:
        """The number of the engine's process, to look at its memory."""
        self._ask("evaluate")  # it starts with the first request
        return self._process.pid if self._process else 0

    def load(self, sheets: Sequence[str], cells: Sequence[EngineCell]) -> list[list[Any]]:
        """See `Engine`."""
        failed: list[list[Any]] = self._ask("load", sheets=sheets, cells=cells)
        return failed

    def set(self, cells: Sequence[EngineCell]) -> list[list[Any]]:
        """See `Engine`."""
        failed: list[list[Any]] = self._ask("set", cells=cells)
        return failed

    def evaluate(self) -> None:
        """See `Engine`; it is done with the next request, which spares one."""
        self._is_to_evaluate = True

    def values(self, cells: Sequence[tuple[str, tuple[int, int]]]) -> list[Any]:
        """See `Engine`."""
        found: list[Any] = self._ask("values", cells=cells)
        return found

    def results(self) -> list[Any]:
        """Return what the cells show whose formulas were loaded last, in their order."""
        found: list[Any] = self._ask("results")
        return found

    def extents(self, cells: Sequence[tuple[str, tuple[int, int]]]) -> list[tuple[int, int] | None]:
        """The rows and columns that the formula in each cell fills; None for a single value."""
        found: list[tuple[int, int] | None] = self._ask("extents", cells=cells)
        return found

    def arrays(self, formulas: Sequence[tuple[str, int, int, str]]) -> list[list[list[Any]] | None]:
        """The rows that formulas come to in these cells, where nothing is written; None for what cannot be read."""
        found: list[list[list[Any]] | None] = self._ask("arrays", formulas=formulas)
        return found

    def intersecting(self, cells: Sequence[tuple[str, tuple[int, int]]]) -> list[bool]:
        """Return whether the formula in each cell takes one cell of a range, or one value of several."""
        found: list[bool] = self._ask("intersecting", cells=cells)
        return found

    def _ask(self, method: str, **arguments: Any) -> Any:
        """The answer to a request; the process is started with the first one, because most books need one engine."""
        if self._process is None:
            if not is_installed(self._kind):
                raise EngineFailedError(f"the calculation engine {self._kind} is not installed")
            self._process = _IDLE.pop(self._kind, None) or _started(self._kind)
            self._sent(self._process, "open", time_limit_s=self._time_limit_s, **self._options)
        return self._sent(self._process, method, **arguments)

    def _sent(self, process: subprocess.Popen[bytes], method: str, **arguments: Any) -> Any:
        self._is_sound = False
        content = msgspec.msgpack.encode([method, arguments, self._is_to_evaluate])
        self._is_to_evaluate = False
        too_long = threading.Event()

        def stop() -> None:
            too_long.set()
            process.kill()

        watch = threading.Timer(self._time_limit_s, stop)
        watch.daemon = True
        watch.start()
        try:
            _pipe(process.stdin).write(struct.pack(">I", len(content)) + content)
            _pipe(process.stdin).flush()
            length = int(struct.unpack(">I", _read(process, 4))[0])
            answer = msgspec.msgpack.decode(_read(process, length), strict=False)
        except (OSError, EOFError, ValueError, msgspec.MsgspecError):
            if too_long.is_set():
                raise EngineFailedError(f"the calculation took longer than {self._time_limit_s:g} s") from None
            raise EngineFailedError("the calculation engine stopped (out of memory, or a fault in it)") from None
        finally:
            watch.cancel()
        if "failed" in answer:
            self._has_failed = True  # whatever it says later, no other book gets this process
            raise EngineFailedError(f"the calculation engine failed ({answer['failed']})")
        self._is_sound = not self._has_failed
        return answer["result"]

    def close(self) -> None:
        """Give the process back for the next book, or end it where it failed."""
        if self._process is None:
            return
        if self._is_sound and self._kind not in _IDLE:
            _IDLE[self._kind] = self._process
        else:
            _end(self._process)
        self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_START = """
import importlib, sys
importlib.import_module(sys.argv[1]).main()
"""

_IDLE: dict[Kind, subprocess.Popen[bytes]] = {}
"""A process of each engine that waits for the next book: starting one takes longer than working out most books."""


def _started(kind: Kind) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this Python, and a program of ours
        [sys.executable, "-c", _START, kind.module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=without_secrets(os.environ),
        # Ctrl-C is for us, the child ends with us; one in a session of its own gets none, and ends with its children.
        start_new_session=sys.platform != "win32" and os.getsid(0) != os.getpid(),
    )


def _read(process: subprocess.Popen[bytes], size: int) -> bytes:
    content = _pipe(process.stdout).read(size)
    if len(content) < size:
        raise EOFError
    return content


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError, EOFError):  # something was still to be sent to it
            _pipe(pipe).close()


@atexit.register
def _end_idle() -> None:
    while _IDLE:
        _end(_IDLE.popitem()[1])


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe
