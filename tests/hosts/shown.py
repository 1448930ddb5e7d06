"""What a host shows for a call, in one form for all hosts, so that it can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import zip_longest
from math import isclose
from typing import Any, TypeAlias

from udfs.cells import Grid, cells_of, serial
from udfs.errors import CellError


@dataclass(frozen=True)
class Time:
    """A number that is shown as a date or date-time."""

    serial: float


@dataclass(frozen=True)
class Failure:
    """An error value."""

    code: str


@dataclass(frozen=True)
class Told:
    """An error as text: its code, and a message behind it."""

    code: str


Value: TypeAlias = bool | float | str | Time | Failure | Told | None
Shown: TypeAlias = Value | list[list[Value]]
"""One cell, or the rows of a table; a table of one cell is that cell, and a blank is None."""


def of_result(result: Any) -> Shown:
    """What the result of a function is, before any host shows it."""
    cells = cells_of(result)
    return of_rows([list(row) for row in cells.rows()] if isinstance(cells, Grid) else [[cells]])


def of_rows(rows: Sequence[Sequence[Any]]) -> Shown:
    """Rows of plain Python values."""
    shown = [[of_value(value) for value in row] for row in rows] or [[None]]
    return shown[0][0] if len(shown) == len(shown[0]) == 1 else shown


def of_value(value: Any) -> Value:
    """One plain Python value."""
    match value:
        case None | "":
            return None
        case CellError():
            return Failure(str(value.code))
        case datetime():
            return Time(serial(value.replace(tzinfo=None)))
        case date():
            return Time(serial(value))
        case bool() | str() | Time() | Failure() | Told():
            return value
        case _:
            return float(value)


def is_same(one: Shown, other: Shown) -> bool:
    """Whether two hosts show the same; a cell that is not there is blank, and the last digits may be rounded."""
    pairs = zip_longest(rows_of(one), rows_of(other), fillvalue=[])
    return all(_same_value(*cells) for rows in pairs for cells in zip_longest(*rows))


def rows_of(shown: Shown) -> list[list[Value]]:
    """The rows of a table; one value is a table of one cell."""
    return shown if isinstance(shown, list) else [[shown]]


def _same_value(one: Value, other: Value) -> bool:
    if isinstance(one, Time) and isinstance(other, Time):
        return abs(one.serial - other.serial) < 1e-6  # a tenth of a second
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-13)
    return type(one) is type(other) and one == other


def changed(shown: Shown, change: Any) -> Shown:
    """The same with every value changed."""
    return of_rows([[change(value) for value in row] for row in rows_of(shown)])
