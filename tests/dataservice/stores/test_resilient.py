"""A tier that fails is a miss and one warning."""

import asyncio
import logging

import pytest

from dataservice.stores import Entry, MemoryStore, ResilientStore
from dataservice.stores.redis import RedisStore
from dataservice.stores.resilient import AT_A_TIME, AT_A_TIME_HERE, PAUSE_S
from tests.dataservice.stores.stores import redis_server


class Broken(MemoryStore):
    """A tier whose reading fails while `broken`."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = True
        self.asked = 0

    async def get(self, name: str) -> Entry | None:
        self.asked += 1
        if self.broken:
            raise OSError("disk on fire")
        return await super().get(name)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_failure_is_a_miss_and_warned_of_once(caplog):
    clock = Clock()
    guarded = ResilientStore(Broken(), clock=clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await guarded.get("a") is None
            clock.now += PAUSE_S
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "disk on fire" not in caplog.text  # what a tier says may hold an address with a password


async def test_the_warning_names_a_file_that_may_not_be_read(caplog):
    class Unreadable(MemoryStore):
        async def get(self, name: str) -> Entry | None:
            raise PermissionError(13, "Permission denied", "shelf.sqlite")

    assert await ResilientStore(Unreadable(), clock=Clock()).get("a") is None
    assert caplog.records[0].getMessage().endswith("skipped for now: Permission denied: shelf.sqlite")


async def test_a_tier_that_failed_rests_and_is_then_asked_again():
    clock, tier = Clock(), Broken()
    guarded = ResilientStore(tier, clock=clock)
    for _ in range(5):
        await guarded.get("a")
    assert tier.asked == 1
    tier.broken = False
    clock.now += PAUSE_S
    await guarded.put("a", Entry(b"x", 1.0))
    assert await guarded.get("a") == Entry(b"x", 1.0)


async def test_while_it_rests_nobody_is_held_back_and_nothing_is_counted():
    guarded = ResilientStore(Broken(), clock=Clock())
    await guarded.get("a")
    assert await guarded.lease("a", "one", 60.0)
    assert await guarded.lease("a", "other", 60.0)
    assert await guarded.salt() is None
    assert await guarded.add("used", 1) is None
    assert await guarded.clear() == 0


async def test_a_tier_that_hangs_is_a_miss():
    class Hanging(MemoryStore):
        async def get(self, name: str) -> Entry | None:
            await asyncio.Event().wait()

    assert await ResilientStore(Hanging(), timeout_s=0.01).get("a") is None


@pytest.mark.parametrize(("is_remote", "at_a_time"), [(True, AT_A_TIME), (False, AT_A_TIME_HERE)])
async def test_a_crowd_waits_its_turn_outside_of_the_tiers_time(is_remote, at_a_time):
    class Counting(MemoryStore):
        inside = most = 0

        async def get(self, name: str) -> Entry | None:
            self.inside += 1
            self.most = max(self.most, self.inside)
            await asyncio.sleep(0)
            self.inside -= 1
            return Entry(name.encode(), 1.0)

    tier = Counting()
    tier.is_remote = is_remote
    guarded = ResilientStore(tier)
    found = await asyncio.gather(*(guarded.get(str(n)) for n in range(500)))
    assert [entry.payload for entry in found if entry] == [str(n).encode() for n in range(500)]
    assert tier.most == at_a_time


async def test_a_redis_that_goes_away_is_a_miss(tmp_path, caplog):
    with redis_server(tmp_path) as url:
        guarded = ResilientStore(RedisStore.from_url(url))
        await guarded.put("a", Entry(b"x", 1.0))
        assert await guarded.get("a") == Entry(b"x", 1.0)
    with caplog.at_level(logging.WARNING):
        assert await guarded.get("a") is None
        await guarded.aclose()
    assert len(caplog.records) == 1


class Stopping(MemoryStore):
    """Stands still while `goes_on` is not set, as a server that is paused; notes what it did."""

    shared = True

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()
        self.done: list[str] = []

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        await self.goes_on.wait()
        await super().put(name, entry, ending=ending)
        self.done.append("put")

    async def release(self, name: str, owner: str) -> None:
        await super().release(name, owner)
        self.done.append("release")


async def test_nobody_waits_until_a_slow_tier_has_kept_an_answer():
    tier = Stopping()
    guarded = ResilientStore(tier, hedge_s=0.001)
    async with asyncio.timeout(1):
        await guarded.put("a", Entry(b"x", 1.0))
        await guarded.release("a", "one")
    assert tier.done == []
    tier.goes_on.set()
    await guarded.settle()
    assert tier.done == ["put", "release"]  # whoever takes the lease next finds the entry


async def test_what_is_still_being_kept_is_found_once_it_is():
    tier = Stopping()
    guarded = ResilientStore(tier, hedge_s=0.001)
    await guarded.put("a", Entry(b"x", 1.0))
    looking = asyncio.ensure_future(guarded.get("a"))
    claiming = asyncio.ensure_future(guarded.claim("a", "one", 8.0))
    await asyncio.sleep(0)
    tier.goes_on.set()
    assert await looking == Entry(b"x", 1.0)
    assert (await claiming).fetched_at == 1.0
