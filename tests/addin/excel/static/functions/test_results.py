"""How the backend's answers become what Excel takes."""

import json

import pytest

OFFICE = """(sets) => {
  const minor = (version) => Number(version.split(".")[1]);
  globalThis.Office = { context: { requirements: {
    isSetSupported: (name, version) => name in sets && minor(sets[name]) >= minor(version),
  } } };
}"""
NEWEST = {"ExcelApi": "1.19", "CustomFunctionsRuntime": "1.4"}


def shown(page, scripted, answer):
    """What Excel gets for an answer."""
    scripted.answer = lambda call: {"fresh_s": 0, **answer}
    return page.evaluate("call('SIGNAL_HISTORY', 'x')")


def table(*columns, rows, header=None):
    return {"rows": rows, "header": header, "columns": [dict(zip(("type", "values"), c, strict=True)) for c in columns]}


@pytest.mark.parametrize("value", [86.48, -0.5, True, False, "=1+1", "text"])
def test_numbers_booleans_and_text_stay_what_they_are(page, scripted, value):
    assert shown(page, scripted, {"value": value}) == {"value": [[value]]}


def test_a_blank_is_empty_text_because_excel_shows_null_as_zero(page, scripted):
    assert shown(page, scripted, {"value": None}) == {"value": [[""]]}
    answer = table(("number", [1.5, None]), ("any", [None, "x"]), ("date", [None, None]), rows=2)
    assert shown(page, scripted, answer) == {"value": [[1.5, "", ""], ["", "x", ""]]}


def test_the_header_stands_above_the_columns(page, scripted):
    answer = table(("date", [45000, 45001]), ("number", [1.5, 2.5]), rows=2, header=["date", "us-cpi"])
    assert shown(page, scripted, answer) == {"value": [["date", "us-cpi"], [45000, 1.5], [45001, 2.5]]}


def test_a_table_without_rows_and_header_is_one_blank_cell(page, scripted):
    assert shown(page, scripted, table(("number", []), rows=0)) == {"value": [[""]]}


@pytest.mark.parametrize("code", ["#N/A", "#VALUE!"])
def test_an_error_carries_its_text(page, scripted, code):
    answer = {"error": code, "message": "no signal 'x'; did you mean y?"}
    assert shown(page, scripted, answer) == {"error": code, "message": "no signal 'x'; did you mean y?"}


def test_an_error_inside_a_table_leaves_its_neighbours(page, scripted):
    items = [1, {"error": "#N/A", "message": "none"}, {"error": "#VALUE!", "message": "bad"}]
    assert shown(page, scripted, table(("any", items), rows=3)) == {
        "value": [[1], [{"type": "Error", "errorType": "NotAvailable"}], [{"type": "Error", "errorType": "Value"}]]
    }


@pytest.mark.parametrize(
    ("sets", "type_"),
    [
        (NEWEST, "Double"),
        ({"ExcelApi": "1.16", "CustomFunctionsRuntime": "1.4"}, "FormattedNumber"),
        ({"ExcelApi": "1.16", "CustomFunctionsRuntime": "1.3"}, None),
        ({"ExcelApi": "1.9"}, None),
    ],
)
def test_a_date_has_its_format_where_the_host_takes_one(page, scripted, sets, type_):
    page.evaluate(OFFICE, sets)
    date = 46252 if type_ is None else {"type": type_, "basicValue": 46252, "numberFormat": "yyyy-mm-dd"}
    assert shown(page, scripted, {"value": 46252, "type": "date"}) == {"value": [[date]]}


def test_dates_in_columns_and_between_other_values_are_formatted(page, scripted):
    page.evaluate(OFFICE, NEWEST)
    day = {"type": "Double", "basicValue": 45000, "numberFormat": "yyyy-mm-dd"}
    moment = {"type": "Double", "basicValue": 45000.5, "numberFormat": "yyyy-mm-dd hh:mm"}
    answer = table(("date", [45000]), ("datetime", [45000.5]), ("any", [{"value": 45000, "type": "date"}]), rows=1)
    assert shown(page, scripted, answer) == {"value": [[day, moment, day]]}


@pytest.mark.parametrize(("rows", "formatted"), [(20_000, True), (20_001, False)])
def test_many_dates_are_plain_serials(page, scripted, rows, formatted):
    page.evaluate(OFFICE, NEWEST)
    scripted.answer = lambda call: {"fresh_s": 0, **table(("date", [45000] * rows), ("number", [1] * rows), rows=rows)}
    kind = page.evaluate("call('SIGNAL_HISTORY', 'x').then(({ value }) => [value.length, typeof value[0][0]])")
    assert kind == [rows, "object" if formatted else "number"]


def test_formats_are_left_out_where_only_they_make_a_result_too_long(page, scripted):
    page.evaluate(OFFICE, NEWEST)
    text = ["x" * 60] * 15_000
    answer = table(("date", [45000] * 15_000), ("any", text), rows=15_000)
    scripted.answer = lambda call: {"fresh_s": 0, **answer}
    assert page.evaluate("call('SIGNAL_HISTORY', 'x').then(({ value }) => value[0][0])") == 45000


def test_a_result_that_excel_would_never_show_says_so(page, scripted):
    told = shown(page, scripted, table(("any", ["x" * 100] * 20_000), rows=20_000))
    assert told["error"] == "#VALUE!"
    assert told["message"].startswith("the result has 20000 rows; ask for fewer")


def test_the_longest_history_of_the_real_data_fits(page, scripted):
    rows = 10_227
    scripted.answer = lambda call: {
        "fresh_s": 0,
        **table(("date", list(range(rows))), ("number", [12.345678901234567] * rows), rows=rows, header=["date", "x"]),
    }
    page.evaluate(OFFICE, NEWEST)
    text = page.evaluate("call('SIGNAL_HISTORY', 'x').then(({ value }) => JSON.stringify(value))")
    assert len(text) < 1_900_000
    assert len(json.loads(text)) == rows + 1


@pytest.mark.parametrize(
    "answer", [{}, {"columns": 3, "rows": 1}, table(("number", [1.5]), rows=2), {"columns": [None], "rows": 1}, None]
)
def test_an_answer_that_is_none_harms_only_its_own_cell(page, scripted, answer):
    scripted.answer = lambda call: answer if call[1] == "bad" else {"value": 1, "fresh_s": 1}
    bad, good = page.evaluate("Promise.all([call('SIGNAL', 'bad'), call('SIGNAL', 'good')])")
    assert bad["error"] == "#N/A"
    assert "backend" in bad["message"]
    assert good == {"value": [[1]]}
