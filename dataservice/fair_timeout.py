"""A time-out that does not count the time in which this process was held up: its machine slept, or stood still."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType

HELD_UP_S = 1.0
"""A timer that goes off so late was held up with everything else here: what was awaited may be there all the time."""


class FairTimeout:
    """As `asyncio.timeout`; if its timer goes off late, the block gets as much time again as it could not use.

    `left_s` may then give it more. A request has two, and each use of a store one: so it keeps no books of its own.
    After a stand-still all timers go off before anything that has arrived meanwhile is looked at.
    """

    def __init__(self, seconds: float, *, left_s: Callable[[], float] = lambda: 0.0) -> None:
        self._left_s = left_s
        self._seconds = seconds
        self._is_due = False

    async def __aenter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a timeout is used inside a task")
        self._task, self._cancelled_before = task, task.cancelling()
        self._begin(self._seconds)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.cancel()
        if self._is_due and self._task.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _begin(self, seconds: float) -> None:
        at = self._loop.time() + seconds
        self._handle = self._loop.call_at(at, self._due, at)

    def _due(self, at: float) -> None:
        late_s = self._loop.time() - at
        if late_s > HELD_UP_S:
            self._begin(min(late_s, self._seconds))
        elif (left_s := self._left_s()) > 0:
            self._begin(left_s)
        else:
            self._is_due = True
            self._task.cancel()
