"""The sheet in Firefox, which shares no code with Chromium."""

import json

import pytest

from tests.addin.sheet.parts.firefox import executable, firefox
from tests.addin.sheet.parts.pages import ASK_ANEW, CELL, ERRORS, PUT, SETTLED, sheet_server

pytestmark = pytest.mark.usefixtures("component")

SHOW_DASHBOARD = """() => {
  const { model } = sheet.book;
  model.dispatch("ACTIVATE_SHEET", { sheetIdFrom: model.getters.getActiveSheetId(), sheetIdTo: "Dashboard" });
}"""
ASKED = """() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)
  .filter((path) => /^[/](registry.json|sheet.book|status)$/.test(path))"""
CHART = """[...document.querySelectorAll(".o-figure canvas")].some((canvas) =>
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0))"""


def test_the_template_has_no_error_one_post_a_chart_and_rows_that_follow_their_slug(service, project, tmp_path):
    program = executable()
    if program is None:
        pytest.skip("no Firefox here")
    template = project / "workbook_template.xlsx"
    with sheet_server(service, tmp_path, template) as url, firefox(program, tmp_path) as page:
        page.goto(f"{url}/sheet")
        page.until(SETTLED)
        page.evaluate(ASK_ANEW)
        page.until(SETTLED)
        assert page.evaluate(ERRORS) == []
        assert page.evaluate("() => DataServiceAddin.totals.batches") == 1
        assert sorted(page.evaluate(ASKED)) == ["/registry.json", "/sheet/book", "/status"], "each once"
        page.evaluate(SHOW_DASHBOARD)
        page.until(CHART)
        page.evaluate(f"() => ({PUT})({json.dumps(['Dashboard', {'B6': 'us-cpi'}])})")
        page.until(SETTLED)
        name = page.evaluate(f"() => ({CELL})(['Dashboard', 'C6'])")
        assert "consumer price" in name["value"]
