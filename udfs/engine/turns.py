"""Long work on the event loop in turns: other tasks go first every hundredth of a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

YIELD_AFTER_S = 0.01
"""Work for so long, then let other tasks go first: no one notices a hundredth of a second."""

ITEMS_A_LOOK = 4
"""Items between two looks at the clock: a look takes a tenth of the least that is done with so many items."""

LIGHT_ITEMS_A_LOOK = 64
"""The same for what takes a microsecond an item, and never more than some ten."""


async def cooperative(items: Iterable[T], *, timer: Callable[[], float] = time.perf_counter) -> AsyncIterator[T]:
    """The items one by one; every hundredth of a second all other tasks of the loop go first.

    >>> async def total(numbers):
    ...     return sum([number async for number in cooperative(numbers)])
    >>> asyncio.run(total(range(10)))
    45
    """
    ends = timer() + YIELD_AFTER_S
    for item in items:
        if timer() > ends:
            await asyncio.sleep(0)
            ends = timer() + YIELD_AFTER_S
        yield item


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
