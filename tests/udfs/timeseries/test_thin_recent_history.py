"""A recent history that may leave days out does not count, but tells how far apart rows are at most."""

from datetime import UTC, date, datetime, timedelta

import pytest

from dataservice.client.contract import utc_day
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page
from udfs.engine.session import Call, Session

TODAY = date(2026, 8, 31)
DAILY = [TODAY - timedelta(days=number) for number in reversed(range(2_500))]


def rows(days):
    return [{"observed_at": f"{day}T00:00:00Z", "value": float(day.toordinal())} for day in days]


def by_weeks(days):
    return list({day - timedelta(days=day.weekday()): day for day in days}.values())


def service_of(thin):
    def handle(request):
        if not request.url.path.endswith("/observations"):
            recent = rows(thin(DAILY[-365:]))
            return answer({"slug": "x", "name": "x", "latest": recent[-1], "history": recent})
        start, end = (date.fromisoformat(request.url.params[name]) for name in ("start", "end"))
        return page(rows(day for day in DAILY if start <= day <= end))

    return Scripted(handle)


async def test_a_day_of_such_a_series_is_sought_in_a_few_years_around_it():
    service = service_of(by_weeks)
    clock = Clock(datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp())
    async with service.client(clock) as client:
        (cell,) = await Session(client, clock=clock).answer([Call("SIGNAL", ["x", "value", "2022-12-31"])])
    assert cell.result == date(2022, 12, 31).toordinal()
    asked = [request.url.params for request in service.requests if "start" in request.url.params]
    assert min(each["start"] for each in asked) >= "2020-12-30"
    assert max(each["end"] for each in asked) < "2024-03"


@pytest.mark.parametrize("count", [60, 300])
async def test_the_last_rows_of_a_series_whose_recent_history_shows_weeks_are_sought_in_as_many_weeks(count):
    service = service_of(by_weeks)
    clock = Clock(datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp())
    assert utc_day(clock.now) == TODAY
    async with service.client(clock) as client:
        (cell,) = await Session(client, clock=clock).answer([Call("SIGNAL_HISTORY", ["x", f"N{count}"])])
    assert [str(day)[:10] for day in cell.result.columns[0].tolist()] == [str(day) for day in DAILY[-count:]]
    starts = [
        date.fromisoformat(request.url.params["start"])
        for request in service.requests
        if request.url.params.get("start")
    ]
    assert min(starts) > TODAY - timedelta(days=2 * 7 * count)
