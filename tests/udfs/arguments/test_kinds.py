"""Kinds of arguments: what a formula may give, and what a wrong one is told."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.parts.refusals import refusal_of
from udfs.arguments.dates import Day, Start
from udfs.arguments.kinds import Choice, Count, Flag, Names, Number, Text, is_blank, matrix_of, shown
from udfs.errors import ArgumentError

TODAY = date(2026, 8, 31)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.datetimes()
raws = scalars | st.lists(st.lists(scalars, max_size=3), max_size=3)

KINDS = [
    Text(help=""),
    Text(help="", choices=(Choice("a"), Choice("b"))),
    Names(help=""),
    Number(help="", least=0, most=9),
    Count(help=""),
    Flag(help=""),
]


def read(kind, raw):
    return kind.read(raw, "it", TODAY)


def test_no_message_holds_half_of_a_character():
    assert shown("us\ud800") == r"'us\ud800'"
    assert shown("é€") == "'é€'"


@pytest.mark.parametrize(
    "kind", [Text(help=""), Names(help=""), Text(help="", choices=(Choice("a"),), open_choices=True)]
)
def test_half_of_a_character_is_refused_before_anybody_is_asked(kind):
    assert refusal_of(lambda: read(kind, "macro\ud83d")) == (
        "it holds half of a character, as a text that was cut does: give it whole"
    )


@given(st.sampled_from(KINDS), raws)
def test_every_kind_reads_or_refuses_and_nothing_else(kind, raw):
    refusal = refusal_of(lambda: read(kind, raw))
    assert refusal is None or (refusal.startswith("it ") and len(refusal) < 200)


def test_text_is_stripped_and_a_whole_number_is_its_digits():
    assert read(Text(help=""), "  us-cpi ") == "us-cpi"
    assert read(Text(help=""), 500.0) == "500"


@pytest.mark.parametrize("raw", [True, 1.5, date(2024, 1, 1), ["a", "b"]])
def test_text_is_neither_a_date_nor_a_range_nor_a_truth(raw):
    with pytest.raises(ArgumentError, match="it takes"):
        read(Text(help=""), raw)


def test_a_choice_is_taken_in_any_case_and_others_are_told_the_choices():
    kind = Text(help="", choices=(Choice("raw"), Choice("D")))
    assert read(kind, "d") == "D"
    with pytest.raises(ArgumentError, match=r"^it 'X' is not one of raw, D$"):
        read(kind, "X")


def test_open_choices_take_other_texts():
    assert read(Text(help="", choices=(Choice("raw"),), open_choices=True), "x") == "x"


def test_names_come_from_commas_and_ranges_in_reading_order():
    assert read(Names(help=""), "a, b,,c ") == ("a", "b", "c")
    assert read(Names(help=""), [["a", "b,c"], [None, "d"]]) == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    "raw", ["a" + "," * 5_000 + "b", [["a"], *[[None]] * 5_000, ["b"]], ["a", *[" , "] * 2_000, "b"]]
)
def test_blanks_are_no_names_however_many(raw):
    assert read(Names(help=""), raw) == ("a", "b")


@pytest.mark.parametrize("raw", [float("nan"), float("inf"), "x", True, 10, -1, [[1], [2]]])
def test_a_number_is_finite_and_between_its_bounds(raw):
    with pytest.raises(ArgumentError, match=r"^it "):
        read(Number(help="", least=0, most=9), raw)


def test_bounds_are_told_in_words():
    with pytest.raises(ArgumentError, match=r"^it 0 is not between 1 and 1,000,000$"):
        read(Count(help=""), 0)
    with pytest.raises(ArgumentError, match=r"^it -1 is not 0 or more$"):
        read(Number(help="", least=0), -1)
    with pytest.raises(ArgumentError, match=r"^it 2 is not 1 or less$"):
        read(Number(help="", most=1), 2)


def test_a_count_is_a_whole_number_also_as_text():
    assert read(Count(help=""), "12") == read(Count(help=""), 12.0) == 12
    with pytest.raises(ArgumentError, match=r"it takes a whole number, not 1\.5"):
        read(Count(help=""), 1.5)


@pytest.mark.parametrize(("raw", "truth"), [(True, True), ("yes", True), (1.0, True), (0, False), ("FALSE", False)])
def test_a_flag_is_true_or_false_in_many_words(raw, truth):
    assert read(Flag(help=""), raw) is truth


@pytest.mark.parametrize("raw", [None, "", "  ", [], [[]], [[None, ""], [" ", None]]])
def test_nothing_and_ranges_of_nothing_are_blank(raw):
    assert is_blank(raw)


@pytest.mark.parametrize("raw", [0, False, "x", [[None, 0]]])
def test_zero_and_false_are_not_blank(raw):
    assert not is_blank(raw)


def test_a_flat_list_is_a_column():
    assert matrix_of([1, 2]) == [[1], [2]]
    assert matrix_of("ab") is None


def test_what_was_given_is_shown_short():
    assert shown("x" * 1000) == "'" + "x" * 56 + "…"
    assert shown(1.5) == "1.5"


@pytest.mark.parametrize(("sign", "zeros"), [(1, 400), (-1, 400), (1, 5000)])
@pytest.mark.parametrize("kind", [*KINDS, Day(help=""), Start(help="")])
def test_a_whole_number_beyond_every_cell_is_refused_by_its_length(kind, sign, zeros):
    with pytest.raises(ArgumentError, match=r"a number of (400|5,000) digits"):
        kind.read(sign * 10**zeros, "x", TODAY)
