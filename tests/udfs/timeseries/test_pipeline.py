"""Chains of transforms as options: read in any spelling, refused by name, and what they need before the window."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.parts.refusals import refusal_of
from udfs.errors import ArgumentError
from udfs.timeseries.pipeline import Chain, Chains, lead_of, text_of
from udfs.timeseries.spans import Lead, Span
from udfs.timeseries.transforms import TRANSFORMS

TODAY = date(2026, 8, 31)

steps = st.sampled_from(list(TRANSFORMS)).flatmap(
    lambda name: st.just(name) if not TRANSFORMS[name].takes else st.integers(2, 500).map(lambda n: f"{name}({n})")
)


def read(text):
    return Chain(help="").read(text, "transform", TODAY)


@given(st.lists(steps, min_size=1, max_size=4))
def test_a_chain_is_read_in_any_case_and_spacing(parts):
    loose = " | ".join(part.upper().replace("(", " ( ").replace(")", " ) ") for part in parts)
    assert read(loose) == read("|".join(parts))
    assert [step.transform.name for step in read(loose)] == [part.partition("(")[0] for part in parts]


def test_arguments_left_out_have_defaults_where_there_is_a_usual_one():
    index, lag, pct = read("index|lag|pct")
    assert (index.base, index.at, lag.span, pct.span) == (100, None, Span(1), Span(1))


def test_a_span_may_name_its_unit_and_an_index_its_day():
    lag, index, mean, corr, ewm = read("lag(12m)|index(1, 2020-01-31)|ma(52W)|corr(sp-500, 60)|ewm(20, Scaled)")
    assert (lag.span, mean.span, corr.partner, ewm.scaled) == (Span(12, "M"), Span(52, "W"), "sp-500", True)
    assert index.at == date(2020, 1, 31)
    assert read("index(100, 2015)")[0].at == 2015


def test_a_chain_is_shown_in_one_spelling():
    text = "pct|pct(12)|lag(12M)|index|index(1, 2015)|corr(sp-500, 60)|ewm(20, scaled)|yoy|ann"
    assert text_of(read(text.upper().replace("SP-500", "sp-500"))) == text


def test_several_chains_are_separated_by_commas_outside_brackets():
    chains = Chains(help="").read("none, yoy, index(100, 2015)|ma(3)", "transform", TODAY)
    assert [text_of(chain) for chain in chains] == ["none", "yoy", "index(100, 2015)|ma(3)"]


def test_an_unknown_transform_is_told_the_ones_there_are():
    with pytest.raises(
        ArgumentError,
        match=r"^transform: there is no transform 'yoyo'; there are none, pct\(n\), diff\(n\), log, yoy, mom, ",
    ):
        read("pct|yoyo")


@pytest.mark.parametrize(
    "text",
    ["ma", "ma()", "ma(0)", "ma(1.5)", "ma(x)", "ma(-2)", "zscore(1)", "ewm(nan)", "ma(1e9)", "ewm(2M)", "ma(3X)"],
)
def test_a_wrong_number_is_told_which_are_right(text):
    with pytest.raises(
        ArgumentError, match=r"^transform: (ma|zscore|ewm)\(n\) needs a whole number from [12] to 100000(, or|, not) "
    ):
        read(text)


@pytest.mark.parametrize("text", ["yoy(3)", "", "|", "ma(3", "ma 3", "ma(3)(4)", "yoy||ma(3)", "index(inf)"])
def test_what_is_no_chain_is_refused(text):
    with pytest.raises(ArgumentError, match=r"^transform: "):
        read(text)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    refusal = refusal_of(lambda: read(text))
    assert refusal is None or len(refusal) < 400


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("log", Lead()),
        ("pct", Lead(periods=1)),
        ("ma(20)", Lead(periods=19)),
        ("yoy|ma(3)", Lead(months=12, days=10, periods=2)),
        ("lag(52W)", Lead(days=374)),
        ("ewm(20)", Lead(periods=360)),
        ("lag(2)|index|ma(5)", Lead(periods=2)),
        ("index(100, 2015)", Lead(since=date(2015, 1, 1))),
        ("cum", Lead()),
    ],
)
def test_a_chain_knows_what_it_needs_before_the_window(text, lead):
    assert lead_of(read(text)) == lead
