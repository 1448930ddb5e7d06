"""Ordinary formulas in the sheet: worked out by the backend as Excel does, at once where that is certain."""

import openpyxl
import pytest

from addin.workbook.calculation.engine.process import is_installed
from tests.addin.sheet.parts.pages import CELL, SETTLED, opened_sheet, sheet_server
from tests.addin.workbook.books import make_book, values
from tests.attack.pages.typed_formulas import attack_typing, chosen

pytestmark = [
    pytest.mark.usefixtures("component"),
    pytest.mark.skipif(not is_installed(), reason="the calculation engine is not installed"),
]

POSTS = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('sheet/calculate')).length"


def test_a_typed_formula_shows_what_excel_shows(blank):
    blank.put({"A1": "=-2^2", "A2": '=CONVERT(1,"mi","m")', "A3": '=IFERROR(FLOOR(5,0),"none")', "A4": "=BESSELJ(1,1)"})
    assert blank.values("A1", "A2", "A3") == [4, 1609.344, "none"]
    assert blank.cell("A4")["value"] == pytest.approx(0.440050586)


def test_ranges_are_seen_whole_also_where_the_component_cannot_read_the_formula(blank):
    blank.put({"A1": "1", "A2": "2", "A3": "3", "C1": "=CONCAT(A1:A3)", "C2": "=SUM(A:A)+LOG10(A1)"})
    blank.put({"C3": '=SUMIF(A1:A3,">1",B1)', "B2": "20", "B3": "30"})
    assert blank.values("C1", "C2", "C3") == ["123", 6, 50]
    blank.put({"A2": "5", "B3": "31"})
    assert blank.values("C1", "C2", "C3") == ["153", 9, 51]


def test_a_formula_has_as_many_values_as_in_excel(blank):
    cells = {"A1": "1", "A2": "2", "A3": "3", "B1": "4", "B2": "6", "B3": "9"}
    typed = {
        "D1": "=SEQUENCE(3)",
        "E1": "=VLOOKUP(A1:A3,A1:B3,2,FALSE)",
        "F1": "=INDEX(A1:B3,0,2)",
        "G1": "=LARGE(B1:B3,A1:A3)",
        "H1": '=TEXTSPLIT("a;b;c",,";")',
        "I1": "=INDEX(A1:A3,2)",
    }
    blank.put(cells)
    blank.put(typed)
    shown = {column: blank.values(*(f"{column}{row}" for row in (1, 2, 3))) for column in "DEFGHI"}
    blank.put({"K1": "=RANK(A1:A3,A1:A3)", "L1": "=RANDBETWEEN(5,7)"})
    assert blank.cell("K1")["message"].startswith("not proven: "), "the engine ranks one value only"
    assert blank.cell("L1")["value"] in (5, 6, 7)
    assert shown == {
        "D": [1, 2, 3], "E": [4, 6, 9], "F": [4, 6, 9], "G": [9, 6, 4], "H": ["a", "b", "c"], "I": [2, None, None]
    }  # fmt: skip


def test_arithmetic_on_numbers_is_there_without_the_backend(blank):
    blank.put({"A1": "3", "A2": "4", "B1": "=A1*A2/2-1", "B2": "=SUM(A1:A9,B1)", "B3": "=(A1+A2)/0"})
    assert blank.values("B1", "B2", "B3") == [5, 12, "#DIV/0!"]
    assert blank.tab.evaluate(POSTS) == 0
    blank.put({"A2": "'text"})
    assert blank.values("B1", "B2") == ["#VALUE!", "#VALUE!"], "what is no number is for the backend"
    assert blank.tab.evaluate(POSTS) > 0


def test_the_remainder_of_a_difference_is_no_value(blank):
    blank.put({"A1": "0.3", "A2": "0.1", "A3": "0.2", "B1": "=A1-A2-A3", "B2": "=B1=0", "B3": '=IFERROR(B1,"0")'})
    for cell in ("B1", "B2", "B3"):
        assert blank.cell(cell)["value"] in (0, True) or blank.cell(cell)["message"].startswith("not proven: ")


