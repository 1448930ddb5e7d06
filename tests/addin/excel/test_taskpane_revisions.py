"""A signal's card says which value was revised, by how much, and between which two looks that was."""

import asyncio
from datetime import UTC, date, datetime, time, timedelta

from dataservice.client import AsyncClient
from dataservice.server import DailySample
from dataservice.stores import SqliteStore, default_sqlite_path
from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import opened


async def looked_before(service, folder, day: date) -> dict[str, float]:
    """Look at us-cpi at noon of a day with the service's data of that day, into a backend's cache; values by day."""
    now = datetime.combine(day, time(12), UTC)
    DailySample(service.store, clock=lambda: now).update()
    store = SqliteStore(folder / "cache" / default_sqlite_path().name)
    async with AsyncClient(service.url, service.key, store=store, clock=now.timestamp) as client:
        history = (await client.signal("us-cpi")).history
    await store.aclose()
    DailySample(service.store).update()
    return {f"{moment:%Y-%m-%d}": value for moment, value in history}


def test_the_card_shows_the_revision_seen_last(chromium, service, tmp_path):
    day = datetime.now(UTC).date() - timedelta(days=35)
    before = asyncio.run(looked_before(service, tmp_path, day))
    with backend_of(service, tmp_path) as backend:
        backend.batch(["SIGNALS"])
        asked = service.running.request_count
        with opened(chromium, backend) as pane:
            pane.sees("15 signals")
            pane.type("Search signals", "us-cpi")
            pane.keys("ArrowDown", "Enter")
            note = pane.text(".card .revision")
            now = {month: backend.values(["SIGNAL", "us-cpi", "value", month])[0] for month in list(before)[-3:]}
        assert service.running.request_count == asked + 1, "the value alone was asked for"
    month, value = [(month, value) for month, value in now.items() if value != before[month]][-1]
    assert note.startswith(f"Revised {month}: from {before[month]} to {value} (")
    assert f"not before {day}" in note


def test_a_signal_that_was_not_revised_has_no_note(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.sees("15 signals")
        pane.type("Search signals", "gold")
        pane.keys("ArrowDown", "Enter")
        pane.text(".card .value")
        pane.settle()
        assert pane.texts(".card .revision") == []
