"""Without a budget a request is counted while it waits for its turn; one that is never sent is not counted."""

import asyncio

import pytest

from dataservice.client import SignalResource
from dataservice.client.contract.requests import first_request
from dataservice.client.pacing.concurrency import FIRST_ROUND
from dataservice.errors import AuthenticationError, DataServiceError
from dataservice.stores import SqliteStore
from tests.dataservice.client.scripted import Scripted, answer, refusal, signal


def request_of(slug):
    return first_request(SignalResource(slug))


def used(client):
    return client.quota_now.used_here


async def test_whoever_leaves_before_the_turn_comes_is_not_counted():
    all_places_taken, go_on = asyncio.Event(), asyncio.Event()

    async def slow(request):
        if len(service.requests) == FIRST_ROUND:
            all_places_taken.set()
        await go_on.wait()
        return answer(signal(request.url.path.rpartition("/")[2]))

    service = Scripted(slow)
    async with service.client() as client:
        first = [asyncio.ensure_future(client.read(SignalResource(f"s{n}"))) for n in range(FIRST_ROUND)]
        await all_places_taken.wait()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client._sender.fetch(request_of("late"), client._reader.context(), bytes)
        go_on.set()
        await asyncio.gather(*first)
        await client.read(SignalResource("last"))
        assert client.requests_sent == used(client) == len(service.requests) == FIRST_ROUND + 1


async def test_what_is_refused_when_its_turn_comes_is_not_counted():
    service = Scripted(lambda _: refusal(401))
    async with service.client() as client:
        reads = [client.read(SignalResource(f"s{n}")) for n in range(3 * FIRST_ROUND)]
        found = await asyncio.gather(*reads, return_exceptions=True)
        assert {type(error) for error in found} == {AuthenticationError}
        assert len(service.requests) <= FIRST_ROUND
        assert client.requests_sent == 0
        with pytest.raises(DataServiceError):
            await client.read(SignalResource("x"))


async def test_all_that_was_sent_is_counted_in_the_store(tmp_path):
    service, store = Scripted(lambda r: answer(signal(r.url.path.rpartition("/")[2]))), SqliteStore(tmp_path / "a")
    async with service.client(store=store) as client:
        await asyncio.gather(*(client.read(SignalResource(f"s{n}")) for n in range(100)))
        assert client.requests_sent == len(service.requests) == used(client) == 100
    async with service.client(store=store) as other:
        await other.quota()
        assert used(other) == 100
    await store.aclose()
