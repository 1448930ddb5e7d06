"""Ordinary formulas of the page, worked out by the calculation that a refresh uses, each with what speaks against it.

The page sends formulas, and the values of the cells that they refer to. Nothing is kept between two requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

import msgspec

from addin.sheet.calculation.cells_book import SheetCells, book_of
from addin.sheet.calculation.entered import is_formula
from addin.sheet.edits import Shown, Value
from addin.sheet.files import book_file
from addin.workbook.calculation.book_formulas import BookFormula, FormulaReader
from addin.workbook.calculation.calculation import FINDS_UNPROVEN, RESTS_ON_UNPROVEN, BookCalculation, Result
from addin.workbook.calculation.engine.process import EngineFailedError
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.results import CAME_TO_SPILL
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import address, spot_of
from udfs.cells import Scalar, serial
from udfs.errors import CellError

ONE_FOR_SEVERAL = "it came to #VALUE!: an argument does not fit, or Excel gives a function several values in turn"
RESTS = "it rests on a cell whose value is not proven"

_ENLARGING = frozenset({"AVERAGEIF", "SUMIF"})
"""These give the range that they add up the size of the one that they compare."""

TIME_LIMIT_S = 20.0
"""How long one step of the calculation may take; the page waits for it, and in a shared backend others do."""


class ToCalculate(msgspec.Struct):
    """Formulas to work out, at the page's `now`, in seconds, and its distance from UTC.

    `answers` is what calls of ours came to, by the keys with which they were asked for.
    """

    sheets: dict[str, SheetCells]
    now: float
    offset_s: float = 0.0
    answers: dict[str, list[list[Value]]] = {}
    is_whole: bool = False
    """Whether the values of all cells of the book are there."""


class Calculated(msgspec.Struct, omit_defaults=True):
    """The result of a formula: its rows, or why they are not proven, or the calls of ours it waits for, by key.

    One that no program can read has none of these.
    """

    rows: list[list[Value]] = []
    unproven: str = ""
    asks: dict[str, list[Any]] = {}
    finds_cells: bool = False
    """Whether it looks at cells that only its calculation finds, so that the whole book is needed."""


Results: TypeAlias = dict[str, dict[str, Calculated]]
"""By sheet and cell."""


def calculated(wanted: ToCalculate, namespace: str) -> Results:
    """Return what each formula comes to; raises `WorkbookError` for cells that are nowhere."""
    formulas = {(name, cell): text for name, cells in wanted.sheets.items() for cell, text in cells.formulas.items()}
    readable = {place: text for place, text in formulas.items() if is_formula(text)}
    results: Results = {}
    try:
        found = _worked_out(wanted, readable, namespace)
        why = ""
    except EngineFailedError as error:
        found, why = {}, str(error)
    for sheet, cell in formulas:
        results.setdefault(sheet, {})[cell] = found.get((sheet, cell)) or Calculated(unproven=why)
    return results


def warm_up() -> None:
    """Start the engine, which takes longer than working most formulas out."""
    calculated(ToCalculate({"Sheet": SheetCells({"A1": "LEN(1)"})}, now=0.0), "DS")


def _worked_out(
    wanted: ToCalculate, formulas: Mapping[tuple[str, str], str], namespace: str
) -> dict[tuple[str, str], Calculated]:
    content = book_of(wanted.sheets, formulas, namespace)
    engines = Engines(now=wanted.now, offset_s=wanted.offset_s, time_limit_s=TIME_LIMIT_S)
    with book_file(content, "the sheet") as path, Package(path) as package, engines:
        book = Book(package)
        calculation = BookCalculation(book, list(FormulaReader(book, namespace).all()), engines)
        calculation.prove()
        asked = calculation.evaluate({key: _to_engine(rows) for key, rows in wanted.answers.items()})
        used = calculation.used
        results = list(calculation.results())
        found = {
            _place(each.formula): _result(
                each,
                {key: _as_call(asked[key]) for key in used.get(each.formula.place, ()) if key in asked},
                is_whole=wanted.is_whole,
                is_told=any(_is_wrong(wanted.answers.get(key, [])) for key in used.get(each.formula.place, ())),
            )
            for each in results
        }
    for each in results:
        if each.unproven == CAME_TO_SPILL and each.formula.is_array and len(formulas) > 1:
            place = _place(each.formula)
            found |= _worked_out(_alone(wanted, each.formula), {place: formulas[place]}, namespace)
    return found


def _place(formula: BookFormula) -> tuple[str, str]:
    return formula.place[0], address(formula.place[1])


def _alone(wanted: ToCalculate, formula: BookFormula) -> ToCalculate:
    """What a formula refers to, without what may be in the way of its values: the page sees that, and when it goes."""

    def is_read(sheet: str, cell: str) -> bool:
        spot = spot_of(cell, sheet)
        return any(name == sheet and area.contains(*spot) for name, area in formula.areas)

    sheets = {
        name: SheetCells(
            values={cell: value for cell, value in cells.values.items() if is_read(name, cell)}, hidden=cells.hidden
        )
        for name, cells in wanted.sheets.items()
    }
    return ToCalculate(sheets, wanted.now, wanted.offset_s, wanted.answers)


def _is_wrong(answer: list[list[Value]]) -> bool:
    """Return whether a call of ours was itself wrong, so that #VALUE! is what the formula comes to."""
    return any(isinstance(value, Shown) and value.error == "#VALUE!" for row in answer for value in row)


