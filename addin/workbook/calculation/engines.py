"""Both engines, each started when it is first asked."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from typing import Any, Self

from addin.workbook.calculation.engine.process import TIME_LIMIT_S, EngineProcess, Kind, is_installed


class Engines:
    """The engines of one calculation; a context manager that gives their processes back.

    `now` is the time in seconds that TODAY and NOW show, `offset_s` the time zone's distance from UTC.
    """

    def __init__(
        self,
        *,
        now: float,
        offset_s: float = 0.0,
        dates_from_1904: bool = False,
        time_limit_s: float = TIME_LIMIT_S,
    ) -> None:
        self._options: dict[str, Any] = {
            "now": now,
            "offset_s": offset_s,
            "dates_from_1904": dates_from_1904,
            "time_limit_s": time_limit_s,
        }
        self._open = ExitStack()

    @cached_property
    def formulon(self) -> EngineProcess:
        """The engine whose results are Excel's nearly always."""
        return self._started(Kind.FORMULON)

    @cached_property
    def formualizer(self) -> EngineProcess | None:
        """The engine that is fast, and judges; None where it is not installed."""
        return self._started(Kind.FORMUALIZER) if is_installed(Kind.FORMUALIZER) else None

    def _started(self, kind: Kind) -> EngineProcess:
        return self._open.enter_context(EngineProcess(kind, **self._options))

    def close(self) -> None:
        """Give the processes back."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
