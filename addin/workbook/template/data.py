"""The hidden sheet where the formulas stand whose results spill; the other sheets show its cells.

Calc without the extension drops the saved values of a formula that spills, and keeps those of plain formulas. So what
people see are plain formulas, and the template shows its values in every program.
"""

from __future__ import annotations

from dataclasses import dataclass

from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

DATA_SHEET = "Data"


@dataclass(frozen=True, slots=True)
class Spill:
    """A result on the sheet: its columns, its header in row 1 and its rows below."""

    columns: tuple[str, ...]

    def cell(self, column: int, row: int) -> str:
        """The cell of a column, counted from 0, and of a row; row 0 is the header."""
        return f"{DATA_SHEET}!{self.columns[column]}{row + 1}"

    def shown(self, column: int, row: int) -> str:
        """The formula that shows such a cell, also a blank one.

        That is an empty text. Calc keeps no saved value that is empty, and has an error (`#NAME?`) in place of the cell
        if it lacks the extension. So that shows as nothing too, except in the first column, where a table that fails as
        a whole shows its error. And Calc compares a text that comes from an add-in rightly only when something is
        appended to it.
        """
        cell = self.cell(column, row)
        shown = f'IF({cell}&""="","",{cell})'
        return f'=IF(ISERR({cell}),"",{shown})' if column else f"={shown}"

    def area(self, column: int, rows: int) -> str:
        """The first rows of a column, without its header."""
        name = self.columns[column]
        return f"{DATA_SHEET}!${name}$2:${name}${rows + 1}"


class Data:
    """The sheet under construction: each result has columns of its own, so that it has room below."""

    def __init__(self, sheet: Worksheet) -> None:
        self.sheet = sheet
        self._next = 0
        sheet.hide()

    def spill(self, formula: str, columns: int) -> Spill:
        """Write a formula whose result has so many columns; the first refresh adds its values and size."""
        result = self.room(columns)
        self.sheet.write_dynamic_array_formula(f"{result.columns[0]}1:{result.columns[0]}1", formula, None, "")
        return result

    def room(self, columns: int) -> Spill:
        """The next free columns."""
        first, self._next = self._next, self._next + columns + 1
        return Spill(tuple(xl_col_to_name(first + column) for column in range(columns)))
