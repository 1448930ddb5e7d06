"""Chains of transforms as options: read in any spelling, refused by name, and what they need before the window."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.refusals import refusal_of
from udfs.errors import ArgumentError
from udfs.timeseries.coverage import Lead
from udfs.timeseries.pipeline import Chain, lead_of
from udfs.timeseries.transforms import TRANSFORMS

TODAY = date(2026, 8, 31)

steps = st.sampled_from(list(TRANSFORMS)).flatmap(
    lambda name: st.just(name) if TRANSFORMS[name].least is None else st.integers(2, 500).map(lambda n: f"{name}({n})")
)


def read(text):
    return Chain(help="").read(text, "transform", TODAY)


@given(st.lists(steps, min_size=1, max_size=4))
def test_a_chain_is_read_in_any_case_and_spacing(parts):
    loose = " | ".join(part.upper().replace("(", " ( ").replace(")", " ) ") for part in parts)
    assert read(loose) == read("|".join(parts))
    assert [step.transform.name for step in read(loose)] == [part.partition("(")[0] for part in parts]


def test_arguments_left_out_have_defaults_where_there_is_a_usual_one():
    assert [step.argument for step in read("index|lag")] == [100, 1]


def test_an_unknown_transform_is_told_the_ones_there_are():
    with pytest.raises(
        ArgumentError,
        match=r"^transform: there is no transform 'yoyo'; there are pct, diff, log, yoy, mom, ma\(n\), ewm\(n\), "
        r"zscore\(n\), index\(x\), cum, drawdown, lag\(n\)$",
    ):
        read("pct|yoyo")


@pytest.mark.parametrize(
    "text", ["ma", "ma()", "ma(0)", "ma(1.5)", "ma(x)", "ma(-2)", "zscore(1)", "ewm(nan)", "ma(1e9)"]
)
def test_a_wrong_number_is_told_which_are_right(text):
    with pytest.raises(
        ArgumentError, match=r"^transform: (ma|zscore|ewm)\(n\) needs a whole number from [12] to 100000, not "
    ):
        read(text)


@pytest.mark.parametrize("text", ["pct(3)", "", "|", "ma(3", "ma 3", "ma(3)(4)", "yoy||ma(3)", "index(inf)"])
def test_what_is_no_chain_is_refused(text):
    with pytest.raises(ArgumentError, match=r"^transform: "):
        read(text)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    refusal = refusal_of(lambda: read(text))
    assert refusal is None or len(refusal) < 300


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("log", Lead()),
        ("pct", Lead(rows=1)),
        ("ma(20)", Lead(rows=19)),
        ("yoy|ma(3)", Lead(days=376, rows=2)),
        ("ewm(20)", Lead(rows=100)),
        ("lag(2)|index|ma(5)", Lead(rows=2)),
        ("cum", Lead()),
    ],
)
def test_a_chain_knows_what_it_needs_before_the_window(text, lead):
    assert lead_of(read(text)) == lead
