"""Long work on the event loop in turns: other tasks go first every hundredth of a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")

YIELD_AFTER_S = 0.01
"""Work for so long, then let other tasks go first: no one notices a hundredth of a second."""

ITEMS_A_LOOK = 4
"""Items between two looks at the clock: a look takes a tenth of the least that is done with so many items."""

LIGHT_ITEMS_A_LOOK = 64
"""The same for what takes a microsecond an item, and never more than some ten."""


class Turns(Protocol):
    """Who goes on next, where many callers share a loop."""

    def is_free(self) -> bool:
        """Return whether nobody waits for a turn."""

    def count(self, seconds: float) -> None:
        """Note for how long the caller's work held the loop."""

    async def next(self) -> None:
        """Wait for the next turn."""


TURNS: ContextVar[Turns | None] = ContextVar("TURNS", default=None)
"""The turns of the caller for whom a task works; tasks that it begins inherit them. None where all share alike."""


async def next_turn() -> None:
    """Let other tasks go first."""
    turns = TURNS.get()
    await (asyncio.sleep(0) if turns is None else turns.next())


async def cooperative(items: Iterable[T], *, timer: Callable[[], float] = time.perf_counter) -> AsyncIterator[T]:
    """The items one by one; every hundredth of a second all other tasks of the loop go first.

    >>> async def total(numbers):
    ...     return sum([number async for number in cooperative(numbers)])
    >>> asyncio.run(total(range(10)))
    45
    """
    turns = TURNS.get()
    if turns is not None and not turns.is_free():
        await turns.next()
    began = timer()
    for item in items:
        if timer() - began > YIELD_AFTER_S:
            if turns is not None:
                turns.count(timer() - began)
            await next_turn()
            began = timer()
        yield item
    if turns is not None:
        turns.count(timer() - began)


async def in_turns(
    items: Sequence[T], size: int = ITEMS_A_LOOK, *, timer: Callable[[], float] = time.perf_counter
) -> AsyncIterator[Sequence[T]]:
    """The items, `size` together, for work that takes a few microseconds an item; other tasks go first as above.

    >>> async def parts(numbers):
    ...     return [list(part) async for part in in_turns(numbers, 4)]
    >>> asyncio.run(parts(range(10)))
    [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    """
    async for start in cooperative(range(0, len(items), size), timer=timer):
        yield items[start : start + size]
