"""Formulas that wait for each other: no engine can work them out, and each shows something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.influence import Place, by_sheet


def in_circles(formulas: Mapping[Place, BookFormula]) -> set[Place]:
    """The formulas that refer to themselves, directly or through others, and those that rest on them."""
    index = by_sheet(formulas)
    waits: dict[Place, int] = {}
    users: dict[Place, list[Place]] = {}
    shared: dict[tuple[str, object], list[Place]] = {}
    for place, formula in formulas.items():
        sources: set[Place] = set()
        for sheet, area in formula.areas:
            if area.is_cell:
                cell = sheet, (area.first_row, area.first_column)
                sources.update((cell,) if cell in formulas else ())
            elif sheet in index:
                inside = shared.get((sheet, area))
                if inside is None:
                    inside = shared[sheet, area] = [(sheet, spot) for spot in index[sheet].inside(area)]
                sources.update(inside)
        waits[place] = len(sources)
        for source in sources:
            users.setdefault(source, []).append(place)
    return waits.keys() - _in_order(waits, users)


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
