"""Books that are opened after others in one page: each shows what it would show in a page of its own."""

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
