"""A store that others read: they find neither names nor values, and what they change is never taken for an answer."""

import re
import struct
from datetime import UTC, datetime
from pathlib import Path

import orjson
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.client.network.credentials import ApiKey, sealed_for
from dataservice.stores import Entry, MemoryStore, ReplicatedStore, SqliteStore
from dataservice.stores.migrate_unsealed import migrate_unsealed
from dataservice.stores.redis import RedisStore
from dataservice.stores.seal import KEY_BYTES
from dataservice.stores.sealed import SealedStore
from tests.attack.parts.redis_process import RedisProcess
from udfs.engine.session import Session

ROOT = Path(__file__).resolve().parents[3]
SLUGS = ("us-cpi", "survey.pmi")


def keys_for(salt: bytes) -> bytes:
    return (salt * KEY_BYTES)[:KEY_BYTES]


async def sealed(store: MemoryStore, keys=keys_for) -> SealedStore:
    opened = SealedStore(store, keys)
    await opened.salt()
    return opened


class Remote(MemoryStore):
    """A store that others can read, and this test write to."""

    is_remote = True
    shared = True

    @property
    def names(self) -> list[str]:
        return [*self._entries, *self._logs]


async def test_whoever_reads_a_whole_redis_after_a_workbook_finds_no_name_no_value_and_no_key(service, tmp_path):
    with RedisProcess(tmp_path, "--rdbcompression", "no") as redis:
        store = ReplicatedStore(RedisStore.from_url(redis.url), SqliteStore(tmp_path / "copy.sqlite"))
        async with AsyncClient(service.url, service.key, store=store) as client:
            await refresh_book(Session(client), ROOT / "workbook_template.xlsx", tmp_path / "book.xlsx")
            assert client.requests_sent > 10
        await store.aclose()
        with Redis.from_url(redis.url) as server:
            assert server.dbsize() > 20
            server.save()
    found = (tmp_path / "dump.rdb").read_bytes()
    found += (tmp_path / "copy.sqlite").read_bytes()
    month = f"/used/{datetime.now(UTC):%Y-%m}"
    assert month.encode() in found, "so names are readable in this dump, where they are not sealed"
    assert service.key.encode() not in found
    words = re.findall(rb"us-cpi|signals|observations|observed|history|headline", found, re.IGNORECASE)
    assert words == []
    for signal in service.store.signals(limit=500, offset=0).items:
        record = orjson.loads(orjson.dumps(signal))
        assert len(record["slug"]) < 5 or record["slug"].encode() not in found
        assert record["name"].encode() not in found
    rows = service.store.observations("us-cpi", start=None, before=None, limit=400, offset=0).items
    values = {row["value"] for row in rows if row["value"] != int(row["value"])}
    assert len(values) > 50
    assert [value for value in values if struct.pack("<d", value) in found] == []


async def test_only_who_has_the_same_key_reads_an_entry():
    kept = Remote()
    one, other = await sealed(kept), await sealed(kept, lambda salt: keys_for(salt[::-1]))
    await one.put("scope/us-cpi", Entry(b"321.5", 7.0))
    assert await one.get("scope/us-cpi") == Entry(b"321.5", 7.0)
    assert await other.get("scope/us-cpi") is None
    assert await other.entries("scope/") == []
    assert [name for name in kept.names if "cpi" in name] == []


@given(st.binary(max_size=40), st.integers(0, 200), st.integers(1, 255), st.floats(0, 1e10))
async def test_an_entry_of_which_any_byte_was_changed_is_not_there_and_can_be_replaced(payload, place, flip, age):
    kept = Remote()
    store = await sealed(kept)
    await store.put("scope/a", Entry(payload, age))
    name, entry = next((name, entry) for name, entry in kept._entries.items() if entry.payload)
    changed = bytearray(entry.payload)
    changed[place % len(changed)] ^= flip
    await kept.put(name, Entry(bytes(changed), age))
    assert await store.get("scope/a") is None
    assert (await store.claim("scope/a", "me", 8.0)).fetched_at is None
    assert await store.replace("scope/a", Entry(b"new", age + 1), None)
    assert await store.get("scope/a") == Entry(b"new", age + 1)


async def test_an_entry_under_another_name_or_age_is_not_there():
    kept = Remote()
    store = await sealed(kept)
    await store.put("scope/a", Entry(b"1", 5.0))
    await store.put("scope/b", Entry(b"2", 5.0))
    first, second = (name for name, entry in kept._entries.items() if entry.payload)
    await kept.put(first, Entry(kept._entries[first].payload, 500.0))
    await kept.put(second, Entry(kept._entries[first].payload, 5.0))
    assert (await store.get("scope/a"), await store.get("scope/b")) == (None, None)


async def test_names_of_one_length_step_tell_nothing_of_how_long_a_slug_is():
    kept = Remote()
    store = await sealed(kept)
    for slug in ("a", "us-cpi", "a-very-long-slug"):
        await store.put(f"scope/{slug}", Entry(b"1", 5.0))
    assert len({len(name) for name in kept.names if name.startswith("scope~1/")}) == 1


async def test_a_damaged_part_of_a_log_counts_as_dropped():
    kept = Remote()
    store = await sealed(kept)
    number = await store.append("scope/a", b"fact", 0)
    [log] = [name for name in kept._logs if name.startswith("scope~1/")]
    await kept.fold(log, [number], b"nonsense")
    assert [part.payload for part in (await store.parts("scope/a")).parts] == [b""]


async def test_what_is_not_sealed_is_never_read():
    kept = Remote()
    store = await sealed(kept)
    await kept.put("scope/a", Entry(b"forged", 5.0))
    await kept.append("scope/a", b"forged", 0)
    assert await store.get("scope/a") is None
    assert (await store.parts("scope/a")).parts == ()


async def test_answers_and_archive_of_an_earlier_version_are_found_once_they_are_sealed(service, tmp_path):
    class Plain(Remote):
        is_remote = False

    kept = Plain()
    async with AsyncClient(service.url, service.key, store=kept) as before:
        for slug in SLUGS:
            await before.read(SignalResource(slug))
            await before.read(HistoryResource(slug))
        known = [await before.vintages(slug) for slug in SLUGS]
        scope = await before.scope()
    kept.is_remote = True
    opened = sealed_for(ApiKey(service.key), service.url, kept)
    await opened.salt()
    assert await migrate_unsealed(kept, opened, scope) == 7
    async with AsyncClient(service.url, service.key, store=kept) as after:
        for slug in SLUGS:
            assert (await after.read(SignalResource(slug))).requests == 0
            assert (await after.read(HistoryResource(slug))).requests == 0
        assert [len((await after.vintages(slug)).facts) for slug in SLUGS] == [len(each.facts) for each in known]
        assert after.requests_sent == 0
        assert after.quota_now.used_here == before.requests_sent
    assert [name for name in kept.names if "cpi" in name or "pmi" in name] == []


async def test_an_entry_that_is_too_short_to_have_an_age_is_replaced_in_redis(redis_url, tmp_path):
    store = RedisStore.from_url(redis_url, prefix=f"{tmp_path}:")
    await store._redis.set(store._entry("a"), b"x")
    assert await store.get("a") is None
    assert await store.replace("a", Entry(b"new", 5.0), None)
    assert await store.get("a") == Entry(b"new", 5.0)
    await store.aclose()
