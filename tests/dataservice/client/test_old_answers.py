"""What is shown of a signal that detail and windows told at several times, mostly while the service is away."""

from datetime import date

import pytest

from dataservice.client import HistoryResource, SignalResource
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, Evidence
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.test_one_truth import World, X, at

FIVE_YEARS, WHOLE = HistoryResource("x", date(2021, 8, 1)), HistoryResource("x")
DAY_S, REVISED = 86_400.0, 1e6


async def shown(world, clock, store, day, **options):
    """What a new process shows of a day in the signal's detail and in its history, while nothing answers."""
    world.down_after = 0
    async with world.service.client(clock, store=store, **options) as restarted:
        detail, found = await restarted.last_known(X), await restarted.last_known(FIVE_YEARS)
    shows = detail.value.history.between(day, day)
    return (float(shows.values[0]) if len(shows) else None), at(found.value, day)


async def test_a_detail_shows_what_younger_windows_told_also_where_these_are_to_be_asked_again():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client:
        await client.read(X)
    clock.advance(1_000)
    world.values[-5] = REVISED
    ahead = Clock(clock.now + 3_600)
    async with world.service.client(ahead, store=store) as other:
        await other.read(FIVE_YEARS)
    clock.advance(60)
    assert await shown(world, clock, store, world.day(5)) == (REVISED, REVISED)


async def test_a_detail_shows_what_the_youngest_part_of_windows_told_since_where_another_part_is_older():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client:
        await client.read(FIVE_YEARS)
    clock.advance(1_000)
    async with world.service.client(clock, store=store) as client:
        await client.read(X)
    clock.advance(1_000)
    world.values[-5] = REVISED
    async with world.service.client(clock, store=store) as client:
        world.down_after = 1
        await client.read(HistoryResource("x", world.day(20)))
    assert await shown(world, clock, store, world.day(5)) == (REVISED, REVISED)


@pytest.mark.parametrize("evidence", [NOTHING_SEEN, Evidence(start_included=True)], ids=["nothing given", "given"])
@pytest.mark.parametrize("days", [1, 40])
async def test_a_history_of_windows_and_detail_side_by_side_is_shown_as_long_as_both_are_kept(evidence, days):
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store, evidence=evidence) as client:
        await client.read(HistoryResource("y"))
        await client.read(SignalResource("y"))  # of this signal both are seen to agree
        await client.read(X)
        await client.read(WHOLE)
        assert (await client.last_known(WHOLE)).value.last_day == world.day(1)
    clock.advance(days * DAY_S)
    world.down_after = 0
    async with world.service.client(clock, store=store, evidence=evidence) as restarted:
        found = await restarted.last_known(WHOLE)
    assert found is not None
    assert (len(found.value), found.value.last_day) == (len(world.values), world.day(1))


async def test_a_history_is_shown_with_a_detail_beside_it_of_which_nobody_knows_when_it_came():
    clock, world, store = Clock(), World(), MemoryStore()
    ahead = Clock(clock.now + 3_600)
    async with world.service.client(ahead, store=store) as other:
        await other.read(HistoryResource("y"))
        await other.read(SignalResource("y"))  # of this signal both are seen to agree
        await other.read(X)
        await other.read(WHOLE)
    world.down_after = 0
    async with world.service.client(clock, store=store) as client:
        found = await client.last_known(WHOLE)
    assert (len(found.value), found.value.last_day) == (len(world.values), world.day(1))
    assert not found.is_fresh(clock.now)


async def test_a_detail_that_is_asked_for_beside_windows_shows_the_newest_row_that_it_told():
    clock, world = Clock(), World()
    async with world.service.client(clock) as client:
        await client.read(HistoryResource("x", date(2023, 1, 1)))
        clock.advance(1)
        world.values[-1] = REVISED
        sent = len(world.service.requests)
        await client.read(WHOLE)  # five years before are as many as windows are cut to: so the detail is asked, too
        assert "observations" not in world.service.requests[-1].url.path
        assert len(world.service.requests) > sent + 1
        assert at((await client.last_known(X)).value.history, world.day(1)) == REVISED
        assert at((await client.last_known(WHOLE)).value, world.day(1)) == REVISED


async def test_a_detail_that_another_process_asked_for_is_compared_with_the_windows_that_were_told_to_that_one():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client, world.service.client(clock, store=store) as other:
        await client.read(FIVE_YEARS)
        clock.advance(60)
        world.values[-5] = REVISED
        await other.refresh(force=True)
        await other.read(FIVE_YEARS)
        await other.read(X)
        assert at((await client.read(X)).value.history, world.day(5)) == REVISED
