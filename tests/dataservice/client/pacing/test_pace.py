"""A limit a second is learned once, by whoever met it, and holds for all processes of a key."""

import pytest

from dataservice.client.pacing.pacer import MARGIN, Pace, Pacer, after_refusals, told_wait_s
from dataservice.stores import ResilientStore, SqliteStore
from tests.dataservice.client.parts.clocks import Clock

NOW = 1_000.0
LEARNED = Pace(gap_s=0.5, learned_at=NOW)


def test_what_was_taken_within_a_second_is_the_limit():
    pace = after_refusals(Pace(), [NOW - 0.2, NOW - 0.1], NOW, NOW + 0.1, None, NOW + 0.1)
    assert pace.gap_s == pytest.approx(MARGIN / 2)


@pytest.mark.parametrize(
    ("share", "slower"), [(None, 1.0), (0.05, 1.0), (0.2, 1.15), (0.9, 2.0)], ids=["few", "seldom", "often", "mostly"]
)
def test_a_known_pace_gets_slower_only_where_much_is_refused(share, slower):
    pace = after_refusals(LEARNED, [], NOW + 5, NOW + 5, None, NOW + 5, share)
    assert pace.gap_s == pytest.approx(LEARNED.gap_s * slower)
    assert pace.not_before == pytest.approx(NOW + 5 + pace.gap_s)  # nothing follows at once


class Process:
    """One of several that share a file; its requests end at once."""

    def __init__(self, file, clock):
        self.clock, self.under_way = clock, 0
        store = ResilientStore(SqliteStore(file), clock=clock)
        self.pacer = Pacer(store, clock=clock, sleep=clock.sleep, under_way=lambda: self.under_way)
        self.pacer.open("key")

    async def meet(self, *, taken, refused):
        """Send so many requests together, some of which the service takes."""
        sent_at = self.clock()
        for _ in range(taken):
            self.pacer.accepted(sent_at)
        for _ in range(refused):
            self.pacer.refused(sent_at, 1.0)
        await self.pacer.save()
        await self.pacer.conclude()


async def test_who_was_only_refused_leaves_the_limit_that_another_one_has_learned(tmp_path):
    clock = Clock()
    one, other = Process(tmp_path / "cache.sqlite", clock), Process(tmp_path / "cache.sqlite", clock)
    await one.pacer.turn()
    await one.meet(taken=2, refused=2)
    learned = one.pacer.pace.gap_s
    await other.meet(taken=0, refused=4)
    assert (learned, other.pacer.pace.gap_s) == (pytest.approx(MARGIN / 2), learned)
    third = Process(tmp_path / "cache.sqlite", clock)
    await third.pacer.turn()
    assert third.pacer.pace.gap_s == learned


async def test_nobody_else_finds_out_before_the_first_has_drawn_its_conclusion(tmp_path):
    clock = Clock()
    one, other = Process(tmp_path / "cache.sqlite", clock), Process(tmp_path / "cache.sqlite", clock)
    await one.pacer.turn()
    one.pacer.refused(clock(), 1.0)
    await one.pacer.save()  # its requests have ended, and what they tell is not known yet
    assert not await other.pacer._store.lease("key/opening", "other", 1.0)
    one.pacer.accepted(clock())
    await one.pacer.conclude()
    await other.pacer.turn()
    assert other.pacer.pace.gap_s == pytest.approx(MARGIN)


@pytest.mark.parametrize(
    ("reset", "waits_s"),
    [("30", 30.0), ("1786994430", 30.0), ("1786994430000", 30.0), ("86401", None), ("9" * 15, None)],
)
def test_the_reset_of_a_limit_may_be_told_in_three_ways_and_never_shuts_a_service_out_for_good(reset, waits_s):
    told = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    assert told_wait_s(told, now=1_786_994_400.0) == waits_s


@pytest.mark.parametrize("seconds", [60.0, 3_600.0, 400 * 86_400.0])
@pytest.mark.parametrize("is_told", [True, False], ids=["seen", "in another process"])
async def test_a_clock_that_is_set_back_makes_nobody_wait_for_longer(tmp_path, seconds, is_told):
    clock = Clock()
    process = Process(tmp_path / "cache.sqlite", clock)
    await process.pacer.turn()
    await process.meet(taken=2, refused=2)
    process.pacer.wait(30.0)
    await process.pacer.save()
    clock.advance(-seconds)
    if is_told:
        process.pacer.set_back(seconds)
    else:
        process = Process(tmp_path / "cache.sqlite", clock)
    before = clock()
    await process.pacer.turn()
    is_kept = is_told or seconds < 86_400.0  # what another process learned holds for a day
    assert clock() - before == pytest.approx(30.0 if is_kept else 0.0, abs=1.0)
