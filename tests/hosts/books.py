"""The calls as formulas: in the cells of a workbook as Excel stores them, and alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import xlsxwriter
from xlsxwriter.utility import xl_range, xl_rowcol_to_cell
from xlsxwriter.worksheet import Worksheet

from tests.hosts.calls import Case, Error
from tests.hosts.shown import Failure, Shown, Time, Value, of_rows
from udfs.cells import EPOCH, serial

FIRST = (0, 20)
"""The row and column of a call's formula, right of its arguments."""

ERROR_FORMULAS = {"#N/A": "=NA()", "#DIV/0!": "=1/0", "#VALUE!": '="x"+1'}


def write_book(path: Path, cases: Sequence[Case]) -> Path:
    """Write a book with a sheet for every case: its cells from A1 on, and its formula, not yet calculated."""
    with xlsxwriter.Workbook(path) as book:
        dated = book.add_format({"num_format": "yyyy-mm-dd"})
        for number, case in enumerate(cases):
            sheet = book.add_worksheet(f"S{number}")
            formula = f"=_xldudf_DS_{case.function}({','.join(_written(case, sheet, dated))})"
            cell = xl_rowcol_to_cell(*FIRST)
            sheet.write_dynamic_array_formula(f"{cell}:{cell}", formula, None, "")
    return path


def _written(case: Case, sheet: Worksheet, dated: Any) -> list[str]:
    """The arguments as they stand in the formula; those that need cells are written into the sheet."""
    written, column = [], 0
    for argument in case.args:
        if isinstance(argument, tuple):
            _write(sheet, argument, column, dated)
            width = len(argument[0])
            written.append(xl_range(0, column, len(argument) - 1, column + width - 1))
            column += width
        elif isinstance(argument, date | Error):
            _write(sheet, ((argument.code if isinstance(argument, Error) else argument,),), column, dated)
            written.append(xl_rowcol_to_cell(0, column))
            column += 1
        else:
            written.append(constant(argument))
    return written


def _write(sheet: Worksheet, rows: Sequence[Sequence[Any]], first: int, dated: Any) -> None:
    for y, row in enumerate(rows):
        for x, value in enumerate(row, first):
            if value in ERROR_FORMULAS:
                sheet.write_formula(y, x, ERROR_FORMULAS[value], None, value)
            elif isinstance(value, date):
                sheet.write_number(y, x, serial(value), dated)
            elif value is not None:
                sheet.write(y, x, value)


def constant(value: Any) -> str:
    """A constant as a formula has it; an omitted argument is nothing."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case str():
            return '"' + value.replace('"', '""') + '"'
        case _:
            return repr(value)


def formula_alone(case: Case) -> str:
    """The formula without any cells: ranges as arrays of constants, dates as their numbers."""
    return f"=DS.{case.function}({','.join(_alone(argument) for argument in case.args)})"


def _alone(argument: Any) -> str:
    if isinstance(argument, tuple):
        return "{" + ";".join(",".join(_alone("" if cell is None else cell) for cell in row) for row in argument) + "}"
    if isinstance(argument, Error):
        return argument.code
    if isinstance(argument, date):
        return repr(serial(argument))
    return argument if argument in ERROR_FORMULAS else constant(argument)


def shown_in(path: Path, count: int) -> list[Shown]:
    """What a book shows from each of its formulas on, to the last cell in use."""
    with path.open("rb") as stream:
        book = openpyxl.load_workbook(stream, data_only=True)
        return [_shown(book[f"S{number}"]) for number in range(count)]


def _shown(sheet: Any) -> Shown:
    row, column = FIRST
    cells = [[_value(cell) for cell in cells[column:]] for cells in sheet.iter_rows(min_row=row + 1)]
    width = max((x for row in cells for x, value in enumerate(row, 1) if value is not None), default=1)
    height = max((y for y, row in enumerate(cells, 1) if any(value is not None for value in row)), default=1)
    return of_rows([row[:width] for row in cells[:height]] or [[None]])


def _value(cell: Any) -> Value:
    if cell.data_type == "e":
        return Failure(cell.value)
    if cell.is_date and cell.value is not None:
        moment = cell.value
        is_number = isinstance(moment, int | float)
        return Time(float(moment) if is_number else serial(moment) if hasattr(moment, "year") else _of_time(moment))
    return of_rows([[cell.value]])  # type: ignore[return-value]  # one cell


def _of_time(moment: Any) -> float:
    raise AssertionError(f"a time of day, {moment}, since {EPOCH}")
