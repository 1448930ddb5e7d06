"""Series that are backfilled, emptied, refilled, whose gaps are filled: a part is never shown as the whole."""

import random
from datetime import date, timedelta

import httpx
import pytest

from dataservice.client import HistoryResource, SignalResource
from dataservice.client.cache.history import FULL_PULL_S
from dataservice.client.cache.spans import OVERLAP
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page

TODAY = date(2026, 8, 17) - timedelta(days=25)
"""So many more days are published at most: then it is the day of the clock."""
FEW = 890
"""So many observations come with one request, and leave room for a few."""

SIZES = (0, 1, 2, 5, 30, 31, 32, 100, 364, 365, 366, 800, 2_000)


class Backfilled:
    """A service with one series whose past changes, and all the states it ever was in."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.values: dict[date, float] = {}
        self.states: list[dict[date, float]] = []
        self.service = Scripted(self._say)
        self.change(chance.choice(SIZES))

    def change(self, size: int | None = None) -> None:
        """Add older observations, take all or some away, or fill gaps."""
        how = self.chance.choice(("backfill", "backfill", "backfill", "empty", "thin out", "fill", "add one"))
        if size is not None or how == "backfill":
            self._fill(size or self.chance.choice(SIZES))
        elif how == "empty":
            self.values.clear()
        elif how == "thin out":
            self.values = {day: value for n, (day, value) in enumerate(sorted(self.values.items())) if n % 3}
        elif how == "add one":
            self.publish(TODAY - timedelta(days=self.chance.randrange(3_000)))
        else:
            self._fill(len(self.values))
        self.states.append(dict(self.values))

    def publish(self, day: date) -> None:
        """One more observation."""
        self.values[day] = float(day.toordinal())
        self.states.append(dict(self.values))

    def _fill(self, size: int) -> None:
        for back in range(size):
            day = TODAY - timedelta(days=back)
            self.values.setdefault(day, float(day.toordinal()))

    def _say(self, request: httpx.Request) -> httpx.Response:
        rows = [{"observed_at": f"{day}T00:00:00Z", "value": value} for day, value in sorted(self.values.items())]
        if not request.url.path.endswith("/observations"):
            return answer({"slug": "x", "latest": rows[-1] if rows else None, "history": rows[-365:]})
        first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
        return page([row for row in rows if first <= row["observed_at"] <= last])

    def is_whole(self, shown: dict[date, float]) -> bool:
        """Whether this is the whole series as it is or was, or its past as it was before one that looks the same.

        Of a longer series a change further back than what is asked again anyway is found after 30 days: until then the
        older state and the newer observations are shown together, where the newest of the older ones are as they were.
        The very last one is often provisional: the service may have taken it away.
        """
        if any(shown == state for state in self.states):
            return True
        now = self.values
        for state in map(self._without_gone_newest, self.states):
            newer = {day: value for day, value in shown.items() if day not in state}
            kept = {day: value for day, value in shown.items() if day in state}
            agreed = [day for day in sorted(state)[-OVERLAP:] if now.get(day) == state[day]]
            if kept == state and len(agreed) >= OVERLAP and all(now.get(day) == v for day, v in newer.items()):
                return True
        return False

    def _without_gone_newest(self, state: dict[date, float]) -> dict[date, float]:
        gone = max(state, default=None)
        return {day: value for day, value in state.items() if day != gone or day in self.values}


async def live(seed: int, steps: int) -> None:
    """Look at a series as it changes; a part of it must never be shown as the whole.

    After a forced refresh it is what the service has, and after any refresh if it comes with one request.
    """
    chance = random.Random(seed)
    world, clock, store = Backfilled(chance), Clock(), MemoryStore()
    is_forced, before = False, 10_000
    async with world.service.client(clock, store=store) as client:
        for _ in range(steps):
            match chance.choice(("read", "read", "detail", "change", "publish", "wait", "wait long", "force")):
                case "read":
                    asked = len(world.service.requests)
                    found = await client.read(HistoryResource("x"))
                    shown = {moment.date(): value for moment, value in found.value}
                    is_asked = len(world.service.requests) > asked
                    is_exact = is_forced or (is_asked and before <= FEW)
                    what = (seed, is_forced, len(shown), [len(state) for state in world.states])
                    is_said = found.stale_because is not None  # an emptied series, whose detail still shows rows
                    assert is_said or shown == world.values or (not is_exact and world.is_whole(shown)), what
                    is_forced, before = is_forced and is_said, len(shown)
                case "detail":
                    await client.read(SignalResource("x"))
                case "change":
                    clock.advance(1_000)  # what is fresh may be as it was
                    world.change()
                case "publish":
                    clock.advance(1_000)
                    world.publish(TODAY + timedelta(days=len(world.states)))
                case "wait":
                    clock.advance(1_000)
                case "wait long":
                    clock.advance(chance.choice((1, 1, 2)) * FULL_PULL_S)
                case "force":
                    await client.refresh(force=True)
                    is_forced = True


@pytest.mark.parametrize("seed", [*range(16), 922, 1_528, 1_664, 2_194, 2_220, 2_338, 7_227])
async def test_a_part_is_never_shown_as_the_whole(seed):
    await live(seed, steps=25)


async def test_an_old_observation_that_is_added_makes_no_series_look_as_if_its_service_left_days_out():
    world, clock = Backfilled(random.Random(1)), Clock()
    world.values.clear()
    world._fill(40)
    async with world.service.client(clock, store=MemoryStore()) as client:
        await client.read(HistoryResource("x"))
        world.publish(TODAY - timedelta(days=2_800))
        clock.advance(1_000)
        asked = len(world.service.requests)
        assert len((await client.read(HistoryResource("x"))).value) == 41
        assert len(world.service.requests) - asked == 2  # one tells what the days before a wide gap hold
        world._fill(800)
        clock.advance(1_000)
        assert len((await client.read(HistoryResource("x"))).value) == 801


@pytest.mark.parametrize("size", [32, 33, 100, 365, 400, 800, 890])
async def test_a_series_that_is_backfilled_is_shown_whole_at_the_next_refresh(size):
    world, clock = Backfilled(random.Random(1)), Clock()
    world.values.clear()
    world._fill(size)
    async with world.service.client(clock, store=MemoryStore()) as client:
        await client.read(HistoryResource("x"))
        world._fill(2_000)
        clock.advance(1_000)
        assert len((await client.read(HistoryResource("x"))).value) == 2_000


@pytest.mark.parametrize("gap", [(0, 1), (0, 500), (300, 301), (500, 900), (1_100, 1_200), (1_999, 2_000)])
@pytest.mark.parametrize("window", ["MAX", "five years first", "detail first", "five years beside"])
async def test_after_a_forced_refresh_no_gap_that_was_filled_is_left(gap, window):
    world, clock = Backfilled(random.Random(1)), Clock()
    world.values.clear()
    world._fill(2_000)
    taken = {day: world.values.pop(day) for day in sorted(world.values)[gap[0] : gap[1]]}
    years = HistoryResource("x", TODAY - timedelta(days=5 * 365))
    async with world.service.client(clock, store=MemoryStore()) as client:
        if window == "five years first":
            await client.read(years)
        await client.read(HistoryResource("x"))
        world.values.update(taken)
        await client.refresh(force=True)
        if window == "detail first":
            await client.read(SignalResource("x"))
        if window == "five years beside":
            await client.read(years)
        assert len((await client.read(HistoryResource("x"))).value) == 2_000


@pytest.mark.parametrize("size", [0, 1, 2, 5, 31, 32])
@pytest.mark.parametrize("first", ["detail", "history", "both"])
async def test_a_short_series_that_is_backfilled_is_shown_whole_as_soon_as_that_is_seen(size, first):
    world, clock = Backfilled(random.Random(1)), Clock()
    world.values.clear()
    world._fill(size)
    async with world.service.client(clock, store=MemoryStore()) as client:
        if first != "history":
            await client.read(SignalResource("x"))
        if first != "detail":
            await client.read(HistoryResource("x"))
        world._fill(800)
        clock.advance(1_000)
        await client.read(SignalResource("x"))
        assert len((await client.read(HistoryResource("x"))).value) == 800


@pytest.mark.parametrize("before", ["", "S", "M", "SM", "MS", "MtS", "StM", "MtW", "WtM", "W", "N", "MtStM"])
@pytest.mark.parametrize("waits", [1_000, 86_400, 400 * 86_400])
@pytest.mark.parametrize("force", [False, True])
async def test_a_series_that_was_emptied_is_shown_as_empty_whatever_was_read_before(before, waits, force):
    world, clock = Backfilled(random.Random(1)), Clock()
    world.values.clear()
    world._fill(900)
    year, month = (HistoryResource("x", TODAY - timedelta(days=days)) for days in (360, 30))
    read = {"S": SignalResource("x"), "M": HistoryResource("x"), "W": year, "N": month}
    async with world.service.client(clock, store=MemoryStore()) as client:
        for step in before:
            clock.advance(1_000 if step == "t" else 0)
            if step in read:
                await client.read(read[step])
        world.values.clear()
        clock.advance(waits)
        if force:
            await client.refresh(force=True)
        for resource in (HistoryResource("x"), year, SignalResource("x")):
            found = await client.read(resource)
            shown = found.value.history if isinstance(resource, SignalResource) else found.value
            assert (found.stale_because, len(shown)) == (None, 0)
        world._fill(50)
        clock.advance(1_000)
        assert len((await client.read(HistoryResource("x"))).value) == 50