def _result(result: Result, asks: dict[str, list[Any]], *, is_whole: bool, is_told: bool) -> Calculated:
    if asks:
        return Calculated(asks=asks)
    if not is_whole and _looks_further(result):
        return Calculated(finds_cells=True)
    if result.unproven == CAME_TO_SPILL:
        return Calculated([[Shown("#SPILL!")]])
    if result.unproven:
        is_inherited = result.unproven in (RESTS_ON_UNPROVEN, FINDS_UNPROVEN)
        return Calculated(unproven=RESTS if is_inherited else result.unproven)
    rows = result.rows if result.formula.is_array else [[result.value]]
    if result.formula.is_array and not is_told and _is_refused(rows):
        return Calculated(unproven=ONE_FOR_SEVERAL)
    return Calculated([[_to_page(value) for value in row] for row in rows])


def _is_refused(rows: Sequence[Sequence[Scalar]]) -> bool:
    """Return whether the one value for several is the error of a function that takes no more than one."""
    value = rows[0][0] if len(rows) == len(rows[0]) == 1 else None
    return isinstance(value, CellError) and value.message == "#VALUE!"


def _looks_further(result: Result) -> bool:
    """Whether a formula looks at cells that are not named in it: built ranges, and sums larger than their range."""
    shape = result.formula.shape
    return shape.finds_cells or not shape.functions.isdisjoint(_ENLARGING)


def _as_call(call: Sequence[Any]) -> list[Any]:
    """A call with its arguments as the page passes them: errors as the two that our functions know."""
    return [_as_argument(value) for value in call]


def _as_argument(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_argument(each) for each in value]
    return ("#VALUE!" if value["error"] == "#VALUE!" else "#N/A") if isinstance(value, dict) else value


def _to_page(value: Scalar) -> Value:
    match value:
        case CellError():
            return Shown(value.message)
        case None | bool() | str():
            return value
        case date():
            return serial(value)
        case _:
            return float(value)


def _to_engine(rows: Sequence[Sequence[Value]]) -> Any:
    """Return what a call came to; a blank cell of a table is an empty text, so that nothing counts it."""
    cells = [[_of_call(value) for value in row] for row in rows]
    return cells[0][0] if len(cells) == len(cells[0]) == 1 else cells


def _of_call(value: Value) -> Any:
    if isinstance(value, Shown):
        return {"error": value.error}
    return "" if value is None else value
