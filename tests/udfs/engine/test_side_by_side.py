"""Many coroutines side by side: in order, few at a time, and never for long without a turn for others."""

import asyncio

import pytest

from udfs.engine.side_by_side import side_by_side


async def test_no_more_than_so_many_are_under_way_and_answers_keep_their_order():
    under_way, most = 0, 0

    async def ask(number):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return -number

    assert await side_by_side(ask, range(1_000), at_a_time=7) == [-number for number in range(1_000)]
    assert most == 7


async def test_work_that_waits_for_nothing_lets_others_go_first():
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def ask(number):
        return number

    task = asyncio.ensure_future(other())
    seconds = iter(range(10_000))
    await side_by_side(ask, range(100), at_a_time=1, timer=lambda: next(seconds))
    task.cancel()
    assert turns > 90


async def test_a_failure_is_raised():
    async def ask(number):
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        await side_by_side(ask, range(3), at_a_time=1)


async def test_nothing_to_ask_is_nothing_to_wait_for():
    assert await side_by_side(asyncio.sleep, []) == []
