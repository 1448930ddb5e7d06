"""Long windows that put each row at the start of its period and leave none out: they are no other source."""

import math
from datetime import date, timedelta
from itertools import pairwise

import pytest

from dataservice.client import HistoryResource, SignalResource
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page

LONG = timedelta(days=730)
LAST = date(2026, 8, 1)
DETAIL, WHOLE = SignalResource("x"), HistoryResource("x")
FIRSTS = [date(2006 + n // 12, n % 12 + 1, 1) for n in range(248)]
SERIES = {
    "first days": FIRSTS,
    "last days": [following - timedelta(days=1) for _, following in pairwise(FIRSTS)],
    "Fridays": [date(2018, 1, 5) + timedelta(days=7 * n) for n in range(448)],
}
MOVES = {
    "to their Mondays": lambda day: day - timedelta(days=day.weekday()),
    "to the first of their months": lambda day: day.replace(day=1),
}


class World:
    """A sparse series whose windows of more than two years stand on other days than its detail and short windows."""

    def __init__(self, days, move) -> None:
        self.rows = [(day, 100.0 + n) for n, day in enumerate(days) if day <= LAST]
        self.move = move
        self.service = Scripted(self._say)

    def _say(self, request):
        if not request.url.path.endswith("/observations"):
            rows = _written(self.rows[-365:])
            return answer({"slug": "x", "latest": rows[-1], "history": rows})
        start, end = (date.fromisoformat(request.url.params[name]) for name in ("start", "end"))
        found = [row for row in self.rows if start <= row[0] <= end]
        if found and found[-1][0] - found[0][0] > LONG:
            found = [(self.move(day), value) for day, value in found]
        return page(_written(found))


def _written(rows):
    return [{"observed_at": f"{day}T00:00:00Z", "value": value} for day, value in rows]


@pytest.mark.parametrize("order", [(DETAIL, WHOLE), (WHOLE, DETAIL)], ids=["detail first", "window first"])
@pytest.mark.parametrize(
    ("days", "move"),
    [
        ("first days", "to their Mondays"),
        ("last days", "to their Mondays"),
        ("last days", "to the first of their months"),
        ("Fridays", "to their Mondays"),
    ],
)
async def test_rows_moved_in_long_windows_are_asked_for_again_in_short_ones(days, move, order):
    world = World(SERIES[days], MOVES[move])
    async with world.service.client(Clock()) as client:
        for resource in order:
            await client.read(resource)
        whole, detail = (await client.read(WHOLE)).value, (await client.read(DETAIL)).value
        revisions = (await client.vintages("x")).revision_columns()
    assert list(zip(whole.times.astype("datetime64[D]").tolist(), whole.values.tolist(), strict=True)) == world.rows
    assert detail.history == whole[-365:]
    assert not [value for value in revisions["value_before"].tolist() if not math.isnan(value)]
