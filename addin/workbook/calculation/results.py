"""Values of the engine and of the file: turned into each other, compared, and doubted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from math import frexp
from typing import Any

from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.functions import all_measured
from addin.workbook.calculation.reading.shapes import Shape
from addin.workbook.ooxml.stored import ERROR_CODES
from udfs.cells import Scalar, serial
from udfs.errors import CellError, ErrorCode

TOLERANCE = 1e-12
"""Relative difference below which two numbers count as the same."""

MAX_TEXT = 32_767

IN_A_CIRCLE = (
    "it refers to itself, directly or through other cells: end the circle, or let a program calculate it (--engine)"
)
"""What the user should know where the engine found no order."""

CAME_TO_SPILL = "something is in the way of its values, or of those of a cell that it refers to (#SPILL!)"

NEAR = 2e-14
"""Relative distance below which two numbers may have the same 15 digits, which spreadsheets count as equal."""

CANCELLING = frozenset(["SIN", "COS", "TAN", "COT", "SEC", "CSC", "SINH", "TANH", "COTH", "CSCH"])
"""Functions that lose all digits near a multiple of π."""
LOST = (1e-9, 1e9)
"""Beyond these sizes their results are nothing but the rounding of the argument."""

OF_DIFFERENCES = frozenset(
    (
        *("SUM", "SUMPRODUCT", "AVERAGE", "NPV", "XNPV", "PV", "FV", "PMT", "MDETERM", "MMULT", "MINVERSE", "SKEW"),
        *("KURT", "VAR", "VAR.S", "VAR.P", "VARP", "STDEV", "STDEV.S", "STDEV.P", "STDEVP", "DEVSQ", "AVEDEV", "COVAR"),
        *("COVARIANCE.S", "COVARIANCE.P", "CORREL", "PEARSON", "RSQ", "SLOPE", "INTERCEPT", "STEYX", "FORECAST"),
        *("FORECAST.LINEAR", "TREND", "LINEST", "SUMXMY2", "SUMX2MY2"),
    )
)
"""Functions that subtract: where nothing should be left, each program leaves another rounding."""

_NEARLY, _EVENLY = 1e-6, 1e-10
"""Relative distances within which a result that is moved a little may move, and may do so unevenly."""

_RESIDUE = re.compile(r"[0-9]E-1[3-9]", re.IGNORECASE)
_LONG_FRACTION = re.compile(r"[0-9]\.[0-9]{8,}")
_ROUNDED = 10
"""How much more than moving it rounding may change a result: it moves what the result rests on by less."""

TINY = 1e-13
"""A sum or difference below this may be rounding alone, of which spreadsheets make 0 in some places."""


def is_circle(message: str) -> bool:
    """Return whether the engine's message, a code or a sentence, tells of cells that wait for each other."""
    return "#CIRC" in message.upper()


def is_without_room(found: Any) -> bool:
    """Return whether a result of the engine, a value or rows, is the error of a formula whose values have no room."""
    first = found[0][0] if type(found) is list and found and found[0] else found
    return isinstance(first, dict) and first["error"] == "#SPILL!"


def to_engine(value: Scalar) -> Any:
    """A cell's value as the engine gets it."""
    match value:
        case None | bool() | str():
            return value
        case CellError():
            return {"error": value.message if value.message in ERROR_CODES else str(value.code)}
        case date():
            return serial(value)
        case _:
            return float(value)


def to_cell(value: Any) -> Scalar:
    """A value of the engine as a cell holds it; a blank one shows as 0, as in every spreadsheet."""
    if isinstance(value, dict):
        return CellError(ErrorCode.NA, value["error"])
    return 0.0 if value is None else value


def is_reproduced(old: Any, found: Any) -> bool:
    """Return whether the engine found what the file holds: numbers within `TOLERANCE`, everything else exactly.

    Each is a value, or the rows of an array.
    """
    if type(old) is not list or type(found) is not list:
        return _equal(old, found)
    return len(old) == len(found) and all(
        len(row) == len(others) and all(map(_equal, row, others)) for row, others in zip(old, found, strict=True)
    )


def is_same(one: Any, other: Any) -> bool:
    """Return whether two results of the engine, values or rows, are the same to the last bit."""
    if type(one) is not list or type(other) is not list:
        return type(one) is type(other) and bool(one == other)
    return len(one) == len(other) and all(map(is_same, one, other))


