"""Options: text such as `freq=M; fill=prev` or a range of two columns; errors as the formula wants them."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.arguments.kinds import Choice, Count, Text
from udfs.arguments.options import Option, Options, error_style
from udfs.errors import ArgumentError
from udfs.functions.signal_history import OPTIONS

TODAY = date(2026, 8, 31)

KIND = Options(
    help="",
    options=(
        Option("freq", Text(help="", choices=(Choice("M"), Choice("Q")))),
        Option("limit", Count(help="")),
        Option("text", Text(help="")),
    ),
)


words = st.text(st.characters(blacklist_characters=";=\n", blacklist_categories=["Cs", "Cc"])).map(str.strip)
values = words.filter(bool)


def read(raw):
    return dict(KIND.read(raw, "options", TODAY))


@pytest.mark.parametrize(
    "raw",
    [
        "freq=M; limit=12",
        " FREQ = m ;; limit=12; ",
        "limit=12\nfreq=M",
        [["freq", "M"], ["limit", 12.0]],
        [["freq", "m"], [None, None], ["Limit", "12"]],
        {"freq": "M", "limit": 12},
    ],
)
def test_options_are_the_same_however_they_are_written(raw):
    assert read(raw) == {"freq": "M", "limit": 12}


@given(values, st.integers(1, 1000))
def test_text_and_a_range_say_the_same(text, limit):
    assert read(f"text={text};limit={limit}") == read([["text", text], ["limit", limit]])


def test_a_value_may_hold_an_equals_sign():
    assert read("text=a=b") == {"text": "a=b"}


def test_an_unknown_option_is_told_the_ones_there_are():
    with pytest.raises(ArgumentError, match=r"^there is no option 'frq'; there are freq, limit, text, err$"):
        read("frq=M")


def test_an_unknown_value_is_told_the_ones_there_are():
    with pytest.raises(ArgumentError, match=r"^option freq 'X' is not one of M, Q$"):
        read("freq=X")


@pytest.mark.parametrize("raw", ["freq=M; freq=Q", "freq=M; limit=3; FREQ=q", [["freq", "M"], ["Freq", "Q"]]])
def test_an_option_given_twice_with_two_meanings_is_refused(raw):
    with pytest.raises(ArgumentError, match=r"^option freq is given twice, the second time as '[Qq]'$"):
        read(raw)


@pytest.mark.parametrize("raw", ["freq=M; freq=m", [["freq", "M"], ["freq", None]]])
def test_an_option_given_twice_with_one_meaning_is_read(raw):
    assert read(raw) == {"freq": "M"}


@pytest.mark.parametrize("raw", ["freq", "M;freq=M", [["freq"]], [["a", "b", "c"]], 5, True])
def test_what_is_not_of_the_form_is_refused(raw):
    with pytest.raises(ArgumentError, match=r"^options"):
        read(raw)


@given(st.text() | st.lists(st.lists(st.text() | st.floats(), max_size=3), max_size=3))
def test_whatever_is_given_is_read_or_refused(raw):
    try:
        KIND.read(raw, "options", TODAY)
    except ArgumentError:
        assert error_style(raw) in ("code", "text", "blank")


@pytest.mark.parametrize(
    ("raw", "style"),
    [
        ("err=text", "text"),
        ("frq=M; ERR = Blank", "blank"),
        ([["err", "text"]], "text"),
        ("err=loud", "code"),
        ("freq=M", "code"),
        (None, "code"),
        (7, "code"),
    ],
)
def test_the_style_of_errors_is_found_even_where_other_options_are_wrong(raw, style):
    assert error_style(raw) == style


def test_a_value_left_blank_in_a_range_of_options_is_left_out():
    read = Options(help="how", options=(Option("limit", Count(help="rows")),)).read
    assert read([["limit", None], ["err", "text"]], "options", TODAY) == {"err": "text"}
    assert read("limit=", "options", TODAY) == {}


@pytest.mark.parametrize(
    ("alone", "meant"),
    [
        ("monthly", "freq=M"),
        ("Quarterly", "freq=Q"),
        ("weekly", "freq=W"),
        ("M", "freq=M"),
        ("W-FRI", "freq=W-FRI"),
        ("yoy", "transform=yoy"),
        ("average", "agg=mean"),
        ("rebase", "transform=index(100, 2020-01-01)"),
        ("desc", "order=desc"),
        ("12", "limit=12"),
        ("blank", "err=blank"),
    ],
)
def test_a_value_that_stands_alone_is_told_its_option(alone, meant):
    for written in (alone, f"err=text; {alone}"):
        with pytest.raises(ArgumentError, match=rf"of the form option=value; did you mean {re.escape(meant)}\?$"):
            OPTIONS.read(written, "options", TODAY)


def test_a_word_that_no_option_takes_is_told_the_form_alone():
    with pytest.raises(ArgumentError, match=r"^options: 'nonsense' is not of the form option=value$"):
        OPTIONS.read("nonsense", "options", TODAY)
