"""A limit on requests under way: those that wait pass in the order of priority, then of arrival."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count


class PriorityLimiter:
    """Lets at most `places` callers pass at a time; lower `priority` passes first.

    `chance` (uniform in [0, 1)) decides among equals that wait, in the place of their arrival.
    """

    def __init__(self, places: int, *, chance: Callable[[], float] | None = None) -> None:
        self._arrivals = count()
        self._chance = chance or (lambda: 0.0)
        self._under_way = 0
        self._waiting: list[tuple[int, float, int, asyncio.Future[None]]] = []
        self.resize(places)

    @property
    def under_way(self) -> int:
        """Return how many hold a place now."""
        return self._under_way

    @property
    def places(self) -> int:
        """Return how many may hold one."""
        return self._places

    @property
    def waiting(self) -> int:
        """Return how many wait for one."""
        return sum(not place.done() for *_, place in self._waiting)

    def resize(self, places: int) -> None:
        """Let at most so many pass from now on; callers that hold a place keep it."""
        if places < 1:
            raise ValueError(f"a limiter needs at least one place, not {places}")
        self._places = places
        self._let_pass()

    def arrive(self) -> int:
        """The number of an arrival: who comes again with it keeps the turn."""
        return next(self._arrivals)

    def pass_through(self, priority: int, arrival: int | None = None) -> _Passage:
        """Wait for a place, hold it inside the block."""
        return _Passage(self, priority, self.arrive() if arrival is None else arrival)

    async def enter(self, priority: int, arrival: int) -> None:
        """Wait for a place and take it; whoever has one leaves it again."""
        if self._under_way < self._places:
            self._under_way += 1
        else:
            await self._wait(priority, arrival)

    def leave(self) -> None:
        """Hand the place on."""
        self._under_way -= 1
        self._let_pass()

    async def _wait(self, priority: int, arrival: int) -> None:
        place = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (priority, self._chance(), arrival, place))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()  # the place was granted at the moment of the cancellation: hand it on
            raise

    def _let_pass(self) -> None:
        while self._waiting and self._under_way < self._places:
            _, _, _, place = heapq.heappop(self._waiting)
            if not place.done():
                self._under_way += 1
                place.set_result(None)


class _Passage:
    """A place in `limiter` inside an `async with`: a generator in its stead costs more than all it does."""

    __slots__ = ("_arrival", "_limiter", "_priority")

    def __init__(self, limiter: PriorityLimiter, priority: int, arrival: int) -> None:
        self._limiter = limiter
        self._priority = priority
        self._arrival = arrival

    async def __aenter__(self) -> None:
        await self._limiter.enter(self._priority, self._arrival)

    async def __aexit__(self, *_: object) -> None:
        self._limiter.leave()
