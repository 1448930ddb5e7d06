"""Writing a result into its formula's cell, and over the area that it now spills into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from addin.formulas import Area
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import same_value
from addin.workbook.refresh.dependencies import FormulaCell
from addin.workbook.spill_room import spill_area, what_blocks
from udfs.cells import Grid, Scalar


@dataclass(frozen=True, slots=True)
class Spilled:
    """The effect of writing a result: the cells whose values changed, and what the user should know about it."""

    changed: frozenset[Spot] = frozenset()
    resized: bool = False
    """Whether it fills other cells than before, or some that were not there."""
    blocked: bool = False
    note: str = ""


def spill(book: Book, cell: FormulaCell, result: Scalar | Grid) -> Spilled:
    """Write a result into the cell's sheet; where it does not fit, the old values stay."""
    sheet, rows = book.sheet(cell.sheet), _rows(result)
    note = ""
    if not cell.formula.is_array and (len(rows), len(rows[0])) != (1, 1):
        note = f"shows only the first of {len(rows)} × {len(rows[0])} cells: it is not an array formula"
        rows = [rows[0][:1]]
    area = spill_area(cell.spot, len(rows), len(rows[0]))
    old = cell.formula.area
    if blocked := what_blocks(book, cell.sheet, cell.formula, area):
        return Spilled(blocked=True, note=blocked)
    known = _count(sheet, area)
    changed = frozenset(_write(book, sheet, cell.spot, rows, old))
    if cell.formula.is_array and area != old:
        sheet.resize(cell.spot, area)
    # A program that writes files may have left out the cells of a table that it has no values for.
    resized = cell.formula.is_array and (area != old or _count(sheet, area) > known)
    return Spilled(changed, resized, note=note)


def _count(sheet: Sheet, area: Area) -> int:
    """The number of cells that there are inside an area."""
    return sum(1 for _ in sheet.spots_in(area))


def shows(book: Book, cell: FormulaCell, result: Scalar | Grid) -> bool:
    """Return whether the cell and those that it spills into hold `result` already."""
    sheet, rows, old = book.sheet(cell.sheet), _rows(result), cell.formula.area
    if cell.formula.is_array and spill_area(cell.spot, len(rows), len(rows[0])) != old:
        return False
    return all(
        same_value(sheet.value((row_number, column)), value) and not sheet.shows_other_value((row_number, column))
        for row_number, row in enumerate(rows[: old.last_row - old.first_row + 1], cell.spot[0])
        for column, value in enumerate(row[: old.last_column - old.first_column + 1], cell.spot[1])
    )


def _rows(result: Scalar | Grid) -> list[tuple[Scalar, ...]]:
    """The cells of a result, one at least."""
    rows: list[tuple[Scalar, ...]] = list(result.rows()) if isinstance(result, Grid) else [(result,)]
    if not rows or not rows[0]:
        rows = [(None,)]
    if rows[0][0] is None:
        rows[0] = ("", *rows[0][1:])  # so that the file tells a blank result from none
    return rows


def _write(book: Book, sheet: Sheet, start: Spot, rows: list[tuple[Scalar, ...]], old: Area) -> Iterator[Spot]:
    """Write new values, clear the rest of the old area, and yield the cells that changed."""
    for row_number, row in enumerate(rows, start[0]):
        # A new row looks like the last row that the table had; in a table of one row the column decides.
        like = None if old.last_row == old.first_row else min(row_number, old.last_row)
        for column, value in enumerate(row, start[1]):
            spot = (row_number, column)
            is_new = not same_value(sheet.value(spot), value) or sheet.shows_other_value(spot)
            if is_new or (spot == start and not sheet.is_calculated(spot)):
                sheet.write(spot, value, like=(like, column) if like else None)
            sheet.drop_rich_value(spot)  # the cell gets a format of its own
            if isinstance(value, date):
                book.show_as_date(sheet, spot, with_time=isinstance(value, datetime))
            if is_new:
                yield spot
    area = spill_area(start, len(rows), len(rows[0]))
    for spot in list(sheet.spots_in(old)):
        if not area.contains(*spot) and sheet.value(spot) is not None:
            sheet.write(spot, None)
            yield spot
