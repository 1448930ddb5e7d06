"""Long histories over real HTTP: how many requests they take, and what becomes of a pull that breaks off."""

import asyncio
from datetime import date, timedelta

import httpx
import numpy as np
import pytest

from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.errors import DataServiceError, ServerFailedError, TooManyPagesError
from dataservice.observations import Observations
from dataservice.stores import MemoryStore, SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page, refusal

WTI = HistoryResource("eia.wti.spot")
X = HistoryResource("x")
FIRST = date(2015, 1, 1)


class Series:
    """A service with one daily series, in pages of 1,000, that goes on and may be revised."""

    def __init__(self, days: int) -> None:
        self.values = [float(n) for n in range(days)]
        self.service = Scripted(self._page)
        self.fails_at: int | None = None

    def _page(self, request: httpx.Request) -> httpx.Response:
        if self.fails_at is not None and len(self.service.requests) >= self.fails_at:
            return refusal(500)
        params = request.url.params
        first = (date.fromisoformat(params["start"]) - FIRST).days if "start" in params else 0
        last = (date.fromisoformat(params["end"]) - FIRST).days if "end" in params else len(self.values)
        rows = [
            {"observed_at": f"{FIRST + timedelta(days=n)}T00:00:00Z", "value": self.values[n]}
            for n in range(max(0, first), min(last + 1, len(self.values)))
        ]
        return page(rows)

    def whole(self) -> Observations:
        times = np.datetime64(FIRST, "us") + np.arange(len(self.values)) * np.timedelta64(1, "D")
        return Observations(times.astype("datetime64[us]"), np.array(self.values))


async def test_ten_thousand_observations_take_eleven_requests_and_their_refresh_one(real_service, shared_data):
    clock = Clock(1_788_000_000.0)  # behind the last of them
    async with AsyncClient(real_service.url, real_service.key, clock=clock) as client:
        assert await client.cost([WTI]) >= 11
        first = await client.read(WTI)
        assert (len(first.value), first.requests) == (10_226, 11)
        clock.advance(901)
        assert await client.cost([WTI]) == 1
        second = await client.read(WTI)
        assert (second.value == first.value, second.requests) == (True, 1)
    thirty_before_the_last = (shared_data / "observations" / "eia.wti.spot.csv").read_text().splitlines()[-31][:10]
    assert real_service.running.requests[-1].endswith(f"/observations?start={thirty_before_the_last}&end=2199-12-31")


async def test_a_window_of_which_a_page_tells_too_many_is_refused_before_the_others_are_read():
    series = Series(9_000)
    async with series.service.client(max_pages=5) as client:
        with pytest.raises(TooManyPagesError, match="take more than 5 requests"):
            await client.read(X)
    assert len(series.service.requests) <= 2


async def test_what_arrived_is_what_the_service_has(real_service, shared_data):
    lines = (shared_data / "observations" / "eia.wti.spot.csv").read_text().splitlines()[1:]
    expected = dict(line.split(",") for line in lines)
    async with AsyncClient(real_service.url, real_service.key) as client:
        found = (await client.read(WTI)).value
    assert [time.strftime("%Y-%m-%dT%H:%M:%SZ") for time, _ in found] == list(expected)
    assert found.values.tolist() == [float(value) for value in expected.values()]


async def test_a_short_window_in_the_far_past_costs_its_own_page_only(real_service):
    async with AsyncClient(real_service.url, real_service.key) as client:
        found = await client.read(HistoryResource("eia.wti.spot", date(1990, 8, 1), date(1990, 8, 31)))
        assert (len(found.value), found.requests) == (23, 1)
        assert found.value.first_day == date(1990, 8, 1)


async def test_series_that_begin_before_1900_keep_their_dates(real_service):
    async with AsyncClient(real_service.url, real_service.key) as client:
        assert (await client.observations("wb.gold")).first_day == date(1833, 1, 1)


async def test_windows_of_one_signal_that_are_asked_together_are_pulled_once(real_service):
    async with AsyncClient(real_service.url, real_service.key) as client:
        windows = [HistoryResource("eia.wti.spot", date(year, 1, 1)) for year in (1986, 2000, 2020)]
        await asyncio.gather(*(client.read(window) for window in windows))
    assert real_service.running.request_count == 11


