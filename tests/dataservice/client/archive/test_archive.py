"""What was known when, as a client tells it: every answer about a signal is a look."""

from __future__ import annotations

import math
import sqlite3
from datetime import UTC, date, datetime, timedelta

import httpx
import pandas as pd
import pytest

from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.client.archive.archive import FOLD_PARTS
from dataservice.errors import NoVintageError
from dataservice.stores import MemoryStore, SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page

DAY_S = 86_400.0
X = SignalResource("x")


class Service:
    """A service with one series, dated values that a test changes, and a clock that begins on 1 August 2026."""

    def __init__(self, values: dict[date, float | None]) -> None:
        self.values = values
        self.clock = Clock(datetime(2026, 8, 1, 12, tzinfo=UTC).timestamp())
        self.requests = Scripted(self._say)

    def _say(self, request: httpx.Request) -> httpx.Response:
        rows = [{"observed_at": f"{day}T00:00:00Z", "value": self.values[day]} for day in sorted(self.values)]
        if not request.url.path.endswith("/observations"):
            return answer({"slug": request.url.path.split("/")[3], "latest": rows[-1], "history": rows[-365:]})
        first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
        return page([row for row in rows if first <= row["observed_at"] <= last])

    def client(self, store=None, **options) -> AsyncClient:
        return self.requests.client(self.clock, store=store or MemoryStore(), **options)

    def next_day(self, days: int = 1) -> None:
        self.clock.advance(days * DAY_S)


