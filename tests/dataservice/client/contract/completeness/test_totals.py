"""Services whose totals count rows that never come: what is not proven whole is an error, not a part."""

from datetime import date, timedelta

import httpx
import pytest

from dataservice.client import HistoryResource
from dataservice.client.contract.paging import pages_for
from dataservice.errors import MalformedAnswerError
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer

FIRST = date(2025, 1, 6)
ROWS = [
    {"observed_at": f"{day}T00:00:00Z", "value": float(day.toordinal())}
    for day in (FIRST + timedelta(days=n) for n in range(560))
    if day.weekday() < 5
]


def without_first(request: httpx.Request) -> httpx.Response:
    """A page of 100 of a window, without its first row, and how many there are."""
    if not request.url.path.endswith("/observations"):
        return httpx.Response(404, json={"error": "no"})
    first, last = request.url.params["start"], request.url.params["end"] + "T99"
    rows = [row for row in ROWS if first <= row["observed_at"] <= last]
    return answer(rows[1:100], total=len(rows), offset=0)


@pytest.mark.parametrize("days", [*range(130, 160), *range(270, 300)])
async def test_a_window_whose_total_counts_a_row_that_never_comes_is_never_shown_in_part(days):
    end = FIRST + timedelta(days=days)
    async with Scripted(without_first).client(Clock()) as client:
        with pytest.raises(MalformedAnswerError, match=r"are (said to lie|due)"):
            await client.read(HistoryResource("x", FIRST, end))


@pytest.mark.parametrize("days", [150, 290, 480])
async def test_a_total_that_counts_more_than_the_window_costs_three_requests_once(days):
    def count_all(request: httpx.Request) -> httpx.Response:
        first, last = request.url.params["start"], request.url.params["end"] + "T99"
        rows = [row for row in ROWS if first <= row["observed_at"] <= last]
        return answer(rows[:100], total=len(ROWS), offset=0)

    service = Scripted(count_all)
    end = FIRST + timedelta(days=days)
    async with service.client(Clock()) as client:
        for slug, once in (("x", 3), ("y", 0)):
            asked = len(service.requests)
            found = (await client.read(HistoryResource(slug, FIRST, end))).value
            assert [moment.date().toordinal() for moment, _ in found] == [
                int(row["value"]) for row in ROWS if row["observed_at"][:10] <= str(end)
            ]
            assert len(service.requests) - asked <= pages_for(len(found), 100) + once
