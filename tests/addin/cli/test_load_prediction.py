"""What few users foretell of many is what a queue would do: one worker after another is simulated, apart from here."""

import asyncio
from random import Random
from statistics import quantiles

import pytest

from addin.backend.limits.accounts import MemoryBudget
from addin.backend.limits.processor import Processor
from addin.cli.load.prediction import waits
from addin.cli.load.users import arrivals
from udfs.engine.scheduler import yielding


def worked(needs_s, arrivals_s, step_s=0.001):
    """A worker that gives everybody who is there an equal part of each thousandth of a second."""
    coming, there, found, now = sorted(zip(arrivals_s, needs_s, strict=True)), [], [], 0.0
    while coming or there:
        while coming and coming[0][0] <= now:
            there.append(list(coming.pop(0)))
        for each in there:
            each[1] -= step_s / len(there)
        now += step_s
        found += [now - at for at, left in there if left <= 0]
        there = [each for each in there if each[1] > 0]
    return found


class Clock:
    """Time that goes on only when somebody works."""

    now = 0.0

    def __call__(self):
        return self.now


async def worked_in_turns(needs_s, piece_s=0.002):
    """When a backend's own turns end the work of everybody, who come at once."""
    clock = Clock()
    budget, found = MemoryBudget(2**30, Processor(timer=clock)), []

    async def user(number, need_s):
        with budget.account("office") as account:
            account.pay_as(f"user {number}", is_only=False)
            async for _ in yielding(range(round(need_s / piece_s)), timer=clock):
                clock.now += piece_s
            found.append(clock.now)

    await asyncio.gather(*(user(*each) for each in enumerate(needs_s)))
    return found


@pytest.mark.parametrize(("least_s", "most_s"), [(0.024, 0.024), (0.02, 0.04), (0.1, 0.3)])
async def test_few_foretell_how_long_many_wait_for_the_turns_of_a_backend(least_s, most_s):
    chance = Random(7)
    needs_s = [chance.uniform(least_s, most_s) for _ in range(120)]
    told = waits(least_s, await worked_in_turns(needs_s[:40]), [0.0] * 120, chance=Random(1))
    was = await worked_in_turns(needs_s)
    for percent in (50, 95, 99):
        foretold_s, real_s = (quantiles(each, n=100)[percent - 1] for each in (told, was))
        assert foretold_s == pytest.approx(real_s, rel=0.3)


@pytest.mark.parametrize("within_s", [0.0, 30.0, 60.0])
def test_who_came_at_once_foretell_how_long_many_wait_at_the_same_worker(within_s):
    chance = Random(7)
    needs_s = [chance.uniform(0.05, 0.15) for _ in range(200)]
    few_s = worked(needs_s[:40], [0.0] * 40)
    come_s = arrivals(200, within_s)
    told, was = waits(0.05, few_s, come_s, chance=Random(1)), worked(needs_s, come_s)
    for foretold_s, real_s in zip(quantiles(told, n=20), quantiles(was, n=20), strict=True):
        assert foretold_s == pytest.approx(real_s, rel=0.3, abs=0.25)


def test_the_few_foretell_themselves():
    few_s = [0.4, 0.9, 1.0, 2.5]
    assert sorted(waits(0.1, few_s, [0.0] * 4, chance=Random(1))) == pytest.approx(few_s)


def test_several_workers_share_the_users_and_somebody_alone_has_one_of_them():
    few_s = worked([0.1] * 40, [0.0] * 40)
    at_once = waits(0.1, few_s, [0.0] * 400, workers=4, chance=Random(1))
    assert max(at_once) == pytest.approx(40.0, rel=0.2), "as with one that is as fast as all of them"
    apart = waits(0.1, few_s, [10.0 * number for number in range(10)], workers=4, chance=Random(1))
    assert apart == pytest.approx([0.4] * 10, rel=0.01)
