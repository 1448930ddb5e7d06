"""A store far away with a copy on this machine: what it does while the far one is slow, gone, or begins again."""

import asyncio

import pytest

from dataservice.stores import Entry, MemoryStore, ReplicatedStore, ResilientStore, StoreAwayError


class FarStore(MemoryStore):
    """A store of another machine, as its network lets it be."""

    def __init__(self, salt=None):
        super().__init__()
        self._of_others = salt
        self.is_gone = False
        self.answers = asyncio.Event()
        self.answers.set()

    async def get(self, name):
        await self._reached()
        return await super().get(name)

    async def put(self, name, entry, *, ending=""):
        await self._reached()
        await super().put(name, entry, ending=ending)

    async def replace(self, name, entry, expected):
        await self._reached()
        return await super().replace(name, entry, expected)

    async def claim(self, name, owner, ttl_s):
        await self._reached()
        return await super().claim(name, owner, ttl_s)

    async def add(self, counter, amount):
        await self._reached()
        return await super().add(counter, amount)

    async def salt(self, proposed=None):
        await self._reached()
        self._salt = self._of_others or proposed or self._salt
        return self._salt

    async def _reached(self):
        if self.is_gone:
            raise ConnectionError("gone")
        await self.answers.wait()


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def far():
    return FarStore()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def store(far, clock):
    opened = ReplicatedStore(far, MemoryStore(), clock=clock)
    yield opened
    far.answers.set()
    await opened.aclose()


async def test_while_it_is_gone_entries_and_leases_are_those_of_this_machine(store, far):
    await store.put("a", Entry(b"1", 10.0))
    far.is_gone = True
    await store.put("b", Entry(b"2", 20.0))
    assert (await store.get("a"), await store.get("b")) == (Entry(b"1", 10.0), Entry(b"2", 20.0))
    assert (await store.claim("c", "one", 8.0)).granted
    assert not (await store.claim("c", "two", 8.0)).granted
    await store.release("c", "one")
    assert (await store.claim("c", "two", 8.0)).granted


async def test_counters_are_not_made_up(store, far):
    far.is_gone = True
    with pytest.raises(StoreAwayError):
        await store.add("used", 1)


async def test_what_was_kept_meanwhile_is_brought_home(store, far, clock):
    far.is_gone = True
    await store.put("a", Entry(b"new", 30.0))
    await store.put("b", Entry(b"old", 10.0))
    far.is_gone = False
    await MemoryStore.put(far, "b", Entry(b"newer", 40.0))  # another machine was faster
    clock.now += 10.0
    await store.get("x")
    await asyncio.gather(*store._tasks)
    assert await MemoryStore.get(far, "a") == Entry(b"new", 30.0)
    assert await MemoryStore.get(far, "b") == Entry(b"newer", 40.0)


async def test_it_is_left_alone_for_a_moment_and_then_tried_again(store, far, clock):
    far.is_gone = True
    assert await store.get("a") is None
    far.is_gone = False
    await MemoryStore.put(far, "a", Entry(b"1", 10.0))
    assert await store.get("a") is None
    clock.now += 1.0
    assert await store.get("a") == Entry(b"1", 10.0)


async def test_one_that_begins_again_gets_the_salt_it_had_and_misses_nothing(store, far, clock):
    salt = await store.salt()
    await store.put("a", Entry(b"1", 10.0))
    far.is_gone = True
    await store.get("a")
    far.__init__()  # as empty as a Redis without a disk
    clock.now += 10.0
    assert await store.get("a") == Entry(b"1", 10.0)
    assert await store.salt() == salt == far._salt


async def test_processes_that_never_reached_it_agree_on_a_salt_which_it_gets(far, clock):
    near = MemoryStore()
    far.is_gone = True
    first, second = (ReplicatedStore(far, near, clock=clock) for _ in range(2))
    assert await first.salt() == await second.salt()
    far.is_gone = False
    clock.now += 10.0
    assert await first.salt() == await second.salt() == far._salt


async def test_the_salt_of_other_machines_stays_and_who_began_with_another_one_is_told(clock, caplog):
    far, near = FarStore(salt=b"of others"), MemoryStore()
    far.is_gone = True
    store = ReplicatedStore(far, near, clock=clock)
    assert await store.salt() != b"of others"
    clock.now += 10.0
    far.is_gone = False
    await store.get("a")
    assert "restart this process to share it" in caplog.text
    assert await ReplicatedStore(far, near, clock=clock).salt() == b"of others"


async def test_one_that_is_slow_is_not_waited_for_where_the_copy_knows(store, far):
    await store.put("a", Entry(b"1", 10.0))
    far.answers.clear()
    assert await store.get("a") == Entry(b"1", 10.0)


async def test_one_that_is_slow_is_waited_for_where_the_copy_knows_nothing(store, far):
    await MemoryStore.put(far, "a", Entry(b"1", 10.0))
    far.answers.clear()
    asking = asyncio.ensure_future(store.get("a"))
    asyncio.get_running_loop().call_later(0.1, far.answers.set)
    assert await asking == Entry(b"1", 10.0)


async def test_what_stands_in_the_way_of_a_replacement_is_in_the_copy_from_then_on(store, far):
    await store.put("a", Entry(b"1", 10.0))
    await MemoryStore.put(far, "a", Entry(b"2", 20.0))  # another machine was faster
    assert not await store.replace("a", Entry(b"3", 30.0), 10.0)
    far.answers.clear()
    assert await store.get("a") == Entry(b"2", 20.0)


async def test_what_machines_agree_on_is_waited_for_and_the_copy_stands_in_only_while_the_store_is_gone(store, far):
    guarded = ResilientStore(store)
    await store.put("a", Entry(b"1", 10.0))
    await MemoryStore.put(far, "a", Entry(b"2", 20.0))
    far.answers.clear()
    asking = asyncio.ensure_future(guarded.get_shared("a"))
    asyncio.get_running_loop().call_later(0.1, far.answers.set)
    assert await asking == Entry(b"2", 20.0)
    far.is_gone = True
    assert await guarded.get_shared("a") == Entry(b"1", 10.0)
