"""The archive costs no request: the same ones are sent with it, without it, and with formulas that ask for the past."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

import httpx

from dataservice.client import AsyncClient
from dataservice.client.archive.archive import Archive
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.udfs.engine.test_mixed_workbook import NOON, RESOURCES, SLUGS, WORKBOOK
from tests.udfs.parts.asking import KEY, session_on
from udfs.cells import CellError
from udfs.engine.session import Call, Session

DAYS = 35

PAST = [
    *(Call("SIGNAL", (slug, "value", None, "asof=2026-08-30")) for slug in SLUGS),
    *(Call("SIGNAL_HISTORY", (slug, "-6M", None, "asof=-1D")) for slug in SLUGS),
    *(Call("SPARK", (slug, "-6M", 20, "asof=-1W")) for slug in SLUGS),
    *(Call("SIGNAL", (slug, "change", None, "vintage=first")) for slug in SLUGS),
    *(Call("REVISIONS", (slug,)) for slug in SLUGS),
]


class Revisions:
    """A daily and a monthly series that are revised almost every day, the same way whenever the seed is the same."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.clock = Clock(datetime(2026, 1, 1, 9, tzinfo=UTC).timestamp())
        begun = date(2026, 1, 1)
        self.series = {
            "daily": {begun - timedelta(days=n): float(n) for n in range(1, 500)},
            "monthly": {date(2016 + n // 12, n % 12 + 1, 1): float(n) for n in range(120)},
        }
        self.requests: list[str] = []

    def next_day(self) -> None:
        self.clock.advance(86_400)
        yesterday = datetime.fromtimestamp(self.clock.now, UTC).date() - timedelta(days=1)
        self.series["daily"][yesterday] = self.chance.random()
        if yesterday.day == 14:
            self.series["monthly"][(yesterday.replace(day=1) - timedelta(days=1)).replace(day=1)] = self.chance.random()
        for values in self.series.values():
            days = sorted(values)
            recent = days[-self.chance.choice((1, 5, 200, len(days))) :]
            if self.chance.random() < 0.5:
                values[self.chance.choice(recent)] = self.chance.random()
            elif self.chance.random() < 0.1:
                del values[self.chance.choice(recent)]

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request.url.raw_path.decode())
        headers = {
            "X-Service-Tier": "pro",
            "X-Service-RateLimit-Cap": "50000",
            "X-Service-RateLimit-Remaining": "40000",
        }
        slug = request.url.path.split("/")[3]
        values = self.series[slug]
        rows = [{"observed_at": f"{day}T00:00:00Z", "value": values[day]} for day in sorted(values)]
        if not request.url.path.endswith("/observations"):
            data = {"slug": slug, "name": slug, "latest": rows[-1], "history": rows[-365:]}
            return httpx.Response(200, headers=headers, json={"data": data})
        first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
        page = [row for row in rows if first <= row["observed_at"] <= last][:1_000]
        return httpx.Response(200, headers=headers, json={"data": page})


class NoArchive(Archive):
    """An archive that learns nothing."""

    async def look(self, *_, **__) -> None:
        return


async def mornings(folder, calls: list[Call], archive: type[Archive]) -> list[str]:
    """Return the requests of five weeks: these formulas every morning, in a new process each week."""
    world, client, store = Revisions(seed=5), None, None
    for day in range(DAYS):
        if day % 7 == 0:
            if client is not None:
                await client.aclose()
                await store.aclose()
            store = SqliteStore(folder / "shelf.sqlite", clock=world.clock)
            transport = httpx.MockTransport(world.answer)
            client = AsyncClient("https://data.example", KEY, store=store, clock=world.clock, transport=transport)
            if archive is not Archive:
                client.archive.look = archive.look.__get__(client.archive)
        await Session(client, clock=world.clock).answer(calls)
        world.next_day()
    await client.aclose()
    await store.aclose()
    return world.requests


async def test_five_weeks_of_daily_refreshes_send_the_same_requests_with_and_without_the_archive(tmp_path):
    present = [
        *(Call("SIGNAL", (slug, field)) for slug in ("daily", "monthly") for field in ("value", "change")),
        *(Call("SIGNAL_HISTORY", (slug, start)) for slug in ("daily", "monthly") for start in ("-1Y", "MAX")),
        *(Call("SPARK", (slug, "-6M")) for slug in ("daily", "monthly")),
        Call("SIGNAL", ("daily", "value", "2024-12-15")),
    ]
    past = [
        *(Call("SIGNAL", (slug, "value", None, "asof=-7D")) for slug in ("daily", "monthly")),
        *(Call("SIGNAL_HISTORY", (slug, "-1Y", None, "asof=-7D")) for slug in ("daily", "monthly")),
        Call("SIGNAL_HISTORY", ("never.asked", "-1Y", None, "asof=2025-12-31")),
        Call("SPARK", ("daily", "-6M", 30, "asof=-1M")),
        *(Call("SIGNAL_HISTORY", (slug, "MAX", None, "vintage=first")) for slug in ("daily", "monthly")),
        *(Call("REVISIONS", (slug,)) for slug in ("daily", "monthly")),
    ]
    without = await mornings(tmp_path / "without", present, NoArchive)
    assert len(without) >= DAYS
    assert sorted(await mornings(tmp_path / "with", [*present, *past], Archive)) == sorted(without)


async def test_the_whole_workbook_costs_no_request_more_when_it_also_asks_for_the_past(service):
    async with session_on(service, clock=lambda: NOON) as session:
        outcomes = await session.answer([*WORKBOOK, *PAST])
        assert service.running.request_count == RESOURCES
        assert sum(outcome.requests for outcome in outcomes) == RESOURCES
        early = [outcome.result for outcome in await session.answer(PAST[: len(SLUGS)])]
        assert all(isinstance(result, CellError) and "2026-08-31" in result.message for result in early)
    assert service.running.request_count == RESOURCES
