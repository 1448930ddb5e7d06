"""Where detail and windows tell two series: also weeks later, the part that was asked last is not taken for all."""

import calendar
from datetime import date, timedelta

import pytest

from dataservice.client import HistoryResource, SignalResource
from dataservice.client.cache.sources import APART
from dataservice.client.contract import utc_day
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page
from udfs.engine.session import Call, Session

DAY_S = 86_400.0
DETAIL, WHOLE = SignalResource("x"), HistoryResource("x")


def end_of(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


TELLINGS = {
    "adjusted": lambda day, value: (day, value * 1.013),
    "in thousands": lambda day, value: (day, value / 1_000),
    "at the ends of months": lambda day, value: (end_of(day), value),
    "two days later": lambda day, value: (day + timedelta(days=2), value),
}
"""How windows tell a row of the detail."""


class World:
    """A monthly series of some years."""

    def __init__(self, tell, years=60) -> None:
        self.clock, self.tell, self.years = Clock(), tell, years
        self.service = Scripted(self._say)

    @property
    def plain(self):
        days = [date(2030 - self.years + n // 12, n % 12 + 1, 1) for n in range(12 * self.years)]
        return [(day, 100.0 + n) for n, day in enumerate(days) if day <= utc_day(self.clock.now)]

    @property
    def told(self):
        return [row for row in (self.tell(*row) for row in self.plain) if row[0] <= utc_day(self.clock.now)]

    def _say(self, request):
        if not request.url.path.endswith("/observations"):
            rows = _written(self.plain[-365:])
            return answer({"slug": request.url.path.split("/")[3], "latest": rows[-1], "history": rows})
        start, end = (date.fromisoformat(request.url.params[name]) for name in ("start", "end"))
        return page(_written([row for row in self.told if start <= row[0] <= end]))


def _written(rows):
    return [{"observed_at": f"{day}T00:00:00Z", "value": value} for day, value in rows]


def rows_of(found):
    return list(zip(found.times.astype("datetime64[D]").tolist(), found.values.tolist(), strict=True))


@pytest.mark.parametrize("telling", TELLINGS)
@pytest.mark.parametrize("days", [13, 33, 75])
@pytest.mark.parametrize("since", [date(2025, 1, 15), date(2022, 6, 1)])
async def test_a_window_that_was_asked_last_is_no_whole_history(telling, days, since):
    world = World(TELLINGS[telling])
    async with world.service.client(world.clock) as client:
        await client.read(DETAIL)
        await client.read(WHOLE)
        world.clock.advance(days * DAY_S)
        await client.read(HistoryResource("x", since))
        session = Session(client, clock=world.clock)
        (cell,) = await session.answer([Call("SIGNAL_HISTORY", ["x", "MAX"])])
        found = (await client.read(WHOLE)).value
        old = (await client.read(HistoryResource("x", date(1990, 1, 1), date(1990, 6, 30)))).value
    assert [day.isoformat() for day, _ in world.told] == [str(day)[:10] for day in cell.result.columns[0].tolist()]
    assert cell.result.columns[1].tolist() == [value for _, value in world.told]
    assert rows_of(found) == world.told
    assert rows_of(old) == [row for row in world.told if date(1990, 1, 1) <= row[0] <= date(1990, 6, 30)]


async def test_the_status_says_of_which_signals_detail_and_windows_differ():
    world, alike = World(TELLINGS["adjusted"]), World(lambda *row: row)
    for each, note in ((world, APART), (alike, None)):
        async with each.service.client(each.clock) as client:
            await client.read(DETAIL)
            await client.read(WHOLE)
            told = {state.resource: state.last_error for state in client.states()}
        assert {str(told[resource].message) if told[resource] else None for resource in (DETAIL, WHOLE)} == {note}


@pytest.mark.parametrize("telling", TELLINGS)
async def test_what_a_process_shows_in_place_of_a_detail_is_no_detail_to_another_one(telling):
    world, store = World(TELLINGS[telling]), MemoryStore()
    async with (
        world.service.client(world.clock, store=store) as client,
        world.service.client(world.clock, store=store) as other,
    ):
        await other.read(SignalResource("y"))
        await client.read(DETAIL)
        await client.read(WHOLE)
        world.clock.advance(DAY_S)
        await client.read(DETAIL)
        for later_s, resource in ((0.0, WHOLE), (0.0, DETAIL), (DAY_S, DETAIL), (0.0, WHOLE)):
            world.clock.advance(later_s)
            shown = (await other.read(resource)).value
            found = shown.history if resource is DETAIL else shown
            assert rows_of(found) == world.told[-len(found) :]


@pytest.mark.parametrize("telling", TELLINGS)
async def test_a_detail_in_whose_place_windows_are_shown_has_the_newest_observation(telling):
    world = World(TELLINGS[telling])
    async with world.service.client(world.clock) as client:
        await client.read(WHOLE)
        world.clock.advance(1_000.0)
        shown = (await client.read(DETAIL)).value
        assert shown.latest.value in (world.told[-1][1], world.plain[-1][1])
        await client.read(WHOLE)
        assert (await client.read(DETAIL)).value.latest.value == world.told[-1][1]


@pytest.mark.parametrize("telling", TELLINGS)
@pytest.mark.parametrize("years", [20, 60])
async def test_windows_that_were_shown_in_place_of_an_old_detail_do_not_agree_with_themselves(telling, years):
    world, store = World(TELLINGS[telling], years), MemoryStore()
    async with world.service.client(world.clock, store=store) as first:
        await first.read(DETAIL)
    world.clock.advance(13 * DAY_S)
    async with (
        world.service.client(world.clock, store=store) as client,
        world.service.client(world.clock, store=store) as other,
    ):
        for later_s in (0.0, 1_000.0, 1_000.0):
            world.clock.advance(later_s)
            await Session(client, clock=world.clock).answer([Call("SIGNAL_HISTORY", ["x", "MAX"])])
        for later_s, resource in ((1_000.0, WHOLE), (1_000.0, DETAIL), (1_000.0, WHOLE)):
            world.clock.advance(later_s)
            await other.read(resource)
        assert (await client.revisions("x")).value_before.isna().all(), "at most new ones"
