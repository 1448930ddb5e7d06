"""What people see first in the sheet: the dashboard, values at once, and help that finds and explains."""

import pytest

from tests.addin.sheet.parts.pages import CELL, SETTLED, empty_sheet, opened_sheet, sheet_server

pytestmark = pytest.mark.usefixtures("component")

CHARTS = """() => {
  const { getters } = sheet.book.model;
  return Object.fromEntries(getters.getSheetIds().flatMap((sheetId) => getters.getFigures(sheetId).map((figure) => {
    const { options, data } = getters.getChartRuntime(getters.getChartIdFromFigureId(figure.id)).chartJsConfig;
    const lines = data.datasets.map(({ label, pointRadius }) => [label, pointRadius]);
    return [sheetId, { legend: options.plugins.legend.display, lines }];
  })));
}"""
LOOK = """(xc) => {
  const { col, row } = o_spreadsheet.helpers.toCartesian(xc), { model } = sheet.book;
  const { textColor, fontSize } = model.getters.getCellComputedStyle({ sheetId: "Dashboard", col, row });
  return [textColor, fontSize];
}"""
F2 = """async (turns) => {
  getSelection().collapse(document.activeElement, 0);
  for (const event of ["keydown", "keyup"]) {
    document.activeElement.dispatchEvent(new KeyboardEvent(event, { key: "F2", bubbles: true, cancelable: true }));
    for (let turn = 0; turn < turns; turn += 1) await null;
  }
}"""
TOOLS_END = """() => {
  const [tools, cells, pane] = [".o-toolbar-tools", "#sheet", "#beside"].map((selector) => {
    return document.querySelector(selector).getBoundingClientRect();
  });
  return tools.right <= cells.right && cells.right <= pane.left + 1;
}"""
ASKED = """() => {
  const asked = performance.getEntriesByType("resource");
  const how = (path) => asked.filter(({ name }) => name.endsWith(path)).map((each) => each.initiatorType);
  const first = Math.min(...asked.filter(({ name }) => /book$|status$/.test(name)).map((each) => each.startTime));
  const [{ domContentLoadedEventStart }] = performance.getEntriesByType("navigation");
  return [["sheet/book", "registry.json", "status", "o_spreadsheet.xml"].map(how), first < domContentLoadedEventStart];
}"""
PROPOSALS = "[...document.querySelectorAll('.o-autocomplete-value')].map((each) => each.textContent.trim())"


