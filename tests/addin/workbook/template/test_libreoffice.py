"""The template in a LibreOffice that knows nothing of us: it shows the saved values."""

import re
import shutil
from pathlib import Path

import openpyxl
import pytest

from addin.calc.soffice import convert
from addin.workbook.template.data import DATA_SHEET
from tests.addin.calc.plain_office import shown_without_us

pytestmark = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")


def test_calc_without_the_extension_shows_every_saved_value(project: Path, tmp_path: Path):
    book = project / "workbook_template.xlsx"
    shown = shown_without_us(book, tmp_path)
    for sheet in openpyxl.load_workbook(book, data_only=True):
        if sheet.title == DATA_SHEET:
            continue
        for cell in (cell for row in sheet.iter_rows() for cell in row if cell.value not in (None, "")):
            text = shown[sheet.title][cell.row - 1][cell.column - 1]
            assert not text.startswith(("#", "Err:")), f"{sheet.title}!{cell.coordinate}"
            if isinstance(cell.value, str):
                assert text == cell.value


def test_blanks_of_the_template_are_empty_with_and_without_the_extension(project: Path, tmp_path: Path):
    book = project / "workbook_template.xlsx"
    shown = shown_without_us(book, tmp_path)
    values, formulas = openpyxl.load_workbook(book, data_only=True), openpyxl.load_workbook(book)
    cells = [cell for sheet in formulas for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    stored = {cell: values[cell.parent.title][cell.coordinate].value for cell in cells}
    assert [cell.coordinate for cell in cells if isinstance(stored[cell], str) and stored[cell].isspace()] == []
    blank = [cell for cell in cells if str(cell.value).startswith("=IF(ISERR(") and stored[cell] in (None, "")]
    assert len(blank) > 50
    assert {shown[cell.parent.title][cell.row - 1][cell.column - 1] for cell in blank} == {""}


def test_each_sheet_is_printed_on_one_page_and_the_room_for_longer_tables_on_none(project: Path, tmp_path: Path):
    book = project / "workbook_template.xlsx"
    pages = re.findall(rb"/Type ?/Page\b", convert(book, to="pdf", into=tmp_path).read_bytes())
    assert len(pages) == sum(sheet.sheet_state == "visible" for sheet in openpyxl.load_workbook(book))
