"""Many coroutines side by side, a bounded number at a time, in time slices that let other tasks go first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from udfs.engine.turns import YIELD_AFTER_S

T = TypeVar("T")
R = TypeVar("R")

AT_A_TIME = 64
"""Questions asked at the same time: enough for every connection and store. More would hold the loop for longer when
their answers arrive together, and a hundred thousand tasks would take 1 GB."""


async def side_by_side(
    ask: Callable[[T], Awaitable[R]],
    questions: Sequence[T],
    *,
    at_a_time: int = AT_A_TIME,
    timer: Callable[[], float] = time.perf_counter,
) -> list[R]:
    """What `ask` gives for each of `questions`, in their order; they are begun in this order, too.

    >>> async def doubled(number):
    ...     return 2 * number
    >>> asyncio.run(side_by_side(doubled, range(5), at_a_time=2))
    [0, 2, 4, 6, 8]
    """
    answers: dict[int, R] = {}
    waiting = iter(enumerate(questions))
    slice_ends = timer() + YIELD_AFTER_S

    async def work() -> None:
        nonlocal slice_ends
        for place, question in waiting:  # all workers take from one iterator
            answers[place] = await ask(question)
            while timer() > (ended := slice_ends):
                await asyncio.sleep(0)
                if slice_ends == ended:  # the first that comes back begins the next slice; the others share it
                    slice_ends = timer() + YIELD_AFTER_S
                    break

    await asyncio.gather(*(work() for _ in range(min(at_a_time, len(questions)))))
    return [answers[place] for place in range(len(questions))]