async def test_a_refresh_after_a_restart_tops_up_as_well(tmp_path, real_service):
    clock = Clock()
    for requests in (11, 1):
        shelf = SqliteStore(tmp_path / "shelf.sqlite")
        async with AsyncClient(real_service.url, real_service.key, store=shelf, clock=clock) as client:
            assert (await client.read(WTI)).requests == requests
        await shelf.aclose()
        clock.advance(1_000)


async def test_a_revision_in_the_overlap_is_pulled_and_noted():
    clock, series = Clock(), Series(4_000)
    async with series.service.client(clock) as client:
        await client.read(X)
        series.values[-10] += 5
        clock.advance(1_000)
        found = await client.read(X)
        assert found.value == series.whole()
        assert found.requests == 1 + 4
        (state,) = client.states()
        assert state.revised_at == clock.now


async def test_a_series_that_loses_observations_loses_them_here_too():
    clock, series = Clock(), Series(2_500)
    async with series.service.client(clock) as client:
        await client.read(X)
        del series.values[-5:]
        clock.advance(1_000)
        assert (await client.read(X)).value == series.whole()


async def test_of_a_pull_that_breaks_off_what_arrived_is_not_asked_again():
    series = Series(4_200)
    series.fails_at = 4
    async with series.service.client() as client:
        with pytest.raises(ServerFailedError):
            await client.read(X)
        series.fails_at = None
        await client.refresh()
        found = await client.read(X)
    assert found.value == series.whole()
    assert found.requests == 2


async def test_a_refresh_that_breaks_off_shows_the_last_known_series():
    clock, series = Clock(), Series(2_500)
    async with series.service.client(clock) as client:
        before = (await client.read(X)).value
        clock.advance(1_000)
        series.fails_at = 0
        found = await client.read(X)
        assert found.value == before
        assert isinstance(found.stale_because, DataServiceError)
        assert found.age_s(clock.now) >= 1_000


async def test_the_cost_of_a_history_follows_from_how_often_it_is_observed():
    monthly = {
        "slug": "x",
        "latest": None,
        "history": [
            {"observed_at": f"20{y:02}-{m:02}-01T00:00:00Z", "value": 1} for y in range(20) for m in range(1, 13)
        ],
    }
    async with Scripted(lambda _: answer(monthly)).client() as client:
        assert await client.cost([X]) == 11  # nothing is known: every working day since 1985
        assert await client.cost([HistoryResource("x", date(2026, 8, 1))]) == 1
        await client.read(SignalResource("x"))
        assert await client.cost([X]) == 3  # every month since 1830


@pytest.mark.parametrize("slug", ["eia.wti.spot", "us-cpi", "wb.gold", "fx.eur-usd", "cboe.vix", "us-10y"])
async def test_what_a_whole_series_costs_is_not_more_than_was_told_before(real_service, slug):
    whole, five_years = HistoryResource(slug), HistoryResource(slug, date(2021, 11, 1))
    async with AsyncClient(real_service.url, real_service.key, clock=Clock()) as client:
        assert await client.cost([five_years]) >= (await client.read(five_years)).requests
        assert await client.cost([whole]) >= (await client.read(whole)).requests


async def test_windows_inside_one_another_cost_what_the_widest_costs():
    async with Scripted(lambda _: answer([])).client() as client:
        year, week = HistoryResource("x", date(2025, 8, 1)), HistoryResource("x", date(2026, 8, 10))
        assert await client.cost([week, year, week]) == 1


async def test_history_is_kept_apart_by_signal():
    series = Series(99)
    async with series.service.client(store=MemoryStore()) as client:
        await client.read(X)
        await client.read(HistoryResource("y"))
    assert len(series.service.requests) == 2


async def test_a_history_is_topped_up_also_while_the_store_fails():
    class Broken(MemoryStore):
        async def salt(self):
            raise OSError("disk on fire")

    clock, series = Clock(), Series(4_200)
    async with series.service.client(clock, store=Broken()) as client:
        assert (await client.read(X)).requests == 5
        clock.advance(1_000)
        found = await client.read(X)
    assert (found.requests, found.value == series.whole()) == (1, True)
