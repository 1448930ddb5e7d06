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

TODAY = date(2026, 8, 17)
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
        how = self.chance.choice(("backfill", "backfill", "empty", "thin out", "fill"))
        if size is not None or how == "backfill":
            self._fill(size or self.chance.choice(SIZES), step=1)
        elif how == "empty":
            self.values.clear()
        elif how == "thin out":
            self.values = {day: value for n, (day, value) in enumerate(sorted(self.values.items())) if n % 3}
        else:
            self._fill(len(self.values), step=1)
        self.states.append(dict(self.values))

    def publish(self, day: date) -> None:
        """One more observation."""
        self.values[day] = float(day.toordinal())
        self.states.append(dict(self.values))

    def _fill(self, size: int, step: int) -> None:
        for back in range(0, size * step, step):
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

        A change further back than what is asked again anyway is found after 30 days: until then the older state and
        the newer observations are shown together, where the newest of the older ones are as they were.
        """
        if any(shown == state for state in self.states):
            return True
        now = self.values
        for state in self.states:
            newer = {day: value for day, value in shown.items() if day not in state}
            kept = {day: value for day, value in shown.items() if day in state}
            agreed = [day for day in sorted(state)[-OVERLAP:] if now.get(day) == state[day]]
            if kept == state and len(agreed) >= OVERLAP and all(now.get(day) == v for day, v in newer.items()):
                return True
        return False


@pytest.mark.parametrize("seed", range(16))
async def test_a_part_is_never_shown_as_the_whole(seed):
    chance = random.Random(seed)
    world, clock, store = Backfilled(chance), Clock(), MemoryStore()
    async with world.service.client(clock, store=store) as client:
        for _ in range(25):
            match chance.choice(("read", "read", "detail", "change", "publish", "wait", "wait long", "force")):
                case "read":
                    found = await client.read(HistoryResource("x"))
                    shown = {moment.date(): value for moment, value in found.value}
                    is_said = found.stale_because is not None  # an emptied series, whose detail still shows rows
                    assert is_said or world.is_whole(shown), (seed, len(shown), [len(state) for state in world.states])
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
                    clock.advance(FULL_PULL_S)
                case "force":
                    await client.refresh(force=True)


@pytest.mark.parametrize("size", [0, 1, 2, 5, 31, 32])
@pytest.mark.parametrize("first", ["detail", "history", "both"])
async def test_a_short_series_that_is_backfilled_is_shown_whole_as_soon_as_that_is_seen(size, first):
    world, clock = Backfilled(random.Random(1)), Clock()
    world.values.clear()
    world._fill(size, step=1)
    async with world.service.client(clock, store=MemoryStore()) as client:
        if first != "history":
            await client.read(SignalResource("x"))
        if first != "detail":
            await client.read(HistoryResource("x"))
        world._fill(800, step=1)
        clock.advance(1_000)
        await client.read(SignalResource("x"))
        assert len((await client.read(HistoryResource("x"))).value) == 800
