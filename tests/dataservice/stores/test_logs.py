"""Logs: what every store keeps for good, part by part."""

import asyncio
import sqlite3

import pytest

from dataservice.stores import Claim, Entry, LogSize, MemoryStore, Put, SqliteStore
from dataservice.stores.redis import RedisStore
from dataservice.stores.sealed import SealedStore


async def payloads(store, log: str, after: int = 0) -> list[bytes]:
    return [part.payload for part in (await store.parts(log, after)).parts]


async def appended(store, log: str, *new: bytes) -> list[int]:
    """The numbers of parts put behind all that are there."""
    numbers = [0, *(part.number for part in (await store.parts(log)).parts)]
    for payload in new:
        numbers.append(await store.append(log, payload, numbers[-1]))
    return numbers[-len(new) :]


def seal_bytes(store) -> int:
    """How much longer a sealed part is."""
    return 28 if isinstance(store, SealedStore) else 0


async def test_parts_are_found_in_the_order_in_which_they_were_appended(store):
    first, second = await appended(store, "a", b"\x00one\xff", b"two")
    await appended(store, "b", b"other")
    assert await payloads(store, "a") == [b"\x00one\xff", b"two"]
    assert await payloads(store, "a", first) == [b"two"]
    assert await payloads(store, "a", second) == []
    assert await payloads(store, "c") == []


async def test_of_many_who_append_at_once_one_does_and_the_others_are_told(store):
    numbers = await asyncio.gather(*(store.append("a", bytes([n]), 0) for n in range(20)))
    assert numbers.count(0) == 19
    assert len(await payloads(store, "a")) == 1
    assert await store.append("a", b"next", 0) == 0
    assert await store.append("a", b"next", max(numbers)) > max(numbers)


async def test_folded_parts_become_one_and_what_came_meanwhile_stays(store):
    *numbers, _ = await appended(store, "a", b"one", b"two", b"three")
    assert await store.fold("a", numbers, b"one two")
    assert sorted(await payloads(store, "a")) == [b"one two", b"three"]
    assert await store.logs() == [LogSize("a", 12 + 2 * seal_bytes(store))]


async def test_parts_that_somebody_else_folded_are_not_folded_again(store):
    numbers = await appended(store, "a", b"one", b"two")
    assert await store.fold("a", numbers, b"first")
    assert not await store.fold("a", numbers, b"second")
    assert not await store.fold("a", [*numbers, 999], b"third")
    assert await payloads(store, "a") == [b"first"]


async def test_whoever_read_parts_that_are_gone_is_told_and_reads_all(store):
    first, second = await appended(store, "a", b"one", b"two")
    assert (await store.parts("a", second)).is_continued
    await store.fold("a", [first, second], b"one two")
    assert await store.append("a", b"three", second) == 0
    log = await store.parts("a", second)
    assert (log.is_continued, [part.payload for part in log.parts]) == (False, [b"one two"])
    assert await store.append("a", b"three", log.parts[-1].number) > second
    await store.delete_logs("a")
    log = await store.parts("a", second)
    assert (log.is_continued, log.parts) == (False, ())
    assert await store.append("a", b"four", second) == 0


async def test_logs_are_listed_and_deleted_by_prefix(store):
    for name in ("key-1/a", "key-1/b", "key_1/a", "key*1/a"):
        await appended(store, name, b"four")
    size = 4 + seal_bytes(store)
    assert await store.logs("key-1/") == [LogSize("key-1/a", size), LogSize("key-1/b", size)]
    assert await store.delete_logs("key-1/") == 2
    assert [log.name for log in await store.logs()] == ["key*1/a", "key_1/a"]
    assert await store.delete_logs() == 2
    assert await payloads(store, "key_1/a") == []


async def test_clearing_entries_keeps_logs(store):
    await appended(store, "a", b"one")
    await store.clear()
    assert await payloads(store, "a") == [b"one"]


async def test_logs_survive_whatever_evicts_entries(tmp_path):
    from dataservice.stores import Entry

    store = SqliteStore(tmp_path / "shelf.sqlite", max_bytes=1_000)
    await appended(store, "a", b"x" * 5_000)
    for number in range(200):
        await store.put(f"entry {number}", Entry(b"y" * 500, float(number)))
    assert await store.get("entry 0") is None
    assert await payloads(store, "a") == [b"x" * 5_000]
    await store.aclose()


async def test_logs_that_are_too_large_are_dropped_whole_the_oldest_first_and_that_is_said(tmp_path, redis_url):
    bounded = [
        MemoryStore(max_archive_bytes=2_500),
        SqliteStore(tmp_path / "shelf.sqlite", max_archive_bytes=2_500),
        RedisStore.from_url(redis_url, prefix=f"{tmp_path}:", max_archive_bytes=2_500),
    ]
    for store in bounded:
        await appended(store, "old", b"x" * 1_000)
        await appended(store, "older", b"x" * 999)
        await appended(store, "old", b"y")  # it is younger than the other by now
        (last,) = await appended(store, "new", b"z" * 1_000)
        assert await payloads(store, "older") == [b""], store.tier
        assert [part.number > last for part in (await store.parts("older")).parts] == [True]
        assert await payloads(store, "old") == [b"x" * 1_000, b"y"]
        assert await payloads(store, "new") == [b"z" * 1_000]
        await appended(store, "older", b"again")
        assert await payloads(store, "older") == [b"", b"again"]
        assert sum(log.nbytes for log in await store.logs()) == 2_006
        await store.aclose()


async def test_an_entry_that_is_put_with_a_part_is_kept_and_ends_its_lease(store):
    name, entry = "key/of", Entry(b"answer", 1_000.0)
    assert (await store.claim(name, "me", 60)).granted
    number = await store.append("key/log", b"part", 0, then=Put(name, entry, "me"))
    assert number > 0
    assert await payloads(store, "key/log") == [b"part"]
    assert await store.get(name) == entry
    assert await store.claim(name, "you", 60) == Claim(granted=True, fetched_at=1_000.0)


async def test_an_entry_is_not_put_with_a_part_that_is_not_appended(store):
    name, before = "key/of", Entry(b"before", 1_000.0)
    await store.put(name, before)
    await store.append("key/log", b"one", 0)
    assert (await store.claim(name, "me", 60)).granted
    assert await store.append("key/log", b"two", 0, then=Put(name, Entry(b"new", 2_000.0), "me")) == 0
    assert await store.get(name) == before
    assert not (await store.claim(name, "you", 60)).granted
    assert await payloads(store, "key/log") == [b"one"]


async def test_of_a_part_and_an_entry_that_a_file_cannot_keep_neither_is_kept(tmp_path):
    store = SqliteStore(tmp_path / "shelf.sqlite")
    with pytest.raises(sqlite3.Error):
        await store.append("log", b"part", 0, then=Put("name", Entry(b"answer", float("nan"))))  # no time
    assert await payloads(store, "log") == []
    numbers = await asyncio.gather(*(store.append(log, b"part", 0, then=Put(log, Entry(b"", 1.0))) for log in "abc"))
    assert all(numbers)
    await store.aclose()