def test_what_is_not_proven_says_why_and_so_does_all_that_rests_on_it(blank, tmp_path):
    blank.put({"A1": "1", "B1": "=FORMULATEXT(A1)", "B2": "=IFERROR(B1,0)", "B3": "=COUNT(B1:B2)", "B4": "=B3+1"})
    assert blank.cell("B1")["message"].startswith("not proven: FORMULATEXT depends on more than values")
    assert blank.values("B1", "B2", "B3", "B4") == ["#N/A"] * 4
    assert all("not proven" in blank.cell(cell)["message"] for cell in ("B2", "B3", "B4"))
    blank.download(tmp_path / "copy.xlsx")
    assert values(tmp_path / "copy.xlsx", "Sheet1", "B1", "B2") == [None, None], "who opens it works it out"


def test_a_long_chain_of_formulas_is_worked_out_in_one_post(blank):
    cells = {"A1": "=LEN(C1)"} | {f"A{row}": f"=IF(B{row}=0,A{row - 1}+1,0)" for row in range(2, 60)}
    blank.put({**cells, "C1": "'four"})
    assert blank.cell("A59")["value"] == 62
    before = blank.tab.evaluate(POSTS)
    blank.put({"C1": "'sixsix"})
    assert blank.cell("A59")["value"] == 64
    assert blank.tab.evaluate(POSTS) <= before + 2


def test_nothing_is_worked_out_again_where_no_value_changed(blank):
    blank.put({"A1": "=LEN(C2)", "A2": "=LEN(E2)", "C1": '=DS.SIGNAL_HISTORY("us-cpi","N5")', "E1": "=SORT({3;2;1})"})
    assert blank.values("A1", "A2") == [5, 1]
    before = blank.tab.evaluate(POSTS)
    blank.tab.evaluate("sheet.book.model.dispatch('CREATE_SHEET', { sheetId: 'new', name: 'new', position: 1 })")
    blank.tab.evaluate("sheet.book.evaluate(null)")
    assert blank.values("A1", "A2") == [5, 1]
    assert blank.tab.evaluate(POSTS) == before


def test_undo_shows_the_value_of_before_without_a_post(blank):
    blank.put({"A1": "7", "B1": "=MOD(A1,4)"})
    assert blank.cell("B1")["value"] == 3
    blank.put({"A1": "9"})
    assert blank.cell("B1")["value"] == 1
    before = blank.tab.evaluate(POSTS)
    blank.tab.evaluate("sheet.book.model.dispatch('REQUEST_UNDO')")
    assert blank.cell("B1")["value"] == 3
    assert blank.tab.evaluate(POSTS) == before


def test_calls_of_ours_inside_of_a_formula_are_made_once_and_only_where_they_are_needed(blank):
    blank.put({"A1": "cpi", "B1": '=IF(A2>0,DS.SIGNAL("sp-500"),ROUND(DS.SIGNAL("us-"&A1),1))'})
    assert blank.cell("B1")["value"] == pytest.approx(round(page_value(blank, "us-cpi"), 1))
    assert blank.tab.evaluate("[...sheet.calls.known.keys()]") == ['["SIGNAL","us-cpi"]']
    blank.put({"B2": '=DS.SIGNAL("us-cpi")/2', "B3": '=SUM(DS.SIGNAL_HISTORY("us-cpi","N3")*0)'})
    assert blank.cell("B2")["value"] == pytest.approx(page_value(blank, "us-cpi") / 2)


def page_value(page, slug):
    return page.tab.evaluate(
        """async (slug) => {
      const { answers } = await DataServiceAddin.ask("functions/call", { calls: [["SIGNAL", slug]] });
      return answers[0].columns ? answers[0].columns[0].values[0] : answers[0].value;
    }""",
        slug,
    )


def test_what_finds_its_cells_while_it_calculates_sees_every_change(blank):
    blank.put({"A5": "5", "B1": "=OFFSET(A1,4,0)", "B2": '=SUM(INDIRECT("A"&C1&":A9"))', "C1": "5", "B3": "=B1+B2"})
    assert blank.values("B1", "B2", "B3") == [5, 5, 10]
    blank.put({"A5": "6", "A9": "1"})
    assert blank.values("B1", "B2", "B3") == [6, 7, 13]