def jumps(found: Any, below: Any, above: Any, rounded: Any) -> bool:
    """Return whether a result jumps where what it rests on is moved by hardly anything, to either side, or rounded.

    What it loses in a difference it loses evenly: to one side as much as to the other.

    >>> jumps(8.0, 7.0, 8.0, 8.0), jumps(8.0, 7.999999999, 8.000000001, 8.0), jumps("a", "a", "a", "b")
    (True, False, True)
    >>> jumps(2490399.0, 2490399.0, 2490399.0, 2490400.0)
    True
    """
    each = (found, below, above, rounded)
    if any(type(rows) is list for rows in each):
        if len({(len(rows), len(rows[0])) if type(rows) is list else () for rows in each}) > 1:
            return True
        return any(jumps(*values) for rows in zip(*each, strict=True) for values in zip(*rows, strict=True))
    if any(type(value) is not float for value in each):
        return not all(is_same(found, value) for value in each)
    size = max(map(abs, each))
    is_near = all(abs(value - found) <= _NEARLY * size for value in each)
    moved = max(abs(below - found), abs(above - found))
    is_even = abs((below - found) + (above - found)) <= _EVENLY * size
    return not (is_near and is_even and abs(rounded - found) <= _ROUNDED * moved + TOLERANCE * size)


def is_residue(value: Any) -> bool:
    """Return whether a number may be what rounding left of a difference of equal ones: few binary digits, all small.

    >>> [is_residue(each) for each in (0.1 + 0.2 - 0.3, 3000000.3000000003 - 3000000.3, 0.1, 0.375, 7.0, 0.0, 1e-9)]
    [True, True, False, False, False, False, False]
    """
    return type(value) is float and value * 1024 % 1 != 0 and frexp(value)[0] * 1024 % 1 == 0


def doubt_about(formula: BookFormula, found: Any) -> str:
    """Why what the engine found, a value or rows, is not to be written into the cells of `formula`; else empty."""
    if not formula.is_array:
        return _doubt_about_value(found, formula)
    rows: list[list[Any]] = found
    for row in rows:
        for value in row:
            if why := _doubt_about_value(value, formula):
                return why
    area = formula.formula.area
    size = (area.last_row - area.first_row + 1, area.last_column - area.first_column + 1)
    is_fixed = not formula.formula.is_dynamic and not formula.shape.is_call
    if is_fixed and size != (len(rows), len(rows[0])):
        return f"its result has {len(rows)} × {len(rows[0])} cells, and its area {size[0]} × {size[1]}"
    return ""


def is_lost(shape: Shape, value: Any) -> bool:
    """Return whether a value is nothing but what rounding left of an angle."""
    is_number = type(value) is float and value != 0
    return is_number and bool(shape.functions & CANCELLING) and not LOST[0] < abs(value) < LOST[1]


def _doubt_about_value(value: Any, formula: BookFormula) -> str:
    shape = formula.shape
    if type(value) is float:
        return _doubt_about_number(value, shape)
    if type(value) is str:
        return _doubt_about_text(value, shape)
    if isinstance(value, dict):
        code = value["error"]
        if is_circle(code):
            return IN_A_CIRCLE
        if code not in ERROR_CODES:
            return f"the calculation engine gave no value ({code.strip('#').lower()})"
        if code == "#SPILL!":
            return CAME_TO_SPILL
        if code == "#CALC!" or (code == "#NAME?" and not all_measured(shape.functions)):
            return f"the calculation engine came to {code}"
    return ""


def _doubt_about_number(value: float, shape: Shape) -> str:
    if is_lost(shape, value):
        return "its value is what rounding left of an angle, which programs show differently"
    if value and -TINY < value < TINY and (shape.joins_or_subtracts or shape.functions & OF_DIFFERENCES):
        return "its value may be nothing but rounding, which programs show differently"
    return ""


def _doubt_about_text(value: str, shape: Shape) -> str:
    if _RESIDUE.search(value) and any(name.startswith("IM") for name in shape.functions):
        return "a part of its complex number may be nothing but rounding, which programs show differently"
    if "TEXT" in shape.functions and any("@" in each for each in shape.texts) and _LONG_FRACTION.search(value):
        return "its format (@) shows as many digits as a program has room for"
    if len(value) > MAX_TEXT:
        return f"its text is longer than the {MAX_TEXT:,} characters that a cell can hold"
    return ""


def _equal(one: Any, other: Any) -> bool:
    if one == other and type(one) is type(other):
        return True
    if type(one) is float and (type(other) is float or other is None):
        other = other or 0.0
        return bool(abs(one - other) <= TOLERANCE * max(abs(one), abs(other)))
    if one in (None, "") and other in (None, ""):
        return True
    return type(one) is type(other) and bool(one == other)


def shows_error(found: Any) -> bool:
    """Return whether what the engine gave, a value or rows, shows an error."""
    rows = found if type(found) is list else [[found]]
    return any(isinstance(value, dict) for row in rows for value in row)


def as_shown(found: Any) -> tuple[Scalar, Sequence[Sequence[Scalar]]]:
    """Return what a cell shows, and the rows of an array formula, of what the engine gave."""
    if type(found) is not list:
        return to_cell(found), ()
    rows = [[to_cell(value) for value in row] for row in found]
    return (rows[0][0] if rows and rows[0] else None), rows
