"""Cells of the sheet in the browser: values, messages, tables, and what they cost."""

import pytest

from tests.addin.sheet.parts.pages import empty_sheet, opened_sheet, sheet_server

pytestmark = pytest.mark.usefixtures("component")


def test_the_template_opens_without_an_error_in_one_post(chromium, service, project, tmp_path):
    template = project / "workbook_template.xlsx"
    with sheet_server(service, tmp_path, template) as url, opened_sheet(chromium, url) as page:
        assert page.errors() == []
        # The file has values, so formulas that depend on others make the right call at once.
        assert page.posts() == 1
        assert page.cell("B6", "Dashboard")["value"] == "btc-usd"
        assert page.cell("G6", "Dashboard")["shown"].startswith("2026-")


def test_charts_are_drawn_and_follow_their_cells(chromium, service, project, tmp_path):
    template = project / "workbook_template.xlsx"
    drawn = """() => [...document.querySelectorAll(".o-figure canvas")].map((canvas) =>
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.filter((v) => v !== 0).length)"""
    with sheet_server(service, tmp_path, template) as url, opened_sheet(chromium, url) as page:
        page.show("Dashboard")
        page.until("document.querySelector('.o-figure canvas')")
        page.until(f"({drawn})().some((count) => count > 1000)")
        charts = "model.getters.getFigures('Dashboard').map((figure) => JSON.stringify(figure.id))"
        assert page.tab.evaluate(f"(() => {{ const {{ model }} = sheet.book; return {charts}; }})()")


def test_a_row_follows_its_slug(chromium, service, project, tmp_path):
    template = project / "workbook_template.xlsx"
    with sheet_server(service, tmp_path, template) as url, opened_sheet(chromium, url) as page:
        page.put({"B6": "us-cpi"}, "Dashboard")
        assert "consumer price" in page.cell("C6", "Dashboard")["value"]
        assert page.cell("H6", "Dashboard")["value"].startswith("index")


