"""EXPLAIN and STATUS say that a value was revised: which, by how much, when that was seen, and when not yet."""

from datetime import UTC, date, datetime, time

from dataservice.client import AsyncClient
from dataservice.server import DailySample
from tests.embedded import SAMPLE_AS_OF
from tests.udfs.parts.asking import cells
from udfs.cells import cells_of
from udfs.engine.session import Call, Session
from udfs.errors import CellError

LATER = date(2026, 9, 20)


class Days:
    """A client and a session that look at a service on one day after another."""

    def __init__(self, service):
        self.day = SAMPLE_AS_OF
        self.sample = DailySample(service.store, clock=self.now)
        self.client = AsyncClient(service.url, service.key, clock=lambda: self.now().timestamp())
        self.session = Session(self.client, clock=lambda: self.now().timestamp())

    def now(self) -> datetime:
        return datetime.combine(self.day, time(12), UTC)

    async def look(self, day: date, *call: str) -> object:
        self.day = day
        self.sample.update()
        return await cells(self.session, *call)


def seen_at(day: date) -> datetime:
    return datetime.combine(day, time(12))


async def test_explain_shows_the_last_revision_of_a_signal_and_between_which_looks_it_came(service):
    days = Days(service)
    async with days.client:
        before = dict(row[:2] for row in await days.look(SAMPLE_AS_OF, "EXPLAIN", "us-cpi"))
        assert before["revisions seen"] == "none since the first look on 2026-08-31"
        assert "last revision" not in before
        old = (await days.client.signal("us-cpi")).latest.value
        after = dict(row[:2] for row in await days.look(LATER, "EXPLAIN", "us-cpi"))
        new = (await days.client.observations("us-cpi", "2026-08-01", "2026-08-01")).values[0]
    assert after["revisions seen"] == "2 since the first look on 2026-08-31"
    assert after["last revision"] == f"2026-08-01: {old} → {new} ({new - old:+.3g})"
    assert (after["first seen"], after["not before"]) == (seen_at(LATER), seen_at(SAMPLE_AS_OF))


async def test_status_shows_it_beside_every_resource_of_the_signal(service):
    days = Days(service)
    async with days.client:
        await days.look(SAMPLE_AS_OF, "SIGNAL", "us-cpi")
        await days.look(SAMPLE_AS_OF, "SIGNAL", "btc-usd")
        await days.look(LATER, "SIGNAL", "us-cpi")
        await days.look(LATER, "SIGNAL", "btc-usd")
        shown = await cells(days.session, "STATUS")
    rows = {row[0]: row[5:] for row in shown}
    assert rows["signal btc-usd"] == (None, None), "new observations are no revision"
    revised_at, revision = rows["signal us-cpi"]
    assert revised_at == seen_at(LATER)
    assert revision.startswith("2026-08-01: ")
    assert revision.endswith(", not before 2026-08-31")


async def test_a_value_that_vanished_is_told_as_that(service):
    days = Days(service)
    async with days.client:
        await days.look(date(2026, 9, 11), "SIGNAL", "pm.rate-cut")
        value = (await days.client.observations("pm.rate-cut", "2026-09-10", "2026-09-10")).values[0]
        after = dict(row[:2] for row in await days.look(date(2026, 9, 14), "EXPLAIN", "pm.rate-cut"))
    assert after["last revision"] == f"2026-09-10: {value} vanished"


async def test_neither_costs_a_request_for_it(service):
    days = Days(service)
    async with days.client:
        await days.look(SAMPLE_AS_OF, "SIGNAL", "us-cpi")
        await days.look(LATER, "SIGNAL", "us-cpi")
        before = service.running.request_count
        await cells(days.session, "STATUS")
    assert service.running.request_count == before


async def test_on_a_new_machine_revisions_look_for_themselves_and_share_the_request_of_the_signal(service):
    async with AsyncClient(service.url, service.key) as client:
        session = Session(client)
        first, wrong = await session.answer([Call("REVISIONS", ("us-cpi",)), Call("REVISIONS", ("no.such",))])
        assert list(cells_of(first.result).rows()) == [tuple(cells_of(first.result).header)]
        assert "no signal 'no.such'" in wrong.result.message
        before = service.running.request_count
        assert isinstance(await cells(session, "SIGNAL", "us-cpi"), float)
        assert service.running.request_count == before


async def test_revisions_beside_the_signal_cost_nothing_more(service):
    async with AsyncClient(service.url, service.key) as client:
        calls = [Call("REVISIONS", ("us-cpi",)), Call("SIGNAL", ("us-cpi",)), Call("STATUS", ("us-cpi",))]
        outcomes = await Session(client).answer(calls)
    assert not [outcome.result for outcome in outcomes if isinstance(outcome.result, CellError)]
    assert service.running.requests == ["/v1/signals/us-cpi?history=365"]
