"""Days with as many observations as a page holds, or more: read whole in any order of windows, or refused."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from dataservice.errors import MalformedAnswerError
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, quota

NEWEST = datetime(2026, 8, 17, 12, tzinfo=UTC)
DAYS = 4


class Dense:
    """A signal observed so often a day, on a service with one way to page and to understand `start` and `end`."""

    def __init__(self, per_day: int, size: int, form: str, *, has_start: bool, has_end: bool) -> None:
        times = [NEWEST - timedelta(days=DAYS) + timedelta(days=number / per_day) for number in range(DAYS * per_day)]
        rows = [(f"{time:%Y-%m-%dT%H:%M:%SZ}", float(number)) for number, time in enumerate(times)]
        self.rows = [{"observed_at": time, "value": value} for time, value in rows]
        self.values = dict(rows)
        self.size, self.form, self.has_start, self.has_end = size, form, has_start, has_end

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("observations"):
            return httpx.Response(
                200,
                json={"data": {"slug": "x.y", "name": "x", "latest": self.rows[-1], "history": self.rows[-365:]}},
                headers=quota(),
            )
        start, end = request.url.params["start"], request.url.params["end"]
        found = [row for row in self.rows if self._is_inside(row["observed_at"][:10], start, end)]
        given = dict(request.url.params).get({"page": "page", "cursor": "cursor"}.get(self.form, "offset"))
        offset = 0 if given is None or self.form == "silent" else int(given)
        offset = (offset - 1) * self.size if self.form == "page" and given else offset
        behind = offset + self.size
        beside, headers = self._said(offset, behind, len(found), f"{request.url.path}?start={start}&end={end}")
        return httpx.Response(200, json={"data": found[offset:behind]} | beside, headers=quota() | headers)

    def _is_inside(self, day: str, start: str, end: str) -> bool:
        return (day >= start if self.has_start else day > start) and (day <= end if self.has_end else day < end)

    def _said(self, offset: int, behind: int, total: int, address: str) -> tuple[dict, dict]:
        follows = behind < total
        match self.form:
            case "total":
                return {"pagination": {"limit": self.size, "offset": offset, "total": total}}, {}
            case "flag":
                return {"has_more": follows}, {}
            case "link":
                return {}, {"Link": f'<{address}&offset={behind}>; rel="next"'} if follows else {}
            case "next":
                return {"next": f"{address}&offset={behind}" if follows else None}, {}
            case "page":
                return {"meta": {"page": offset // self.size + 1, "total_pages": -(-total // self.size)}}, {}
            case "cursor":
                return {"next_cursor": str(behind) if follows else None}, {}
        return {}, {}


FORMS = ("total", "flag", "link", "next", "page", "cursor", "silent")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
async def test_windows_in_any_order_are_whole_or_refused(form, seed):
    chance = random.Random(f"{form} {seed}")
    bounds = {"has_start": chance.random() < 0.7, "has_end": chance.random() < 0.6}
    dense = Dense(chance.choice((24, 300, 999, 1_000, 1_440)), chance.choice((250, 997, 1_000)), form, **bounds)
    service, clock = Scripted(dense), Clock(NEWEST.timestamp() + chance.choice((3_600, 30 * 86_400)))
    async with service.client(clock) as client:
        for _ in range(4):
            if chance.random() < 0.3:
                await client.signal("x.y")
            first, last = sorted(chance.sample(sorted(dense.values), 2))
            first, last = first[: chance.choice((10, 20))], last[: chance.choice((10, 20))]
            last = last.removesuffix("T00:00:00Z")  # midnight stands for the day
            inside = [value for time, value in dense.values.items() if first <= time <= last + "~" * (len(last) == 10)]
            try:
                found = await client.observations("x.y", first, last)
            except MalformedAnswerError as error:
                assert form == "silent", error  # noqa: PT017 - all others say how to go on
                return
            assert found.values.tolist() == inside, (first, last)


async def test_what_was_promised_and_lies_behind_the_window_was_no_idle_promise():
    dense = Dense(1_000, 1_000, "total", has_start=True, has_end=True)
    async with Scripted(dense).client(Clock(NEWEST.timestamp())) as client:
        for first, last in (("2026-08-17", "2026-08-17"), ("2026-08-15", "2026-08-16"), ("2026-08-13", "2026-08-14")):
            await client.observations("x.y", first, last)
        assert len(await client.observations("x.y")) == DAYS * 1_000


async def test_a_day_of_a_thousand_costs_no_page_twice():
    service = Scripted(Dense(1_000, 1_000, "total", has_start=True, has_end=True))
    async with service.client(Clock(NEWEST.timestamp())) as client:
        assert len(await client.observations("x.y")) == DAYS * 1_000
    assert len(service.requests) <= DAYS + 2


async def test_a_detail_of_one_day_alone_stops_no_window():
    dense = Dense(1_440, 1_000, "total", has_start=True, has_end=True)
    async with Scripted(dense).client(Clock(NEWEST.timestamp())) as client:
        await client.signal("x.y")
        for first in ("2026-08-17", "2026-08-14"):
            inside = [value for time, value in dense.values.items() if time >= first]
            assert (await client.observations("x.y", first)).values.tolist() == inside


@pytest.mark.parametrize("form", [form for form in FORMS if form != "silent"])
@pytest.mark.parametrize("last", ["2026-08-16", "2026-08-17"])
async def test_a_page_that_ends_within_the_last_day_of_a_window_is_not_its_end(form, last):
    dense = Dense(300, 1_000, form, has_start=True, has_end=True)
    inside = [value for time, value in dense.values.items() if time[:10] <= last]
    a_month_later = NEWEST + timedelta(days=30)  # windows that ended lately are asked with an open end
    async with Scripted(dense).client(Clock(a_month_later.timestamp())) as client:
        assert len(inside) > 1_000
        assert (await client.observations("x.y", "2026-08-13", last)).values.tolist() == inside
        assert (await client.observations("x.y")).values.tolist() == list(dense.values.values())
