"""Long work in an event loop, cut into turns, so that nothing else has to wait for all of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

__all__ = ["in_turns"]

T = TypeVar("T")

TURN_S = 0.01
"""Work for so long, then let others go first: no one notices a hundredth of a second."""


async def in_turns(items: Iterable[T], *, timer: Callable[[], float] = time.perf_counter) -> AsyncIterator[T]:
    """The items one by one; whenever a turn is over, all other tasks of the loop go first.

    >>> async def total(numbers):
    ...     return sum([number async for number in in_turns(numbers)])
    >>> asyncio.run(total(range(10)))
    45
    """
    ends = timer() + TURN_S
    for item in items:
        if timer() > ends:
            await asyncio.sleep(0)
            ends = timer() + TURN_S
        yield item
