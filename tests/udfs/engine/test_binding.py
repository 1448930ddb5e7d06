"""Calls bound many at a time, with readings that are kept, are bound as one call alone."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from udfs import REGISTRY
from udfs.arguments.parameters import CACHED_CHARACTERS
from udfs.engine.binding import Bindings

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


def test_true_one_and_the_text_1_are_read_apart():
    bindings = Bindings(INJECTED)
    for first, second in (("1", True), (1.0, True), (True, "1")):
        for raw in (first, second):
            call = bound(lambda: bindings["SIGNAL"].call([raw]))  # noqa: B023 - called at once
            assert call == bound(lambda: REGISTRY["SIGNAL"].bind([raw], TODAY, INJECTED))  # noqa: B023
