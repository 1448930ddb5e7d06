"""Observations timed by the clock of their source: a window holds its days by that clock, however the service cuts."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from itertools import product

import httpx
import numpy as np
import pandas as pd
import pytest

from dataservice.client import AsyncClient

KEY = "ds_" + 40 * "0"
HEADERS = {
    "X-Service-Tier": "pro",
    "X-Service-RateLimit-Cap": "1000",
    "X-Service-RateLimit-Remaining": "990",
}
NOW = datetime(2026, 8, 1, tzinfo=UTC).timestamp()

Rows = Sequence[tuple[datetime, float]]

WINDOWS = [
    (date(2026, 6, 10), date(2026, 6, 20)),
    (date(2026, 6, 10), None),
    (None, date(2026, 6, 20)),
    (date(2026, 6, 15), date(2026, 6, 15)),
    (datetime(2026, 6, 10, 22), datetime(2026, 6, 12, 5)),  # noqa: DTZ001 - by the source's clock
    ("2026-06-10T22:00:00-05:00", "2026-06-12T05:00:00+09:00"),
]


def _rows(offset_h: float, hour: int, a_day: int) -> Rows:
    begin = datetime(2026, 6, 1, hour, tzinfo=timezone(timedelta(hours=offset_h)))
    return [(begin + timedelta(hours=24 / a_day * number), float(number)) for number in range(40 * a_day)]


def _service(rows: Rows, *, cuts_by_utc: bool) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        asked = request.url.params
        first, last = (date.fromisoformat(asked.get(name, str(open_))) for name, open_ in OPEN.items())
        found = [
            {"observed_at": moment.isoformat(), "value": value}
            for moment, value in rows
            if first <= (moment.astimezone(UTC) if cuts_by_utc else moment).date() <= last
        ]
        return httpx.Response(200, headers=HEADERS, json={"data": found})

    return httpx.MockTransport(answer)


OPEN = {"start": date.min, "end": date.max}


@pytest.mark.parametrize("cuts_by_utc", [True, False], ids=["by UTC", "by the source's days"])
@pytest.mark.parametrize(("offset_h", "hour", "a_day"), list(product((-11, -5, 0, 5.5, 14), (0, 22), (1, 3))))
async def test_a_window_holds_its_days_and_times_by_the_clock_of_the_source(
    offset_h: float, hour: int, a_day: int, cuts_by_utc: bool
):
    rows = _rows(offset_h, hour, a_day)
    for start, end in WINDOWS:
        service = _service(rows, cuts_by_utc=cuts_by_utc)
        async with AsyncClient("https://data.example", KEY, transport=service, clock=lambda: NOW) as client:
            found = await client.observations("x", start, end)
        first, last = _moment(start or date.min, time.min), _moment(end or date.max, time.max)
        assert found.values.tolist() == [
            value for moment, value in rows if first <= moment.replace(tzinfo=None) <= last
        ], (start, end)


HOURS = [(datetime(2026, 6, 10, tzinfo=UTC) + timedelta(hours=number), float(number)) for number in range(72)]


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        ("-6H", None, 42, 71),
        ("-6H", "2026-06-11T12:00", 30, 36),
        ("-6H", "2026-06-10", 18, 23),
        ("2026-06-10T22:00", "2026-06-11T02:00", 22, 26),
        ("2026-06-10 22:30", "2026-06-11T02:59:59Z", 23, 26),
        (np.datetime64("2026-06-10T22:00"), np.datetime64("2026-06-11T02:00"), 22, 26),
        (pd.Timestamp("2026-06-10 22:00", tz="America/New_York"), None, 26, 71),
        ("2026-06-11T00:00+09:00", "2026-06-11T00:00-05:00", 24, 47),
        ("-1D", "2026-06-11T02:00", 0, 26),
    ],
)
async def test_times_cut_windows_and_midnight_stands_for_its_day(start, end, first, last):
    noon = datetime(2026, 6, 12, tzinfo=UTC).timestamp()
    transport = _service(HOURS, cuts_by_utc=True)
    async with AsyncClient("https://data.example", KEY, transport=transport, clock=lambda: noon) as client:
        found = await client.observations("x", start, end)
        pages = [each async for each in client.observation_pages("x", start, end)]
    shown = found.values.tolist()
    assert shown == [float(number) for number in range(first, last + 1)]
    assert [value for page in pages for value in page.values.tolist()] == shown


def _moment(given: date | str, of_day: time) -> datetime:
    """A day by its first or last moment; a time with an offset in UTC, as arguments are read."""
    match given:
        case str():
            return datetime.fromisoformat(given).astimezone(UTC).replace(tzinfo=None)
        case datetime():
            return given
    return datetime.combine(given, of_day)