def test_a_spill_and_what_refers_to_it(blank):
    blank.put(
        {
            "A1": "3",
            "A2": "1",
            "B1": "=SORT(A1:A2)",
            "C1": "=SUM(B1#)",
            "C2": "=COUNT(B1#)",
            "C3": "=SUMPRODUCT(LEN(B1#))",
        }
    )
    assert blank.values("B1", "B2", "C1", "C2", "C3") == [1, 3, 4, 2, 2]
    blank.put({"A2": "10"})
    assert blank.values("B1", "B2", "C1", "C2", "C3") == [3, 10, 13, 2, 3]


def test_a_formula_of_the_file_is_worked_out_once_its_cells_change(chromium, service, tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 8, "B1": "=CEILING(A1,5)", "B2": '=TEXT(A1,"0.0")&"!"'})
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        assert page.values("B1", "B2") == [10, "8.0!"]
        page.put({"A1": "11"})
        assert page.values("B1", "B2") == [15, "11.0!"]
        page.download(tmp_path / "copy.xlsx")
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A1", "B1", "B2") == [11, 15, "11.0!"]


def test_a_backend_that_is_away_leaves_no_value_until_a_refresh(blank):
    blank.tab.evaluate("""() => {
      globalThis.before = DataServiceAddin.backend.request;
      DataServiceAddin.backend.request = () => Promise.reject(new Error("away"));
    }""")
    blank.put({"A1": "=MOD(7,4)"})
    assert "not proven: away" in blank.cell("A1")["message"]
    blank.tab.evaluate("() => { DataServiceAddin.backend.request = globalThis.before; }")
    blank.keys("F9")
    blank.until(f"({CELL})(['Sheet1', 'A1']).value === 3")


