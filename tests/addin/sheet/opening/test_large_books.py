"""Books with many cells: the page draws and hears while they are read and saved."""

import openpyxl
import pytest

from addin.sheet.opening.opened import opened_book
from tests.addin.sheet.opening.test_digestible import rewritten
from tests.addin.sheet.parts.pages import empty_sheet
from tests.addin.sheet.parts.tasks import book_of_values, longest_tasks, open_large
from tests.addin.sheet.test_loading import TOLD
from tests.addin.workbook.books import make_book, values

pytestmark = pytest.mark.usefixtures("component")

LONGEST_S = 0.2
"""A page that is busy for longer seems to hang."""


def test_a_large_book_is_read_edited_and_saved_without_holding_the_page_up(chromium, service, tmp_path):
    path = book_of_values(tmp_path / "large.xlsx", 50_000)
    with empty_sheet(chromium, service, tmp_path) as page:
        page.tab.evaluate(TOLD)
        with longest_tasks(page) as reading:
            open_large(page, path)
        told = [text for text, is_hidden in page.tab.evaluate("told") if text.startswith("Reading") and not is_hidden]
        assert page.values("A5000", "H1", "I5000", "J4999", "K5000") == [5000, 1.875, "row 5000", False, 10000.125]
        with longest_tasks(page) as saving:
            page.put({"A5000": "7"})
            page.download(tmp_path / "copy.xlsx")
    assert reading[0] < LONGEST_S, reading[:5]
    assert saving[0] < LONGEST_S, saving[:5]
    assert len(told) > 1, "how far it is, is shown"
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A5000", "B5000", "K5000") == [7, 5000.125, 5007.125]


def test_a_formula_that_many_cells_share_keeps_the_digits_in_its_functions_names(tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 3, "A2": 4, "B1": "=DEC2BIN(A1)+SUM(A:A)", "B2": "=1"})
    rewritten(
        book,
        sheet1_xml=(
            r'<c r="B1"><f>(.*?)</f>(.*?)<c r="B2"><f>1</f>',
            r'<c r="B1"><f t="shared" ref="B1:B2" si="0">\1</f>\2<c r="B2"><f t="shared" si="0"/>',
        ),
    )
    rows = opened_book(book, name="book.xlsx")["cells"]["Sheet1"]["rows"]
    assert rows[1][1][3:] == [2, 0, "=DEC2BIN(A2)+SUM(A:A)"]


def test_rows_columns_and_merged_cells_keep_their_looks_where_cells_stand_apart(chromium, service, tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    bold = openpyxl.styles.Font(bold=True)
    sheet["A1"], sheet["A2"], sheet["C3"] = "merged", "covered", "link"
    sheet["A1"].font = bold
    sheet.merge_cells("A1:B1")
    sheet["C3"].hyperlink = "https://example.com/"
    sheet.row_dimensions[5].font = sheet.column_dimensions["E"].font = bold
    sheet.row_dimensions[6].height, sheet.row_dimensions[7].hidden = 60, True
    sheet["F5"] = "in a bold row"
    book.save(tmp_path / "book.xlsx")
    with empty_sheet(chromium, service, tmp_path) as page:
        open_large(page, tmp_path / "book.xlsx")
        seen = page.tab.evaluate("""() => {
          const { getters } = sheet.book.model;
          const cell = (col, row) => getters.getCell({ sheetId: "Sheet1", col, row });
          return [
            ...[[0, 0], [0, 4], [4, 9], [4, 4], [9, 4]].map(([col, row]) => cell(col, row)?.style?.bold ?? null),
            getters.getRowSize("Sheet1", 5), getters.isRowHidden("Sheet1", 6), getters.getMerges("Sheet1").length,
            getters.getEvaluatedCell({ sheetId: "Sheet1", col: 2, row: 2 }).link.url,
          ];
        }""")
    assert seen == [True, True, True, True, True, 80, True, 1, "https://example.com/"]
