"""Where things are on a sheet: cells and areas as the file writes them, and quick questions about many cells."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeAlias

from addin.formulas import MAX_COLUMN, MAX_ROW, Area
from addin.formulas.areas import column_letters, column_number
from addin.workbook.ooxml.errors import damaged

Spot: TypeAlias = tuple[int, int]
"""A cell's row and column, both from 1."""

_SPOT = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_column = cache(column_number)


class CellIndex:
    """A set of cells of one sheet that finds those inside an area without looking at all the others."""

    def __init__(self, spots: Iterable[Spot] = ()) -> None:
        self._spots: set[Spot] = set()
        self._lines: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
        self._keys: tuple[list[int], list[int]] | None = None
        for spot in spots:
            self.add(spot)

    def add(self, spot: Spot) -> None:
        """Put a cell in."""
        if spot not in self._spots:
            self._spots.add(spot)
            self._lines[0].setdefault(spot[0], []).append(spot[1])
            self._lines[1].setdefault(spot[1], []).append(spot[0])
            self._keys = None

    def __contains__(self, spot: object) -> bool:
        return spot in self._spots

    def inside(self, area: Area) -> Iterator[Spot]:
        """The cells inside `area`."""
        if area.is_cell:
            if (area.first_row, area.first_column) in self._spots:
                yield area.first_row, area.first_column
            return
        rows, columns = self._sorted()
        spans = (
            (rows, area.first_row, area.last_row, area.first_column, area.last_column),
            (columns, area.first_column, area.last_column, area.first_row, area.last_row),
        )
        found = [keys[bisect_left(keys, first) : bisect_right(keys, last)] for keys, first, last, _, _ in spans]
        axis = 0 if len(found[0]) <= len(found[1]) else 1
        _, _, _, start, end = spans[axis]
        for key in found[axis]:
            line = self._lines[axis][key]
            for other in line[bisect_left(line, start) : bisect_right(line, end)]:
                yield (key, other) if axis == 0 else (other, key)

    def first_inside(self, area: Area) -> Spot | None:
        """One of the cells inside `area`; None where there is none."""
        return next(self.inside(area), None)

    def _sorted(self) -> tuple[list[int], list[int]]:
        if self._keys is None:
            for lines in self._lines:
                for line in lines.values():
                    line.sort()
            self._keys = sorted(self._lines[0]), sorted(self._lines[1])
        return self._keys


def address(spot: Spot) -> str:
    """A cell as it is written: `B5`."""
    return f"{column_letters(spot[1])}{spot[0]}"


def spot_of(reference: str, part: str) -> Spot:
    """The cell that an attribute names; raises `WorkbookError`."""
    match = _SPOT.fullmatch(reference)
    spot = (int(match[2]), _column(match[1])) if match else (0, 0)
    if not (1 <= spot[0] <= MAX_ROW and 1 <= spot[1] <= MAX_COLUMN):
        raise damaged(part, f"{reference[:60]!r} is no cell")
    return spot


def area_of(reference: str) -> Area | None:
    """The area that an attribute names; None for anything else."""
    first, _, last = reference.partition(":")
    one, other = _SPOT.fullmatch(first), _SPOT.fullmatch(last or first)
    if not one or not other:
        return None
    rows = sorted((int(one[2]), int(other[2])))
    columns = sorted((_column(one[1]), _column(other[1])))
    if rows[0] < 1 or rows[1] > MAX_ROW or columns[1] > MAX_COLUMN:
        return None
    return Area(rows[0], columns[0], rows[1], columns[1])


def whole_number(text: str | None, part: str, what: str, default: int = 0) -> int:
    """The whole number in an attribute; raises `WorkbookError`."""
    if text is None:
        return default
    if not re.fullmatch(r"\s*\+?[0-9]{1,9}\s*", text):
        raise damaged(part, f"the {what} {text[:60]!r} is no whole number")
    return int(text)
