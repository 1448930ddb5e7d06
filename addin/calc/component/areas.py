"""Rectangles of cells: where a table is, and which cells it needs when its size changes."""

from __future__ import annotations

import re
from typing import Iterable, NamedTuple

MAX_CELLS = 2_000_000
"""A larger table keeps its size: Calc would be blocked for minutes."""


class Area(NamedTuple):
    """A rectangle of cells on one sheet, counted from 0."""

    column: int
    row: int
    columns: int
    rows: int

    def resized(self, columns: int, rows: int) -> Area:
        """The area with the same first cell and another size."""
        return self._replace(columns=columns, rows=rows)

    def fits(self, sheet_columns: int, sheet_rows: int) -> bool:
        """Return whether the sheet can hold it."""
        inside = self.column + self.columns <= sheet_columns and self.row + self.rows <= sheet_rows
        return inside and self.columns * self.rows <= MAX_CELLS


def grown(now: Area, wanted: Area) -> list[Area]:
    """The cells of `wanted` that are not in `now`, as up to two areas: on the right and below."""
    areas = []
    if wanted.columns > now.columns:
        rows = min(now.rows, wanted.rows)
        areas.append(Area(now.column + now.columns, now.row, wanted.columns - now.columns, rows))
    if wanted.rows > now.rows:
        areas.append(Area(now.column, now.row + now.rows, wanted.columns, wanted.rows - now.rows))
    return areas


def is_ours(formula: str, namespace: str, functions: Iterable[str] = ()) -> bool:
    """Return whether a formula calls one of our `functions`, any if none is named, outside of any text in quotes."""
    unquoted = re.sub(r'"[^"]*"', '""', formula)
    names = "|".join(functions) or r"\w+"
    return re.search(rf"(?<![\w.]){re.escape(namespace)}\.(?:{names})\(", unquoted, re.IGNORECASE) is not None
