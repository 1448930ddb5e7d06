"""Books that are opened after others in one page: each shows what it would show in a page of its own."""

import asyncio
from base64 import b64encode

import pytest

from tests.addin.sheet.opening.test_digestible import rewritten
from tests.addin.sheet.parts.pages import ASK_ANEW, opened_sheet, sheet_server
from tests.addin.workbook.books import make_book, values

pytestmark = pytest.mark.usefixtures("component")

CELLS = {
    "A1": '=_xldudf_DS_SIGNAL("us-cpi")',
    "B1": "=A1*2",
    "C1": '=IF(A1&""="","",A1)',
    "D1": '=ROUND(_xldudf_DS_SIGNAL("us-cpi"),0)+A1',
    "A3": ("A3:B5", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N2")'),
    "C4": "=B4*2",
    "F1": '=_xldudf_DS_SIGNAL("sp-500")',
    "G1": "=F1*2",
}
OLD = {"A1": 100, "B1": 200, "C1": 100, "D1": 200, "A3": "date", "C4": 200, "G1": 5}
"""What the file holds from an earlier day: all agree; of F1 it holds nothing."""


def old_book(path):
    make_book(path, {**CELLS, "B3": "value", "A4": 46000, "B4": 100, "A5": 46031, "B5": 100})
    for cell, value in OLD.items():
        kind = ' t="str"' if isinstance(value, str) else ""
        shown = rf'<c r="{cell}"{kind}>\1<v>{value}</v>'
        rewritten(path, sheet1_xml=(rf'<c r="{cell}"[^>]*>(<f.*?</f>)<v ?/?>(</v>)?', shown))
    return path


OPEN = """([name, bytes]) =>
    sheet.open(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name))"""


def opened(page, path):
    """Open a book from the page, and take newer values where it asks."""
    page.tab.evaluate(OPEN, [path.name, b64encode(path.read_bytes()).decode()])
    page.tab.evaluate(ASK_ANEW)


def test_a_book_that_is_opened_again_shows_no_old_results_beside_new_values(chromium, service, tmp_path):
    book, other = old_book(tmp_path / "book.xlsx"), make_book(tmp_path / "other.xlsx", {"A1": 1})
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        first = page.values(*CELLS)
        assert first[1] == first[0] * 2 != 200
        opened(page, other)
        opened(page, book)
        assert page.values(*CELLS) == first
        assert page.tab.evaluate("() => sheet.book.notes") == ""
        page.download(tmp_path / "copy.xlsx")
    assert values(tmp_path / "copy.xlsx", "Sheet1", *CELLS) == first


WHILE_READING = """async ([bytes, sent]) => {
  const file = (name) => new File([Uint8Array.from(atob(bytes[name]), (letter) => letter.charCodeAt(0))], name);
  const state = { isRead: false };
  const reading = sheet.open(file("large.xlsx")).then(() => (state.isRead = true));
  while (!state.isRead && !document.getElementById("loading").textContent.startsWith("Reading large")) {
    await new Promise((go) => setTimeout(go, 0));
  }
  const { model } = sheet.book;
  const done = sent.map((command) => model.dispatch(command.type, command).isSuccessful);
  const found = { wasRead: state.isRead, done, isUnsaved: sheet.drafts.isUnsaved };
  if ("small.xlsx" in bytes) await sheet.open(file("small.xlsx"));
  await reading;
  return { ...found, name: sheet.book.name, isKept: sheet.book.model === model };
}"""


def while_reading(page, tmp_path, *commands, **others):
    """Open a large book, and do something else while it is read."""
    make_book(tmp_path / "large.xlsx", {f"{column}{row}": row for column in "ABCDEFGH" for row in range(1, 6_000)})
    for name, cells in others.items():
        make_book(tmp_path / f"{name}.xlsx", cells)
    paths = [tmp_path / f"{name}.xlsx" for name in ("large", *others)]
    found = page.tab.evaluate(
        WHILE_READING, [{path.name: b64encode(path.read_bytes()).decode() for path in paths}, commands]
    )
    assert not found["wasRead"]
    return found


def test_the_book_that_was_chosen_last_is_shown_however_long_another_one_takes(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        found = while_reading(page, tmp_path, small={"A1": 5, "A2": "=A1*2"})
        assert found["name"] == "small.xlsx"
        assert page.values("A1", "A2") == [5, 10]
        assert page.tab.evaluate("() => document.getElementById('loading').textContent") == ""


def test_the_open_book_is_guarded_while_another_one_is_read(chromium, service, tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 1, "A2": 2})
    edit = {"type": "UPDATE_CELL", "sheetId": "Sheet1", "col": 0, "row": 7, "content": "typed"}
    row = {"type": "REMOVE_COLUMNS_ROWS", "sheetId": "Sheet1", "sheetName": "Sheet1", "dimension": "ROW"}
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        asked = []
        page.tab.hear("dialog", lambda it: (asked.append(it.message), asyncio.ensure_future(it.dismiss())))
        found = while_reading(page, tmp_path, edit, {**row, "elements": [1]})
        assert found["done"] == [True, False], "a cell may be changed, no row of the file deleted"
        assert found["isUnsaved"]
        assert (len(asked), found["name"], found["isKept"]) == (1, "book.xlsx", True), "it is not left unasked"
        assert page.values("A2", "A8") == [2, "typed"]


def test_a_formula_that_shows_nothing_is_something_that_an_insert_would_replace(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.put({"B2": '=IF(1=1,"","x")'})
        page.select("B2")
        assert page.cell("B2")["shown"] == ""
        assert page.tab.evaluate("() => sheet.host.target()") == {"address": "B2", "holds": '=IF(1=1,"","x")'}
        page.select("B3")
        assert page.tab.evaluate("() => sheet.host.target()") == {"address": "B3", "holds": ""}
