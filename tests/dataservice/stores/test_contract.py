"""What every cache tier does: one suite over all of them."""

import asyncio

import pytest

from dataservice.stores import Claim, Entry, EntrySize, ResilientStore, Store

LONG_S = 60.0


async def test_a_tier_is_a_store_and_says_which_it_is(store):
    assert isinstance(store, Store)
    assert store.tier in {"memory", "shelf", "redis"}
    assert store.shared is (store.tier != "memory")


async def test_what_was_put_is_found_with_its_age(store):
    await store.put("a", Entry(b"\x00payload\xff", 1_787_000_000.25))
    assert await store.get("a") == Entry(b"\x00payload\xff", 1_787_000_000.25)


async def test_what_was_not_put_is_not_found(store):
    assert await store.get("a") is None


async def test_a_later_entry_takes_the_place_of_an_earlier_one(store):
    await store.put("a", Entry(b"old", 1.0))
    await store.put("a", Entry(b"new", 2.0))
    assert await store.get("a") == Entry(b"new", 2.0)


async def test_an_empty_payload_and_a_large_one_are_kept(store):
    large = bytes(range(256)) * 20_000
    await store.put("empty", Entry(b"", 1.0))
    await store.put("large", Entry(large, 1.0))
    assert await store.get("empty") == Entry(b"", 1.0)
    assert await store.get("large") == Entry(large, 1.0)


@pytest.mark.parametrize("name", ["", "a/b?c=d&e=%20", "ключ", "a" * 500, "a'b\"c", "*?[x]"])
async def test_names_may_be_any_text(store, name):
    await store.put(name, Entry(b"x", 1.0))
    assert await store.get(name) == Entry(b"x", 1.0)


async def test_clearing_a_prefix_forgets_those_entries_and_no_others(store):
    for name in ("key-1/a", "key-1/b", "key-2/a", "key_1/a", "key*1/a"):
        await store.put(name, Entry(b"x", 1.0))
    assert await store.clear("key-1/") == 2
    assert await store.get("key-1/a") is None
    assert await store.clear("key*") == 1
    assert await store.get("key-2/a") is not None
    assert await store.clear() == 2


async def test_the_sizes_of_entries_are_told_by_name(store):
    for name, payload in (("key-1/b", b"four"), ("key-1/a?x=é", b""), ("key-2/a", b"x"), ("key*1/a", b"x")):
        await store.put(name, Entry(payload, 1.0))
    assert await store.entries("key-1/") == [EntrySize("key-1/a?x=é", 0), EntrySize("key-1/b", 4)]
    assert [entry.name for entry in await store.entries("key*")] == ["key*1/a"]
    assert len(await store.entries()) == 4
    await store.clear()
    assert await store.entries() == []


async def test_the_salt_is_made_once_and_is_the_same_for_all(store):
    first, second = await asyncio.gather(store.salt(), store.salt())
    assert first == second
    assert len(first) == 16


async def test_a_lease_has_one_owner_at_a_time(store):
    assert await store.lease("a", "one", LONG_S)
    assert not await store.lease("a", "other", LONG_S)
    assert await store.lease("b", "other", LONG_S)
    assert await store.lease("a", "one", LONG_S)


async def test_of_many_who_want_a_lease_at_once_one_gets_it(store):
    got = await asyncio.gather(*(store.lease("a", f"owner {n}", LONG_S) for n in range(10)))
    assert got.count(True) == 1


async def test_the_lease_of_an_entry_can_be_ended_in_the_step_that_keeps_it_by_its_owner_only(store):
    await store.lease("a", "one", LONG_S)
    await store.put("a", Entry(b"kept", 1.0), ending="other")
    assert not await store.lease("a", "other", LONG_S)
    await store.put("a", Entry(b"kept again", 2.0), ending="one")
    assert await store.get("a") == Entry(b"kept again", 2.0)
    assert await store.lease("a", "other", LONG_S)


async def test_a_released_lease_is_free_and_only_its_owner_can_release_it(store):
    await store.lease("a", "one", LONG_S)
    await store.release("a", "other")
    assert not await store.lease("a", "other", LONG_S)
    await store.release("a", "one")
    assert await store.lease("a", "other", LONG_S)


async def test_a_claim_tells_the_time_of_the_entry_whether_it_is_granted_or_not(store):
    assert await store.claim("a", "one", LONG_S) == Claim(granted=True, fetched_at=None)
    await store.put("a", Entry(b"x", 5.0))
    assert await store.claim("a", "other", LONG_S) == Claim(granted=False, fetched_at=5.0)
    assert await store.claim("a", "one", LONG_S) == Claim(granted=True, fetched_at=5.0)


async def test_an_entry_is_replaced_only_by_who_knows_the_one_before(store):
    assert await store.replace("a", Entry(b"first", 1.5), None)
    assert not await store.replace("a", Entry(b"other", 2.5), None)
    assert not await store.replace("a", Entry(b"other", 2.5), 1.0)
    assert await store.replace("a", Entry(b"second", 2.5), 1.5)
    assert await store.get("a") == Entry(b"second", 2.5)


async def test_counters_count_by_themselves(store):
    assert await store.add("used", 0) == 0
    assert sorted(await asyncio.gather(*(store.add("used", 2) for _ in range(5)))) == [2, 4, 6, 8, 10]
    assert await store.add("other", 1) == 1
    assert await store.add("used", 0) == 10


async def test_clearing_keeps_counters(store):
    await store.add("used", 3)
    await store.clear()
    assert await store.add("used", 0) == 3


async def test_a_guarded_tier_that_works_is_the_tier(store):
    guarded = ResilientStore(store)
    await guarded.put("a", Entry(b"x", 1.0))
    assert await guarded.get("a") == Entry(b"x", 1.0)
    assert await guarded.salt() == await store.salt()
    assert await guarded.add("used", 1) == 1
    assert await guarded.lease("a", "one", LONG_S)
    assert not await guarded.lease("a", "other", LONG_S)
    await guarded.release("a", "one")
    assert await guarded.clear() == 1
    assert (guarded.tier, guarded.shared) == (store.tier, store.shared)