def test_ordinary_formulas_are_worked_out_again_as_soon_as_the_backend_is_back(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.tab.evaluate("""() => {
          globalThis.sent = fetch;
          globalThis.fetch = () => Promise.reject(new TypeError("no way there"));
          DataServiceAddin.backend.deadlineMs = 500;
        }""")
        page.put({"A1": "=MOD(7,4)"})
        page.until(f"({CELL})(['Sheet1', 'A1']).message.includes('Start addin sheet, or addin demo, again')")
        page.keys("Control+s")
        page.sees("The workbook cannot be downloaded: the sheet's backend is not there.")
        page.tab.evaluate("() => { globalThis.fetch = globalThis.sent; }")
        page.until(f"({CELL})(['Sheet1', 'A1']).value === 3")


def test_what_is_typed_after_search_was_opened_by_a_key_is_searched_for(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.keys("Control+Alt+f")
        inside = "document.querySelector('#beside iframe').contentDocument"
        page.until(f"{inside}?.documentElement?.dataset.ready")
        page.run(lambda inner: inner.keyboard.type("inflation"))
        page.until(f"{inside}.activeElement.value === 'inflation'")


def test_an_edit_is_not_lost_when_results_arrive(blank):
    blank.put({"A1": "7"})
    blank.select("A1")
    blank.keys("F2")
    blank.until("document.activeElement.isContentEditable && document.activeElement.textContent === '7'")
    blank.keys("End")
    blank.run(lambda inner: inner.keyboard.type("5"))
    blank.tab.evaluate(
        "sheet.book.model.dispatch('UPDATE_CELL', { sheetId: 'Sheet1', col: 3, row: 3, content: '=MOD(9,4)' })"
    )
    blank.until(SETTLED)
    blank.run(lambda inner: inner.keyboard.type("6"))
    blank.keys("Enter")
    assert blank.values("A1", "D4") == [756, 1]


def test_no_typed_formula_shows_another_value_than_excel(chromium, service, tmp_path):
    lines = chosen(48)
    if not lines:
        pytest.skip("Excel's own results are not beside the project")
    found = attack_typing(chromium, service, tmp_path, lines)
    assert found.wrong == []
    assert found.counts["right"] > 0.85 * len(lines)


def test_values_without_room_are_told_as_in_excel_and_shown_once_there_is_some(blank):
    blank.put({"A3": "x", "D3": "=A3&A4", "A1": "=SEQUENCE(4)"})
    blank.put({"B1": "=SUM(A1#)", "B2": "=A1+1", "B3": "=IFERROR(A1,9)", "B4": "=SORT(A3:A4)"})
    assert blank.values("A1", "B1", "B2", "B3") == ["#SPILL!", "#SPILL!", "#SPILL!", 9]
    assert "in the way" in blank.cell("B2")["message"]
    blank.put({"A3": ""})
    assert blank.values("A1", "A3", "A4", "B1", "B2", "B3") == [1, 3, 4, 10, 2, 1]


DISPATCH = "([type, payload]) => sheet.book.model.dispatch(type, { sheetId: 'Sheet1', ...payload }).isSuccessful"
FILTERED_TABLE = """() => {
  const { model } = sheet.book;
  const ranges = [model.getters.getRangeDataFromXc("Sheet1", "A1:B4")];
  const config = { hasFilters: true, numberOfHeaders: 1, styleId: "TableStyleMedium2" };
  return model.dispatch("CREATE_TABLE", { sheetId: "Sheet1", ranges, config, tableType: "static" }).isSuccessful;
}"""


def test_what_leaves_hidden_rows_out_follows_filters_and_hands_and_is_never_the_sum_of_all(blank):
    blank.put({"A1": "Name", "A2": "a", "A3": "b", "A4": "c", "B1": "Value", "B2": "1", "B3": "20", "B4": "300"})
    blank.put({"D1": "=SUBTOTAL(9,B2:B4)", "D2": "=SUBTOTAL(109,B2:B4)", "D3": "=SUBTOTAL(7,B2:B4)"})
    assert blank.values("D1", "D2") == [321, 321]
    assert blank.tab.evaluate(FILTERED_TABLE)
    hidden = {"col": 0, "row": 0, "value": {"filterType": "values", "hiddenValues": ["b"]}}
    assert blank.tab.evaluate(DISPATCH, ["UPDATE_FILTER", hidden])
    assert blank.values("D1", "D2", "D3") == [301, 301, "#N/A"]
    assert "hidden or filtered" in blank.cell("D3")["message"]
    hidden["value"]["hiddenValues"] = []
    assert blank.tab.evaluate(DISPATCH, ["UPDATE_FILTER", hidden])
    assert blank.values("D1", "D2") == [321, 321]
    assert blank.tab.evaluate(DISPATCH, ["HIDE_COLUMNS_ROWS", {"dimension": "ROW", "elements": [3]}])
    assert blank.values("D1", "D2") == ["#N/A", 21]


def test_names_given_in_the_page_are_worked_out_and_a_copy_has_their_cells(blank, tmp_path):
    blank.put({"A1": "1", "A2": "20", "A3": "300"})
    range_data = blank.tab.evaluate("() => sheet.book.model.getters.getRangeDataFromXc('Sheet1', 'A1:A3')")
    assert blank.tab.evaluate(
        DISPATCH, ["CREATE_NAMED_RANGE", {"name": "Totals", "rangeData": range_data, "ranges": [range_data]}]
    )
    blank.put({"C1": "=SUM(Totals)", "C2": "=LARGE(Totals,2)"})
    assert blank.values("C1", "C2") == [321, 20]
    blank.put({"A2": "40"})
    assert blank.values("C1", "C2") == [341, 40]
    blank.download(tmp_path / "copy.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "copy.xlsx")["Sheet1"]
    assert [sheet["C1"].value, sheet["C2"].value] == ["=SUM(A1:A3)", "=LARGE(A1:A3,2)"]


def test_an_error_says_why_also_where_a_call_stands_inside_a_formula(blank):
    blank.put({"A1": '=ROUND(DS.SIGNAL("us-cpii"),1)', "A2": '=IF(DS.SIGNAL(B9)>1,"a","b")', "A3": "=ABS(1,2)"})
    blank.put({"A4": '=VLOOKUP("x",B1:B3,1,FALSE)', "A5": "=DS.SIGNAL(B5)", "B5": "=1/0"})
    reasons = {
        "A1": "no signal 'us-cpii'; did you mean us-cpi?",
        "A2": "slug is missing: ",
        "A3": "Invalid number of arguments for the ABS function.",
        "A4": "Did not find value 'x'",
        "A5": "an argument is an error itself (#DIV/0!)",
    }
    for cell, reason in reasons.items():
        assert blank.cell(cell)["message"].startswith(reason)
    blank.put({"B9": "nope"})
    assert blank.cell("A2")["message"].startswith("no signal 'nope'"), "another reason for the same error"
