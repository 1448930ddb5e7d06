"""Callers who ask at the same time share one piece of work."""

import asyncio

import pytest

from dataservice.client import AsyncClient
from dataservice.client.single_flight import SingleFlight


class Work:
    """Work that ends when told; counts how often it was begun."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun = 0
        self.go_on = asyncio.Event()
        self._error = error

    async def run(self) -> str:
        self.begun += 1
        await self.go_on.wait()
        if self._error:
            raise self._error
        return "done"


async def joined(flights, key, start):
    landing, started = flights.join(key, start)
    return await landing, started


async def test_callers_at_the_same_time_share_one_result_and_one_of_them_began_it():
    flights, work = SingleFlight(), Work()
    callers = [asyncio.create_task(joined(flights, "key", work.run)) for _ in range(5)]
    await asyncio.sleep(0)
    work.go_on.set()
    assert await asyncio.gather(*callers) == [("done", True), *[("done", False)] * 4]
    assert work.begun == 1


async def test_they_share_an_error_as_well():
    flights, work = SingleFlight(), Work(LookupError("gone"))
    callers = [asyncio.create_task(joined(flights, "key", work.run)) for _ in range(3)]
    await asyncio.sleep(0)
    work.go_on.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(result) for result in results] == [LookupError] * 3
    assert work.begun == 1


async def test_a_cancelled_caller_does_not_take_the_flight_from_the_others():
    flights, work = SingleFlight(), Work()
    first = asyncio.create_task(joined(flights, "key", work.run))
    second = asyncio.create_task(joined(flights, "key", work.run))
    await asyncio.sleep(0)
    first.cancel()
    work.go_on.set()
    assert await second == ("done", False)


async def test_other_keys_fly_by_themselves_and_a_landed_key_flies_again():
    flights, work = SingleFlight(), Work()
    work.go_on.set()
    assert await joined(flights, "a", work.run) == ("done", True)
    assert await joined(flights, "b", work.run) == ("done", True)
    assert await joined(flights, "a", work.run) == ("done", True)
    assert work.begun == 3


async def test_an_error_that_nobody_waits_for_any_more_makes_no_noise():
    flights, work = SingleFlight(), Work(LookupError("gone"))
    caller = asyncio.create_task(joined(flights, "key", work.run))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    work.go_on.set()
    for _ in range(3):
        await asyncio.sleep(0)


async def test_closing_ends_what_is_under_way():
    flights, work = SingleFlight(), Work()
    caller = asyncio.create_task(joined(flights, "key", work.run))
    await asyncio.sleep(0)
    await flights.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller


def test_another_event_loop_is_told_at_once_that_it_needs_a_client_of_its_own(sample_service):
    client = AsyncClient(sample_service.url, sample_service.key)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(client.signal("us-cpi"))
        with pytest.raises(RuntimeError, match="another event loop; make one in each, or use Client"):
            second.run(client.signal("us-10y"))
        first.run(client.aclose())
