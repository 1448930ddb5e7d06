"""Which calculations depend on values of ours, over any number of steps, in time that grows with the book's formulas.

A range may hold many cells, so no formula is compared with every cell that it refers to. Each row and column of sources
is a tree of spans, an area is a few spans of these trees, and influence climbs from a cell to the spans that hold it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from addin.formulas import Area
from addin.workbook.ooxml.positions import CellIndex, Spot

Place: TypeAlias = tuple[str, Spot]
"""A sheet's name and a cell in it."""

SheetArea: TypeAlias = tuple[str, Area]
"""A sheet's name and an area of it."""

Calculation: TypeAlias = tuple[Place, list[SheetArea], bool]
"""A formula that is not ours: its cell, the areas that it refers to, and whether it calls a function of ours."""


class Influence:
    """The calculations that depend on a cell in `ours`, or call a function of ours, directly or through others."""

    def __init__(self, calculations: Iterable[Calculation], ours: Mapping[str, CellIndex]) -> None:
        self._cell_users: dict[Place, list[Place]] = {}
        self._area_users: dict[SheetArea, list[Place]] = {}
        starts: list[Place] = []
        places: list[Place] = []
        for place, areas, calls_ours in calculations:
            places.append(place)
            for where in areas:
                sheet, area = where
                if area.first_row == area.last_row and area.first_column == area.last_column:  # most are one cell
                    self._cell_users.setdefault((sheet, (area.first_row, area.first_column)), []).append(place)
                else:
                    self._area_users.setdefault(where, []).append(place)
            if calls_ours:
                starts.append(place)
        for (sheet, spot), users in self._cell_users.items():
            if sheet in ours and spot in ours[sheet]:
                starts += users
        for (sheet, area), users in self._area_users.items():
            if sheet in ours and ours[sheet].first_inside(area):
                starts += users
        self.places = self._closure(starts, places)
        """Where these calculations are."""

    @cached_property
    def _influenced(self) -> dict[str, CellIndex]:
        return by_sheet(self.places)

    def first_inside(self, sheet: str, area: Area) -> Spot | None:
        """One of these calculations inside an area; None where there is none."""
        return self._influenced[sheet].first_inside(area) if sheet in self._influenced else None

    def _closure(self, starts: list[Place], places: list[Place]) -> set[Place]:
        """The places that are reached from `starts`, themselves included."""
        reached = set(starts)
        self._follow(reached, {})
        spans = self._spans(places, reached) if reached else {}
        if spans:
            self._follow(reached, spans)
        return reached

    def _follow(self, reached: set[Place], spans: Mapping[str, _Spans]) -> None:
        """Add to `reached` whatever refers to one of its cells, and so on; through areas that `spans` watch."""
        waiting = list(reached)
        while waiting:
            place = waiting.pop()
            users = self._cell_users.pop(place, [])
            sheet, spot = place
            if sheet in spans:
                for area in spans[sheet].reach(spot):
                    users += self._area_users.pop((sheet, area), ())
            new = [user for user in users if user not in reached]
            reached.update(new)
            waiting += new

    def _spans(self, places: Iterable[Place], reached: set[Place]) -> dict[str, _Spans]:
        """The calculations of the sheets that areas lie on, watched by the areas whose users are not all reached."""
        areas = [where for where, users in self._area_users.items() if not reached.issuperset(users)]
        sheets: dict[str, list[Spot]] = {sheet: [] for sheet, _ in areas}
        for sheet, spot in places:
            if sheet in sheets:
                sheets[sheet].append(spot)
        spans = {sheet: _Spans(spots) for sheet, spots in sheets.items()}
        for sheet, area in areas:
            spans[sheet].watch(area)
        return spans


class _Spans:
    """The cells of one sheet, and the areas that wait for one of them to be reached; each span is passed once."""

    def __init__(self, spots: Iterable[Spot]) -> None:
        self._axes: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
        for row, column in sorted(set(spots)):
            self._axes[0].setdefault(row, []).append(column)
            self._axes[1].setdefault(column, []).append(row)
        self._keys = sorted(self._axes[0]), sorted(self._axes[1])
        self._watchers: dict[tuple[int, int, int], list[Area]] = {}
        self._watched: set[tuple[int, int]] = set()
        self._passed: set[tuple[int, int, int]] = set()

    def watch(self, area: Area) -> None:
        """Let `reach` tell of this area as soon as one of the cells inside is reached."""
        limits = (area.first_row, area.last_row), (area.first_column, area.last_column)
        found = [
            keys[bisect_left(keys, first) : bisect_right(keys, last)]
            for keys, (first, last) in zip(self._keys, limits, strict=True)
        ]
        axis = 0 if len(found[0]) <= len(found[1]) else 1
        first, last = limits[1 - axis]
        for key in found[axis]:
            line = self._axes[axis][key]
            self._watched.add((axis, key))
            for node in _nodes(len(line), bisect_left(line, first), bisect_right(line, last)):
                self._watchers.setdefault((axis, key, node), []).append(area)

    def reach(self, spot: Spot) -> Iterator[Area]:
        """The areas that wait for this cell, each at least once over all calls."""
        for axis in (0, 1):
            if (axis, spot[axis]) not in self._watched:
                continue
            line = self._axes[axis][spot[axis]]
            node = len(line) + bisect_left(line, spot[1 - axis])
            while node and (axis, spot[axis], node) not in self._passed:
                self._passed.add((axis, spot[axis], node))
                yield from self._watchers.get((axis, spot[axis], node), ())
                node //= 2


def _nodes(count: int, start: int, end: int) -> Iterator[int]:
    """The nodes that together cover the leaves from `start` up to `end` of a tree over `count` leaves.

    Leaf i is the node `count` + i, and the parent of a node is its half.
    """
    left, right = start + count, end + count
    while left < right:
        if left % 2:
            yield left
            left += 1
        if right % 2:
            right -= 1
            yield right
        left //= 2
        right //= 2


def by_sheet(places: Iterable[Place]) -> dict[str, CellIndex]:
    """The cells of each sheet."""
    sheets: dict[str, CellIndex] = {}
    for sheet, spot in places:
        sheets.setdefault(sheet, CellIndex()).add(spot)
    return sheets
