"""The part of a large book that is nothing but arithmetic on numbers, worked out by the engine that is fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula, resting_on
from addin.workbook.calculation.engine.process import VALUE
from addin.workbook.calculation.engine_book import EngineBook
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.results import NEAR, is_residue
from addin.workbook.ooxml.book import Book

FEW = 2_000
"""Formulas up to this number are all worked out by the better engine, which takes a second for them."""


class SimpleStage:
    """The simple formulas that rest on nothing but values and each other; none in a small book.

    What spreadsheets make of the last digits, the fast engine does not know: it hands those formulas to the better one.
    """

    def __init__(self, book: Book, formulas: Mapping[Place, BookFormula], tried: AbstractSet[Place]) -> None:
        self._book = book
        self._formulas = formulas
        self._chosen = self._choose(tried) if len(formulas) > FEW else []
        """These formulas in the order of the book, in which memory is read fast."""
        self.places = frozenset(formula.place for formula in self._chosen)
        self._comparisons = [
            (formula.place, _side(formula, one), _side(formula, other))
            for formula in self._chosen
            for one, other in formula.shape.comparisons
        ]
        self._engine_book: EngineBook | None = None
        self._loaded: list[Place] = []

    def _choose(self, tried: AbstractSet[Place]) -> list[BookFormula]:
        simple = [each for place, each in self._formulas.items() if place in tried and self._is_simple(each)]
        if len(simple) == len(self._formulas):
            return simple
        others = self._formulas.keys() - {each.place for each in simple}
        users = {each.place for each in resting_on(simple, by_sheet(others))}
        return [each for each in simple if each.place not in users]

    def _is_simple(self, formula: BookFormula) -> bool:
        if not formula.shape.is_simple or formula.formula.is_array:
            return False
        for sheet, (first_row, first_column, last_row, last_column, _) in formula.areas:
            is_cell = first_row == last_row and first_column == last_column
            if is_cell and not self._is_number((sheet, (first_row, first_column))):
                return False
        return True

    def _is_number(self, place: Place) -> bool:
        if place in self._formulas:
            return True
        sheet = self._book.sheet(place[0])
        value = sheet.value(place[1])
        return type(value) is float or (value is None and not sheet.has_empty_text(place[1]))

    def worked_out(
        self, engines: Engines, changed: Mapping[Place, Any], wanted: AbstractSet[Place]
    ) -> dict[Place, Any]:
        """Return what these formulas come to, with other values in the `changed` cells."""
        engine = engines.formualizer
        places = [formula.place for formula in self._chosen if formula.place in wanted]
        if not places or engine is None:
            return {}
        if not all(type(value) is float for value in changed.values()):
            return {}
        if self._engine_book is None or self._loaded != places:
            self._engine_book, self._loaded = EngineBook(self._book, engine, self._formulas), places
            self._engine_book.load(places, changed)
        else:
            self._engine_book.put([(sheet, *spot, VALUE, value) for (sheet, spot), value in changed.items()])
        engine.evaluate()
        found = dict(zip(places, engine.results(), strict=True))
        self._hand_over({*self._close(found, changed), *(place for place in found if is_residue(found[place]))})
        return {place: value for place, value in found.items() if place in self.places}

    def _hand_over(self, odd: AbstractSet[Place]) -> None:
        """Leave these formulas to the better engine, and those that rest on them."""
        if not odd:
            return
        gone = odd | {formula.place for formula in resting_on(self._chosen, by_sheet(odd))}
        self._chosen = [formula for formula in self._chosen if formula.place not in gone]
        self.places -= gone
        self._comparisons = [each for each in self._comparisons if each[0] not in gone]

    def _close(self, found: Mapping[Place, Any], changed: Mapping[Place, Any]) -> Iterator[Place]:
        """The formulas that compare two numbers which spreadsheets count as equal, and others do not."""
        for place, *sides in self._comparisons:
            one, other = (side if type(side) is float else self._value(side, found, changed) for side in sides)
            if one == other or not (type(one) is type(other) is float) or place not in found:
                continue
            if abs(one - other) <= NEAR * max(abs(one), abs(other)):
                yield place

    def _value(self, place: Any, found: Mapping[Place, Any], changed: Mapping[Place, Any]) -> Any:
        if place in found:
            return found[place]
        if place is None or place in changed:
            return changed.get(place)
        return self._book.sheet(place[0]).value(place[1])


def _side(formula: BookFormula, side: float) -> float | Place | None:
    """Return what a formula compares: a number, or a cell; None for anything else."""
    if type(side) is float:
        return side
    area = area_of(formula.references[int(side)])
    if area is None or not area.is_cell:
        return None
    return area.sheet or formula.place[0], (area.first_row, area.first_column)
