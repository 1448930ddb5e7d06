"""A closed client that is taken apart is gone at once: nobody has to look for parts that refer to each other."""

import gc
import sys
from contextlib import suppress

import pytest

from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.errors import DataServiceError


@pytest.fixture
def garbage():
    """What a look for circles would find, from here on."""
    gc.collect()
    gc.disable()
    yield lambda: found_by(gc)
    gc.enable()


def found_by(collector):
    """What is unreachable and belongs to the client, by type."""
    collector.set_debug(collector.DEBUG_SAVEALL)
    try:
        collector.collect()
        return sorted({type(each).__qualname__ for each in collector.garbage if is_of_client(each)})
    finally:
        collector.set_debug(0)
        collector.garbage.clear()


def is_of_client(thing):
    return type(thing).__module__.startswith("dataservice") or (
        isinstance(thing, type(sys._getframe())) and "/dataservice/client/" in thing.f_code.co_filename
    )


async def used(service, key):
    client = AsyncClient(service.url, key)
    for resource in (SignalResource("us-cpi"), HistoryResource("us-10y"), SignalResource("no-such-signal")):
        with suppress(DataServiceError):
            await client.read(resource)
    await client.aclose()
    return client


@pytest.mark.parametrize("kind", ["accepted", "refused"])
async def test_nothing_is_left_of_it_to_be_collected(service, kind, garbage):
    client = await used(service, service.key if kind == "accepted" else "ds_" + "0" * 40)
    client.take_apart()
    del client
    assert garbage() == []


async def test_without_that_its_parts_would_stay(service, garbage):
    await used(service, service.key)
    assert "AsyncClient" in garbage()
