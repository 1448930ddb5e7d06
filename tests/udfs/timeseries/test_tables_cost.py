"""What a sheet of tables costs: told before it is spent, and spent once."""

import pytest

from tests.udfs.parts.asking import session_on
from udfs.engine.session import Call

SHEET = [
    *(Call("INDEX", (slug, field)) for slug in ("risk-dial", "coin-heat") for field in ("value", "name", "components")),
    *(Call("CURRENT", (slug,)) for slug in ("digital-tide", "undecided", "no-such")),
    Call("INDICES"),
    Call("CURRENTS"),
    Call("SIGNALS", ("oil",)),
    Call("SIGNALS", (None, "fx")),
    Call("WIRE"),
    Call("WIRE", ("BTC", "breaking", 50)),
    Call("WIRE", (None,) * 8 + ("text=oil",)),
    Call("CODEX"),
    Call("CODEX", ("report",)),
    Call("CODEX_POST", ("what-moved-12", "citations")),
    Call("QUOTA"),
    Call("STATUS"),
    Call("EXPLAIN", ("us-cpi",)),
    Call("EXPLAIN", ("us-10y",)),
]
RESOURCES = 7
"""Indices, currents, catalogue, wire, posts and two signals."""


async def test_a_sheet_of_tables_costs_one_request_for_each_resource(service):
    async with session_on(service) as session:
        outcomes = await session.answer(SHEET)
    assert service.running.request_count == RESOURCES
    assert sum(outcome.requests for outcome in outcomes) == RESOURCES


@pytest.mark.parametrize("call", SHEET, ids=lambda call: f"{call.function_id}{call.args}")
async def test_the_cost_told_before_is_the_cost_spent(service, call):
    async with session_on(service) as session:
        preview = await session.cost([call])
        assert service.running.request_count == 0
        is_open = call.function_id == "EXPLAIN"  # which reads the wire if the tier allows it: no answer told that yet
        await session.answer([call])
        told_again = await session.cost([call])
    assert preview.requests + is_open == service.running.request_count
    assert told_again.requests == 0


async def test_a_sheet_opened_again_within_the_quarter_of_an_hour_costs_nothing(service):
    async with session_on(service) as session:
        await session.answer(SHEET)
        service.running.forget_requests()
        again = await session.answer(SHEET)
    assert service.running.request_count == 0
    assert sum(outcome.requests for outcome in again) == 0
