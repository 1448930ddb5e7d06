"""The calls of ours inside formulas, found out pass by pass: which are made now, with which arguments.

An engine knows nothing of our functions. So the answer of each call, a value or rows, stands on a sheet of its own in
the engine's copy, and the formula refers to it. A call is made once nothing is open any more on which its arguments and
conditions rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from addin.formulas.areas import Area, area_of
from addin.workbook.calculation.book_formulas import BookFormula, resting_on
from addin.workbook.calculation.engine_book import EngineBook, cells_of_formula
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.reading.rounds import all_answered
from addin.workbook.calculation.reading.shapes import CallSite, Piece

Key = tuple[Place, int]
"""A formula's cell, and the number of the call in it."""


@dataclass
class Hoisted:
    """The calls of ours in the formulas of an engine's copy."""

    cells: EngineBook
    answers: dict[str, Any] = field(default_factory=dict)
    """What was answered, by the call's key, its JSON."""
    used: dict[Place, dict[str, None]] = field(default_factory=dict)
    """The keys of the calls that each formula made."""
    _open: set[Key] = field(default_factory=set)
    _keys: dict[Key, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Look at every call of the formulas that are worked out, as if none was known."""
        formulas = self.cells.formulas
        self._open = {(place, site) for place in self.cells.live for site in range(len(formulas[place].shape.sites))}
        self._keys, self.used = {}, {}

    @property
    def waiting(self) -> set[Place]:
        """The formulas with a call that has no answer yet."""
        return {place for place, _ in self._open}

    def step(self) -> tuple[bool, dict[str, list[Any]]]:
        """After everything was worked out: whether anything is to be worked out again, and the calls asked now."""
        asked: dict[str, list[Any]] = {}
        settled: dict[Key, Any] = {}
        not_made = self._find_keys(asked)
        in_rounds = self._rounds(asked)
        for key in sorted(self._open & self._keys.keys()):
            if self._keys[key] in self.answers:
                settled[key] = self.answers[self._keys[key]]
        self._open -= settled.keys() | not_made | in_rounds
        self.cells.answer(settled)
        return bool(settled or not_made or in_rounds), asked

    def _rounds(self, asked: dict[str, list[Any]]) -> set[Key]:
        """Ask what LAMBDAs are handed now; the calls in them that are all answered, or not made."""
        formulas = self.cells.formulas
        ready = [(formulas[place], number) for place, number in sorted(self._ready())]
        handed = [(formula, number) for formula, number in ready if formula.shape.sites[number].rounds]
        made = self._conditions(handed)
        return {
            (formula.place, number)
            for (formula, number), is_made in zip(handed, made, strict=True)
            if not is_made or self._is_answered(formula, number, asked)
        }

    def _is_answered(self, formula: BookFormula, number: int, asked: dict[str, list[Any]]) -> bool:
        """Return whether all calls that a LAMBDA makes by this one are answered; those that are not are asked."""
        site = formula.shape.sites[number]

        def answer_of(arguments: list[Any]) -> Any:
            call = [site.name, *arguments]
            key = msgspec.json.encode(call).decode()
            self.used.setdefault(formula.place, {})[key] = None
            if key not in self.answers:
                asked[key] = call
            return self.answers.get(key)

        return all_answered(
            lambda: self.cells.engine.arrays([self.cells.text_of(formula, site.rounds)])[0],
            answer_of,
            partial(self.cells.answer_each, formula.place, number),
            accumulates=site.accumulates,
        )

    def _find_keys(self, asked: dict[str, list[Any]]) -> set[Key]:
        """Find out the arguments of the calls whose time has come; those that are not made at all."""
        formulas = self.cells.formulas
        ready = [
            (formulas[place], number)
            for place, number in sorted(self._ready())
            if (place, number) not in self._keys and not formulas[place].shape.sites[number].rounds
        ]
        made = self._conditions(ready)
        not_made = {(each.place, number) for (each, number), is_made in zip(ready, made, strict=True) if not is_made}
        calls = [each for each, is_made in zip(ready, made, strict=True) if is_made]
        for (formula, number), arguments in zip(calls, self._arguments(calls), strict=True):
            site = formula.shape.sites[number]
            call = [site.name, *arguments]
            key = msgspec.json.encode(call).decode()
            self._keys[formula.place, number] = key
            self.used.setdefault(formula.place, {})[key] = None
            if key not in self.answers:
                asked[key] = call
        for text in {self._keys[key] for key in self._open & self._keys.keys()}:
            if text not in self.answers and text not in asked:
                asked[text] = msgspec.json.decode(text)
        return not_made

    def _ready(self) -> set[Key]:
        """The open calls whose arguments and conditions rest on nothing that is open."""
        formulas = self.cells.formulas
        if not self._open:
            return set()
        if all(_is_plain(formulas[place].shape.sites[number]) for place, number in self._open):
            blocked: set[Place] = set()
        else:
            cells = by_sheet(cell for place in self.waiting for cell in cells_of_formula(formulas[place]))
            live = [formulas[place] for place in self.cells.live]
            blocked = {formula.place for formula in resting_on(live, cells)}
            blocked |= {each.place for each in live if each.shape.finds_cells and self.waiting - {each.place}}
        return {
            (place, number)
            for place, number in self._open
            if self._is_free(formulas[place].shape.sites[number], place, number, blocked)
        }

    def _is_free(self, site: CallSite, place: Place, number: int, blocked: set[Place]) -> bool:
        if _is_plain(site):
            return True
        return place not in blocked and not any((place, needed) in self._open for needed in site.needs - {number})

    def _conditions(self, calls: Sequence[tuple[BookFormula, int]]) -> list[bool]:
        """Return whether each call is made, by the conditions around it."""
        guards = [(place, guard) for place, call in enumerate(calls) for guard in call[0].shape.sites[call[1]].guards]
        texts = [self.cells.text_of(calls[place][0], guard.pieces) for place, guard in guards]
        found = self.cells.engine.arrays(texts) if texts else []
        made = [True] * len(calls)
        for (place, guard), rows in zip(guards, found, strict=True):
            made[place] = made[place] and any(value == guard.wanted for row in rows or () for value in row)
        return made

    def _arguments(self, calls: Sequence[tuple[BookFormula, int]]) -> list[list[Any]]:
        """The arguments of each call, as our functions take them from cells."""
        sites = [formula.shape.sites[number] for formula, number in calls]
        parts = [
            (formula, pieces)
            for (formula, _), site in zip(calls, sites, strict=True)
            if site.constants is None
            for pieces in site.arguments
        ]
        values = iter(self._values(parts))
        return [
            list(site.constants) if site.constants is not None else [next(values) for _ in site.arguments]
            for site in sites
        ]

    def _values(self, parts: Sequence[tuple[BookFormula, Sequence[Piece]]]) -> list[Any]:
        """Return what arguments come to: those that are areas are looked up, the others worked out at once."""
        areas = [_area_of(formula, pieces) for formula, pieces in parts]
        texts = [
            self.cells.text_of(formula, pieces)
            for (formula, pieces), area in zip(parts, areas, strict=True)
            if pieces and area is None
        ]
        worked_out: Iterator[list[list[Any]] | None] = iter(self.cells.engine.arrays(texts) if texts else ())
        found: list[Any] = []
        for (formula, pieces), area in zip(parts, areas, strict=True):
            if not pieces:
                found.append(None)
                continue
            rows = self.cells.shown(area, formula.place[0]) if area else next(worked_out)
            rows = rows or [[{"error": "#VALUE!"}]]
            found.append(rows[0][0] if (len(rows), len(rows[0])) == (1, 1) else rows)
        return found


def _area_of(formula: BookFormula, pieces: Sequence[Piece]) -> Area | None:
    """The area that an argument is, if it is nothing else."""
    match pieces:
        case [int(index)]:
            return area_of(formula.references[index])
        case _:
            return None


def _is_plain(site: CallSite) -> bool:
    """Return whether a call is certainly made, with arguments that are written into the formula."""
    return site.constants is not None and not site.guards
