"""What is typed is written in Excel's grammar, or refused with advice; what a file relies on by name is not changed."""

import re
import zipfile

import openpyxl
import pytest
from openpyxl.styles import Protection
from openpyxl.worksheet.table import Table

from tests.addin.sheet.parts.pages import opened_sheet, sheet_server

pytestmark = pytest.mark.usefixtures("component")


def stored(path):
    sheet = openpyxl.load_workbook(path)["Sheet1"]
    return {
        cell.coordinate: getattr(cell.value, "text", cell.value)
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None
    }


def test_semicolons_become_commas_where_that_is_what_is_meant(blank, tmp_path):
    blank.put({"A1": "=SUM(1;2)", "A2": '=IF(A1>1;"a;b";3)', "A3": "=SUM({1;2})", "A4": '=DS.SIGNAL("us-cpi";"slug")'})
    assert blank.values("A1", "A2", "A3", "A4") == [3, "a;b", 3, "us-cpi"]
    blank.download(tmp_path / "copy.xlsx")
    assert stored(tmp_path / "copy.xlsx") == {
        "A1": "=SUM(1,2)",
        "A2": '=IF(A1>1,"a;b",3)',
        "A3": "=SUM({1;2})",
        "A4": '=_xldudf_DS_SIGNAL("us-cpi","slug")',
    }


def cells_with_formulas(path):
    """The cells that have a formula in the file itself; openpyxl takes text that begins with = for one."""
    with zipfile.ZipFile(path) as package:
        return set(re.findall(r'<c r="([A-Z]+[0-9]+)"[^>]*><f', package.read("xl/worksheets/sheet1.xml").decode()))


REFUSED = {
    "=ROUND(2,345;2)": "arguments are separated by commas, not by semicolons, and numbers have a decimal point",
    "=SUM(A1:A)": "an area has a row at both of its ends or at none: A1:A9 or A:A",
    "=SUM($B:B$2)": "an area has a row at both of its ends or at none: A1:A9 or A:A",
    "=A1048577": "A1048577 is outside of a sheet, whose last cell is XFD1048576",
    "=XFE1+1": "XFE1 is outside of a sheet, whose last cell is XFD1048576",
}


def test_what_excel_cannot_read_is_refused_with_advice_and_stays_text_in_a_copy(blank, tmp_path):
    blank.put({"A1": "1", **{f"C{row}": formula for row, formula in enumerate(REFUSED, 1)}})
    for row, advice in enumerate(REFUSED.values(), 1):
        blank.until(f"({{}}, {CELL_MESSAGE % f'C{row}'}).includes({advice!r})")
    assert blank.errors() == [f"Sheet1!C{row}" for row in range(1, len(REFUSED) + 1)]
    blank.put({"D1": "=SUM(A:A,1:1)-SUM(D2:$D$3)", "D2": "=COLUMN(XFD1048576)", "D3": "=SUM(A1:INDEX(A:A,1))"})
    assert blank.values("D2", "D3") == [16_384, 1], "what Excel reads is no matter"
    blank.put({"D1": ""})
    blank.download(tmp_path / "copy.xlsx")
    assert cells_with_formulas(tmp_path / "copy.xlsx") == {"D2", "D3"}


CELL_MESSAGE = """String(((xc) => {
  const { col, row } = o_spreadsheet.helpers.toCartesian(xc);
  return sheet.book.model.getters.getEvaluatedCell({ sheetId: "Sheet1", col, row }).message ?? "";
})("%s"))"""


def test_the_header_of_a_table_is_not_changed_and_the_page_says_why(chromium, service, tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    for row in (["Name", "Q1"], ["a", 1], ["b", 2]):
        sheet.append(row)
    sheet.add_table(Table(displayName="Sales", ref="A1:B3"))
    book.save(tmp_path / "book.xlsx")
    with sheet_server(service, tmp_path, tmp_path / "book.xlsx") as url, opened_sheet(chromium, url) as page:
        page.put({"B1": "First"})
        page.sees("The header of a table cannot be changed")
        page.select("A1")
        page.keys("Delete")
        assert page.values("A1", "B1") == ["Name", "Q1"]
        page.put({"B2": "5", "C1": "free"})
        assert page.values("B2", "C1") == [5, "free"]


def test_of_a_protected_sheet_the_unlocked_cells_are_changed_and_no_others(chromium, service, tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    sheet["A1"], sheet["B1"], sheet["C1"] = "Rate", 5, "=B1*2"
    sheet["B1"].protection = Protection(locked=False)
    sheet.protection.sheet = True
    book.save(tmp_path / "book.xlsx")
    with sheet_server(service, tmp_path, tmp_path / "book.xlsx") as url, opened_sheet(chromium, url) as page:
        page.put({"B1": "7"})
        assert page.values("B1", "C1") == [7, 14]
        page.select("C1")
        page.keys("Delete")
        page.sees("This cell is locked: its sheet is protected")
        page.put({"A1": "x", "D9": "x"})
        assert page.values("A1", "C1", "D9") == ["Rate", 14, None]
        page.download(tmp_path / "copy.xlsx")
    copied = openpyxl.load_workbook(tmp_path / "copy.xlsx")["Sheet1"]
    assert (copied["B1"].value, copied.protection.sheet) == (7, True)
