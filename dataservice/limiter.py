"""A limit on requests under way: those that wait pass in the order of priority, then of arrival."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count


class PriorityLimiter:
    """Lets at most `places` callers pass at a time; lower `priority` passes first.

    `chance` (uniform in [0, 1)) decides among equals that wait, in the place of their arrival. Those that wait pass
    when `together` places are free, so that what they do next shares one step; who goes before all of them, at once.
    """

    def __init__(self, places: int, *, chance: Callable[[], float] | None = None, together: int = 1) -> None:
        self.arrive = count().__next__
        """The number of an arrival: who comes again with it keeps the turn."""
        self._chance = chance or (lambda: 0.0)
        self._together = together
        self.under_way = 0
        """How many hold a place now."""
        self.waiting = 0
        """How many wait for one."""
        self._queue: list[tuple[int, float, int, asyncio.Future[None]]] = []
        self.resize(places)

    def resize(self, places: int) -> None:
        """Let at most so many pass from now on; callers that hold a place keep it."""
        if places < 1:
            raise ValueError(f"a limiter needs at least one place, not {places}")
        self.places = places
        self._let_pass()

    async def enter(self, priority: int = 0, arrival: int | None = None) -> None:
        """Wait for a place and take it; whoever has one leaves it again. Without an `arrival` it is a new one."""
        if self.under_way < self.places and (not self._queue or priority < self._queue[0][0]):
            self.under_way += 1
            return
        place = asyncio.get_running_loop().create_future()
        arrival = self.arrive() if arrival is None else arrival
        heapq.heappush(self._queue, (priority, self._chance(), arrival, place))
        self.waiting += 1
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self.waiting -= 1
            else:
                self.leave()  # the place was granted at the moment of the cancellation: hand it on
            raise

    def leave(self) -> None:
        """Hand the place on."""
        self.under_way -= 1
        if self._queue and self.places - self.under_way >= self._together:
            self._let_pass()

    def _let_pass(self) -> None:
        while self._queue and self.under_way < self.places:
            _, _, _, place = heapq.heappop(self._queue)
            if not place.done():
                self.under_way += 1
                self.waiting -= 1
                place.set_result(None)
