"""Names that may not exist: what is asked for shows something to whoever asks at the same time."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from dataservice.client import AsyncClient, CatalogueCheck, SignalResource
from dataservice.client.network.connections import Connections
from dataservice.errors import NotFoundError


class HeldBack(httpx.AsyncBaseTransport):
    """Real connections, whose answers are held back until they are released."""

    def __init__(self, url: str) -> None:
        self._inner = Connections(url, 8)
        self.asked = asyncio.Semaphore(0)
        self.released = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        self.asked.release()
        await self.released.wait()
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


@pytest.fixture
async def held(service):
    return HeldBack(service.url)


@pytest.fixture
async def client(service, held):
    async with AsyncClient(service.url, service.key, transport=held) as client:
        yield client


async def begun(client, held, slugs):
    """Reads of these signals, each of which has its request under way."""
    reads = [asyncio.ensure_future(client.read(SignalResource(slug))) for slug in slugs]
    for _ in slugs:
        await held.asked.acquire()
    return reads


async def test_many_names_wait_for_what_those_under_way_show_and_are_looked_up_where_one_does_not_exist(client, held):
    reads = await begun(client, held, ["nope-1", "nope-2", "nope-3"])
    check = asyncio.ensure_future(client.catalogue_check(100))
    held.released.set()
    assert await check is CatalogueCheck.LOAD
    assert {type(each) for each in await asyncio.gather(*reads, return_exceptions=True)} == {NotFoundError}


async def test_many_names_are_tried_where_those_under_way_exist(client, held):
    reads = await begun(client, held, ["us-cpi"])
    check = asyncio.ensure_future(client.catalogue_check(100))
    held.released.set()
    assert await check is CatalogueCheck.PROBE
    await asyncio.gather(*reads)


async def test_a_preview_waits_for_nothing(client, held):
    reads = await begun(client, held, ["nope-1", "nope-2", "nope-3"])
    assert await client.catalogue_check(100, waits=False) is CatalogueCheck.PROBE
    held.released.set()
    await asyncio.gather(*reads, return_exceptions=True)


async def test_with_others_under_way_few_names_are_many(client, held):
    reads = await begun(client, held, ["nope-1", "nope-2", "nope-3"])
    check = asyncio.ensure_future(client.catalogue_check(2))
    held.released.set()
    assert await check is CatalogueCheck.LOAD
    await asyncio.gather(*reads, return_exceptions=True)
