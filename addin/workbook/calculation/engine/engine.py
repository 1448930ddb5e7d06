"""What a calculation needs of an engine, and the engine that is used: formualizer, in a process of its own.

The interface is narrow, so that another engine can take its place: load cells, set some, evaluate, read values.
"""

from __future__ import annotations

import atexit
import importlib.util
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Protocol, Self, TypeAlias

import msgspec

from addin.errors import AddinError
from dataservice.extras import install_command

TIME_LIMIT_S = 60.0
"""How long one evaluation may take; 50,000 formulas take about a second."""

MEMORY_LIMIT_BYTES = 4 * 1024**3
"""Address space of the engine's process, where the system can limit it."""

EngineCell: TypeAlias = tuple[str, int, int, bool, Any]
"""Sheet, row, column, whether the content is a formula, content: None, bool, float, str or `{"error": "#N/A"}`."""


class EngineFailedError(AddinError):
    """The engine gave no result: it stopped, took too long, or refused."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation came to, beside values.

    Calls of ours have a key, their JSON. `asked` are those without an answer; `used` the calls by the number of the
    formula that made them; `chosen` the outcomes of each formula's conditions; `doubts` why programs may differ about a
    formula's value.
    """

    asked: Mapping[str, list[Any]]
    used: Mapping[int, list[str]]
    chosen: Mapping[int, Mapping[int, list[str]]]
    doubts: Mapping[int, str]


class Engine(Protocol):
    """Holds the cells of a book and works out its formulas; every method raises `EngineFailedError`."""

    def load(self, sheets: Sequence[str], cells: Sequence[EngineCell]) -> list[list[Any]]:
        """Make the sheets and fill them; sheet, row, column and reason of each formula that cannot be read."""
        ...

    def set(self, cells: Sequence[EngineCell]) -> list[list[Any]]:
        """Put other values and formulas into cells; like `load`, the formulas that cannot be read."""
        ...

    def evaluate(self, answers: Mapping[str, Any]) -> Evaluated:
        """Work everything out, with these further answers to calls of ours by their key."""
        ...

    def values(self, cells: Sequence[tuple[str, tuple[int, int]]]) -> list[Any]:
        """What cells show."""
        ...

    def extents(self, cells: Sequence[tuple[str, str]]) -> list[str | None]:
        """The area that the array formula in each cell fills; None for a single value."""
        ...


def is_installed() -> bool:
    """Whether the engine is there."""
    return importlib.util.find_spec("formualizer") is not None


def how_to_install() -> str:
    """What to run where the engine is missing."""
    return f"install the calculation engine: {install_command('calc')}"


class FormualizerEngine:
    """Formualizer in a child process, which is ended when it takes too long; a context manager.

    `now` is the time in seconds that TODAY and NOW show, `offset_s` the time zone's distance from UTC.
    """

    def __init__(
        self, *, now: float, offset_s: float = 0.0, dates_from_1904: bool = False, time_limit_s: float = TIME_LIMIT_S
    ) -> None:
        self._time_limit_s = time_limit_s
        self._process = _IDLE.pop() if _IDLE else _started()
        self._is_sound = self._has_failed = False
        options = {"now": now, "offset_s": offset_s, "dates_from_1904": dates_from_1904}
        self._ask("open", time_limit_s=time_limit_s, **options)

    @property
    def process_id(self) -> int:
        """The number of the engine's process, to look at its memory."""
        return self._process.pid

    def load(self, sheets: Sequence[str], cells: Sequence[EngineCell]) -> list[list[Any]]:
        """See `Engine`."""
        failed: list[list[Any]] = self._ask("load", sheets=sheets, cells=cells)
        return failed

    def set(self, cells: Sequence[EngineCell]) -> list[list[Any]]:
        """See `Engine`."""
        failed: list[list[Any]] = self._ask("set", cells=cells)
        return failed

    def evaluate(self, answers: Mapping[str, Any]) -> Evaluated:
        """See `Engine`."""
        return Evaluated(**self._ask("evaluate", answers=answers))

    def values(self, cells: Sequence[tuple[str, tuple[int, int]]]) -> list[Any]:
        """See `Engine`."""
        found: list[Any] = self._ask("values", cells=cells)
        return found

    def extents(self, cells: Sequence[tuple[str, str]]) -> list[str | None]:
        """See `Engine`."""
        found: list[str | None] = self._ask("extents", cells=cells)
        return found

    def _ask(self, method: str, **arguments: Any) -> Any:
        self._is_sound = False
        content = msgspec.msgpack.encode([method, arguments])
        too_long = threading.Event()

        def stop() -> None:
            too_long.set()
            self._process.kill()

        watch = threading.Timer(self._time_limit_s, stop)
        watch.daemon = True
        watch.start()
        try:
            _pipe(self._process.stdin).write(struct.pack(">I", len(content)) + content)
            _pipe(self._process.stdin).flush()
            answer = msgspec.msgpack.decode(self._read(self._read_length()), strict=False)
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

    def _read_length(self) -> int:
        return int(struct.unpack(">I", self._read(4))[0])

    def _read(self, size: int) -> bytes:
        content = _pipe(self._process.stdout).read(size)
        if len(content) < size:
            raise EOFError
        return content

    def close(self) -> None:
        """Give the process back for the next book, or end it where it failed."""
        if self._is_sound and len(_IDLE) < MAX_IDLE:
            _IDLE.append(self._process)
        else:
            _end(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_START = f"""
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_LIMIT_BYTES}, {MEMORY_LIMIT_BYTES}))
except (ImportError, OSError, ValueError):
    pass
from addin.workbook.calculation.engine.worker import main
main()
"""


MAX_IDLE = 1
"""How many processes wait for the next book: starting one takes longer than working out most books."""

_IDLE: list[subprocess.Popen[bytes]] = []


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this Python, and a program of ours
        [sys.executable, "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=sys.platform != "win32",  # Ctrl-C is for us; the child ends with us
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError, EOFError):  # something was still to be sent to it
            _pipe(pipe).close()


@atexit.register
def _end_idle() -> None:
    while _IDLE:
        _end(_IDLE.pop())


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe
