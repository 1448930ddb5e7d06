"""A service that changes its mind: names that go, units that change, series that shrink, a catalogue of many pages."""

import pytest

from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, refusal
from udfs.cells import Grid, cells_of
from udfs.engine.session import Call, Session

DAY_S = 86_400


def observed(month: int, value: float | None) -> dict[str, object]:
    return {"observed_at": f"2026-{month:02}-01T00:00:00Z", "value": value}


class OneSignal:
    """A service with one signal `x`, monthly, whose every part may change; it may also be gone."""

    def __init__(self) -> None:
        self.rows = [observed(month, float(month)) for month in range(1, 9)]
        self.unit: str | None = "barrels"
        self.gone = False
        self.service = Scripted(self._say)

    def _say(self, request):
        if self.gone:
            return refusal(404)
        if request.url.path.endswith("/observations"):
            return answer([row for row in self.rows if row["observed_at"] >= request.url.params.get("start", "")])
        return answer({"slug": "x", "unit": self.unit, "latest": self.rows[-1], "history": self.rows})


async def shown(session, function_id, *args):
    (outcome,) = await session.answer([Call(function_id, args)])
    cells = cells_of(outcome.result)
    return (list(cells.rows()) if isinstance(cells, Grid) else cells), outcome.stale


@pytest.fixture
def clock():
    return Clock()


async def test_a_signal_that_disappears_keeps_its_last_values_and_says_so(clock):
    world = OneSignal()
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        before = [await shown(session, "SIGNAL", "x"), await shown(session, "SIGNAL_HISTORY", "x", "MAX")]
        world.gone = True
        clock.advance(1_000)
        after = [await shown(session, "SIGNAL", "x"), await shown(session, "SIGNAL_HISTORY", "x", "MAX")]
        asked = len(world.service.requests)
        for _ in range(10):
            await shown(session, "SIGNAL", "x")
    assert [found for found, _ in after] == [found for found, _ in before]
    assert after[0][1].reason == "no signal 'x'"
    assert len(world.service.requests) == asked


async def test_a_unit_that_changes_comes_with_the_values_it_belongs_to(clock):
    world = OneSignal()
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        assert await shown(session, "SIGNAL", [["x"]], [["value", "unit"]]) == ([(8.0, "barrels")], None)
        world.unit, world.rows = "litres", [observed(month, month * 159.0) for month in range(1, 9)]
        assert await shown(session, "SIGNAL", [["x"]], [["value", "unit"]]) == ([(8.0, "barrels")], None)
        clock.advance(1_000)
        assert await shown(session, "SIGNAL", [["x"]], [["value", "unit"]]) == ([(8 * 159.0, "litres")], None)
        rows, _ = await shown(session, "SIGNAL_HISTORY", "x", "MAX")
    assert [row[1] for row in rows[1:]] == [month * 159.0 for month in range(1, 9)]


@pytest.mark.parametrize("left", [7, 1])
async def test_a_series_that_shrinks_shrinks_in_the_table(clock, left):
    world = OneSignal()
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        assert len((await shown(session, "SIGNAL_HISTORY", "x", "MAX"))[0]) == 9
        world.rows = world.rows[:left]
        clock.advance(1_000)
        rows, stale = await shown(session, "SIGNAL_HISTORY", "x", "MAX")
    assert (len(rows), stale) == (left + 1, None)


async def test_searching_a_catalogue_of_many_pages_costs_its_pages_once_a_day(clock):
    names = [{"slug": f"s{n:04}", "name": f"Signal number {n}"} for n in range(1_201)]

    def page(request):
        offset = int(request.url.params.get("offset", 0))
        return answer(names[offset : offset + 500], pagination={"limit": 500, "offset": offset, "total": len(names)})

    service = Scripted(page)
    async with service.client(clock) as client:
        session = Session(client, clock=clock)
        for day in (1, 2):
            for search in ("number 7", "s0042", "signal", "no such thing", None) * 4:
                await shown(session, "SIGNALS", search)
                clock.advance(4_000)
            assert len(service.requests) == day * 3
            clock.advance(DAY_S - 20 * 4_000 + 1)
