"""What Calc hands over becomes a call that the backend can be asked, whatever stands in the cells."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.calc.component.calls import Function, Parameter, call_of, days_later_of, error_style, function_id, json_of

TEXT = Parameter(zero_is_blank=True, is_day=False)
DAY = Parameter(zero_is_blank=True, is_day=True)
NUMBER = Parameter(zero_is_blank=False, is_day=False)
SIGNAL = Function("SIGNAL", (TEXT, TEXT, DAY, TEXT), 3)
WIRE = Function("WIRE", (NUMBER,), None)

CELLS = st.none() | st.floats() | st.text() | st.booleans() | st.integers()
ARGUMENTS = CELLS | st.lists(st.tuples(CELLS, CELLS), min_size=1).map(tuple)


def test_arguments_that_were_left_out_at_the_end_are_dropped():
    assert call_of(SIGNAL, ("us-cpi", None, None, None)) == ("SIGNAL", "us-cpi")


def test_an_argument_left_out_in_the_middle_keeps_its_place():
    assert call_of(SIGNAL, ("us-cpi", None, 46000.0, None)) == ("SIGNAL", "us-cpi", None, 46000.0)


def test_an_empty_cell_counts_as_left_out():
    assert call_of(SIGNAL, (0.0, "", None, None)) == ("SIGNAL",)


def test_a_zero_that_means_something_stays():
    assert call_of(WIRE, (0.0,)) == ("WIRE", 0.0)


def test_a_moment_is_cut_to_its_day_so_that_now_is_one_call_a_day():
    assert call_of(SIGNAL, ("us-cpi", None, 46000.73, None)) == call_of(SIGNAL, ("us-cpi", None, 46000.9, None))
    assert call_of(WIRE, (46000.73,)) == ("WIRE", 46000.73)


def test_a_range_stays_a_range_and_its_empty_cells_are_blank():
    assert call_of(SIGNAL, ((("us-cpi",), ("",)), None, None, None)) == ("SIGNAL", (("us-cpi",), (None,)))


def test_a_range_of_one_cell_is_that_cell():
    assert call_of(SIGNAL, ((("us-cpi",),), None, None, None)) == ("SIGNAL", "us-cpi")


@given(st.tuples(ARGUMENTS, ARGUMENTS, ARGUMENTS, ARGUMENTS))
def test_any_call_can_be_compared_and_sent(raw):
    call = call_of(SIGNAL, raw)
    assert {call: 1}[call_of(SIGNAL, raw)] == 1
    json.dumps(json_of(call), allow_nan=False).encode("ascii").decode("utf-8")


def test_half_a_character_does_not_spoil_the_batch():
    call = call_of(SIGNAL, ("us-\ud800cpi", None, None, None))
    assert json_of(call)[1].encode("utf-8")


@pytest.mark.parametrize(
    ("options", "style"),
    [
        ("err=text", "text"),
        ("freq=M; ERR = blank ;fill=prev", "blank"),
        ("err=code", "code"),
        ("myerr=text", "code"),
        (None, "code"),
        ((("freq", "M"), ("err", "text")), "text"),
    ],
)
def test_the_style_of_errors_is_read_from_the_options(options, style):
    assert error_style(("SIGNAL", "us-cpi", None, None, options), SIGNAL) == style


def test_a_text_that_only_looks_like_options_is_none():
    assert error_style(("SIGNAL", "err=text"), SIGNAL) == "code"


def test_a_document_that_counts_from_1904_asks_for_the_day_that_it_shows_and_shares_no_result():
    days = ((44538.0, "x"), (-1.0, None))
    call = call_of(SIGNAL, ("us-cpi", 5.0, 44538.7), 1462)
    assert json_of(call) == ["SIGNAL", "us-cpi", 5.0, 46000.0]
    assert json_of(call_of(SIGNAL, ("us-cpi", None, days), 1462))[3] == [[46000.0, "x"], [-1.0, None]]
    assert call != call_of(SIGNAL, ("us-cpi", 5.0, 46000.0))
    assert (function_id(call), days_later_of(call)) == ("SIGNAL", 1462)