def monthly(count: int = 24) -> dict[date, float | None]:
    return {date(2024 + n // 12, n % 12 + 1, 1): float(n) for n in range(count)}


def moment(day: int, hour: int = 12) -> pd.Timestamp:
    return pd.Timestamp(2026, 8, day, hour, tz="UTC")


async def test_a_revised_value_is_told_as_it_was_known_at_the_end_of_each_day():
    service = Service(monthly())
    async with service.client() as client:
        await client.read(X)
        service.next_day(2)
        service.values[date(2025, 12, 1)] = 99.0
        await client.read(X)
        service.next_day(3)
        for day, value in ((1, 23.0), (2, 23.0), (3, 99.0), (5, 99.0)):
            found = await client.observations("x", "2025-12-01", as_of=f"2026-08-{day:02}")
            assert found.values.tolist() == [value]
        assert client.requests_sent == 2


async def test_a_revision_tells_the_look_that_showed_it_and_the_last_one_that_did_not():
    service = Service(monthly())
    async with service.client() as client:
        await client.read(X)
        service.next_day(1)
        await client.read(X)  # it shows no change, but it is the last look at the old value
        service.next_day(2)
        service.values[date(2025, 12, 1)] = 99.0
        service.values[date(2026, 1, 1)] = 1.5
        del service.values[date(2024, 3, 1)]
        await client.read(X)
        service.next_day(1)
        await client.read(X)
        found = await client.revisions("x")
    assert found.columns.tolist() == ["observed_at", "value_before", "value", "first_seen", "not_before"]
    assert found["observed_at"].dt.date.tolist() == [date(2024, 3, 1), date(2025, 12, 1), date(2026, 1, 1)]
    assert found["value_before"].fillna(-1).tolist() == [2.0, 23.0, -1]
    assert found["value"].fillna(-1).tolist() == [-1, 99.0, 1.5]
    assert found["first_seen"].tolist() == [moment(4)] * 3
    assert found["not_before"].tolist() == [moment(2)] * 3


async def test_a_change_counts_from_the_look_at_other_days_with_which_it_came():
    first = date(2024, 8, 1)
    service = Service({first + timedelta(days=n): float(n) for n in range(730)})
    recent = first + timedelta(days=365)
    async with service.client() as client:
        await client.read(X)
        service.next_day()
        service.values[recent + timedelta(days=5)] = -1.0
        await client.read(HistoryResource("x", first, recent - timedelta(days=1)))  # with a few days of the detail
        service.next_day()
        await client.read(X)
        (row,) = (await client.revisions("x")).itertuples()
        assert (row.value, row.not_before, row.first_seen) == (-1.0, moment(1), moment(2))


async def test_a_row_that_is_gone_is_listed_also_where_the_rows_left_are_as_many_as_services_cut_to():
    first, last = date(2023, 1, 1), date(2026, 7, 30)
    service = Service({first + timedelta(days=n): float(n) for n in range((last - first).days + 1)})
    async with service.client() as client:
        await client.read(HistoryResource("x"))
        service.next_day(20)
        del service.values[last]
        await client.forget()
        await client.read(X)  # shows none, but the windows had told it
        service.next_day()
        found = await client.read(HistoryResource("x", last - timedelta(days=365)))
        assert len(found.value) == 365  # what lies behind them is asked for besides, and nothing comes
        (row,) = (await client.revisions("x")).itertuples()
        assert (row.observed_at.date(), row.not_before, row.first_seen) == (last, moment(1), moment(21))
        assert math.isnan(row.value)


async def test_one_observation_has_its_whole_life_told():
    service = Service(monthly())
    async with service.client() as client:
        for value in (23.0, 24.0, 24.0, 25.0):
            service.values[date(2025, 12, 1)] = value
            await client.read(X)
            service.next_day(1)
        found = await client.revisions("x", "2025-12-01")
        assert found["value"].tolist() == [23.0, 24.0, 25.0]
        assert found["first_seen"].tolist() == [moment(1), moment(2), moment(4)]
        assert found["not_before"].tolist()[1:] == [moment(1), moment(3)]
        assert found["not_before"].isna().tolist() == [True, False, False]
        assert len(await client.revisions("x", start="2026-01-01")) == 0


async def test_what_nobody_looked_at_by_then_is_not_known():
    service = Service({date(2024, 1, 1) + timedelta(days=n): float(n) for n in range(900)})
    async with service.client() as client:
        with pytest.raises(NoVintageError, match="nobody looked at it yet") as never:
            await client.observations("x", "2026-06-01", as_of="2026-07-31")
        assert never.value.first_look is None
        await client.read(X)
        service.next_day(2)
        await client.read(HistoryResource("x"))
        service.next_day(2)
        with pytest.raises(NoVintageError, match="first look was on 2026-08-01") as early:
            await client.observations("x", "2026-06-01", as_of="2026-07-31")
        assert early.value.first_look == date(2026, 8, 1)
        assert len(await client.observations("x", "2026-06-01", as_of="2026-08-01")) == 18
        with pytest.raises(NoVintageError, match=r"known from .* earlier days were first looked at on 2026-08-03"):
            await client.observations("x", "2024-01-01", as_of="2026-08-02")
        assert len(await client.observations("x", as_of="2026-08-03")) == 900
        assert client.requests_sent == 2


async def test_a_day_that_was_looked_at_and_empty_is_known_to_be_empty():
    service = Service(monthly())
    async with service.client() as client:
        await client.read(HistoryResource("x", date(2024, 1, 2), date(2024, 1, 31)))
        service.next_day(2)
        assert len(await client.observations("x", "2024-01-02", "2024-01-31", as_of="2026-08-01")) == 0
        with pytest.raises(NoVintageError):
            await client.observations("x", "2024-01-01", "2024-01-31", as_of="2026-08-01")


async def test_today_is_the_present_and_a_relative_start_counts_back_from_the_day():
    service = Service(monthly())
    async with service.client() as client:
        assert len(await client.observations("x", as_of="2026-08-01")) == 24  # asked of the service
        service.next_day(10)
        found = await client.observations("x", "-10M", as_of="2026-08-02")
        assert found.first_day == date(2025, 11, 1)
        assert client.requests_sent == 1


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_two_processes_and_a_restart_know_the_same(kind, tmp_path):
    service = Service(monthly())

    def opened():
        return shared if kind == "memory" else SqliteStore(tmp_path / "shelf.sqlite", clock=service.clock)

    shared = MemoryStore(clock=service.clock)
    async with service.client(opened()) as one, service.client(opened()) as other:
        for number in range(2 * FOLD_PARTS):
            service.values[date(2025, 12, 1)] = float(number)
            await (one if number % 3 else other).read(X)
            service.next_day(1)
        told = [(await client.revisions("x", "2025-12-01")) for client in (one, other)]
    async with service.client(opened()) as again:
        told.append(await again.revisions("x", "2025-12-01"))
        assert len(await again.archive.slugs()) == 1
    for found in told:
        assert found["value"].tolist() == [float(n) for n in range(2 * FOLD_PARTS)]
        assert (found["first_seen"] - found["not_before"]).dropna().unique().tolist() == [pd.Timedelta(days=1)]


async def test_another_key_sees_none_of_it():
    service, store = Service(monthly()), MemoryStore()
    async with service.client(store) as client:
        await client.read(X)
    transport = httpx.MockTransport(lambda request: httpx.Response(500))
    options = {"store": store, "clock": service.clock, "transport": transport}
    async with AsyncClient("https://data.example", "ds_" + 40 * "9", **options) as other:
        assert len((await other.vintages("x")).facts) == 0
        assert await other.archive.slugs() == []


async def test_forgetting_answers_keeps_the_archive_and_a_pruned_one_says_so():
    service = Service(monthly())
    async with service.client() as client:
        for value in (23.0, 24.0, 25.0):
            service.values[date(2025, 12, 1)] = value
            await client.read(X)
            service.next_day(1)
        await client.forget()
        assert len(await client.revisions("x")) == 2
        assert await client.archive.prune("x", moment(3, 0).timestamp())
        assert (await client.observations("x", "2025-12-01", as_of="2026-08-03")).values.tolist() == [25.0]
        with pytest.raises(NoVintageError, match="earlier looks were pruned"):
            await client.observations("x", "2025-12-01", as_of="2026-08-02")
        assert await client.archive.clear() == 1
        assert len(await client.revisions("x")) == 0


async def test_an_archive_whose_answers_were_forgotten_is_continued_by_a_process_that_never_read_it():
    service, store = Service(monthly()), MemoryStore()
    for value in (23.0, 24.0):
        service.values[date(2025, 12, 1)] = value
        async with service.client(store) as client:
            await client.read(X)
            assert await client.forget()
        service.next_day(1)
    async with service.client(store) as client:
        assert (await client.revisions("x", "2025-12-01"))["value"].tolist() == [23.0, 24.0]


async def test_a_null_value_is_a_value_and_not_a_vanished_one():
    service = Service({**monthly(), date(2026, 1, 1): None})
    async with service.client() as client:
        await client.read(X)
        service.next_day(1)
        service.values[date(2026, 1, 1)] = 5.0
        await client.read(X)
        service.next_day(1)
        then = await client.observations("x", "2026-01-01", as_of="2026-08-01")
        assert len(then) == 1
        assert math.isnan(then.values[0])
        assert (await client.observations("x", "2026-01-01", as_of="2026-08-02")).values.tolist() == [5.0]


def damage(path, numbers: list[int]) -> None:
    """Overwrite the last bytes of some parts, counted from the oldest."""
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT number, payload FROM parts ORDER BY number").fetchall()
        for number, payload in [rows[place] for place in numbers]:
            db.execute("UPDATE parts SET payload = ? WHERE number = ?", (payload[:-12] + b"\0" * 12, number))


@pytest.mark.parametrize("lost", [[0], [1], [2], [0, 1], [0, 2]])
async def test_what_follows_a_damaged_part_is_never_told_as_new(tmp_path, lost):
    service, path = Service(monthly()), tmp_path / "shelf.sqlite"
    store = SqliteStore(path)
    async with service.client(store) as client:
        for value in (None, 99.0, 98.0):
            if value is not None:
                service.values[date(2025, 12, 1)] = value
            await client.read(X)
            service.next_day(2)
        whole = (await client.vintages("x")).revisions()
        assert whole[["value_before", "value"]].to_numpy().tolist() == [[23.0, 99.0], [99.0, 98.0]]
    await store.aclose()
    damage(path, lost)
    store = SqliteStore(path)
    async with service.client(store) as client:
        left = (await client.vintages("x")).revisions()
        assert not left["value_before"].isna().any()
        with pytest.raises(NoVintageError):
            await client.observations("x", as_of=date(2026, 8, 2))
        service.next_day(2)
        await client.read(X)
        service.values[date(2025, 12, 1)] = 97.0
        service.next_day(2)
        await client.read(X)
        now = (await client.vintages("x")).revisions()
        assert not now["value_before"].isna().any()
        assert now[["value_before", "value"]].to_numpy().tolist()[-1] == [98.0, 97.0]
    await store.aclose()


async def test_a_client_that_has_read_nothing_yet_prunes_and_clears_what_is_there(tmp_path):
    service, store = Service(monthly()), SqliteStore(tmp_path / "shelf.sqlite")
    async with service.client(store) as client:
        await client.read(X)
        service.next_day(2)
        service.values[date(2025, 12, 1)] = 99.0
        await client.read(X)
        service.next_day(2)
    async with service.client(store) as client:
        assert await client.archive.slugs() == ["x"]
    async with service.client(store) as client:
        assert await client.archive.prune("x", service.clock())
        assert (await client.vintages("x")).pruned_before
    async with service.client(store) as client:
        assert await client.archive.clear() == 1
    async with service.client(store) as client:
        assert await client.archive.slugs() == []
    await store.aclose()
