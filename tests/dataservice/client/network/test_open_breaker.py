"""Refusals that last, at the embedded service: what they cost, what stays visible, and how they end."""

import asyncio
from collections import Counter

import pytest

from dataservice.client import (
    Answer,
    AsyncClient,
    Cost,
    CurrentsResource,
    IndicesResource,
    SignalResource,
    State,
    WireResource,
)
from dataservice.errors import AuthenticationError, NotFoundError, QuotaExceededError, TierError
from dataservice.server import running
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, refusal, signal

UNKNOWN_KEY = "ds_" + 40 * "0"
DAY_S = 86_400


async def test_a_wire_that_is_locked_costs_one_request_whatever_its_filters(service):
    async with AsyncClient(service.url, service.free_key) as client:
        for resource in (WireResource(), WireResource(kind="news"), WireResource(ticker="OIL"), WireResource()):
            with pytest.raises(TierError):
                await client.read(resource)
        await client.read(IndicesResource())
    assert service.running.request_count == 2


async def test_no_request_goes_to_the_wire_of_a_key_whose_free_tier_any_answer_told(service, tmp_path):
    clock = Clock()
    for _ in range(2):  # the second one is a new process
        store = SqliteStore(tmp_path / "cache.sqlite")
        async with AsyncClient(service.url, service.free_key, store=store, clock=clock, sleep=clock.sleep) as client:
            await client.read(IndicesResource())
            assert (await client.cost_of(WireResource())) == Cost(0, 0)
            for _ in range(3):  # nor on another day
                with pytest.raises(TierError, match="the key's tier is free"):
                    await client.read(WireResource(kind="news"))
                clock.advance(DAY_S)
            assert client.requests_sent == 1
        await store.aclose()
    assert service.running.request_count == 2


async def test_a_refresh_asks_the_wire_again_which_a_new_tier_may_have_opened():
    clock = Clock()
    service = Scripted.saying([answer([], tier="free"), refusal(402, tier="free"), answer([], tier="pro"), answer([])])
    async with service.client(clock) as client:
        await client.read(IndicesResource())
        for _ in range(2):
            with pytest.raises(TierError):
                await client.read(WireResource())
        await client.refresh()
        with pytest.raises(TierError):
            await client.read(WireResource())
        assert len(service.requests) == 2
        clock.advance(DAY_S)
        await client.read(IndicesResource())
        assert len((await client.read(WireResource())).value) == 0


async def test_a_refused_key_is_sent_once_until_the_user_refreshes(service):
    async with AsyncClient(service.url, UNKNOWN_KEY) as client:
        for _ in range(2):
            for resource in (IndicesResource(), CurrentsResource(), SignalResource("us-cpi")):
                with pytest.raises(AuthenticationError):
                    await client.read(resource)
        assert service.running.request_count == 1
        assert client.requests_sent == 0
        await client.refresh()
        with pytest.raises(AuthenticationError):
            await client.read(IndicesResource())
    assert service.running.request_count == 2


async def test_another_key_is_not_held_back_by_the_first(service):
    async with AsyncClient(service.url, UNKNOWN_KEY) as client:
        with pytest.raises(AuthenticationError):
            await client.read(IndicesResource())
    async with AsyncClient(service.url, service.key) as client:
        assert (await client.read(IndicesResource())).value


async def test_when_the_month_is_spent_values_stay_and_nothing_more_is_asked(service):
    key = service.store.create_key("free", cap=2)
    clock = Clock()
    async with AsyncClient(service.url, key, clock=clock) as client:
        await client.read(IndicesResource())
        await client.read(CurrentsResource())
        clock.advance(1_000)
        for _ in range(3):
            found = await client.read(IndicesResource())
            assert isinstance(found.stale_because, QuotaExceededError)
            assert found.value
        with pytest.raises(QuotaExceededError, match="the month's 2 requests are used up"):
            await client.read(SignalResource("us-cpi"))
        assert client.quota_now.remaining == 0
        assert service.running.request_count == 2
        await client.refresh()
        assert (await client.read(IndicesResource())).stale_because is not None
        assert (client.quota_now.used_here, service.running.request_count) == (2, 3)  # refused ones are not counted


