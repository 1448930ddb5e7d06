"""Windows that begin before their series, where a service refuses these: shown from where the series begins."""

from datetime import date

import numpy as np
import pytest

from dataservice.client import CatalogueResource, HistoryResource
from dataservice.errors import DataServiceError, NotFoundError
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, page, refusal

BEGINS = "2024-01-02"


class Strict:
    """A service with a daily series; it answers `status` to windows that begin before the day `refuses_before`.

    Without `start` it answers from the day `without_start` on.
    """

    def __init__(self, status, refuses_before=BEGINS, without_start=BEGINS):
        self.status, self.refuses_before, self.without_start = status, refuses_before, without_start
        days = np.arange(np.datetime64(BEGINS), np.datetime64("2026-08-18"))
        self.rows = [{"observed_at": f"{day}T00:00:00Z", "value": 2.0} for day in days]
        self.service = Scripted(self.say)

    def say(self, request):
        parts, asked = request.url.path.split("/")[3:], request.url.params
        if not parts:
            return page([{"slug": "daily", "name": "daily"}])
        if parts[0] != "daily":
            return refusal(404)
        if "start" in asked and asked["start"] < self.refuses_before:
            return refusal(self.status)
        first, last = asked.get("start", self.without_start), asked.get("end", "9999") + "T99"
        return page([row for row in self.rows if first <= row["observed_at"] <= last][:1_000])

    async def history(self, start, end=None):
        clock = Clock()
        async with self.service.client(clock, sleep=clock.sleep) as client:
            await client.read(CatalogueResource())
            return (await client.read(HistoryResource("daily", start, end))).value


@pytest.mark.parametrize("status", [400, 404, 416, 422, 500])
@pytest.mark.parametrize("start", [None, date(2023, 6, 1)])
async def test_a_window_that_begins_before_its_series_is_shown_from_where_it_begins(status, start):
    strict = Strict(status)
    found = await strict.history(start, date(2024, 6, 30))
    assert (found.first_day, found.last_day, len(found)) == (date(2024, 1, 2), date(2024, 6, 30), 181)


@pytest.mark.parametrize("status", [404, 500])
async def test_what_came_without_a_start_is_no_whole_window_where_the_day_before_is_answered(status):
    strict = Strict(status, refuses_before="2024-02-01", without_start="2024-05-01")
    with pytest.raises(DataServiceError):
        await strict.history(date(2023, 6, 1), date(2024, 6, 30))


async def test_it_is_found_out_once_that_early_starts_are_refused():
    strict, clock = Strict(404), Clock()
    async with strict.service.client(clock, sleep=clock.sleep) as client:
        await client.read(CatalogueResource())
        await client.read(HistoryResource("daily", date(2023, 6, 1), date(2024, 6, 30)))
        before = len(strict.service.requests)
        await client.read(HistoryResource("daily", date(2022, 6, 1), date(2022, 6, 30)))
        assert len(strict.service.requests) - before <= 2


async def test_a_name_that_nothing_at_hand_shows_is_asked_for_once():
    strict, clock = Strict(404), Clock()
    async with strict.service.client(clock, sleep=clock.sleep) as client:
        with pytest.raises(NotFoundError):
            await client.read(HistoryResource("other", date(2023, 6, 1)))
    assert [request.url.path for request in strict.service.requests] == ["/v1/signals/other/observations"]