def test_cells_on_the_same_signal_share_a_request_and_a_post(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi")', "A2": '=DS.SIGNAL("us-cpi","unit")', "A3": "=A1*2"})
        value, unit, double = page.values("A1", "A2", "A3")
        assert double == 2 * value
        assert unit.startswith("index")
        assert (page.posts(), service.running.request_count) == (1, 1)


def test_a_cell_says_what_is_wrong(blank):
    blank.put({"A1": '=DS.SIGNAL("us-cpii")', "A2": '=DS.SIGNAL("us-cpi","price")', "A3": "=A1+1"})
    assert blank.values("A1", "A2", "A3") == ["#N/A", "#VALUE!", "#N/A"]
    assert "no signal 'us-cpii'" in blank.cell("A1")["message"]
    assert "there is no field 'price'" in blank.cell("A2")["message"]


def test_a_table_spills_with_its_dates_and_can_be_referred_to(blank):
    blank.put({"A1": '=DS.SIGNAL_HISTORY("us-cpi","N3")', "D1": "=A1#", "G1": "=COUNT(A1#)"})
    assert blank.cell("A1")["value"] == "date"
    assert blank.cell("A4")["shown"].startswith("2026-")
    assert blank.cell("D4")["value"] == blank.cell("A4")["value"] > 46_000
    assert blank.values("G1") == [6]


def test_a_range_of_slugs_fills_a_cell_each(blank):
    blank.put({"A1": "us-cpi", "A2": "nope", "A3": "sp-500", "B1": "=DS.SIGNAL(A1:A3)"})
    first, wrong, last = blank.values("B1", "B2", "B3")
    assert first > 0 < last
    assert wrong == "#N/A"


def test_quick_edits_join_into_few_posts(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.tab.evaluate("""async () => {
          for (let row = 0; row < 50; row++) {
            const content = `=DS.SIGNAL_HISTORY("us-cpi","N${row + 3}","","header=none")`;
            sheet.book.model.dispatch("UPDATE_CELL", { sheetId: "Sheet1", col: 3 * row % 20, row: 60 * row, content });
            await new Promise((go) => setTimeout(go, 1));
          }
        }""")
        assert page.posts() <= 12


def test_parts_of_a_formula_that_is_being_typed_ask_for_nothing(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        preview = """(text) => sheet.book.model.getters.evaluateFormulaResult("Sheet1", text)"""
        assert "press Enter" in page.tab.evaluate(preview, '=DS.SIGNAL("us-cpi")')["message"]
        assert page.posts() == 0
        page.put({"A1": '=DS.SIGNAL("us-cpi")'})
        assert page.values("A1")[0] == page.tab.evaluate(preview, '=DS.SIGNAL("us-cpi")')["value"]
        assert service.running.request_count == 1


def test_refresh_asks_again_and_the_cells_stay_in_sight(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi")'})
        before = page.values("A1")
        page.press("Refresh")
        page.until("DataServiceAddin.totals.batches === 2")
        assert page.values("A1") == before
        assert service.running.request_count == 1, "the answer was still fresh"


def test_a_formula_that_never_settles_ends(blank):
    blank.put({"A1": '=DS.SIGNAL("us-cpi", "value", RAND())'})
    blank.until("sheet.calls.waiting === 0 && sheet.calls.rounds > 12")
    assert blank.cell("A1")["value"] == "#N/A"
    assert "change with every calculation" in blank.cell("A1")["message"]


def test_slow_cells_say_that_they_load_and_can_be_stopped(chromium, service, tmp_path):
    service.running.latency_s = 30
    with empty_sheet(chromium, service, tmp_path) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi")', "A2": "=A1+1"})
        page.sees("Loading: 0 of 1")
        shown = page.tab.evaluate("""() => ["A1", "A2"].map((xc) => sheet.book.model.getters.getEvaluatedCell({
          sheetId: "Sheet1", ...o_spreadsheet.helpers.toCartesian(xc) }).value)""")
        assert shown == ["Loading…", "Loading…"]
        page.press("Stop")
        assert page.cell("A1")["value"] == "#N/A"
        assert page.cell("A1")["message"] == "stopped; press Refresh to load it"
        service.running.latency_s = 0


def test_rows_are_as_high_as_the_font_and_the_lines_of_their_cells_need(blank):
    heights = blank.tab.evaluate("""() => {
      const { model } = sheet.book;
      const sheetId = "high";
      model.dispatch("CREATE_SHEET", { sheetId, name: "High", position: 1 });
      const large = { fontSize: 30, bold: true };
      const wrapped = ["many words ".repeat(9), { ...large, wrapping: "wrap" }];
      const cells = [["1", {}], ["1", large], ["g", large], ["one\\ntwo", large], wrapped];
      cells.forEach(([content, style], row) => model.dispatch("UPDATE_CELL", { sheetId, col: 0, row, content, style }));
      return cells.map((_, row) => model.getters.getRowSize(sheetId, row));
    }""")
    usual, figure, letter, lines, words = heights
    assert usual == 23 < figure == letter < lines < words


def test_a_table_without_room_says_which_cell_is_in_its_way(blank):
    blank.put({"B4": "mine", "A2": '=DS.SIGNAL_HISTORY("us-cpi","N5")'})
    assert blank.values("A2") == ["#SPILL!"]
    said = "B4 is in the way of its values. Empty it, or enter the formula where there is room."
    assert blank.cell("A2")["message"] == said
    blank.put({"B4": ""})
    assert blank.cell("A2")["value"] == "date"


@pytest.mark.parametrize(
    ("formula", "code", "reason"),
    [
        ("=DS.SIGNAL(#REF!)", "#N/A", "an argument is an error itself (#REF!)"),
        ("=SQRT(-1)", "#NUM!", "A number is outside"),
        ('=DATE("x",1,1)', "#VALUE!", "An argument has the wrong kind"),
        ("=INDEX(A1:A3,9)", "#REF!", "It refers to cells that do not exist"),
        ("=#REF!", "#REF!", "Invalid reference"),
        ("=1+#REF!", "#REF!", "Invalid reference"),
    ],
)
def test_an_error_is_written_as_in_excel_and_has_a_reason(blank, formula, code, reason):
    blank.put({"C1": formula})
    assert blank.values("C1") == [code]
    assert reason in blank.cell("C1")["message"]