async def test_the_last_requests_of_a_month_are_asked_for_one_by_one_and_then_none(service):
    key = service.store.create_key("free", cap=5)
    service.running.latency_s = 0.05
    async with AsyncClient(service.url, key) as client:
        await client.read(IndicesResource())
        reads = (client.read(SignalResource(f"s{n}")) for n in range(50))
        errors = Counter(type(error) for error in await asyncio.gather(*reads, return_exceptions=True))
    assert errors == {NotFoundError: 4, QuotaExceededError: 46}
    assert service.running.request_count == 5


async def test_fifty_callers_at_two_servers_get_the_three_requests_that_are_left(service, tmp_path):
    key = service.store.create_key("free", cap=3)
    clock = Clock()
    slugs = [f"no-such-{n}" for n in range(22)] + ["us-cpi", "us-10y", "wb.gold"]
    with running(tmp_path / "service.db") as other:
        servers = (service.running, other)
        clients = [AsyncClient(server.url, key, clock=clock) for server in servers]
        try:
            resources = [SignalResource(slug) for slug in reversed(slugs)]
            results = await ask_all(clients, resources)
            assert sum(isinstance(result, Answer | NotFoundError) for result in results) == 3
            sent = sum(server.request_count for server in servers)
            clock.advance(1_000)
            later = await ask_all(clients, resources)
            assert sum(server.request_count for server in servers) <= sent + len(clients)  # one each to find out
            for before, after in zip(results, later, strict=True):
                assert isinstance(after, Answer) == isinstance(before, Answer)
                assert not isinstance(after, Answer) or isinstance(after.stale_because, QuotaExceededError)
            known = sum(server.request_count for server in servers)
            await ask_all(clients, resources)
            assert sum(server.request_count for server in servers) == known
        finally:
            for client in clients:
                await client.aclose()
    assert service.store.usage(key) == 3


async def ask_all(clients, resources):
    """What every client gets for all resources, asked at once; an error in the place of an answer."""
    reads = [client.read(resource) for resource in resources for client in clients]
    return await asyncio.gather(*reads, return_exceptions=True)


@pytest.mark.parametrize("status", [401, 402, 429])
async def test_a_new_day_asks_once_again(status):
    clock = Clock()
    service = Scripted.saying([refusal(status, remaining=0), answer(signal())])
    async with service.client(clock) as client:
        for _ in range(2):
            with pytest.raises((AuthenticationError, TierError, QuotaExceededError)):
                await client.read(SignalResource("us-cpi"))
        clock.advance(DAY_S)
        assert (await client.read(SignalResource("us-cpi"))).value.latest.value == 1.0
    assert len(service.requests) == 2


async def test_requests_that_wait_for_their_turn_are_not_sent_once_the_key_was_refused():
    service = Scripted.saying([refusal(401)])
    async with service.client() as client:
        reads = (client.read(SignalResource(f"s{n}")) for n in range(100))
        results = await asyncio.gather(*reads, return_exceptions=True)
    assert {type(result) for result in results} == {AuthenticationError}
    assert len(service.requests) <= 16


async def test_states_tell_why_a_value_is_not_renewed(service):
    clock = Clock()
    async with AsyncClient(service.url, service.free_key, clock=clock) as client:
        assert client.states() == []
        await client.read(IndicesResource())
        for resource in (WireResource(), SignalResource("nothing")):
            with pytest.raises((TierError, Exception)):
                await client.read(resource)
        states = {state.resource: state for state in client.states()}
        assert states[IndicesResource()].state is State.FRESH
        assert states[WireResource()].state is State.LOCKED
        assert states[SignalResource("nothing")].state is State.MISSING
        assert "no signal" in str(states[SignalResource("nothing")].last_error)
        clock.advance(1_000)
        assert {state.resource: state.state for state in client.states()}[IndicesResource()] is State.STALE


async def test_states_tell_of_an_outage_and_of_a_spent_month():
    clock = Clock()
    service = Scripted.saying([answer([]), refusal(429, remaining=0)])
    async with service.client(clock) as client:
        await client.read(IndicesResource())
        clock.advance(1_000)
        await client.read(IndicesResource())
        (state,) = client.states()
        assert (state.state, state.fetched_at) == (State.SPENT, clock.now - 1_000)
        assert isinstance(state.last_error, QuotaExceededError)
