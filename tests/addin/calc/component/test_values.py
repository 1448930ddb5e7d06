"""Answers of the backend become values that Calc can show, errors in their own cells."""

import struct

from addin.calc.component.values import error_number, value_of


def bits(number: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def test_numbers_texts_and_dates_come_as_they_are():
    assert value_of({"value": 86.48, "fresh_s": 811.5}) == (86.48, 811.5, "", ())
    assert value_of({"value": "index 2010=100", "fresh_s": 1}).value == "index 2010=100"
    assert value_of({"value": 46252, "type": "date", "fresh_s": 1}).value == 46252.0


def test_true_is_one_because_calc_would_show_zero():
    assert value_of({"value": True}).value == 1.0


def test_a_large_whole_number_is_a_float_because_calc_would_show_an_error():
    assert isinstance(value_of({"value": 2**40}).value, float)


def test_blank_is_an_empty_text():
    assert value_of({"value": None}).value == ""


def test_an_error_carries_calcs_number_and_its_message():
    verdict = value_of({"error": "#N/A", "message": "no signal 'x'", "fresh_s": 0})
    assert (bits(verdict.value) & 0xFFFFFFFF, verdict.message) == (0x7FFF, "no signal 'x'")
    assert bits(value_of({"error": "#VALUE!", "message": ""}).value) & 0xFFFFFFFF == 519


def test_an_old_value_says_why_it_is_old():
    verdict = value_of({"value": 1.5, "fresh_s": 0, "stale": {"age_s": 5000, "reason": "the service did not answer"}})
    assert (verdict.value, verdict.message) == (1.5, "the service did not answer")


def test_a_table_has_its_header_first_and_errors_and_blanks_in_their_cells():
    answer = {
        "rows": 2,
        "header": ["date", "value", "note"],
        "columns": [
            {"type": "date", "values": [46000, 46001]},
            {"type": "number", "values": [1.5, None]},
            {"type": "any", "values": [{"error": "#N/A", "message": "gone"}, {"value": 46000, "type": "date"}]},
        ],
        "fresh_s": 60,
    }
    verdict = value_of(answer)
    header, first, second = verdict.value
    assert header == ("date", "value", "note")
    assert first[:2] == (46000.0, 1.5)
    assert bits(first[2]) == bits(error_number("#N/A"))
    assert second == (46001.0, "", 46000.0), "a blank is no 0"
    assert verdict.dates == ((0, "date"), (2, "date"))


def test_a_column_of_nothing_but_dates_errors_and_blanks_is_a_column_of_dates():
    day, time = {"value": 46000, "type": "date"}, {"value": 46000.5, "type": "datetime"}
    for items, dates in [
        ([day, None, {"error": "#N/A", "message": "gone"}], ((0, "date"),)),
        ([day, time], ((0, "datetime"),)),
        ([day, 1.5], ()),
        ([day, "text"], ()),
        ([None, None], ()),
    ]:
        answer = {"rows": 2, "header": None, "columns": [{"type": "any", "values": items}], "fresh_s": 1}
        assert value_of(answer).dates == dates


def test_a_table_without_rows_is_blank():
    assert value_of({"rows": 0, "header": None, "columns": [], "fresh_s": 1}).value == ""


def test_in_a_document_that_counts_from_1904_dates_have_its_numbers_and_other_numbers_stay():
    answer = {
        "header": ["date", "value", "note"],
        "columns": [
            {"type": "date", "values": [46000, None]},
            {"type": "number", "values": [46000, 1.5]},
            {"type": "any", "values": [{"value": 46000.5, "type": "datetime"}, {"error": "#N/A", "message": ""}]},
        ],
    }
    _, first, second = value_of(answer, 1462).value
    assert (first, second[:2]) == ((44538.0, 46000.0, 44538.5), ("", 1.5))
    assert value_of({"value": 46000, "type": "date"}, 1462).value == 44538.0
    assert value_of({"value": 46000}, 1462).value == 46000.0
