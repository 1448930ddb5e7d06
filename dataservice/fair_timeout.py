"""A time-out that does not count the time in which this process was held up: its machine slept, or stood still."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from weakref import WeakKeyDictionary

HELD_UP_S = 1.0
"""A timer that goes off so late was held up with everything else here: what was awaited may be there all the time."""


class FairTimeout:
    """As `asyncio.timeout`; if its timer goes off late, the block gets as much time again as it could not use.

    `left_s` may then give it more. A request has two, and each use of a store one, and hardly any ever ends a block:
    so all of an event loop share one timer. After a stand-still all go off before anything that has arrived meanwhile
    is looked at.
    """

    __slots__ = ("_cancelled_before", "_is_due", "_left_s", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float, *, left_s: Callable[[], float] | None = None) -> None:
        self._left_s = left_s
        self._seconds = seconds
        self._is_due = False

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("a timeout is used inside a task")
        self._task, self._cancelled_before = task, task.cancelling()
        if (timer := _timers.get(loop)) is None:
            timer = _timers[loop] = _Timer()
        self._timer = timer
        timer.watched[self] = at = loop.time() + self._seconds
        if at < timer.set_to:
            timer.set(at, loop)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_due:
            del self._timer.watched[self]
        elif self._task.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def go_off(self, at: float, now: float) -> float | None:
        """End the block, which had time until `at`, or return until when it has."""
        late_s = now - at
        left_s = min(late_s, self._seconds) if late_s > HELD_UP_S else self._left_s() if self._left_s else 0.0
        if left_s > 0:
            return now + left_s
        self._is_due = True
        self._task.cancel()
        return None


class _Timer:
    """The time-outs of an event loop, by when they go off, and one timer for the first of them."""

    def __init__(self) -> None:
        self.watched: dict[FairTimeout, float] = {}
        self.set_to = float("inf")

    def set(self, at: float, loop: asyncio.AbstractEventLoop) -> None:
        """Go off at the time `at`, the first of all."""
        self.set_to = at
        loop.call_at(at, self._go_off, at, loop)

    def _go_off(self, set_to: float, loop: asyncio.AbstractEventLoop) -> None:
        if set_to != self.set_to:
            return  # an earlier one was set since
        now = loop.time()
        for timeout, at in [(each, at) for each, at in self.watched.items() if at <= now]:
            again_at = timeout.go_off(at, now)
            if again_at is None:
                del self.watched[timeout]
            else:
                self.watched[timeout] = again_at
        self.set_to = float("inf")
        if self.watched:
            self.set(min(self.watched.values()), loop)


_timers: WeakKeyDictionary[asyncio.AbstractEventLoop, _Timer] = WeakKeyDictionary()
