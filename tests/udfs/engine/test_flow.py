"""How often a cold call looks things up: memory a few times, each entry of the store once, the service once.

And how long its way is, from the batch to the service and back.
"""

import gc
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from dataservice.client import AsyncClient, SignalResource
from dataservice.client.cache.answer import MemoryCache
from dataservice.client.single_flight import LEASE_S
from dataservice.stores import MemoryStore, SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, signal
from udfs.engine.session import Call, Session

US_CPI = "/v1/signals/us-cpi?history=365"
US_CPI_PAST = "/v1/signals/us-cpi/observations"
CATALOGUE = "/v1/signals?limit=500"


class CountingMemory(MemoryCache):
    """The answers in memory, which counts the looks into it."""

    def __init__(self, max_bytes):
        super().__init__(max_bytes)
        self.looks = 0
        self._get, self.get = self.get, self.look

    def look(self, resource):
        self.looks += 1
        return self._get(resource)

    def family(self, resource):
        self.looks += 1
        return super().family(resource)


class CountingFile(SqliteStore):
    """The SQLite store, which notes the entries read from it, without the key's name."""

    def __init__(self, path):
        super().__init__(path)
        self.reads = []

    async def get(self, name):
        self.reads.append("/" + name.partition("/")[2])
        return await super().get(name)


class CountingStore(MemoryStore):
    """A store shared with other processes, which notes the entries read from it."""

    shared = True

    def __init__(self, clock):
        super().__init__(clock=clock)
        self.reads = []

    async def get(self, name):
        self.reads.append("/" + name.partition("/")[2])
        return await super().get(name)


async def test_one_cold_signal_looks_into_memory_ten_times_and_reads_its_entry_and_its_history_once(service, tmp_path):
    store = CountingFile(tmp_path / "cache.sqlite")
    async with AsyncClient(service.url, service.key, store=store) as client:
        memory = client._cache.answers.memory = CountingMemory(1_000_000)
        (outcome,) = await Session(client).answer([Call("SIGNAL", ["us-cpi"])])
    await store.aclose()
    assert (outcome.requests, service.running.request_count) == (1, 1)
    assert memory.looks <= 10
    assert Counter(store.reads) == {"/v1": 1, "/quota": 1, "/pace": 1, US_CPI: 1, US_CPI_PAST: 1, CATALOGUE: 1}


async def test_with_a_catalogue_in_memory_a_cold_signal_reads_nothing_else_of_the_store(service, tmp_path):
    store = CountingFile(tmp_path / "cache.sqlite")
    async with AsyncClient(service.url, service.key, store=store) as client:
        await client.signals()
        memory = client._cache.answers.memory
        counting = client._cache.answers.memory = CountingMemory(10_000_000)
        for resource in memory.resources():
            counting.put(resource, memory.get(resource), 0)
        store.reads.clear()
        await Session(client).answer([Call("SIGNAL", ["us-cpi"])])
    await store.aclose()
    assert counting.looks <= 10
    assert sorted(store.reads) == [US_CPI_PAST, US_CPI]


@pytest.mark.parametrize(
    "call",
    [
        Call("SIGNAL", ["us-cpi", "value", "1990-06-30"]),
        Call("SIGNAL_HISTORY", ["us-cpi", "2001-01-01"]),
        Call("SIGNAL", [[["us-cpi"], ["us-gdp"]], "name"]),
        Call("INDICES", []),
    ],
)
async def test_no_cold_call_reads_an_entry_of_the_store_twice(service, tmp_path, call):
    store = CountingFile(tmp_path / "cache.sqlite")
    async with AsyncClient(service.url, service.key, store=store) as client:
        await Session(client).answer([call])
    await store.aclose()
    assert service.running.request_count > 0
    assert set(Counter(store.reads).values()) == {1}


async def test_many_old_days_of_one_signal_look_into_its_stored_history_a_few_times(service, tmp_path):
    store = CountingFile(tmp_path / "cache.sqlite")
    texts = [f"{year}-{month:02}-15" for year in (2021, 2023) for month in range(1, 13)]
    days = [Call("SIGNAL", ["eia.wti.spot", "value", text]) for text in texts]
    async with AsyncClient(service.url, service.key, store=store) as client:
        outcomes = await Session(client).answer(days)
        again = await Session(client).answer(days)
    await store.aclose()
    assert [outcome.result for outcome in outcomes if not isinstance(outcome.result, float)] == []
    assert [outcome.result for outcome in again] == [outcome.result for outcome in outcomes]
    assert sum(outcome.requests for outcome in outcomes) == service.running.request_count <= 3
    assert sum(name.endswith("/observations") for name in store.reads) <= 8


