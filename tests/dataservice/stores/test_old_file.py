"""What an earlier version kept is still there: the cache file of 0.1, made by that version, is read by this one."""

import shutil
from datetime import date
from pathlib import Path

import dataservice.cache
from dataservice.client import HistoryResource, IndicesResource, SignalResource, Source
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer

OLD_FILE = Path(__file__).parent / "data" / "shelf-1.sqlite"
"""A signal, a quarter of its history and the indices, fetched at the clock's first second with three requests."""


async def test_the_shelf_of_the_version_before_is_read_by_the_new_one(tmp_path):
    path = shutil.copy(OLD_FILE, tmp_path)
    clock, service = Clock(), Scripted(lambda _: answer([]))
    store = SqliteStore(path, clock=clock)
    async with service.client(clock, store=store) as client:
        signal = await client.read(SignalResource("us-cpi"))
        history = await client.read(HistoryResource("us-cpi", date(2026, 1, 1), date(2026, 3, 31)))
        indices = await client.read(IndicesResource())
        quota = await client.quota()
    await store.aclose()
    assert service.requests == []
    assert {signal.source, indices.source} == {Source.SHELF}
    assert history.source in {Source.SHELF, Source.MEMORY}  # the signal may have brought it into memory
    assert (signal.value.signal.name, signal.value.latest.value, len(signal.value.history)) == (
        "Consumer prices",
        321.5,
        2,
    )
    assert history.value.values.tolist() == [n / 4 for n in range(60)]
    assert (history.value.first_day, history.value.last_day) == (date(2026, 1, 1), date(2026, 3, 1))
    assert [(index.slug, index.reading()[0]) for index in indices.value] == [("heat", 7.5)]
    assert all(each.fetched_at == clock.now for each in (signal, history, indices))
    assert (quota.tier, quota.cap, quota.remaining, quota.used_here) == ("free", 1_000, 412, 3)


async def test_what_an_old_file_counted_goes_on_counting(tmp_path):
    path = shutil.copy(OLD_FILE, tmp_path)
    clock, service = Clock(), Scripted(lambda _: answer([], tier="free", remaining=411))
    clock.advance(1_000)
    store = SqliteStore(path, clock=clock)
    async with service.client(clock, store=store) as client:
        assert (await client.read(IndicesResource())).source is Source.NETWORK
        assert client.quota_now is not None
        assert (client.quota_now.remaining, client.quota_now.used_here) == (411, 4)
    await store.aclose()


def test_the_old_names_are_still_importable():
    assert dataservice.cache.Shelf is SqliteStore
    assert dataservice.cache.default_shelf_path().name == "shelf-1.sqlite"
