"""The rhythm of a signal, told by its dates also where the service's recent history may leave some of them out."""

from calendar import monthrange
from datetime import date, timedelta

import pytest

from tests.udfs.parts.given_series import canned
from udfs.engine.session import Call

MONTH_ENDS = {
    date(year, month, monthrange(year, month)[1]): 1.0 * month for year in range(2019, 2026) for month in range(1, 13)
}
OF_SPARSE_DATES = {
    "monthly": MONTH_ENDS,
    "quarterly": {day: value for day, value in MONTH_ENDS.items() if day.month % 3 == 0},
    "yearly": {date(year, 12, 31): 1.0 * year for year in range(1980, 2026)},
    "weekly on Friday": {date(2020, 11, 13) + timedelta(weeks=place): 1.0 * place for place in range(300)},
}


@pytest.mark.parametrize("rhythm", OF_SPARSE_DATES)
async def test_month_ends_and_weeks_have_their_rhythm_though_a_recent_history_of_them_may_be_thinned_out(rhythm):
    session = canned(x=OF_SPARSE_DATES[rhythm])
    assert await session("SIGNAL", "x", "rhythm") == rhythm
    spent = len(session.requests)
    assert await session("SIGNAL", "x", "rhythm") == rhythm
    assert len(session.requests) == spent <= 3


@pytest.mark.parametrize("rhythm", ["monthly", "quarterly", "yearly"])
async def test_a_rhythm_that_is_not_known_yet_is_blank_and_never_said_to_be_irregular(rhythm):
    session = canned(x=OF_SPARSE_DATES[rhythm])
    session.answers |= {"/v1/signals": [{"slug": "x", "name": "X"}], "/v1/wire": [], "/v1/codex": []}
    await session("SIGNAL", "x")
    assert dict(await session("SIGNALS", None, None, "slug, rhythm"))["x"] is None
    assert "rhythm" not in {what for what, _, _ in await session("EXPLAIN", "x")}
    await session("SIGNAL_HISTORY", "x", "MAX")
    spent = len(session.requests)
    assert dict(await session("SIGNALS", None, None, "slug, rhythm"))["x"] == rhythm
    assert ("rhythm", rhythm, None) in await session("EXPLAIN", "x")
    assert len(session.requests) == spent


async def test_a_preview_of_a_rhythm_is_not_above_what_is_spent():
    session = canned(x=MONTH_ENDS)
    call = Call("SIGNAL", ("x", "rhythm"))
    preview = await session.session.cost([call])
    (outcome,) = await session.session.answer([call])
    assert preview.cost.at_least <= outcome.requests == len(session.requests)
    assert preview.cost.at_most is None or outcome.requests <= preview.cost.at_most
