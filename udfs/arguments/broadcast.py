"""Ranges as arguments: the calls of the cells they stand for, and the shape in which the results spill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from udfs.arguments.kinds import is_blank, matrix_of
from udfs.errors import ArgumentError

Arguments: TypeAlias = list[Any]


def single(raw: Any) -> Any:
    """A range of one cell is that cell; anything else is itself. Raises `ArgumentError` where rows differ in length."""
    rows = matrix_of(raw)
    if rows is None:
        return raw
    if len({len(row) for row in rows}) > 1:
        raise ArgumentError("the rows of a range must be of one length")
    return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else raw


def combinations(raw: Sequence[Any], ranges: Sequence[int]) -> list[list[Arguments | None]]:
    """The arguments of every cell of the result, row by row; None where a blank cell of a range leaves one blank.

    `ranges` are the places of one or two ranges in `raw`: one spills in its own shape; of two, each one row or one
    column, the first goes down and the second across, unless they lie the other way round in the sheet.
    """
    first = matrix_of(raw[ranges[0]]) or []
    if len(ranges) == 1:
        return [[_with(raw, {ranges[0]: item}) for item in row] for row in first]
    second = matrix_of(raw[ranges[1]]) or []
    if len(ranges) > 2 or not (_is_line(first) and _is_line(second)):
        raise ArgumentError("at most two arguments can be ranges here, each one row or one column")
    down, across = (ranges[0], _flat(first)), (ranges[1], _flat(second))
    if len(first) == 1 and len(second) > 1:
        down, across = across, down
    return [[_with(raw, {down[0]: d, across[0]: a}) for a in across[1]] for d in down[1]]


def _with(raw: Sequence[Any], items: dict[int, Any]) -> Arguments | None:
    if any(is_blank(item) for item in items.values()):
        return None
    return [items.get(place, value) for place, value in enumerate(raw)]


def _is_line(rows: Sequence[Sequence[Any]]) -> bool:
    return len(rows) == 1 or all(len(row) == 1 for row in rows)


def _flat(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [item for row in rows for item in row]