def test_what_the_page_needs_is_asked_for_once_and_before_its_scripts_run(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        assert page.tab.evaluate(ASKED) == [[["fetch"], ["fetch"], ["fetch"], ["link"]], True]


def test_the_book_opens_on_the_sheet_that_it_names(shown):
    assert shown.tab.evaluate("sheet.book.model.getters.getActiveSheetId()") == "Dashboard"


def test_rises_are_green_and_falls_are_red_in_letters_of_the_same_size(shown):
    changes = {xc: shown.cell(xc, "Dashboard")["value"] for xc in (f"E{row}" for row in range(6, 16))}
    looks = {xc: shown.tab.evaluate(LOOK, xc) for xc in changes}
    assert {tuple(look) for xc, look in looks.items() if changes[xc] > 0} == {("#1E7B4F", 11)}
    assert {tuple(look) for xc, look in looks.items() if changes[xc] < 0} == {("#B3392F", 11)}


def test_charts_have_lines_without_points_and_a_legend_where_there_are_several(shown):
    slugs = [shown.cell(xc, "Compare")["value"] for xc in ("C4", "D4", "E4")]
    charts = shown.tab.evaluate(CHARTS)
    assert charts["Compare"] == {"legend": True, "lines": [[slug, 0] for slug in slugs]}
    assert charts["Dashboard"]["lines"][0][1] == 0


@pytest.mark.parametrize("turns", [0, 50], ids=["in_one_turn", "once_the_field_knows_of_the_edit"])
def test_a_cell_with_a_list_offers_it_also_where_it_holds_a_formula(shown, turns):
    shown.cell("C18", "Dashboard")  # while values arrive, nothing is typed
    shown.select("C18")
    shown.tab.evaluate(F2, turns)  # pressed and released before anything is drawn
    shown.until(f"{PROPOSALS}.includes('us-cpi')")
    shown.keys("Escape", "Escape")


def test_values_of_the_file_are_there_at_once_and_newer_ones_are_asked_for_after_a_yes(
    chromium, service, dashboard, tmp_path
):
    with (
        sheet_server(service, tmp_path, dashboard) as url,
        opened_sheet(chromium, url, ask_anew=False) as page,
    ):
        page.sees("The values are those of the file. Newer ones cost")
        shown = page.cell("D6", "Dashboard")["value"]
        assert isinstance(shown, float)
        assert service.running.request_count == 0
        page.press("Keep these")
        page.put({"K40": '=DS.SIGNAL("us-cpi","unit")'}, "Dashboard")  # what is new is asked for all the same
        assert "index" in page.cell("K40", "Dashboard")["value"]
        assert page.cell("D6", "Dashboard")["value"] == shown
        page.keys("F9")
        page.until(f"{SETTLED} && sheet.calls.held.size === 0")
        assert service.running.request_count > 1


def test_what_costs_nothing_is_asked_for_unasked(chromium, service, dashboard, tmp_path):
    with sheet_server(service, tmp_path, dashboard) as url:
        with opened_sheet(chromium, url) as page:
            page.until(SETTLED)
        before = service.running.request_count
        with opened_sheet(chromium, url, ask_anew=False) as page:
            page.until(f"{SETTLED} && sheet.calls.held.size === 0")
            assert page.tab.evaluate("document.getElementById('held').hidden")
        assert service.running.request_count == before


def test_a_formula_that_cannot_be_read_says_what_to_change(blank):
    blank.put({"A1": '=SIGNAL("us-cpi")', "A2": "=DS.SIGNAL(us.cpi)", "A3": "=SUMM(1)", "A4": "=DS.SIGNAL()"})
    blank.put({"A5": '=DS.SIGNAL("us-cpi",,,,5)', "A6": "=DS.WIRE(CPI)", "A7": "=SUM(DS.SIGNAL(),1)"})
    for cell, advice in (
        ("A4", "slug is missing: "),
        ("A5", "SIGNAL takes at most 4 arguments, not 5"),
        ("A6", 'not proven: there is no name CPI; text stands in double quotes: "CPI"'),
        ("A7", "slug is missing: "),
        ("A1", "SIGNAL lacks the prefix DS: =DS.SIGNAL(…)"),
        ("A2", 'text stands in double quotes: "us.cpi"'),
        ("A3", 'Unknown function: "SUMM". If Excel or Calc know it'),
    ):
        blank.until(f"(({CELL})(['Sheet1', '{cell}'])).message.startsWith({advice!r})")


def test_our_functions_are_offered_first_and_their_arguments_are_explained_at_once(blank):
    blank.run(lambda inner: inner.keyboard.type("=DS"))
    blank.until(f"{PROPOSALS}[0] === 'DS.SIGNAL'")
    blank.run(lambda inner: inner.keyboard.type('.SIGNAL_HISTORY("us-cpi",'))
    blank.sees("The first day or time".lower())


def test_search_stands_beside_the_cells_and_inserts_into_the_active_one(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.press("Search and insert")
        page.select("B3")

        async def find(inner) -> None:
            frame = inner.frame_locator("#beside iframe")
            await frame.get_by_role("searchbox").fill("inflaton")
            await frame.get_by_text("for “inflation”").wait_for()
            await frame.get_by_role("button", name="us-cpi").first.click()
            await frame.get_by_role("button", name="Insert").first.click()

        page.tab.evaluate("DataServiceAddin.ask('functions/call', { calls: [['SIGNALS']] })")
        page.run(find)
        page.until("sheet.book.model.getters.getCell({ sheetId: 'Sheet1', col: 1, row: 2 })?.isFormula")
        assert isinstance(page.cell("B3")["value"], float)


def test_a_price_beside_the_cells_goes_once_they_have_paid_it(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.press("Search and insert")

        async def insert(inner) -> None:
            frame = inner.frame_locator("#beside iframe")
            await frame.get_by_role("tab", name="Insert").click()
            await frame.get_by_role("button", name="SIGNAL ").first.click()
            await frame.locator(".wizard input").first.fill("us-10y")
            await frame.locator(".cost", has_text="Costs at least 1 request").wait_for()
            await frame.locator(".wizard-bar .button.primary").click()
            await frame.locator(".cost", has_text="Costs no request").wait_for()

        page.run(insert)
        assert isinstance(page.cell("A1")["value"], float)


def test_where_the_backend_is_away_cells_name_the_command_that_starts_this_page(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.run(lambda inner: inner.context.set_offline(True))
        page.put({"A1": '=DS.SIGNAL("us-cpi")'})
        assert "start it with: addin sheet, or addin demo" in page.cell("A1")["message"]
        page.run(lambda inner: inner.context.set_offline(False))
        page.until(f"typeof ({CELL})(['Sheet1', 'A1']).value === 'number'")
        page.tab.errors.clear()  # the browser's, about requests without an answer


def test_the_pane_covers_no_cells_and_no_tool_covers_the_pane(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url, width=1024) as page:
        page.press("Search and insert")
        page.until(f"({TOOLS_END})()")


def test_the_axis_of_a_chart_of_typed_months_names_each_once(blank):
    months = ("Jan 2026", "Feb 2026", "Mar 2026", "Apr 2026")
    blank.put({f"A{row}": month for row, month in enumerate(months, 2)} | {f"B{row}": str(row) for row in range(2, 6)})
    blank.put({"A1": "Month", "B1": "Sales"})
    zone = "{ left: 0, right: 1, top: 0, bottom: 4 }"
    blank.tab.evaluate(f"() => sheet.book.model.selection.selectZone({{ cell: {{ col: 0, row: 0 }}, zone: {zone} }})")
    blank.run(lambda inner: inner.get_by_text("Insert", exact=True).click())
    blank.run(lambda inner: inner.get_by_text("Chart", exact=True).first.click())
    blank.until("Object.values(Chart.instances).some((chart) => chart.scales.x?.ticks.length > 3)")
    labels = blank.tab.evaluate(
        "() => Object.values(Chart.instances)[0].scales.x.ticks.map(({ label }) => label).filter(Boolean)"
    )
    assert len(labels) == len(set(labels)), labels
