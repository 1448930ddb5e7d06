"""Whatever is asked first: cells of a service whose detail and windows differ show one of them, and stay with it."""

import asyncio
import math
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataservice.client.contract import utc_day
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer
from udfs.cells import Table
from udfs.engine.session import Call, Session
from udfs.errors import CellError

DAY_S = 86_400.0
FIRST = date(2024, 1, 1)

KINDS = [
    *(Call("SIGNAL", ["x", field]) for field in ("value", "previous", "change", "observed_at")),
    *(Call("SIGNAL", ["x", "value", day]) for day in ("2026-06-30", "2024-12-31")),
    *(Call("SIGNAL_HISTORY", ["x", window]) for window in ("MAX", "-1Y", "-2Y", "N20", "N500")),
    Call("SIGNAL_HISTORY", ["x", "2024-03-01", "2025-12-29"]),
]
"""Twelve kinds of cells of one signal."""

Rows = list[tuple[date, float]]


def plain(rows: Rows) -> Rows:
    return rows


TELLINGS = {
    "as documented": plain,
    "in percent": lambda rows: [(day, value * 100) for day, value in rows],
    "adjusted": lambda rows: [(day, value + 3 * math.sin(day.month)) for day, value in rows],
    "two decimals": lambda rows: [(day, round(value, 2)) for day, value in rows],
    "four digits": lambda rows: [(day, float(f"{value:.4g}")) for day, value in rows],
    "the day before": lambda rows: [(day - timedelta(days=1), value) for day, value in rows],
    "changes": lambda rows: [(day, value - before) for (_, before), (day, value) in pairwise([rows[0], *rows])],
    "three rows behind": lambda rows: rows[:-3],
    "every other row": lambda rows: [row for row in rows if row[0].toordinal() % 2],
    "days to come": lambda rows: [*rows, *((rows[-1][0] + timedelta(days=n), 1e9) for n in (1, 2, 3))],
}
"""How windows tell what the detail tells plainly."""


class World:
    """A daily series up to the clock's day, whose windows are told in a way of their own."""

    def __init__(self, tell: Any) -> None:
        self.tell, self.clock = tell, Clock()
        self.service = Scripted(self._say)

    @property
    def plain(self) -> Rows:
        days = (utc_day(self.clock.now) - FIRST).days
        return [(FIRST + timedelta(days=n), 100 + 10 * math.sin(n / 9) + n / 7_919) for n in range(days + 1)]

    def _say(self, request: Any) -> Any:
        parts = request.url.path.split("/")
        if len(parts) == 3:
            return answer([{"slug": "x", "name": "X"}], pagination={"limit": 500, "offset": 0, "total": 1})
        if len(parts) == 4:
            rows = _written(self.plain[-365:])
            return answer({"slug": "x", "name": "X", "latest": rows[-1], "history": rows})
        start, end = (date.fromisoformat(request.url.params[name]) for name in ("start", "end"))
        found = [row for row in self.tell(self.plain) if start <= row[0] <= end]
        return answer(_written(found[:1_000]), pagination={"limit": 1_000, "offset": 0, "total": len(found)})


def _written(rows: Rows) -> list[dict[str, Any]]:
    return [{"observed_at": f"{day}T00:00:00Z", "value": value} for day, value in rows]


def shown(result: Any) -> Any:
    if isinstance(result, CellError):
        return result.message
    if isinstance(result, Table):
        return [tuple(map(str, row)) for row in zip(*(column.tolist() for column in result.columns), strict=True)]
    return result


async def asked(world: World, store: MemoryStore, calls: Sequence[Call]) -> dict[str, Any]:
    """What cells show that are worked out one after the other, in a process of their own."""
    async with world.service.client(world.clock, store=store) as client:
        session = Session(client, clock=world.clock)
        found = {str(call): shown((await session.answer([call]))[0].result) for call in calls}
        columns = (await client.vintages("x")).revision_columns()
        assert not [value for value in columns["value_before"].tolist() if not math.isnan(value)], "made up"
        return found


@pytest.mark.parametrize("name", TELLINGS)
@settings(max_examples=1, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(orders=st.lists(st.permutations(KINDS), min_size=2, max_size=2))
def test_cells_show_the_same_in_any_order_warm_and_days_later_and_no_revision_is_made_up(name, orders):
    async def lived(order: Sequence[Call]) -> list[dict[str, Any]]:
        world, store = World(TELLINGS[name]), MemoryStore()
        await asked(world, store, order)
        warm = await asked(world, store, order)
        world.clock.advance(3 * DAY_S)
        await asked(world, store, order)
        return [warm, await asked(world, store, order)]

    one, other = (asyncio.run(lived(order)) for order in orders)
    assert one == other
