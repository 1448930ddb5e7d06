"""The last known values: through a day without the service, a spent month, and restarts in between."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pandas as pd
import pytest

from dataservice.client import AsyncClient
from dataservice.server import Store, running
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from udfs.cells import CellError, Grid, cells_of
from udfs.engine.session import Call, Session

NOON = pd.Timestamp(2026, 8, 17, 12, tz="UTC").timestamp()
DAY_S = 86_400

SHEET = [
    Call("SIGNAL", ("us-cpi",)),
    Call("SIGNAL", ("eia.wti.spot", "value", "2022-03-08")),
    Call("SIGNAL_HISTORY", ("eia.wti.spot", "MAX", "2026-07-31", "freq=M; transform=yoy")),
    Call("SPARK", ("us-cpi", "2020-01-01")),
    Call("INDEX", ("risk-dial",)),
    Call("CURRENT", ("digital-tide", "*")),
    Call("WIRE"),
    Call("CODEX"),
]


@asynccontextmanager
async def process(service, path, clock, key=None):
    """A session as a process has it: the memory is its own, the shelf outlives it."""
    shelf = SqliteStore(path / "shelf.sqlite")
    async with AsyncClient(service.url, key or service.key, store=shelf, clock=clock) as client:
        yield Session(client, clock=clock)
    await shelf.aclose()


async def shown(session):
    """What the sheet shows, and for each cell why it is not fresh."""
    outcomes = await session.answer(SHEET)
    cells = [cells_of(outcome.result) for outcome in outcomes]
    return [list(each.rows()) if isinstance(each, Grid) else each for each in cells], [each.stale for each in outcomes]


async def test_a_day_without_the_service_loses_nothing_and_says_how_old_it_is(service, tmp_path):
    clock = Clock(NOON)
    async with process(service, tmp_path, clock) as session:
        before, stale = await shown(session)
        assert stale == [None] * len(SHEET)
        assert not any(isinstance(cell, CellError) for cell in before)
    service.running.stop()
    for _ in range(3):  # restarted again and again, and asked twice each time
        clock.advance(DAY_S)
        async with process(service, tmp_path, clock) as session:
            for _ in range(2):
                now, stale = await shown(session)
                assert now == before
                assert all(each.age_s == pytest.approx(clock.now - NOON, abs=30) for each in stale)
                assert all(each.reason.startswith("the service did not answer") for each in stale)
    async with process(service, tmp_path, clock) as session:
        await shown(session)
        service.running.start()
        clock.advance(61)  # the longest that a service is left alone after it failed
        now, stale = await shown(session)
        assert (now, stale) == (before, [None] * len(SHEET))


async def test_in_a_spent_month_values_stay_and_another_key_brings_new_ones(service, tmp_path):
    clock = Clock(NOON)
    async with process(service, tmp_path, clock) as session:
        await session.answer(SHEET)
    spends = service.running.request_count
    key = service.store.create_key("pro", cap=spends)
    async with process(service, tmp_path, clock, key) as session:
        before, _ = await shown(session)
        assert session.client.quota_now.remaining == 0
    sent = service.running.request_count
    for restarts in (1, 2):
        clock.advance(1_000)
        async with process(service, tmp_path, clock, key) as session:
            for _ in range(2):
                now, stale = await shown(session)
                assert now == before
                assert {each.reason.partition(";")[0] for each in stale} == {
                    f"the month's {spends} requests are used up"
                }
        assert service.running.request_count <= sent + 2 * restarts  # each process may find out, no cell after that
    async with process(service, tmp_path, clock) as session:
        now, stale = await shown(session)
        assert (now, stale) == (before, [None] * len(SHEET))


async def test_a_spent_month_ends_by_itself(service, tmp_path):
    clock = Clock(NOON)
    async with process(service, tmp_path, clock) as session:
        await session.answer(SHEET)
    spends = service.running.request_count
    with Store(tmp_path / "service.db", clock=lambda: datetime.fromtimestamp(clock.now, UTC)) as store:
        key = store.create_key("pro", cap=spends)
        with running(store) as other:
            async with process(other, tmp_path, clock, key) as session:
                before, _ = await shown(session)
                clock.advance(DAY_S)
                now, stale = await shown(session)
                assert now == before
                assert None not in stale
                clock.advance(14 * DAY_S)  # from the eighteenth to the first
                now, stale = await shown(session)
                assert (now, stale) == (before, [None] * len(SHEET))
                quota = session.client.quota_now
                assert 0 < quota.used_here == quota.cap - quota.remaining


DERIVED = {
    ("SIGNAL_HISTORY", "us-10y", "MAX"): [
        ("SIGNAL", "us-10y"),
        ("SIGNAL", "us-10y", "change"),
        ("SIGNAL", "us-10y", "value", "2026-06-30"),
        ("SIGNAL_HISTORY", "us-10y", "2026-06-01", "2026-07-31"),
        ("SIGNAL_HISTORY", "us-10y", "N12"),
        ("SPARK", "us-10y", "2025-10-01"),
    ],
    ("SIGNAL", "us-10y"): [
        ("SIGNAL", "us-10y", "value", "2026-06-30"),
        ("SIGNAL_HISTORY", "us-10y", "2026-06-01", "2026-07-31"),
    ],
    ("SIGNALS",): [("SIGNAL", "us-10y", "name"), ("SIGNAL", "WTI", "unit")],
}
"""By the formula that was answered, others that it tells as well."""


@pytest.mark.parametrize("asked", DERIVED, ids=" ".join)
async def test_what_one_formula_has_shown_is_the_last_known_value_of_others(service, tmp_path, asked):
    clock, others = Clock(NOON), [Call(parts[0], parts[1:]) for parts in DERIVED[asked]]
    async with AsyncClient(service.url, service.key, clock=clock) as client:
        fresh = [outcome.result for outcome in await Session(client, clock=clock).answer(others)]
    async with process(service, tmp_path, clock) as session:
        await session.answer([Call(asked[0], asked[1:])])
    service.running.stop()
    clock.advance(2 * DAY_S)
    async with process(service, tmp_path, clock) as session:
        outcomes = await session.answer(others)
    for outcome, then in zip(outcomes, fresh, strict=True):
        now, before = cells_of(outcome.result), cells_of(then)
        assert (list(now.rows()) if isinstance(now, Grid) else now) == (
            list(before.rows()) if isinstance(before, Grid) else before
        )
        assert outcome.stale.reason.startswith("the service did not answer")
