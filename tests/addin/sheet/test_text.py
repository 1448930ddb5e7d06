"""Text from the service and from books stays text, whatever it looks like."""

import openpyxl
import pytest

from tests.addin.sheet.parts.pages import opened_sheet, sheet_server
from tests.addin.workbook.books import make_book, values

pytestmark = pytest.mark.usefixtures("component")

HOSTILE = ["=1+1", "=HYPERLINK(A1)", "'quoted", "[=1](http://x.example)", "+1", "2026-01-02", "TRUE", "#N/A", "-5Y"]

ANSWER = """(texts) => {
  const fetched = globalThis.fetch;
  globalThis.fetch = async (address, request) => {
    if (!new URL(address, location.href).pathname.endsWith("/functions/call")) return fetched(address, request);
    const columns = [{ type: "any", values: texts }];
    const answer = { columns, rows: texts.length, header: null, fresh_s: 900 };
    const answers = JSON.parse(request.body).calls.map(() => answer);
    return new Response(JSON.stringify({ answers, requests: 0, quota: null, generation: 1 }));
  };
}"""


def test_text_of_the_service_is_never_a_formula_or_a_link_of_its_own(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.tab.evaluate(ANSWER, [text for text in HOSTILE if text != "#N/A"])
        page.put({"A1": "=DS.WIRE()"})
        shown = [page.cell(f"A{row}")["shown"].lstrip("\u200b") for row in range(1, len(HOSTILE))]
        assert shown == [text for text in HOSTILE if text != "#N/A"]
        assert page.errors() == []


def test_text_that_is_pasted_as_a_value_stays_text(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.tab.evaluate(ANSWER, ["=1+1", "'x"])
        page.put({"A1": "=DS.WIRE()"})
        assert page.values("A1", "A2") == ["=1+1", "'x"]
        page.tab.evaluate("""() => {
          const { model } = sheet.book;
          model.selection.selectZone({ cell: { col: 0, row: 0 }, zone: { left: 0, right: 0, top: 0, bottom: 1 } });
          model.dispatch("COPY");
          model.dispatch("PASTE", { target: [{ left: 2, right: 2, top: 0, bottom: 1 }], pasteOption: "asValue" });
        }""")
        assert page.values("C1", "C2") == ["=1+1", "'x"]


def test_cells_with_line_breaks_are_pasted_as_the_cells_that_they_were(chromium, service, tmp_path):
    text = 'a\t"two\r\nlines, ""so"""\t3\r\n"4"\t5\t"x\ty"\r\n'
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.put({"A3": "stays"})
        page.tab.evaluate(
            """(text) => sheet.book.model.dispatch("PASTE_FROM_OS_CLIPBOARD", {
              target: [{ left: 0, right: 0, top: 0, bottom: 0 }], clipboardContent: { text },
            })""",
            text,
        )
        assert page.values("A1", "B1", "C1") == ["a", 'two\nlines, "so"', 3]
        assert page.values("A2", "B2", "C2", "A3") == ['"4"', 5, "x\ty", "stays"]


PASTED = """([type, content]) => {
  sheet.book.model.selection.selectCell(0, 0);
  const clipboardData = new DataTransfer();
  clipboardData.setData(type, content);
  document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


TABLE = """<p>Rates</p>
<table><tr><th colspan=2>Rates<th>Day</tr>
<tr><td rowspan=2> US
 10y<td>4.5<td><p>two</p>lines
<tr><td>-1<td>=1+1</table>"""


@pytest.mark.parametrize(
    ("kind", "content", "cells"),
    [
        (
            "text/html",
            TABLE,
            {"A1": "Rates", "C1": "Day", "A2": "US 10y", "B2": 4.5, "C2": "two\nlines", "B3": -1, "C3": 2},
        ),
        ("text/html", "<ul><li>one<li>two</ul>three<br>four", {"A1": "one", "A2": "two", "A3": "three", "A4": "four"}),
        ("text/csv", 'a,"b, ""c""",3\r\n4,,"x\ny"\r\n', {"A1": "a", "B1": 'b, "c"', "C1": 3, "A2": 4, "C2": "x\ny"}),
        ("text/csv", "a;1.5\n2", {"A1": "a", "B1": 1.5, "A2": 2}),
    ],
)
def test_tables_of_pages_and_csv_are_pasted_as_the_cells_that_they_were(blank, kind, content, cells):
    blank.tab.evaluate(PASTED, [kind, content])
    assert dict(zip(cells, blank.values(*cells), strict=True)) == cells
    blank.tab.evaluate("sheet.book.model.dispatch('REQUEST_UNDO')")
    assert set(blank.values(*cells)) == {None}


def test_text_in_a_book_is_text_in_the_sheet_and_in_its_copy(chromium, service, tmp_path):
    book = make_book(tmp_path / "book.xlsx", {})
    workbook = openpyxl.load_workbook(book)
    for row, text in enumerate(HOSTILE, 1):
        cell = workbook["Sheet1"].cell(row, 1, text)
        cell.data_type = "s"
    workbook.save(book)
    copy = tmp_path / "copy.xlsx"
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        shown = [page.cell(f"A{row}")["shown"].lstrip("\u200b") for row in range(1, len(HOSTILE) + 1)]
        assert shown == HOSTILE
        page.download(copy)
    assert values(copy, "Sheet1", *(f"A{row}" for row in range(1, len(HOSTILE) + 1))) == HOSTILE


TYPED_AT_ONCE = """(parts) => {
  for (const part of parts) {
    if (part === "Enter" || part === "F2") {
      for (const event of ["keydown", "keyup"]) {
        document.activeElement.dispatchEvent(new KeyboardEvent(event, { key: part, bubbles: true, cancelable: true }));
      }
    } else for (const sign of part) document.execCommand("insertText", false, sign);
  }
}"""
"""Keys that all come before anything is drawn, as on a page that is busy."""


def test_no_key_is_lost_or_lands_in_another_cell_however_fast_they_come(blank):
    blank.put({"A4": "old", "A5": "start"})
    blank.select("A1")
    typed = ["first line", "Enter", "12", "Enter", "=A2*2", "Enter", "new", "Enter", "F2", "ed", "Enter"]
    blank.tab.evaluate(TYPED_AT_ONCE, typed)
    assert blank.values("A1", "A2", "A3", "A4", "A5") == ["first line", 12, 24, "new", "started"]


def test_a_text_that_reads_like_an_error_is_none(blank, tmp_path):
    blank.put({"A1": '="#REF!"', "A2": '="#"&"N/A"', "B1": "=ISERROR(A1)", "B2": "=ISNA(A2)", "B3": "=LEN(A1)+LEN(A2)"})
    assert blank.values("B1", "B2", "B3") == [False, False, 9]
    blank.download(tmp_path / "copy.xlsx")
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A1", "A2") == ["#REF!", "#N/A"]
