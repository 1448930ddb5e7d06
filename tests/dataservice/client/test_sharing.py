"""Several clients over one store: one flight across processes, and keys kept apart."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from dataservice.client import AsyncClient, HistoryResource, IndicesResource, SignalResource, Source, WireResource
from dataservice.client.cache.answer import DEFAULT_TTL_S
from dataservice.client.single_flight import LEASE_S
from dataservice.errors import DeadlineExceededError, TierError
from dataservice.stores import MemoryStore, SqliteStore
from dataservice.stores.redis import RedisStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL, Scripted, answer, signal
from tests.dataservice.stores.stores import redis_url  # noqa: F401  a fixture
from tests.forking import started_code

READER = """
import asyncio, sys
from dataservice.stores import SqliteStore
from dataservice.client import AsyncClient, HistoryResource, IndicesResource, SignalResource

async def main(url, key, path):
    shelf = SqliteStore(path)
    async with AsyncClient(url, key, store=shelf) as client:
        resources = [IndicesResource(), SignalResource("us-cpi"), HistoryResource("us-cpi")]
        answers = await asyncio.gather(*(client.read(resource) for resource in resources))
        quota = await client.quota()
    await shelf.aclose()
    print(sum(found.requests for found in answers), quota.used_here)

asyncio.run(main(*sys.argv[1:]))
"""


def read_in_processes(url: str, key: str, path: str, *, count: int) -> list[list[int]]:
    """What each of several processes spent, and saw as used."""
    processes = [started_code(READER, url, key, path) for _ in range(count)]
    return [[int(word) for word in process.communicate()[0].split()] for process in processes]


@pytest.fixture(params=["shelf", "redis"])
def open_store(request, tmp_path):
    """Opens one shared store as often as wanted, as processes would."""

    @asynccontextmanager
    async def opened():
        if request.param == "shelf":
            store = SqliteStore(tmp_path / "shelf.sqlite")
        else:
            store = RedisStore.from_url(request.getfixturevalue("redis_url"), prefix=f"{tmp_path}:")
        try:
            yield store
        finally:
            await store.aclose()

    return opened


async def test_processes_that_share_a_shelf_share_requests_and_their_count(service, tmp_path):
    service.running.latency_s = 0.05
    path = str(tmp_path / "shelf.sqlite")
    results = await asyncio.to_thread(read_in_processes, service.url, service.key, path, count=3)
    assert sum(spent for spent, _ in results) == 3
    assert service.running.request_count == 3
    assert max(used for _, used in results) == 3


async def test_two_clients_over_one_store_share_one_flight(open_store):
    async def slowly(_):
        for _ in range(20):
            await asyncio.sleep(0)
        return answer(signal())

    service = Scripted(slowly)
    async with (
        open_store() as one,
        open_store() as other,
        service.client(store=one) as first,
        service.client(store=other) as second,
    ):
        found = await asyncio.gather(*(client.read(SignalResource("us-cpi")) for client in (first, second)))
    assert len(service.requests) == 1
    assert sorted(each.requests for each in found) == [0, 1]
    assert found[0].value == found[1].value


async def test_what_one_client_fetched_another_finds_with_its_age(open_store):
    clock, service = Clock(), Scripted(lambda _: answer([]))
    async with open_store() as one, open_store() as other:
        async with service.client(clock, store=one) as first:
            await first.read(IndicesResource())
        clock.advance(100)
        async with service.client(clock, store=other) as second:
            found = await second.read(IndicesResource())
        assert found.source is Source(one.tier)
        assert (found.age_s(clock.now), found.fresh_for_s(clock.now)) == (100, 800)


@pytest.mark.parametrize("resource", [SignalResource("x"), HistoryResource("x"), IndicesResource()])
async def test_what_a_clock_dated_that_is_a_little_ahead_is_fresh_for_no_longer(resource):
    ahead, behind, store = Clock(1_000_030.0), Clock(1_000_000.0), MemoryStore()
    service = Scripted(lambda request: answer(signal("x") if request.url.path.endswith("/x") else []))
    async with service.client(ahead, store=store) as one, service.client(behind, store=store) as other:
        await one.read(resource)
        found = await other.read(resource)
        assert found.requests == 0
        assert found.fresh_until - behind.now <= DEFAULT_TTL_S


async def test_four_signals_that_two_ask_for_from_cold_at_the_same_time_cost_four_requests(open_store):
    slugs = ("us-cpi", "us-10y", "cboe.vix", "eia.wti.spot")
    service = Scripted(lambda request: answer(signal(request.url.path.rpartition("/")[2])))
    async with (
        open_store() as one,
        open_store() as other,
        service.client(store=one) as first,
        service.client(store=other) as second,
    ):
        reads = [client.read(SignalResource(slug)) for client in (first, second) for slug in slugs]
        found = await asyncio.gather(*reads)
    assert len(service.requests) == sum(each.requests for each in found) == 4


async def test_the_lease_of_a_process_that_died_holds_nobody_up_for_long():
    clock, service = Clock(), Scripted(lambda _: answer([]))
    store = MemoryStore(clock=clock)
    store.shared = True
    async with service.client(clock, store=store) as client:
        await client.have(IndicesResource(), max_age_s=1)
        name = client._cache.answers.name(IndicesResource())
        await store.lease(name, "dead", LEASE_S)
        began = clock.now
        assert (await client.read(IndicesResource())).source is Source.NETWORK
        assert clock.now - began == pytest.approx(LEASE_S, abs=0.1)


async def test_a_process_that_works_long_on_many_pages_keeps_its_lease():
    clock = Clock()
    rows = [
        {"observed_at": f"{1000 + n // 300:04}-{n % 300 // 25 + 1:02}-{n % 25 + 1:02}", "value": n}
        for n in range(6_000)
    ]
    held = []

    async def slowly(request):
        clock.advance(3)
        held.append(not await store.lease(name, "other", 0.0))
        start = request.url.params.get("start", "")
        return answer([row for row in rows if row["observed_at"] >= start][:1_000])

    service, store = Scripted(slowly), MemoryStore(clock=clock)
    store.shared = True
    async with service.client(clock, store=store, deadline_s=60) as client:
        await client.have(HistoryResource("x"), max_age_s=1)
        name = client._cache.answers.name(HistoryResource("x"))
        assert len((await client.read(HistoryResource("x"))).value) == 6_000
    assert held == [True] * 8, "the last request asks for the detail: whether that shows a newer row"


async def test_a_lease_that_is_held_for_ever_ends_at_the_deadline():
    clock, service = Clock(), Scripted(lambda _: answer([]))
    store = MemoryStore(clock=clock)
    store.shared = True
    async with service.client(clock, store=store) as client:
        await client.have(IndicesResource(), max_age_s=1)
        await store.lease(client._cache.answers.name(IndicesResource()), "busy", 1e9)
        with pytest.raises(DeadlineExceededError, match="another process"):
            await client.read(IndicesResource())
    assert service.requests == []


async def test_a_free_key_never_sees_a_pro_keys_wire_out_of_a_cache(service, open_store):
    async with open_store() as store:
        async with AsyncClient(service.url, service.key, store=store) as pro:
            assert (await pro.read(WireResource())).value
        async with AsyncClient(service.url, service.free_key, store=store) as free:
            assert await free.have(WireResource(), max_age_s=1e9) is None
            with pytest.raises(TierError):
                await free.read(WireResource())


async def test_two_services_with_the_same_key_are_kept_apart():
    store = MemoryStore()
    service = Scripted(lambda request: answer(signal(value=float(len(request.url.host)))))
    async with service.client(store=store) as client:
        first = await client.signal("us-cpi")
    transport = client._transport._http
    async with AsyncClient("https://other.example", KEY, store=store, transport=transport) as client:
        assert (await client.signal("us-cpi")).latest != first.latest
    assert URL != "https://other.example"


async def test_quota_and_used_requests_are_known_after_a_restart_without_a_request(open_store):
    service = Scripted(lambda _: answer([], tier="free", remaining=412))
    clock = Clock()
    for opened in range(2):
        async with open_store() as store, service.client(clock, store=store) as client:
            if not opened:
                await client.read(IndicesResource())
            quota = await client.quota()
            assert (quota.tier, quota.cap, quota.remaining, quota.used_here) == ("free", 1_000, 412, 1)
    assert len(service.requests) == 1


async def test_histories_of_two_clients_grow_together(open_store):
    rows = [{"observed_at": f"2026-08-{day:02}T00:00:00Z", "value": day} for day in range(1, 17)]
    service = Scripted(lambda _: httpx_rows(rows))
    async with (
        open_store() as one,
        open_store() as other,
        service.client(store=one) as first,
        service.client(store=other) as second,
    ):
        await first.read(HistoryResource("x"))
        assert (await second.read(HistoryResource("x"))).value.values.tolist() == [float(n) for n in range(1, 17)]
    assert len(service.requests) == 1


def httpx_rows(rows):
    return answer(rows, pagination={"limit": 1_000, "offset": 0, "total": len(rows)})
