"""Budgets at work: what is not asked, what is shown instead, and who goes first."""

import asyncio

import pytest

from dataservice.client import Budget, HistoryResource, IndicesResource, SignalResource, State, WireResource
from dataservice.errors import BudgetError
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, signal

DAY_S = 86_400


def counting_down(left: int) -> Scripted:
    """A service whose allowance shrinks by one with every request."""
    remaining = iter(range(left - 1, -1, -1))

    def handle(request):
        name = request.url.path.rpartition("/")[2]
        data = signal(name) if name.startswith("s") and name != "signals" else []
        return answer(data, remaining=next(remaining))

    return Scripted(handle)


async def test_the_reserve_stays_and_what_is_known_is_shown_instead():
    clock, service = Clock(), counting_down(left=12)
    async with service.client(clock, budget=Budget(reserve=10)) as client:
        await client.read(SignalResource("s1"))
        await client.read(SignalResource("s2"))
        with pytest.raises(BudgetError, match="10 requests are left and 10 are held in reserve"):
            await client.read(SignalResource("s3"))
        clock.advance(1_000)
        found = await client.read(SignalResource("s1"))
        assert isinstance(found.stale_because, BudgetError)
        assert found.value.latest.value == 1.0
    assert len(service.requests) == 2


async def test_requests_under_way_do_not_overspend_the_budget_together():
    service = counting_down(left=900)
    async with service.client(budget=Budget(monthly=20)) as client:
        reads = (client.read(SignalResource(f"s{n}")) for n in range(100))
        results = await asyncio.gather(*reads, return_exceptions=True)
    assert len(service.requests) == 20
    assert sum(isinstance(result, BudgetError) for result in results) == 80


async def test_the_monthly_budget_outlives_the_process_and_ends_with_the_month():
    clock, service, store = Clock(), counting_down(left=900), MemoryStore()
    for slug, allowed in (("s1", True), ("s2", False)):
        async with service.client(clock, store=store, budget=Budget(monthly=1)) as client:
            if allowed:
                await client.read(SignalResource(slug))
            else:
                with pytest.raises(BudgetError, match="the budget of 1 requests a month"):
                    await client.read(SignalResource(slug))
    clock.advance(31 * DAY_S)
    async with service.client(clock, store=store, budget=Budget(monthly=1)) as client:
        await client.read(SignalResource("s2"))
        assert client.quota_now.used_here == 1


async def test_on_a_new_day_one_request_finds_out_whether_there_is_more():
    clock, service = Clock(), counting_down(left=3)
    async with service.client(clock, budget=Budget(reserve=2)) as client:
        await client.read(SignalResource("s1"))
        with pytest.raises(BudgetError):
            await client.read(SignalResource("s2"))
        clock.advance(DAY_S)
        await client.read(SignalResource("s2"))
        with pytest.raises(BudgetError):
            await client.read(SignalResource("s3"))


async def test_values_go_before_histories_and_histories_before_the_wire():
    service, go_on = counting_down(left=900), asyncio.Event()
    at_once = service.handler

    async def when_told(request):
        await go_on.wait()
        return at_once(request)

    service.handler = when_told
    async with service.client() as client:
        first = [SignalResource(f"s{n}") for n in range(16)]  # they take all places
        later = [WireResource(), HistoryResource("s1"), IndicesResource()]
        reads = [asyncio.create_task(client.read(resource)) for resource in (*first, *later)]
        for _ in range(100):
            await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*reads)
    assert service.targets[16:] == [
        "/v1/indices",
        "/v1/signals/s1/observations?start=0001-01-01&end=2199-12-31",
        "/v1/wire?limit=200",
    ]


async def test_a_budget_that_keeps_a_value_away_is_no_fault_of_the_service():
    service = counting_down(left=5)
    async with service.client(budget=Budget(monthly=0)) as client:
        with pytest.raises(BudgetError):
            await client.read(IndicesResource())
        (state,) = client.states()
    assert (state.state, type(state.last_error)) == (State.MISSING, BudgetError)
    assert service.requests == []
