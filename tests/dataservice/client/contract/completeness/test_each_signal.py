"""Signals of one service differ: what one of them showed of its sources says nothing of another one's."""

from datetime import UTC, date, datetime, time, timedelta

import httpx
import numpy as np
import pytest

from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.errors import MalformedAnswerError
from dataservice.server import create_app
from dataservice.server.variants import Variant, VariantMiddleware
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page
from tests.embedded import SAMPLE_AS_OF


def of_variant(service, *setting):
    """A client of a variant of the service, on the day of the sample."""
    clock, variant = Clock(noon(SAMPLE_AS_OF)), Variant.parse(setting)
    app = VariantMiddleware(create_app(service.store), service.store, variant)
    return AsyncClient("https://data.example", service.key, clock=clock, transport=httpx.ASGITransport(app))


def noon(day: date) -> float:
    return datetime.combine(day, time(12), UTC).timestamp()


async def test_a_monthly_history_is_of_windows_alone_where_a_daily_signal_has_shown_that_both_agree(sample_service):
    async with of_variant(sample_service, "window-stamps=period-end", "history=days") as client:
        await client.read(SignalResource("us-10y"))
        await client.read(HistoryResource("us-10y"))
        await client.read(SignalResource("us-cpi"))
        found = (await client.read(HistoryResource("us-cpi"))).value
    assert all_at_month_ends(found.times)


def all_at_month_ends(times) -> bool:
    behind = times.astype("datetime64[D]") + 1
    return bool(np.array_equal(behind, behind.astype("datetime64[M]").astype("datetime64[D]")))


TODAY = date(2026, 8, 31)


class Service:
    """Daily rows of `daily`, told alike, and a few a year of `slow`, which windows tell in per cent or not at all."""

    def __init__(self, step_days: int = 91, *, empty: str = "") -> None:
        self.empty = empty
        self.days = {"daily": every(1), "slow": every(step_days)}
        self.asked = Scripted(self.handle)

    def handle(self, request: httpx.Request) -> httpx.Response:
        slug, _, is_window = request.url.path.removeprefix("/v1/signals/").partition("/")
        start, end = (date.fromisoformat(request.url.params.get(name, str(TODAY))) for name in ("start", "end"))
        if not is_window:
            recent = self.rows(slug, TODAY - timedelta(days=364), TODAY)
            return answer({"slug": slug, "name": slug, "latest": recent[-1], "history": recent})
        return page([] if slug == self.empty else self.rows(slug, start, end, 100 if slug == "slow" else 1))

    def rows(self, slug: str, start: date, end: date, unit: int = 1) -> list[dict[str, object]]:
        return [
            {"observed_at": f"{day}T00:00:00Z", "value": day.month * unit}
            for day in self.days[slug]
            if start <= day <= end
        ]


def every(step_days: int) -> list[date]:
    count = 1_500 // step_days
    return [TODAY - timedelta(days=step_days * number) for number in reversed(range(count))]


@pytest.mark.parametrize("step_days", [61, 91, 122, 181])
async def test_a_signal_of_few_rows_a_year_is_of_windows_alone_where_a_daily_one_has_shown_that_both_agree(step_days):
    service = Service(step_days)
    async with service.asked.client(Clock(noon(TODAY))) as client:
        for slug in ("daily", "slow"):
            await client.read(SignalResource(slug))
            found = (await client.read(HistoryResource(slug))).value
    assert len(found) == len(service.days["slow"])
    assert min(found.values) >= 100


async def test_a_signal_without_windows_does_not_let_those_of_others_be_doubted():
    service = Service(1, empty="slow")
    async with service.asked.client(Clock(noon(TODAY))) as client:
        await client.read(SignalResource("slow"))
        with pytest.raises(MalformedAnswerError, match="where its detail shows"):
            await client.read(HistoryResource("slow", date(2024, 1, 1)))
        assert len((await client.read(HistoryResource("daily"))).value) == 1_500
        assert client._reader.evidence.now.hidden_until is None


@pytest.mark.parametrize("late_days", [200, 400])
async def test_windows_of_a_signal_that_ended_before_reach_no_further_back_than_those_of_others(late_days):
    newest = {"fresh": TODAY, "late": TODAY - timedelta(days=late_days)}

    def handle(request: httpx.Request) -> httpx.Response:
        slug, _, is_window = request.url.path.removeprefix("/v1/signals/").partition("/")
        days = [newest[slug] - timedelta(days=number) for number in reversed(range(1_500))]
        rows = [{"observed_at": f"{day}T00:00:00Z", "value": 1.0} for day in days if day.weekday() < 5]
        if not is_window:
            return answer({"slug": slug, "name": slug, "latest": rows[-1], "history": rows[-365:]})
        start = max(request.url.params["start"], f"{newest[slug] - timedelta(days=366)}")
        return page([row for row in rows if start <= row["observed_at"][:10] <= request.url.params["end"]])

    async with Scripted(handle).client(Clock(noon(TODAY))) as client:
        await client.read(SignalResource("fresh"))
        with pytest.raises(MalformedAnswerError, match="where its detail shows"):
            await client.read(HistoryResource("fresh", date(2023, 1, 2)))
        await client.read(HistoryResource("late", newest["late"] - timedelta(days=360)))
        assert client._reader.evidence.now.hidden_until
