"""The rows and cells of a sheet's XML by their positions."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from lxml import etree

from addin.formulas import MAX_COLUMN, MAX_ROW
from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.positions import address, spot_of, whole_number
from addin.workbook.ooxml.strict.sheet import cells_of_row, check_blank, check_cell

_PLAIN = re.compile("[A-Z]{1,3}")


@dataclass(slots=True)
class Row:
    """A row's element and its cells by column."""

    element: etree._Element
    cells: dict[int, etree._Element] = field(default_factory=dict)
    numbers: dict[int, float] = field(default_factory=dict)
    """What the cells hold that were read as a number other than 0, and not written since."""
    last: int = 0
    """The last column that has a cell."""

    def put(self, column: int, cell: etree._Element) -> None:
        """Put a new cell in its place."""
        if column > self.last:
            self.element.append(cell)
        else:
            self.cells[min(other for other in self.cells if other > column)].addprevious(cell)
        self.cells[column] = cell
        self.last = max(self.last, column)


def indexed(data: etree._Element, part: str, formatted: Collection[str] = ()) -> dict[int, Row]:
    """The rows of a sheet's data by number; a row or cell without an `r` follows the one before it.

    `formatted` are the rich values that only say how the number in a cell looks.

    Raises `WorkbookError` for rows and cells that are not where a sheet has any.
    """
    rows: dict[int, Row] = {}
    number = last = 0
    columns: dict[str, int] = {}
    check_blank(data, part)
    for element in data:
        cells = cells_of_row(element, part)
        number = whole_number(element.get("r"), part, "row number", number + 1)
        if not last < number <= MAX_ROW:
            raise damaged(part, f"there is a second row {number}, it is not in its place, or none has that number")
        last = number
        row = rows[number] = Row(element)
        if element.get("r") is None:
            element.set("r", str(number))
        column = 0
        for cell in cells:
            number_in_cell = check_cell(cell, part, formatted)
            reference = cell.get("r")
            column = _column(reference, number, part, columns) if reference else column + 1
            if not row.last < column <= MAX_COLUMN:
                raise damaged(part, f"row {number} has two cells in one column, or not in their order, or too many")
            if not reference:
                cell.set("r", address((number, column)))
            row.cells[column] = cell
            if number_in_cell:
                row.numbers[column] = number_in_cell
            row.last = column
    return rows


def _column(reference: str, number: int, part: str, columns: dict[str, int]) -> int:
    """The column of a cell in row `number`; `columns` remembers letters: to read them is the slowest part."""
    letters = reference.removesuffix(str(number))
    column = columns.get(letters)
    if column is None:
        if not _PLAIN.fullmatch(letters):
            raise damaged(part, f"a cell in row {number} is called {reference[:40]!r}")
        columns[letters] = column = spot_of(reference, part)[1]
    return column
