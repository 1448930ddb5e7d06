"""The options asof and vintage, and REVISIONS: what cells show of what was known when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import httpx
import pytest

import udfs
from dataservice.client import AsyncClient
from tests.dataservice.client.parts.clocks import Clock
from tests.udfs.parts.asking import KEY, cells
from udfs.engine.session import Call, Session

SLUG = "us-cpi"


class Revised:
    """A monthly and a daily series that a test revises, in time that passes when told; it counts the requests."""

    def __init__(self) -> None:
        self.clock = Clock(datetime(2026, 8, 1, 12, tzinfo=UTC).timestamp())
        self.monthly = {date(2020 + n // 12, n % 12 + 1, 1): float(n + 1) for n in range(78)}
        self.daily = {date(2022, 1, 1) + timedelta(days=n): float(n) for n in range(1_673)}
        self.requests = 0
        client = AsyncClient("https://data.example", KEY, transport=httpx.MockTransport(self._answer), clock=self.clock)
        self.session = Session(client, clock=self.clock)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        slug = request.url.path.split("/")[3]
        values = self.monthly if slug == SLUG else self.daily
        rows = [{"observed_at": f"{day}T00:00:00Z", "value": values[day]} for day in sorted(values)]
        first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
        page = [row for row in rows if first <= row["observed_at"] <= last][:1_000]
        detail = {"slug": slug, "name": slug, "latest": rows[-1], "history": rows[-365:]}
        headers = {
            "X-Service-Tier": "pro",
            "X-Service-RateLimit-Cap": "9000",
            "X-Service-RateLimit-Remaining": "9",
        }
        data = page if request.url.path.endswith("/observations") else detail
        return httpx.Response(200, headers=headers, json={"data": data})

    def next_day(self, days: int = 1) -> None:
        self.clock.advance(days * 86_400)

    async def __call__(self, function_id: str, *args):
        return await cells(self.session, function_id, *args)


async def revised_twice() -> Revised:
    """June 2026 was 78 on 1 August, 79 from the 3rd on, and 80 from the 5th on; today is the 10th."""
    service = Revised()
    for value in (78.0, 79.0, 80.0):
        service.monthly[date(2026, 6, 1)] = value
        await service("SIGNAL", SLUG)
        service.next_day(2)
    service.next_day(3)
    service.requests = 0
    return service


async def test_a_value_is_shown_as_it_was_known_at_the_end_of_a_day():
    shown = await revised_twice()
    for day, value in ((1, 78), (2, 78), (3, 79), (4, 79), (5, 80), (9, 80)):
        assert await shown("SIGNAL", SLUG, "value", None, f"asof=2026-08-{day:02}") == value
        assert await shown("SIGNAL", SLUG, "value", "2026-06-30", f"asof=2026-08-{day:02}") == value
    assert await shown("SIGNAL", SLUG, "change", None, "asof=2026-08-03") == 2
    assert await shown("SIGNAL", SLUG, "observed_at", "2026-05-31", "asof=2026-08-03") == date(2026, 5, 1)
    assert await shown("SIGNAL", SLUG, "previous", "2020-02-01", "asof=2026-08-03") == 1
    assert shown.requests == 0


async def test_today_is_the_present_and_the_future_is_refused():
    shown = await revised_twice()
    shown.monthly[date(2026, 6, 1)] = 81.0
    assert await shown("SIGNAL", SLUG, "value", None, "asof=2026-08-09") == 80
    assert await shown("SIGNAL", SLUG, "value", None, "asof=2026-08-10") == 81
    assert "asof=2030-01-01 lies in the future" in str(await shown("SIGNAL", SLUG, "value", None, "asof=2030-01-01"))
    assert shown.requests == 1


async def test_a_table_and_a_line_are_of_that_day_too():
    shown = await revised_twice()
    rows = await shown("SIGNAL_HISTORY", SLUG, "-3M", None, "asof=2026-08-03")
    assert rows[1:] == [(date(2026, 6, 1), 79.0)]
    rows = await shown("SIGNAL_HISTORY", SLUG, "N2", None, "asof=2026-08-01; transform=diff")
    assert rows[1:] == [(date(2026, 5, 1), 1.0), (date(2026, 6, 1), 1.0)]
    assert await shown("SPARK", SLUG, "N3", 40, "asof=2026-08-02") == "▁▅█"
    assert await shown("SPARK", SLUG, "N3", 40, "asof=2026-08-06") == "▁▃█"
    assert shown.requests == 0


async def test_the_values_seen_first_are_shown_on_request():
    shown = await revised_twice()
    assert await shown("SIGNAL", SLUG, "value", None, "vintage=first") == 78
    assert await shown("SIGNAL", SLUG, "value", None, "vintage=latest") == 80
    assert await shown("SIGNAL", SLUG, "value", "2026-07-15", "asof=2026-08-06; vintage=first") == 78
    rows = await shown("SIGNAL_HISTORY", SLUG, "N2", None, "vintage=first")
    assert rows[1:] == [(date(2026, 5, 1), 77.0), (date(2026, 6, 1), 78.0)]
    rows = await shown("SIGNAL_HISTORY", SLUG, "N2", None, "vintage=first; asof=2026-08-09")
    assert rows[2] == (date(2026, 6, 1), 78.0)


async def test_before_the_first_look_nothing_is_known_and_its_day_is_told():
    shown = await revised_twice()
    for call in (
        ("SIGNAL", SLUG, "value", None, "asof=2026-07-31"),
        ("SIGNAL_HISTORY", SLUG, "-1Y", None, "asof=2026-07-31"),
        ("SPARK", SLUG, "-1Y", 40, "asof=2026-07-31"),
    ):
        found = await shown(*call)
        assert (found.code, "2026-08-01" in found.message) == ("#N/A", True), found
    found = await shown("SIGNAL", "no.such", "value", None, "asof=2026-08-02")
    assert (found.code, "nobody looked" in found.message) == ("#N/A", True)
    assert shown.requests == 0


async def test_a_window_of_which_only_a_part_was_known_is_no_answer():
    shown = Revised()
    await shown("SIGNAL", "daily.one")
    shown.next_day()
    await shown("SIGNAL_HISTORY", "daily.one", "MAX")
    shown.next_day()
    spent = shown.requests
    found = await shown("SIGNAL_HISTORY", "daily.one", "2024-01-01", None, "asof=2026-08-01")
    assert (found.code, "2026-08-02" in found.message) == ("#N/A", True), found
    early = await shown("SIGNAL", "daily.one", "value", "2024-01-01", "asof=2026-08-01")
    assert (early.code, "2026-08-02" in early.message) == ("#N/A", True)
    assert len(await shown("SIGNAL_HISTORY", "daily.one", "2026-01-01", None, "asof=2026-08-01")) == 213
    assert len(await shown("SIGNAL_HISTORY", "daily.one", "MAX", None, "asof=2026-08-02")) == 1_674
    assert shown.requests == spent


async def test_revisions_are_a_table_of_what_changed():
    shown = await revised_twice()
    header, *rows = await shown("REVISIONS", SLUG)
    noon = [datetime(2026, 8, day, 12) for day in (1, 3, 5)]  # noqa: DTZ001 - cells hold naive times in UTC
    assert header == ("observed_at", "value_before", "value", "first_seen", "not_before")
    june = date(2026, 6, 1)
    assert rows == [(june, 78.0, 79.0, noon[1], noon[0]), (june, 79.0, 80.0, noon[2], noon[1])]
    whole = await shown("REVISIONS", SLUG, june.isoformat())
    assert whole[1] == (june, None, 78.0, noon[0], None)
    assert whole[2:] == rows
    assert len(await shown("REVISIONS", SLUG, None, "2026-06-01")) == 3
    assert await shown("REVISIONS", SLUG, None, "2026-06-02") == [header], "no change since"
    assert shown.requests == 0


async def test_revisions_know_what_the_batch_they_are_in_has_found():
    shown = await revised_twice()
    shown.monthly[date(2026, 6, 1)] = 81.0
    outcomes = await shown.session.answer([Call("REVISIONS", [SLUG]), Call("SIGNAL", [SLUG])])
    assert outcomes[0].result.frame()["value"].tolist() == [79.0, 80.0, 81.0]


async def test_foreseen_costs_of_the_past_are_none():
    shown = await revised_twice()
    calls = [
        Call("SIGNAL", [SLUG, "value", None, "asof=2026-08-03"]),
        Call("SIGNAL_HISTORY", ["no.such", "MAX", None, "asof=2026-08-03"]),
        Call("REVISIONS", [SLUG]),
    ]
    assert (await shown.session.cost(calls)).requests == 0


@pytest.mark.parametrize("option", ["asof=when", "asof=N5", "vintage=second"])
async def test_a_wrong_vintage_is_a_wrong_formula(option):
    shown = await revised_twice()
    for call in (("SIGNAL", SLUG, "value", None, option), ("SPARK", SLUG, "-1Y", 9, option)):
        assert (await shown(*call)).code == "#VALUE!"


def test_the_options_are_where_hosts_look_for_them():
    for name in ("SIGNAL", "SIGNAL_HISTORY", "SPARK"):
        function = udfs.REGISTRY[name]
        options = function.parameters[function.options_at].kind.options
        assert {"asof", "vintage"} <= {option.name for option in options}
