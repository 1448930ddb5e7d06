"""The rows and cells of a sheet's XML by their positions."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from addin.formulas import MAX_COLUMN, MAX_ROW
from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.positions import address, spot_of, whole_number
from addin.workbook.ooxml.stored import MAIN

_C, _ROW = f"{{{MAIN}}}c", f"{{{MAIN}}}row"


@dataclass(slots=True)
class Row:
    """A row's element and its cells by column."""

    element: etree._Element
    cells: dict[int, etree._Element] = field(default_factory=dict)
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


def indexed(data: etree._Element, part: str) -> dict[int, Row]:
    """The rows of a sheet's data by number; a row or cell without an `r` follows the one before it.

    Raises `WorkbookError` for rows and cells that are not where a sheet has any.
    """
    rows: dict[int, Row] = {}
    number = 0
    columns: dict[str, int] = {}
    for element in data.iterchildren(_ROW):
        number = whole_number(element.get("r"), part, "row number", number + 1)
        if not 1 <= number <= MAX_ROW or number in rows:
            raise damaged(part, f"there is a second row {number}, or none can have that number")
        row = rows[number] = Row(element)
        if element.get("r") is None:
            element.set("r", str(number))
        column = 0
        for cell in element.iterchildren(_C):
            reference = cell.get("r")
            column = _column(reference, number, part, columns) if reference else column + 1
            if column > MAX_COLUMN or column in row.cells:
                raise damaged(part, f"row {number} has two cells in one column, or more than fit")
            if not reference:
                cell.set("r", address((number, column)))
            row.cells[column] = cell
            row.last = max(row.last, column)
    return rows


def _column(reference: str, number: int, part: str, columns: dict[str, int]) -> int:
    """The column of a cell in row `number`; `columns` remembers letters: to read them is the slowest part."""
    letters = reference.removesuffix(str(number))
    column = columns.get(letters)
    if column is None:
        row, column = spot_of(reference, part)
        if row == number and letters.isalpha():
            columns[letters] = column
    return column
