"""One flight per key: callers who ask at the same time share one piece of work, and its result or its error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class SingleFlight:
    """The work under way; a caller who is cancelled does not take the flight away from the others."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}

    async def join(self, key: Hashable, start: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """The result of the flight with `key`, started if there is none; and whether this caller started it."""
        task = self._under_way.get(key)
        started = task is None
        if task is None:
            task = asyncio.ensure_future(start())
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(task), started

    async def cancel(self) -> None:
        """End every flight; their callers get `asyncio.CancelledError`."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _landed(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if self._under_way.get(key) is task:
            del self._under_way[key]
        if not task.cancelled():
            task.exception()  # seen, also when every caller left before
