"""Values as spreadsheets compare and join them, where the calculation engine does it otherwise.

Cells are None, bool, float or str; an error is `{"error": "#N/A"}`; an array is a list of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

CERTAIN_TEXT = (1e-4, 1e15)
"""Numbers of this size read the same as text in every program; beyond, programs choose their own notation."""

NEAR = 2e-14
"""Relative distance below which two numbers may have the same 15 digits."""


def as_text(value: float) -> str:
    """A number as `&` joins it: 15 digits, no exponent, never "-0".

    >>> as_text(1 / 3), as_text(-0.0), as_text(12.0)
    ('0.333333333333333', '0', '12')
    """
    if value == 0:
        return "0"
    text = f"{value:.15g}"
    if "e" not in text:
        return text
    digits = max(0, 14 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}"


def is_certain_text(value: float) -> bool:
    """Whether every program writes this number alike.

    >>> is_certain_text(1e21), is_certain_text(0.5)
    (False, True)
    """
    return value == 0 or CERTAIN_TEXT[0] <= abs(value) < CERTAIN_TEXT[1]


def snapped(value: Any, other: Any) -> Any:
    """`value`, or `other` where both are numbers with the same 15 digits, which spreadsheets count as equal.

    >>> snapped(0.1 + 0.2, 0.3)
    0.3
    """
    if isinstance(value, list) or isinstance(other, list):
        return _paired(snapped, value, other)
    if type(value) is not float or type(other) is not float or value == other:
        return value
    if abs(value - other) > NEAR * max(abs(value), abs(other)):
        return value
    return other if f"{value:.14e}" == f"{other:.14e}" else value


def each(function: Callable[[Any], Any], value: Any) -> Any:
    """The function of a value, or of each value of an array."""
    return [[function(cell) for cell in row] for row in value] if isinstance(value, list) else function(value)


def _paired(function: Callable[[Any, Any], Any], value: Any, other: Any) -> Any:
    """The function of each pair of two arrays, or of an array and a value; of shapes that do not fit, `value`."""
    rows = value if isinstance(value, list) else [[value]]
    others = other if isinstance(other, list) else [[other]]
    height, width = max(len(rows), len(others)), max(len(rows[0]), len(others[0]))
    for array in (rows, others):
        if len(array) not in (1, height) or len(array[0]) not in (1, width):
            return value
    return [
        [function(_at(rows, row, column), _at(others, row, column)) for column in range(width)] for row in range(height)
    ]


def _at(rows: list[list[Any]], row: int, column: int) -> Any:
    line = rows[row if len(rows) > 1 else 0]
    return line[column if len(line) > 1 else 0]
