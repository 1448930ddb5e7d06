"""The embedded service goes away and comes back."""

import asyncio
import time

import pytest

from dataservice.client import (
    AsyncClient,
    CatalogueResource,
    CurrentsResource,
    HistoryResource,
    IndicesResource,
    SignalResource,
    State,
    WireResource,
)
from dataservice.errors import ConnectionFailedError
from tests.dataservice.client.parts.clocks import Clock, ShiftedClock

RESOURCES = [CatalogueResource(), IndicesResource(), CurrentsResource(), WireResource(), HistoryResource("us-cpi")]


async def read_all(client: AsyncClient) -> list:
    return await asyncio.gather(*(client.read(resource) for resource in RESOURCES))


async def test_while_the_service_is_stopped_a_batch_shows_what_is_known_within_two_seconds(service):
    clock = ShiftedClock()
    async with AsyncClient(service.url, service.key, clock=clock) as client:
        before = await read_all(client)
        service.running.stop()
        clock.advance(1_000)
        began = time.perf_counter()
        during = await read_all(client)
        again = await read_all(client)
        assert time.perf_counter() - began < 2.0
        assert [found.value for found in during] == [found.value for found in before]
        assert all(isinstance(found.stale_because, ConnectionFailedError) for found in during + again)
        # The catalogue is good for a day, and so is fresh; all else is known to be old.
        states = {state.state for state in client.states() if not isinstance(state.resource, CatalogueResource)}
        assert states == {State.OFFLINE}


async def test_after_the_service_is_back_the_next_refresh_recovers(service):
    clock = ShiftedClock()
    async with AsyncClient(service.url, service.key, clock=clock) as client:
        await read_all(client)
        service.running.stop()
        clock.advance(1_000)
        await read_all(client)
        service.running.start()
        assert all(found.stale_because is not None for found in await read_all(client))
        await client.refresh()
        assert all(found.is_fresh(clock()) for found in await read_all(client))


async def test_it_recovers_by_itself_a_few_seconds_later(service):
    clock = ShiftedClock()
    async with AsyncClient(service.url, service.key, clock=clock) as client:
        await client.read(IndicesResource())
        service.running.stop()
        clock.advance(1_000)
        await client.read(IndicesResource())
        service.running.start()
        clock.advance(10)
        assert (await client.read(IndicesResource())).stale_because is None


async def test_without_a_last_known_value_there_is_an_error_and_then_no_more_waiting(service):
    clock = Clock()
    service.running.stop()
    async with AsyncClient(service.url, service.key, clock=clock, sleep=clock.sleep) as client:
        with pytest.raises(ConnectionFailedError):
            await client.read(SignalResource("us-cpi"))
        slept = list(clock.slept)
        with pytest.raises(ConnectionFailedError):
            await client.read(SignalResource("us-10y"))
    assert clock.slept == slept
