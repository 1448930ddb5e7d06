"""Who may pass, and who goes first."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from dataservice.limiter import PriorityLimiter


@asynccontextmanager
async def passing(gate: PriorityLimiter, priority: int):
    """Hold a place."""
    await gate.enter(priority, gate.arrive())
    try:
        yield
    finally:
        gate.leave()


async def turns() -> None:
    """Let every task that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def pass_and_wait(gate: PriorityLimiter, priority: int, name: str, seen: list[str], go_on: asyncio.Event) -> None:
    async with passing(gate, priority):
        seen.append(name)
        await go_on.wait()


async def test_no_more_pass_than_there_are_places():
    gate, seen, go_on = PriorityLimiter(2), [], asyncio.Event()
    tasks = [asyncio.create_task(pass_and_wait(gate, 0, name, seen, go_on)) for name in "abc"]
    await turns()
    assert (seen, gate.under_way) == (["a", "b"], 2)
    go_on.set()
    await asyncio.gather(*tasks)
    assert (seen, gate.under_way) == (["a", "b", "c"], 0)


async def test_lower_priorities_pass_first_and_equal_ones_in_the_order_of_arrival():
    gate, seen, go_on = PriorityLimiter(1), [], asyncio.Event()
    asked = [(0, "first"), (3, "wire"), (1, "history"), (0, "value"), (1, "history 2")]
    tasks = [asyncio.create_task(pass_and_wait(gate, priority, name, seen, go_on)) for priority, name in asked]
    await turns()
    go_on.set()
    await asyncio.gather(*tasks)
    assert seen == ["first", "value", "history", "history 2", "wire"]


async def test_who_stops_waiting_takes_no_place():
    gate, seen, go_on = PriorityLimiter(1), [], asyncio.Event()
    first = asyncio.create_task(pass_and_wait(gate, 0, "first", seen, go_on))
    await turns()
    gone = asyncio.create_task(pass_and_wait(gate, 0, "gone", seen, go_on))
    last = asyncio.create_task(pass_and_wait(gate, 0, "last", seen, go_on))
    await turns()
    gone.cancel()
    go_on.set()
    await asyncio.gather(first, last)
    assert (seen, gate.under_way) == (["first", "last"], 0)


async def test_a_place_given_in_the_moment_of_a_cancellation_is_handed_on():
    gate, seen, go_on = PriorityLimiter(1), [], asyncio.Event()
    async with passing(gate, 0):
        unlucky = asyncio.create_task(pass_and_wait(gate, 0, "unlucky", seen, go_on))
        last = asyncio.create_task(pass_and_wait(gate, 0, "last", seen, go_on))
        await turns()
    unlucky.cancel()  # its turn has come, but it has not run since
    go_on.set()
    await last
    assert (seen, gate.under_way) == (["last"], 0)


async def test_an_error_inside_gives_the_place_back():
    gate = PriorityLimiter(1)
    with pytest.raises(LookupError):
        async with passing(gate, 0):
            raise LookupError
    assert gate.under_way == 0


async def test_a_gate_made_smaller_lets_those_inside_end_and_made_wider_lets_more_pass():
    gate, seen, go_on = PriorityLimiter(2), [], asyncio.Event()
    tasks = [asyncio.create_task(pass_and_wait(gate, 0, name, seen, go_on)) for name in "abcde"]
    await turns()
    gate.resize(1)
    assert (seen, gate.under_way) == (["a", "b"], 2)
    gate.resize(4)
    await turns()
    assert (seen, gate.under_way) == (["a", "b", "c", "d"], 4)
    go_on.set()
    await asyncio.gather(*tasks)
    assert gate.under_way == 0


async def test_those_that_wait_pass_together_and_who_goes_before_them_all_at_once():
    gate = PriorityLimiter(4, together=2)
    for _ in range(4):
        await gate.enter(1)
    waiting = [asyncio.create_task(gate.enter(1)) for _ in range(3)]
    await turns()
    gate.leave()
    await turns()
    assert (gate.waiting, gate.under_way) == (3, 3)
    await gate.enter(0)
    gate.leave()
    gate.leave()
    await turns()
    assert (gate.waiting, gate.under_way) == (1, 4)
    for _ in range(2):
        gate.leave()
    await turns()
    assert (gate.waiting, gate.under_way) == (0, 3)
    await asyncio.gather(*waiting)


def test_a_gate_without_places_is_refused():
    with pytest.raises(ValueError, match="at least one place"):
        PriorityLimiter(0)
