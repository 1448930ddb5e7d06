"""Calls bound many at a time are bound as one alone, equal ones share a run, and what that spends is told once."""

from datetime import date
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.parts.asking import session_on
from udfs import REGISTRY, Call
from udfs.arguments.parameters import CACHED_CHARACTERS
from udfs.engine.binding import Bindings, EqualCalls
from udfs.errors import CellError

TODAY = date(2026, 8, 31)
INJECTED = {"now": 1_788_000_000.0, "today": TODAY, "client": None}

RAW = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 60_000),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(
        ["", " ", "us-cpi", "WTI", "value", "-1Y", "2024-12-31", "MAX", "N60", "#N/A", "#REF!", "1", "TRUE", "0", "0.0"]
    ),
    st.sampled_from(["freq=M; fill=prev", "err=text", "err=nonsense", "no option", "x" * (CACHED_CHARACTERS + 1)]),
    st.dates(),
    st.text(max_size=8),
)
ARGUMENT = st.one_of(
    RAW, RAW, st.lists(RAW, max_size=3), st.tuples(RAW), st.lists(st.lists(RAW, max_size=2), max_size=2)
)

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


def bound(bind):
    """What a function would run with, or why it does not."""
    try:
        asking = bind()
    except Exception as error:  # noqa: BLE001 - every error is to be the same one
        return type(error), str(error)
    given = (asking.__qualname__, repr(asking.cr_frame.f_locals))
    asking.close()
    return given


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(REGISTRY)), st.lists(ARGUMENT, max_size=6)), min_size=1, max_size=6))
def test_a_call_among_others_is_bound_as_alone(calls):
    bindings = Bindings(INJECTED)
    for function_id, args in calls:
        together = bound(lambda: bindings[function_id].call(args))  # noqa: B023 - called at once
        assert together == bound(lambda: REGISTRY[function_id].bind(args, TODAY, INJECTED))  # noqa: B023


@settings(max_examples=100, deadline=None)
@given(st.data(), st.sampled_from(sorted(REGISTRY)))
def test_calls_read_together_run_with_what_each_would_run_with_alone(data, function_id):
    column = st.sampled_from([RAW, st.sampled_from(NAMES), st.floats(-10, 60_000), st.integers(-10, 60_000)])
    columns = data.draw(st.lists(column, max_size=6))
    calls = data.draw(st.lists(st.tuples(*columns).map(lambda args: Call(function_id, args)), min_size=1, max_size=8))
    calls = [Call(call.function_id, call.args[: data.draw(st.integers(0, 6))]) for call in calls]
    equal = EqualCalls(Bindings(INJECTED))
    places = equal.places(calls)
    runs = {place: equal.run(place) for place in places}
    of_run = {place: None if isinstance(run, CellError) else bound(lambda: run.asking) for place, run in runs.items()}  # noqa: B023
    for call, place in zip(calls, places, strict=True):
        alone = bound(lambda: REGISTRY[function_id].bind(call.args, TODAY, INJECTED))  # noqa: B023 - called at once
        if isinstance(runs[place], CellError):
            assert alone[1] == runs[place].message
        else:
            assert of_run[place] == alone


def test_true_one_and_the_text_1_are_read_apart():
    bindings = Bindings(INJECTED)
    for first, second in (("1", True), (1.0, True), (True, "1")):
        for raw in (first, second):
            call = bound(lambda: bindings["SIGNAL"].call([raw]))  # noqa: B023 - called at once
            assert call == bound(lambda: REGISTRY["SIGNAL"].bind([raw], TODAY, INJECTED))  # noqa: B023


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_call_among_equal_ones_gets_what_it_gets_alone(service, family):
    calls = [Call(function_id, args) for function_id, *args in product(*FAMILIES[family])]
    async with session_on(service, clock=lambda: INJECTED["now"]) as session:
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
