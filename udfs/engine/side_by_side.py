"""Many coroutines side by side, a bounded number at a time, in time slices that let other tasks go first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from udfs.engine.turns import YIELD_AFTER_S, next_turn

T = TypeVar("T")
R = TypeVar("R")

MOST_TRIED_AT_ONCE = 16
"""Names tried together until many of them exist: as many as the client sends at a time."""

TRUST = 4
"""After many names that exist, one fourth as many are tried together: no more are asked for in vain."""

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
                await next_turn()
                if slice_ends == ended:  # the first that comes back begins the next slice; the others share it
                    slice_ends = timer() + YIELD_AFTER_S
                    break

    await asyncio.gather(*(work() for _ in range(min(at_a_time, len(questions)))))
    return [answers[place] for place in range(len(questions))]


async def few_first(
    ask: Callable[[T], Awaitable[bool | None]], names: Sequence[T], *, known: int = 0, not_known: int = 0
) -> int:
    """Ask for names that may not exist: the more of them do, the more at a time; how many are known to exist then.

    `ask` tells whether a name exists, None where that is not known yet. After the first that does not exist, and when
    too many are open, no more are asked for. `known` are those that exist already, `not_known` those that are open.
    """
    under_way = 0
    is_doubtful = False
    ended = asyncio.Event()

    async def one(name: T) -> None:
        nonlocal known, not_known, under_way, is_doubtful
        exists = None if is_doubtful else await ask(name)
        known, not_known = known + (exists is True), not_known + (exists is None)
        is_doubtful = is_doubtful or exists is False
        under_way -= 1
        ended.set()

    async with asyncio.TaskGroup() as tasks:
        for name in names:
            while under_way and under_way + not_known >= _tried_at_once(known):
                ended.clear()
                await ended.wait()
            if is_doubtful or under_way + not_known >= _tried_at_once(known):
                break
            under_way += 1
            tasks.create_task(one(name))
    return known


def _tried_at_once(known: int) -> int:
    """How many names may be asked for in vain after so many that exist: 1, 2, 3 … 16, and later a fourth of them."""
    return min(known + 1, max(MOST_TRIED_AT_ONCE, known // TRUST), AT_A_TIME)
