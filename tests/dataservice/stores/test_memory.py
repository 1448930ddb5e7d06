"""What is particular to the tier inside the process: its bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.stores import Entry, Log, MemoryStore, Part, ResilientStore, SqliteStore, Unpacked
from dataservice.stores.memory import ENTRY_BYTES, Lease, may_take


async def test_the_least_recently_used_go_first():
    store = MemoryStore(max_bytes=3 * (ENTRY_BYTES + 100))
    for name in "abc":
        await store.put(name, Entry(b"x" * 100, 1.0))
    await store.get("a")
    await store.put("d", Entry(b"x" * 100, 1.0))
    assert [name for name in "abcd" if await store.get(name)] == ["a", "c", "d"]


async def test_an_entry_larger_than_the_memory_is_not_kept_and_drives_out_no_other():
    store = MemoryStore(max_bytes=1_000)
    await store.put("a", Entry(b"x", 1.0))
    await store.put("b", Entry(b"x" * 2_000, 1.0))
    assert await store.get("b") is None
    assert await store.get("a") is not None


async def test_an_old_entry_is_not_kept_in_the_place_of_one_that_is_too_large():
    store = MemoryStore(max_bytes=1_000)
    await store.put("a", Entry(b"x", 1.0))
    await store.put("a", Entry(b"x" * 2_000, 2.0))
    assert await store.get("a") is None


async def test_a_lease_ends_with_its_time():
    now = 0.0
    store = MemoryStore(clock=lambda: now)
    await store.lease("a", "dead", 20.0)
    now = 20.0
    assert await store.lease("a", "alive", 20.0)


@given(st.sampled_from("ab"), st.sampled_from("ab"), st.floats(0, 9), st.floats(0, 9))
def test_a_lease_may_be_taken_when_it_is_free_ones_own_or_over(holder, owner, expires_at, now):
    assert may_take(None, owner, now)
    assert may_take(Lease(holder, expires_at), owner, now) == (holder == owner or now >= expires_at)


def test_a_memory_without_room_is_refused():
    with pytest.raises(ValueError, match="max_bytes"):
        MemoryStore(max_bytes=0)


@pytest.mark.parametrize("store", [MemoryStore(), ResilientStore(MemoryStore())], ids=["alone", "guarded"])
async def test_a_part_is_packed_no_sooner_than_somebody_reads_it(store):
    packed = []

    def pack():
        packed.append(1)
        return b"first look"

    number = await store.append("log", Unpacked(pack, 1_000), 0)
    sizes = await store.logs()
    assert (packed, [size.nbytes for size in sizes]) == ([], [1_000])
    assert await store.parts("log") == Log((Part(number, b"first look"),))


async def test_a_store_on_disk_is_handed_the_bytes_of_a_part(tmp_path):
    kept = SqliteStore(tmp_path / "cache.sqlite")
    store = ResilientStore(kept)
    number = await store.append("log", Unpacked(lambda: b"first look", 1_000), 0)
    assert await store.parts("log") == Log((Part(number, b"first look"),))
    await kept.aclose()
