"""Work that several wait for, in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Flight(Generic[T]):
    """Work under way: all who wait for it share its result or its error, and none who is cancelled cancels it.

    As `asyncio.shield`, in a third of its steps. When the work is over, `ended` is called before they go on.
    """

    def __init__(self, work: Coroutine[Any, Any, T], ended: Callable[[], object] = lambda: None) -> None:
        self.task = asyncio.get_running_loop().create_task(work)
        self.task.add_done_callback(self._landed)
        self._ended = ended
        self._landings: list[asyncio.Future[T]] = []

    def landing(self) -> asyncio.Future[T]:
        """What one of them awaits."""
        landing: asyncio.Future[T] = self.task.get_loop().create_future()
        self._landings.append(landing)
        return landing

    def _landed(self, task: asyncio.Task[T]) -> None:
        self._ended()
        error = None if task.cancelled() else task.exception()  # retrieved, also when every caller left before
        for landing in self._landings:
            if landing.done():
                continue
            if task.cancelled():
                landing.cancel()
            elif error is not None:
                landing.set_exception(error)
            else:
                landing.set_result(task.result())
