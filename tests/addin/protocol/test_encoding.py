"""Outcomes become JSON answers in the form that every host reads."""

from dataclasses import replace
from datetime import UTC, date, datetime

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.protocol.encoding import encode, ending
from addin.protocol.messages import Answer
from dataservice.errors import NotFoundError
from udfs.cells import MAX_TEXT, table
from udfs.engine.session import Outcome, Stale
from udfs.errors import CellError, ErrorCode, error_cell


def answer(result, *, stale=None, fresh_s=12.34):
    text = encode(Outcome(result, fresh_s, stale), "SIGNAL") + ending(int(10 * fresh_s))
    msgspec.json.decode(text, type=Answer)  # it follows the protocol
    return orjson.loads(text)


@given(st.one_of(st.floats(), st.text(), st.sampled_from(["x" * MAX_TEXT, "x" * (MAX_TEXT + 1), "\ud800"])))
def test_one_number_or_text_is_encoded_as_in_a_table(value):
    alone, table = answer(value), answer([[value]])
    if "error" in alone:  # half a character has no form in JSON
        assert table == alone
    else:
        assert table["columns"][0]["values"] == [alone["value"]]


@pytest.mark.parametrize("value", [86.48, -1.0, 7, True, False, "text", '"quoted" \\ \u2028 €', "", None])
def test_a_plain_value_goes_out_as_it_is(value):
    assert answer(value) == {"value": value, "fresh_s": 12.3}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_cannot_hold_is_blank(value):
    assert answer(value)["value"] is None


def test_a_date_is_a_serial_number():
    assert answer(date(2026, 8, 18)) == {"value": 46252, "type": "date", "fresh_s": 12.3}


def test_a_time_is_a_serial_number_with_a_fraction():
    assert answer(datetime(2026, 8, 18, 6, tzinfo=UTC)) == {"value": 46252.25, "type": "datetime", "fresh_s": 12.3}


def test_an_error_has_its_code_and_message():
    error = CellError(ErrorCode.NA, "no signal 'x'")
    assert answer(error) == {"error": "#N/A", "message": "no signal 'x'", "fresh_s": 12.3}


def test_the_kind_of_an_error_is_beside_its_message():
    error = error_cell(NotFoundError("no signal 'x'"), "SIGNAL")
    assert answer(error) == {"error": "#N/A", "message": "no signal 'x'", "kind": "not_found", "fresh_s": 12.3}


def test_a_long_text_is_cut():
    assert len(answer("x" * 40_000)["value"]) == 32_767


def test_a_table_goes_out_by_columns():
    rows = [[date(2026, 8, 17), 1.5, "x"], [date(2026, 8, 18), float("nan"), None]]
    assert answer(table(["date", "value", "any"], rows)) == {
        "rows": 2,
        "header": ["date", "value", "any"],
        "columns": [
            {"type": "date", "values": [46251, 46252]},
            {"type": "number", "values": [1.5, None]},
            {"type": "any", "values": ["x", None]},
        ],
        "fresh_s": 12.3,
    }


def test_a_missing_date_in_a_column_is_blank():
    assert answer(table(["date"], [[date(2026, 8, 17)], [None]]))["columns"] == [
        {"type": "date", "values": [46251.0, None]}
    ]


def test_rows_count_without_the_header():
    shown = answer(replace(table(["a"], [[1.0], [2.0]]), shows_header=False))
    assert (shown["rows"], shown["header"]) == (2, None)


def test_a_mixed_column_holds_dates_and_errors_as_objects():
    rows = [[date(2026, 8, 18)], [CellError(ErrorCode.NA, "gone")], [True], [None]]
    assert answer(rows)["columns"] == [
        {"type": "any", "values": [{"value": 46252, "type": "date"}, {"error": "#N/A", "message": "gone"}, True, None]}
    ]


def test_a_stale_value_says_how_old_it_is_and_why():
    stale = Stale(5000.14, "the service did not answer")
    assert answer(1.5, stale=stale)["stale"] == {"age_s": 5000.1, "reason": "the service did not answer"}


@pytest.mark.parametrize("result", [object(), 2**70, "\ud800", {1, 2}], ids=["object", "huge", "surrogate", "set"])
def test_what_cannot_be_encoded_is_an_error_cell(result):
    assert answer(result)["error"] == "#N/A"


@pytest.mark.parametrize(("fresh_s", "told"), [(899.99, 899.9), (0.05, 0.0), (-3.0, 0.0)])
def test_freshness_is_never_overstated(fresh_s, told):
    assert answer(1.5, fresh_s=fresh_s)["fresh_s"] == told