async def test_a_value_out_of_a_window_that_another_process_fetched_costs_no_request(service, tmp_path):
    calls = [Call("SIGNAL", ["us-cpi"]), Call("SIGNAL_HISTORY", ["us-cpi", "-5Y"])]
    outcomes = []
    for _ in ("one process", "the next"):
        store = SqliteStore(tmp_path / "cache.sqlite")
        async with AsyncClient(service.url, service.key, store=store) as client:
            outcomes.append(await Session(client).answer(calls))
        await store.aclose()
    assert [sum(outcome.requests for outcome in each) for each in outcomes] == [1, 0]
    assert outcomes[1][0].result == outcomes[0][0].result
    assert service.running.request_count == 1


async def test_after_waiting_for_another_processs_lease_the_entry_is_read_again():
    clock, service = Clock(), Scripted(lambda _: answer(signal()))
    store = CountingStore(clock)

    async def meanwhile(seconds):
        """The other process ends its fetch while this one waits."""
        await clock.sleep(seconds)
        await store.release(name, "other")
        await other.signal("us-cpi")
        store.reads.clear()

    async with (
        service.client(clock, store=store) as other,
        service.client(clock, store=store, sleep=meanwhile) as client,
    ):
        await client.have(SignalResource("x"), max_age_s=1)
        name = client._cache.answers.name(SignalResource("us-cpi"))
        await store.lease(name, "other", LEASE_S)
        (outcome,) = await Session(client, clock=clock).answer([Call("SIGNAL", ["us-cpi"])])
        assert client.requests_sent == 0
    assert (outcome.result, outcome.requests, len(service.requests)) == (1.0, 0, 1)
    assert Counter(store.reads) == {US_CPI: 1, US_CPI_PAST: 1}


async def test_a_stale_entry_is_read_once_and_still_shown_where_the_service_fails(tmp_path):
    clock = Clock()
    service = Scripted(lambda _: answer(signal()))
    store = CountingStore(clock)
    async with service.client(clock, store=store) as client:
        await client.signal("us-cpi")
    clock.advance(10_000)
    store.reads.clear()
    down = Scripted(lambda _: answer(None, status=404))
    async with down.client(clock, store=store, max_memory_bytes=1) as client:
        (outcome,) = await Session(client, clock=clock).answer([Call("SIGNAL", ["us-cpi"])])
    assert outcome.result == 1.0
    assert outcome.stale.age_s == 10_000
    assert Counter(store.reads)[US_CPI] == 1


HOUSE = Path(__file__).parents[3]
PACKAGES = tuple(f"{HOUSE / package}/" for package in ("addin", "udfs", "dataservice"))
MOST_LOOKS = 3
WAYS = [("memory", 59, 250), ("file", 62, 270)]
"""Where answers are kept, and the most files and functions of a call that was never asked, once the client is warm.

Another client of the process has asked it before, so that what is worked out once a process does not count.
Comprehensions are no functions.
"""


@contextmanager
def passed_functions(found):
    """Note every function of the house that is entered inside the block, in any thread: its file and its name.

    Clients of other tests that are garbage by now close themselves before it, and not inside.
    """

    def note(frame, event, _):
        code = frame.f_code
        is_one = event == "call" and (not code.co_name.startswith("<") or code.co_name == "<lambda>")
        if is_one and code.co_filename.startswith(PACKAGES):
            found.add((code.co_filename, code.co_qualname))

    gc.collect()
    gc.disable()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        gc.enable()


@pytest.mark.parametrize(("kept", "files", "functions"), WAYS)
async def test_the_way_of_one_cold_signal_becomes_no_longer(service, tmp_path, kept, files, functions):
    store = CountingFile(tmp_path / "cache.sqlite") if kept == "file" else None
    passed = set()
    async with AsyncClient(service.url, service.key) as other:
        await Session(other).answer([Call("SIGNAL", ["us-cpi"])])
    async with AsyncClient(service.url, service.key, store=store) as client:
        await client.signals()
        session = Session(client)
        await session.answer([Call("SIGNAL", ["us-gdp"])])
        if store:
            store.reads.clear()
        with passed_functions(passed):
            (outcome,) = await session.answer([Call("SIGNAL", ["us-cpi"])])
    if store:
        await store.aclose()
        assert len(store.reads) <= MOST_LOOKS
    assert outcome.requests == 1
    assert len({file for file, _ in passed}) <= files
    assert len(passed) <= functions
