"""Calls that mean the same share one run, and each gets what it would get alone; what they spend is told once."""

from itertools import product

import pytest

from tests.udfs.asking import session_on
from udfs import Call

NOW = 1_788_000_000.0
NAMES = ["us-cpi", " us-cpi", "US-CPI", "WTI", "no-such-signal", "", None, 1, 1.0, True, "#N/A", [["us-cpi"]]]
FIELDS = ["value", "VALUE", "change", None, "nothing", 1, True, [["value", "unit"]]]
DAYS = [None, "-1Y", 46_000, 46_000.25, 46_200.75, "2025-12-09", True, -0.0, [[46_000], [46_000.5]]]
OPTIONS = [None, "", "err=text", "err=blank", "vintage=first", "asof=2026-01-01", "no option", {"err": "text"}]
STARTS = [None, "-1Y", "-12M", "N60", "n60", "MAX", 46_000, 46_000.5, True]
FAMILIES = {
    "one argument": [["SIGNAL", "signal", "INDEX", "EXPLAIN", "NOTHING"], NAMES],
    "fields": [["SIGNAL", "CURRENT"], NAMES, FIELDS],
    "days": [["SIGNAL"], NAMES[:6], FIELDS, DAYS],
    "options": [["SIGNAL"], NAMES[:2], FIELDS[:3], DAYS[:5], OPTIONS],
    "starts": [["SPARK", "SIGNAL_HISTORY"], NAMES[:3], STARTS],
}


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_call_among_equal_ones_gets_what_it_gets_alone(service, family):
    calls = [Call(function_id, args) for function_id, *args in product(*FAMILIES[family])]
    async with session_on(service, clock=lambda: NOW) as session:
        await session.answer([Call("SIGNALS"), *calls])  # now all is at hand
        alone = [(await session.answer([call]))[0] for call in calls]
        together = await session.answer([*calls, *calls[::-1]])
    assert [*map(shown, together)] == [*map(shown, alone), *map(shown, alone[::-1])]


async def test_what_equal_calls_spend_is_told_once(service):
    written = [["us-cpi"], [" us-cpi ", "value"], ["us-cpi", None, ""], ["us-cpi", "VALUE"]]
    async with session_on(service) as session:
        outcomes = await session.answer([Call("SIGNAL", args) for args in written])
    assert sum(outcome.requests for outcome in outcomes) == 1
    assert outcomes[1] is outcomes[2]


def shown(outcome):
    return repr(outcome.result), outcome.stale, outcome.fresh_for_s
