"""Copies of a workbook with the cells that were changed, as other programs read them."""

from datetime import date
from io import BytesIO

import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from addin.sheet.edits import Edit, SheetEdits
from addin.sheet.looks import CellLook
from addin.sheet.saved import saved_book

DAY = (date(2026, 3, 1) - date(1899, 12, 30)).days


def book_of(epoch, number=None):
    book = openpyxl.Workbook()
    book.epoch = epoch
    book.active.title = "Sheet1"
    book.active["A1"], book.active["A1"].number_format = date(2026, 1, 1), "yyyy-mm-dd"
    book.active["B1"] = number
    written = BytesIO()
    book.save(written)
    return written.getvalue()


def saved_cell(original, edit, cell):
    """The cell of the copy as openpyxl reads it."""
    copy = saved_book(original, "book.xlsx", [SheetEdits("Sheet1", cells={cell: edit})])
    return openpyxl.load_workbook(BytesIO(copy))["Sheet1"][cell]


@pytest.mark.parametrize("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
@pytest.mark.parametrize("cell", ["A1", "F1"])
@pytest.mark.parametrize("formula", [None, "DATE(2026,3,1)"])
def test_a_day_that_is_typed_stays_that_day_whatever_the_cell_looked_like(epoch, cell, formula):
    edit = Edit(formula=formula, rows=[[float(DAY)]], look=CellLook(format="yyyy-mm-dd"))
    if formula is None:
        assert saved_cell(book_of(epoch), edit, cell).value.date() == date(2026, 3, 1)
        return
    copy = saved_book(book_of(epoch), "book.xlsx", [SheetEdits("Sheet1", cells={cell: edit})])
    assert openpyxl.load_workbook(BytesIO(copy), data_only=True)["Sheet1"][cell].value.date() == date(2026, 3, 1)


@pytest.mark.parametrize("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
def test_a_number_in_a_cell_that_showed_days_is_that_number(epoch):
    edit = Edit(rows=[[12.0]], look=CellLook(format="0.0"))
    assert saved_cell(book_of(epoch), edit, "A1").value == 12


@pytest.mark.parametrize("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
def test_a_number_that_only_gets_the_look_of_a_day_is_the_day_that_the_page_shows_and_back(epoch):
    shows = Edit(keeps_content=True, look=CellLook(format="yyyy-mm-dd"))
    copy = saved_book(book_of(epoch, number=float(DAY)), "book.xlsx", [SheetEdits("Sheet1", cells={"B1": shows})])
    assert openpyxl.load_workbook(BytesIO(copy))["Sheet1"]["B1"].value.date() == date(2026, 3, 1)
    counts = Edit(keeps_content=True, look=CellLook(format="0"))
    again = saved_book(copy, "book.xlsx", [SheetEdits("Sheet1", cells={"B1": counts})])
    assert openpyxl.load_workbook(BytesIO(again))["Sheet1"]["B1"].value == DAY


@pytest.mark.parametrize(
    ("component", "excel"),
    [
        ("hhhh:mm:ss", "[h]:mm:ss"),
        ("hh:mm a", "hh:mm AM/PM"),
        ("dddd d mmmm yyyy hh:mm:ss a", "dddd d mmmm yyyy hh:mm:ss AM/PM"),
        ("qqqq yyyy", "mmm yyyy"),
        ('0.0" a hhhh"', '0.0" a hhhh"'),
        ("[$€]#,##0", "[$€]#,##0"),
    ],
)
def test_number_formats_are_written_as_excel_reads_them(component, excel):
    edit = Edit(rows=[[1.0]], look=CellLook(format=component))
    assert saved_cell(book_of(CALENDAR_WINDOWS_1900), edit, "B1").number_format == excel
