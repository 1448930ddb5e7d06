"""Small workbooks for tests, made by openpyxl as other people's tools make them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.worksheet.formula import ArrayFormula

from addin.formulas import MAX_COLUMN, MAX_ROW, Area
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package

WHOLE_SHEET = Area(1, 1, MAX_ROW, MAX_COLUMN)


def make_book(path: Path, cells: Mapping[str, Any], **sheets: Mapping[str, Any]) -> Path:
    """Write a book with these cells on `Sheet1` and on further sheets; `("A1:B2", formula)` is an array formula."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, content in {"Sheet1": cells, **sheets}.items():
        sheet = book.create_sheet(name)
        for cell, value in content.items():
            sheet[cell] = ArrayFormula(*value) if isinstance(value, tuple) else value
    book.save(path)
    return path


def values(path: Path, sheet: str, *cells: str) -> list[Any]:
    """What the cells of a book show."""
    with Package(path) as package:
        source = Book(package).sheet(sheet)
        found = []
        for cell in cells:
            column, row = openpyxl.utils.cell.coordinate_from_string(cell)
            found.append(source.value((row, openpyxl.utils.cell.column_index_from_string(column))))
        return found
