"""A time-out that does not count the time in which this process was held up: its machine slept, or stood still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

HELD_UP_S = 1.0
"""A timer that goes off so late was held up with everything else here: what was awaited may be there all the time."""


@asynccontextmanager
async def fair_timeout(seconds: float) -> AsyncIterator[None]:
    """As `asyncio.timeout`; if its timer goes off late, the block gets as much time again as it could not use.

    After a stand-still all timers go off before anything that has arrived meanwhile is looked at.
    """
    async with asyncio.timeout(None) as limit:
        timer = _Timer(limit, seconds)
        try:
            yield
        finally:
            timer.cancel()


class _Timer:
    """Ends `limit` after `seconds`."""

    def __init__(self, limit: asyncio.Timeout, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._begin(seconds)

    def _begin(self, seconds: float) -> None:
        at = self._loop.time() + seconds
        self._handle = self._loop.call_at(at, self._due, at)

    def _due(self, at: float) -> None:
        late_s = self._loop.time() - at
        if late_s > HELD_UP_S:
            self._begin(min(late_s, self._seconds))
        else:
            self._limit.reschedule(at)

    def cancel(self) -> None:
        """Do not go off."""
        self._handle.cancel()
