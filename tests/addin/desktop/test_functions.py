"""Results as xlwings takes them, and arguments as it gives them."""

from dataclasses import replace
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.desktop.functions import VBA_KEYWORDS, argument_name, cell_value, error_code, functions
from addin.desktop.vba import ours
from udfs import REGISTRY
from udfs.cells import table
from udfs.engine.session import Outcome
from udfs.errors import CellError, ErrorCode

ROWS = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[st.text("ab#", min_size=1)] * width), min_size=2))


def called_with(*args):
    """What the library is called with when xlwings hands over `args`; None where the cell is answered without it."""
    calls = []

    def answer(call):
        calls.append(call)
        return Outcome(1.0, 0.0)

    functions(answer)["SIGNAL"](*args)
    return list(calls[0].args) if calls else None


@pytest.mark.parametrize(
    ("result", "cell"),
    [
        (3, 3.0),
        (2**40, float(2**40)),
        (True, True),
        (None, None),
        (float("nan"), None),
        (date(2026, 5, 1), date(2026, 5, 1)),
        ("=1+1", "=1+1"),
        (CellError(ErrorCode.NA, "no signal 'x'"), "#N/A no signal 'x'"),
        ([[1, None], [CellError(ErrorCode.VALUE, "wrong"), "a"]], [[1.0, None], ["#VALUE! wrong", "a"]]),
    ],
)
def test_a_result_becomes_what_a_cell_can_hold(result, cell):
    assert cell_value(result) == cell
    assert type(cell_value(result)) is type(cell)


def test_a_table_becomes_rows_with_its_header_unless_that_is_hidden():
    times = [datetime.fromisoformat(text) for text in ("2026-05-01T00:00", "2026-05-02T12:00")]
    rows = [[times[0], 1.5], [times[1], None]]
    assert cell_value(table(["date", "value"], rows)) == [["date", "value"], *rows]
    assert cell_value(replace(table(["date", "value"], rows), shows_header=False)) == rows
    assert cell_value(replace(table(["date", "value"], []), shows_header=False)) is None


def test_one_cell_arrives_as_its_value_and_left_out_ones_as_none():
    assert called_with([["us-cpi"]], None, [[45657.0]], [[None]]) == ["us-cpi", None, 45657.0, None]


@given(ROWS.map(lambda rows: [list(row) for row in rows]))
def test_a_range_keeps_its_shape(rows):
    assert called_with(rows) == [rows]


@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!", "#N/A no signal 'x'"])
def test_the_error_of_another_cell_is_passed_on_and_asks_nothing(error):
    assert functions(lambda call: pytest.fail("asked"))["SIGNAL"]([[error]]) == error


def test_an_error_inside_a_range_is_handed_on_in_its_place():
    assert called_with([["us-cpi"], ["#REF!"]]) == [[["us-cpi"], ["#REF!"]]]


def test_xlwings_server_gets_the_code_alone_which_it_makes_an_error_value():
    answered = functions(lambda call: Outcome(CellError(ErrorCode.NA, "no signal 'x'"), 0.0), show_error=error_code)
    assert answered["SIGNAL"]([["x"]]) == "#N/A"


def test_no_argument_has_a_name_that_vba_keeps_for_itself():
    names = {argument_name(parameter) for function in REGISTRY.values() for parameter in function.parameters}
    assert {name.casefold() for name in names} & VBA_KEYWORDS == set()
    assert "end_" in names


@pytest.mark.parametrize(
    ("formulas", "places"),
    [
        ("=DS_SIGNAL(A1)", [(0, 0)]),
        ((("=SUM(A1)", "=SUM(ds_signal(A1))"),), [(0, 1)]),
        ((("DS_SIGNAL(A1)", "=MY_DS_SIGNAL(A1)"), ("", "=DS_SIGNAL")), []),
        (((45000.0, None),), []),
    ],
)
def test_our_formulas_are_found_by_their_names(formulas, places):
    assert list(ours(formulas, "DS_")) == places
