"""Cells of the sheet that load: the question before many requests, and cells that nobody needs any more."""

from urllib.parse import urlsplit

import pytest

from dataservice.server import running
from tests.addin.half_answers import REASONS, half_answers_of, is_told
from tests.addin.sheet.parts.pages import CELL, empty_sheet, opened_sheet, sheet_server
from tests.addin.workbook.books import make_book

pytestmark = pytest.mark.usefixtures("component")

SLUGS = ["us-cpi", "us-10y", "wb.gold", "btc-usd", "sp-500", "fx.eur-usd", "cboe.vix", "eth-usd"]
CELLS = {f"A{row}": f'=DS.SIGNAL("{slug}")' for row, slug in enumerate(SLUGS, 1)}

TOLD = """() => {
  const line = document.getElementById("loading");
  globalThis.told = [];
  new MutationObserver(() => told.push([line.textContent, document.getElementById("progress").hidden]))
    .observe(line, { childList: true, characterData: true, subtree: true });
}"""
LAST_KNOWN = "() => document.getElementById('last-known').textContent"
ENDS = """() => [...document.querySelectorAll("header button, #question button")].filter((button) => !button.hidden)
  .map((button) => button.getBoundingClientRect().right)"""


def test_the_sheet_asks_before_many_requests_and_a_yes_loads_the_cells(chromium, service, tmp_path):
    with sheet_server(service, tmp_path, ask_above=5) as url, opened_sheet(chromium, url) as page:
        page.put(CELLS)
        page.sees("This needs 8 requests")
        assert page.values(*CELLS) == ["#N/A"] * len(CELLS)
        assert "not loaded: this needs 8 requests" in page.cell("A1")["message"]
        assert service.running.request_count == 0
        page.press("Load", exact=True)
        page.until(
            "typeof sheet.book.model.getters.getEvaluatedCell({sheetId: 'Sheet1', col: 0, row: 7}).value === 'number'"
        )
        assert all(value > 0 for value in page.values(*CELLS))
        assert service.running.request_count == len(CELLS)


def test_after_a_no_the_cells_say_so_until_a_refresh(chromium, service, tmp_path):
    with sheet_server(service, tmp_path, ask_above=5) as url, opened_sheet(chromium, url, width=320) as page:
        page.put(CELLS)
        page.sees("This needs 8 requests")
        ends = page.tab.evaluate(ENDS)
        assert max(ends) <= 320, "every button can be reached on a phone"
        page.press("Not now")
        page.until("DataServiceAddin.loading.question === null")
        page.until("DataServiceAddin.totals.batches === 2")
        assert "were not wanted; Refresh asks again" in page.cell("A1")["message"]
        page.press("Refresh")
        page.sees("This needs 8 requests")
        assert service.running.request_count == 0


def test_stop_says_how_far_loading_came(chromium, service, tmp_path):
    service.running.latency_s = 3
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi")'})
        page.sees("Loading: 0 of 1")
        page.press("Stop", exact=True)
        page.sees("Stopped: 0 of 1 loaded; Refresh loads the rest")
        assert page.cell("A1") == {"value": "#N/A", "shown": "#N/A", "message": "stopped; press Refresh to load it"}
        service.running.latency_s = 0
        page.press("Refresh")
        page.until(f"({CELL})(['Sheet1', 'A1']).value > 0")
        page.sees_no("Stopped: 0 of 1 loaded; Refresh loads the rest")


@pytest.mark.parametrize("edit", ["delete", "other formula", "constant"])
def test_a_cell_that_is_changed_while_it_loads_is_not_waited_for(chromium, service, tmp_path, edit):
    service.running.latency_s = 3600  # only what is not waited for any more ends before the browser gives up
    with sheet_server(service, tmp_path, deadline_s=3600) as url, opened_sheet(chromium, url) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi")'})
        page.sees("Loading: 0 of 1")
        if edit == "delete":
            zone = "{ left: 0, right: 0, top: 0, bottom: 0 }"
            page.tab.evaluate(f"sheet.book.model.dispatch('DELETE_CONTENT', {{ sheetId: 'Sheet1', target: [{zone}] }})")
        else:
            page.put({"A1": "5" if edit == "constant" else "=1+1"})
        page.until("sheet.calls.waiting === 0 && DataServiceAddin.waiting === 0")
        service.running.latency_s = 0


def test_a_cell_whose_argument_changes_while_it_loads_shows_the_new_one(chromium, service, tmp_path):
    service.running.latency_s = 2
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.put({"A1": "us-cpi", "B1": '=DS.SIGNAL(A1,"name")'})
        page.sees("Loading: 0 of 1")
        service.running.latency_s = 0
        page.put({"A1": "wb.gold"})
        assert "Gold" in page.cell("B1")["value"]
        assert page.tab.evaluate("sheet.calls.waiting") == 0


def test_cells_keep_their_value_when_answers_break_off_and_a_new_one_says_why(chromium, service, tmp_path):
    with (
        half_answers_of(service.url) as server,
        sheet_server(server, tmp_path, key=service.key, deadline_s=1.0) as url,
        opened_sheet(chromium, url) as page,
    ):
        page.put({"A1": CELLS["A1"]})
        before = page.cell("A1")["value"]
        for row, fault in enumerate(REASONS, 2):
            server.fault = fault
            page.put({f"A{row}": CELLS[f"A{row}"]})
            said = page.cell(f"A{row}")
            is_known = any(is_told(each, said["message"]) for each in REASONS)  # of A1, which is asked for beside it
            assert (said["value"], is_known) == ("#N/A", True), said
            page.press("Refresh")
            assert page.cell("A1")["value"] == before


def test_the_page_says_what_it_does_with_a_book_while_that_takes(chromium, service, tmp_path):
    book = make_book(tmp_path / "report.xlsx", {"A1": 1})
    with empty_sheet(chromium, service, tmp_path) as page:
        page.tab.evaluate(TOLD)
        page.open_file(book)
        page.until("sheet.book.name === 'report.xlsx' && told.some(([text]) => text.startsWith('Opening'))")
        page.download(tmp_path / "copy.xlsx")
        page.until("document.getElementById('progress').hidden")
        told = page.tab.evaluate("told")
    assert list(dict.fromkeys(text for text, _ in told if text.endswith("…"))) == [
        "Opening report.xlsx …", "Making the copy …"
    ]  # fmt: skip
    assert not any(is_hidden for text, is_hidden in told if text.endswith("…"))


def test_values_that_are_only_the_last_known_ones_are_told_with_the_reason_until_newer_ones_came(
    chromium, service, tmp_path
):
    with sheet_server(service, tmp_path, ttl_s=0.1) as url, opened_sheet(chromium, url) as page:
        page.put({"A1": '=DS.SIGNAL("us-cpi")'})
        value = page.cell("A1")["value"]
        assert page.tab.evaluate(LAST_KNOWN) == "", "a fresh value needs no word"
        service.running.stop()
        page.keys("F9")
        page.until(f"({LAST_KNOWN})().startsWith('Last known values: the service did not answer')")
        assert page.cell("A1")["value"] == value
        with running(service.store, port=urlsplit(service.url).port):
            page.keys("F9")
            page.until(f"({LAST_KNOWN})() === ''")


def test_the_line_below_the_sheet_begins_where_the_line_above_it_begins(one_page):
    first = "document.querySelector('footer > span:not(:empty)').getBoundingClientRect().left"
    above = "document.querySelector('header h1').getBoundingClientRect().left"
    assert one_page.tab.evaluate(f"[{first}, {above}]") == [12, 12]
