"""Whether a result has room on its sheet to spill, as Excel sees it."""

from __future__ import annotations

from addin.formulas import MAX_COLUMN, MAX_ROW, Area
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet


def spill_area(spot: Spot, height: int, width: int) -> Area:
    """The cells that a result of this size fills, from its formula's cell on."""
    return Area(spot[0], spot[1], spot[0] + height - 1, spot[1] + width - 1)


def what_blocks(book: Book, name: str, formula: Formula, area: Area) -> str:
    """Return why the result of a formula on the sheet `name` cannot fill `area`; empty where it can."""
    size = f"the result of {area.last_row - area.first_row + 1} × {area.last_column - area.first_column + 1} cells"
    if area.last_row > MAX_ROW or area.last_column > MAX_COLUMN:
        return f"{size} does not fit on the sheet"
    if area.is_cell:
        return ""
    tables = book.tables.values() if formula.is_dynamic else ()
    if table := next((each for each in tables if each.sheet == name and _meet(each.area, area)), None):
        return f"{size} is blocked by the table {table.name}, in which nothing spills"
    if area == formula.area and not formula.is_dynamic:
        return ""
    return _in_the_way(book.sheet(name), formula.area, area, size)


def _in_the_way(sheet: Sheet, old: Area, area: Area, size: str) -> str:
    for spot in sheet.spots_in(area) if area != old else ():
        if not old.contains(*spot) and sheet.has_content(spot):
            return f"{size} is blocked by {Area(*spot, *spot)}; clear it"
    merged = next((each for each in sheet.merged() if not each.is_cell and _meet(each, area)), None)
    return f"{size} is blocked by the merged cells {merged}" if merged else ""


def _meet(one: Area, other: Area) -> bool:
    rows = one.first_row <= other.last_row and other.first_row <= one.last_row
    return rows and one.first_column <= other.last_column and other.first_column <= one.last_column
