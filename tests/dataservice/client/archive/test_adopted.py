"""Answers that were kept before there was an archive: they begin it, with the time at which all of them had arrived."""

from __future__ import annotations

from datetime import date

import pandas as pd
import pytest

from dataservice.client import HistoryResource, SignalResource
from dataservice.errors import NoVintageError
from dataservice.stores import MemoryStore
from tests.dataservice.client.archive.test_archive import Service, monthly
from tests.dataservice.client.parts.clocks import Clock

X = SignalResource("x")


async def as_before_the_archive(service: Service, *resources) -> MemoryStore:
    """A store that holds answers and no archive, as an earlier version left it."""
    store = MemoryStore(clock=service.clock)
    async with service.client(store) as client:
        for resource in resources:
            await client.read(resource)
    await store.delete_logs()
    return store


@pytest.mark.parametrize("resource", [X, HistoryResource("x"), HistoryResource("x", date(2024, 6, 1))])
async def test_a_kept_answer_counts_as_a_look_when_the_next_one_arrives(resource):
    service = Service(monthly())
    store = await as_before_the_archive(service, resource)
    service.next_day(40)
    service.values[date(2025, 12, 1)] = 99.0
    async with service.client(store) as client:
        await client.read(resource)
        service.next_day()
        for day, value in (("2026-08-01", 23.0), ("2026-09-09", 23.0), ("2026-09-10", 99.0)):
            assert (await client.observations("x", "2025-12-01", "2025-12-31", as_of=day)).values.tolist() == [value]
        with pytest.raises(NoVintageError, match="the first look was on 2026-08-01"):
            await client.observations("x", "2025-12-01", "2025-12-31", as_of="2026-07-31")
        ((_, before, value, seen, not_before),) = (await client.revisions("x")).itertuples(index=False)
    assert (before, value) == (23, 99)
    assert (seen, not_before) == (pd.Timestamp("2026-09-10 12:00Z"), pd.Timestamp("2026-08-01 12:00Z"))


async def test_it_is_told_before_anybody_looks_again_and_without_a_request():
    service = Service(monthly())
    store = await as_before_the_archive(service, X)
    service.next_day(3)
    sent = len(service.requests.requests)
    for _ in range(2):
        async with service.client(store) as client:
            assert len(await client.observations("x", "2024-01-01", as_of="2026-08-02")) == 24
    assert len(service.requests.requests) == sent


async def test_what_a_later_answer_corrected_counts_from_that_one_on():
    service = Service(monthly())
    store = await as_before_the_archive(service, X)
    service.next_day(2)
    service.values[date(2025, 12, 1)] = 99.0
    async with service.client(store) as client:
        await client.read(HistoryResource("x", date(2023, 1, 1)))
    await store.delete_logs()
    service.next_day(2)
    async with service.client(store) as client:
        with pytest.raises(NoVintageError):
            await client.observations("x", "2025-12-01", "2025-12-31", as_of="2026-08-02")
        for day in ("2026-08-03", "2026-08-04"):
            found = await client.observations("x", "2025-12-01", "2025-12-31", as_of=day)
            assert found.values.tolist() == [99]


async def test_an_answer_dated_by_a_clock_that_was_ahead_is_no_look():
    service = Service(monthly())
    service.next_day(300)
    store = await as_before_the_archive(service, X)
    service.next_day(-300)
    service.values[date(2025, 12, 1)] = 99.0
    async with service.client(store) as client:
        await client.read(X)
        service.next_day(1)
        found = await client.observations("x", "2025-12-01", "2025-12-31", as_of="2026-08-01")
    assert found.values.tolist() == [99]


async def test_a_look_that_the_clock_dates_before_the_last_one_comes_after_it_all_the_same():
    service, store = Service(monthly()), MemoryStore()
    begun = service.clock.now
    next_day = Clock(begun + 86_400)
    async with service.client(store) as client, service.requests.client(next_day, store=store) as later:
        for value, at_s in ((1.0, 0), (2.0, -3), (3.0, -3_600), (4.0, -3_700), (5.0, 5)):
            service.clock.now = begun + at_s
            service.values[date(2025, 12, 1)] = value
            await client.refresh(force=True)
            await client.read(X)
            assert (await client.observations("x", "2025-12-01", "2025-12-31")).values.tolist() == [value]
            found = await later.observations("x", "2025-12-01", "2025-12-31", as_of="2026-08-01")
            assert found.values.tolist() == [value]
        life = await client.revisions("x", "2025-12-01")
    assert life["value"].tolist() == [1, 2, 3, 4, 5]
    assert (life["not_before"] < life["first_seen"])[1:].all()
