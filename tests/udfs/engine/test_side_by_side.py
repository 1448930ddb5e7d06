"""Many coroutines side by side: in order, few at a time, and never for long without a turn for others."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.unknown_names import MOST_TRIED_AT_ONCE, TRUST
from tests.turns import counted_turns
from udfs.engine.scheduler import ramp_up, side_by_side


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
    async def ask(number):
        return number

    seconds = iter(range(10_000))
    async with counted_turns() as turns:
        await side_by_side(ask, range(100), at_a_time=1, timer=lambda: next(seconds))
    assert turns.count > 90


async def test_a_failure_is_raised():
    async def ask(number):
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        await side_by_side(ask, range(3), at_a_time=1)


async def test_nothing_to_ask_is_nothing_to_wait_for():
    assert await side_by_side(asyncio.sleep, []) == []


@given(st.lists(st.sampled_from([True, True, True, False, None]), max_size=300), st.integers(0, 200), st.randoms())
def test_few_names_are_asked_for_in_vain_and_none_after_one_that_does_not_exist(exist, known, random):
    asked, replied = [], []

    async def ask(place):
        in_doubt = len(asked) - sum(exist[each] is True for each in replied)
        confirmed = known + len(asked) - in_doubt
        assert in_doubt < min(confirmed + 1, max(MOST_TRIED_AT_ONCE, confirmed // TRUST))
        assert False not in [exist[each] for each in replied]
        asked.append(place)
        for _ in range(random.randrange(5)):
            await asyncio.sleep(0)
        replied.append(place)
        return exist[place]

    found = asyncio.run(ramp_up(ask, range(len(exist)), known=known))
    assert asked == list(range(len(asked)))
    assert found == known + sum(exist[place] is True for place in asked)
    assert len(asked) == len(exist) or {False, None} & {exist[place] for place in asked}


async def test_an_error_while_a_name_is_tried_is_raised():
    async def ask(name):
        raise ValueError(name)

    with pytest.raises(ExceptionGroup) as raised:
        await ramp_up(ask, ["a", "b"])
    assert raised.group_contains(ValueError, match="a")
