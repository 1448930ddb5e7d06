"""Work that several wait for: one result or one error for all, and each may leave alone."""

import asyncio

import pytest

from dataservice.flight import Flight


async def test_all_get_the_result_and_the_work_is_over_by_then():
    log = []

    async def work():
        log.append("work")
        return 7

    flight = Flight(work(), lambda: log.append("ended"))
    assert await asyncio.gather(flight.landing(), flight.landing()) == [7, 7]
    assert log == ["work", "ended"]


async def test_all_get_the_error():
    async def work():
        raise ValueError("no")

    flight = Flight(work())
    found = await asyncio.gather(flight.landing(), flight.landing(), return_exceptions=True)
    assert [str(each) for each in found] == ["no", "no"]


async def test_who_is_cancelled_leaves_the_work_to_the_others():
    go = asyncio.Event()

    async def work():
        await go.wait()
        return 7

    async def wait(flight):
        return await flight.landing()

    flight = Flight(work())
    one, other = (asyncio.ensure_future(wait(flight)) for _ in range(2))
    await asyncio.sleep(0)
    one.cancel()
    go.set()
    assert await other == 7
    assert one.cancelled()


async def test_work_that_is_cancelled_before_it_begins_cancels_all_who_wait():
    async def work():
        raise AssertionError

    flight = Flight(work())
    landing = flight.landing()
    flight.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await landing
