"""The sheet for screen readers and keyboards: its cells are drawn on a canvas, so they also stand in a table."""

import pytest

from tests.addin.sheet.parts.pages import empty_sheet, opened_sheet, sheet_server

pytestmark = pytest.mark.usefixtures("component")


def test_the_visible_cells_stand_in_a_table_and_the_active_one_is_said(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi","name")', "B2": '=DS.SIGNAL("nope")'})
        page.select("B2")
        page.until("document.querySelectorAll('#text tbody tr').length === 2")
        page.until("!document.getElementById('text').textContent.includes('Loading')")
        rows = page.tab.evaluate("[...document.querySelectorAll('#text tbody tr')].map((row) => row.textContent)")
        assert "US consumer price index" in rows[0]
        assert "#N/A (no signal 'nope'" in rows[1]
        page.until("document.getElementById('cell').textContent.startsWith('Sheet1 B2: #N/A')")
        assert 'formula DS.SIGNAL("nope")' in page.tab.evaluate("document.getElementById('cell').textContent")
        assert page.tab.evaluate("document.getElementById('done').textContent") == "2 formulas loaded"


def test_the_keyboard_is_enough(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.run(lambda inner: inner.keyboard.type('=DS.SIGNAL("us-cpi","unit")'))
        page.keys("Enter")
        assert page.cell("A1")["value"].startswith("index")
        page.keys("F9")
        page.until("DataServiceAddin.totals.batches === 2")
        page.keys("Control+Alt+t")
        page.sees("Visible cells of Sheet1")


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


def test_f6_leaves_the_cells_and_comes_back(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.keys("ArrowDown", "F6")
        assert page.focused() == "Search and insert"
        page.keys("Tab")
        assert page.focused() == "↻ Refresh"
        page.keys("F6")
        page.run(lambda inner: inner.keyboard.type("7"))
        page.keys("Enter")
        assert page.cell("A2")["value"] == 7
