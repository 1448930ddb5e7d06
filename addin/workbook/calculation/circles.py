"""Formulas that wait for each other: no engine can work them out, and each shows something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.influence import Place, SheetArea, by_sheet
from addin.workbook.ooxml.positions import CellIndex

MAX_EDGES = 1_000_000
"""References between formulas that are followed; in books with more, the engine that is fast tells of circles."""


def in_circles(formulas: Mapping[Place, BookFormula]) -> set[Place]:
    """The formulas that refer to themselves, directly or through others, and those that rest on them."""
    if _look_back(formulas):
        return set()
    index = by_sheet(formulas)
    waits: dict[Place, int] = {}
    users: dict[Place, list[Place]] = {}
    edges = 0
    inside: dict[SheetArea, list[Place]] = {}
    for place, formula in formulas.items():
        sources = {source for where in formula.areas for source in _formulas_in(where, formulas, index, inside)}
        waits[place] = len(sources)
        edges += len(sources)
        if edges > MAX_EDGES:
            return set()
        for source in sources:
            users.setdefault(source, []).append(place)
    return waits.keys() - _in_order(waits, users)


def _look_back(formulas: Mapping[Place, BookFormula]) -> bool:
    """Return whether all refer to cells before their own, row by row or column by column: then there is no circle."""
    by_rows = by_columns = True
    for (own, (row, column)), formula in formulas.items():
        for sheet, (_, _, last_row, last_column, _) in formula.areas:
            by_rows = by_rows and (last_row < row or (last_row == row and last_column < column))
            by_columns = by_columns and (last_column < column or (last_column == column and last_row < row))
            if sheet != own or not (by_rows or by_columns):
                return False
        if formula.is_array or formula.shape.finds_cells:
            return False
    return True


def _formulas_in(
    where: SheetArea,
    formulas: Mapping[Place, BookFormula],
    index: Mapping[str, CellIndex],
    known: dict[SheetArea, list[Place]],
) -> Iterable[Place]:
    """The formulas inside an area."""
    sheet, area = where
    if area.is_cell:
        cell = sheet, (area.first_row, area.first_column)
        return (cell,) if cell in formulas else ()
    if sheet not in index:
        return ()
    if where not in known:
        known[where] = [(sheet, spot) for spot in index[sheet].inside(area)]
    return known[where]


def _in_order(waits: dict[Place, int], users: Mapping[Place, Iterable[Place]]) -> set[Place]:
    """The formulas that can be worked out one after another."""
    ready = [place for place, count in waits.items() if not count]
    done: set[Place] = set()
    while ready:
        place = ready.pop()
        done.add(place)
        for user in users.get(place, ()):
            waits[user] -= 1
            if not waits[user]:
                ready.append(user)
    return done
