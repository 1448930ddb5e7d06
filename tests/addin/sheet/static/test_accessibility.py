"""The sheet for screen readers and keyboards: its cells are drawn on a canvas, so they also stand in a table."""

import pytest

from tests.addin.sheet.parts.pages import opened_sheet, sheet_server

FRAME = "document.querySelector('#beside iframe').contentDocument?.documentElement?.dataset.ready === 'yes'"

pytestmark = pytest.mark.usefixtures("component")


def test_the_visible_cells_stand_in_a_table_and_the_active_one_is_said(blank):
    blank.put({"A1": '=DS.SIGNAL("us-cpi","name")', "B2": '=DS.SIGNAL("nope")'})
    blank.select("B2")
    blank.until("document.querySelectorAll('#text tbody tr').length === 2")
    blank.until("!document.getElementById('text').textContent.includes('Loading')")
    rows = blank.tab.evaluate("[...document.querySelectorAll('#text tbody tr')].map((row) => row.textContent)")
    assert "US consumer price index" in rows[0]
    assert "#N/A (no signal 'nope'" in rows[1]
    blank.until("document.getElementById('cell').textContent.startsWith('Sheet1 B2: #N/A')")
    assert 'formula DS.SIGNAL("nope")' in blank.tab.evaluate("document.getElementById('cell').textContent")
    assert blank.tab.evaluate("document.getElementById('done').textContent") == "2 formulas loaded"


def test_the_keyboard_is_enough(blank):
    blank.run(lambda inner: inner.keyboard.type('=DS.SIGNAL("us-cpi","unit")'))
    blank.keys("Enter")
    assert blank.cell("A1")["value"].startswith("index")
    blank.keys("F9")
    blank.until("DataServiceAddin.totals.batches === 2")
    blank.keys("Control+Alt+t")
    blank.sees("Visible cells of Sheet1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_sheet_its_table_and_its_help(chromium, service, axe, tmp_path, scheme):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url, color_scheme=scheme) as page:
        page.keys("Control+Alt+t")
        page.sees("Visible cells of Sheet1")
        page.run(lambda inner: inner.keyboard.type('=DS.SIGNAL_HISTORY("us-cpi",A2,'))
        page.sees("the last day or time")
        page.tab.evaluate(f"() => {{ {axe} }}")
        found = page.tab.evaluate("axe.run({ resultTypes: ['violations'] }).then((r) => r.violations)")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


def test_f6_leaves_the_cells_and_comes_back(blank):
    blank.keys("ArrowDown", "F6")
    assert blank.focused() == "Search and insert"
    blank.keys("Tab")
    assert blank.focused() == "↻ Refresh"
    blank.keys("F6")
    blank.run(lambda inner: inner.keyboard.type("7"))
    blank.keys("Enter")
    assert blank.cell("A2")["value"] == 7


def test_the_keys_of_the_page_work_in_the_pane_beside_the_cells(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi")'})
        page.cell("A1")
        page.press("Search and insert")
        page.until(f"{FRAME} && document.activeElement.tagName === 'IFRAME'")
        page.keys("F9")
        page.until("DataServiceAddin.totals.batches === 2")
        assert page.download(tmp_path / "copy.xlsx") == "sheet.xlsx"
        page.keys("F6")
        page.until("document.getElementById('sheet').contains(document.activeElement)")
