"""The part of a large book that is nothing but arithmetic on numbers, worked out by the engine that is fast."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from addin.formulas import Area
from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula, resting_on
from addin.workbook.calculation.engine.process import VALUE
from addin.workbook.calculation.engine_book import EngineBook
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.results import NEAR
from addin.workbook.ooxml.book import Book

FEW = 2_000
"""Formulas up to this number are all worked out by the better engine, which takes a second for them."""
SAME_DIGITS = "it compares two numbers with the same 15 digits"


class SimpleStage:
    """The simple formulas that rest on nothing but values and each other; none in a small book."""

    def __init__(self, book: Book, formulas: Mapping[Place, BookFormula], tried: AbstractSet[Place]) -> None:
        self._book = book
        self._formulas = formulas
        self.places = frozenset(self._chosen(tried)) if len(formulas) > FEW else frozenset[Place]()
        """Where these formulas are."""
        self._comparing = [formulas[place] for place in self.places if formulas[place].shape.comparisons]
        self.doubts: dict[Place, str] = {}
        self._engine_book: EngineBook | None = None

    def _chosen(self, tried: AbstractSet[Place]) -> set[Place]:
        simple = {place for place in tried if self._is_simple(self._formulas[place])}
        others = self._formulas.keys() - simple
        if not others:
            return simple
        users = resting_on([self._formulas[place] for place in simple], by_sheet(others))
        return simple - {each.place for each in users}

    def _is_simple(self, formula: BookFormula) -> bool:
        if not formula.shape.is_simple or formula.is_array:
            return False
        return all(not area.is_cell or self._is_number(sheet, area) for sheet, area in formula.areas)

    def _is_number(self, sheet: str, area: Area) -> bool:
        place = sheet, (area.first_row, area.first_column)
        return place in self._formulas or type(self._book.sheet(sheet).value(place[1])) in (float, type(None))

    def worked_out(
        self, engines: Engines, changed: Mapping[Place, Any], wanted: AbstractSet[Place]
    ) -> dict[Place, Any]:
        """Return what these formulas come to, with other values in the `changed` cells."""
        engine = engines.formualizer
        places = self.places & wanted
        if not places or engine is None:
            return {}
        if not all(type(value) is float for value in changed.values()):
            return {}
        if self._engine_book is None or self._engine_book.live != places:
            self._engine_book = EngineBook(self._book, engine, self._formulas)
            self._engine_book.load(places, changed)
        else:
            self._engine_book.put([(sheet, *spot, VALUE, value) for (sheet, spot), value in changed.items()])
        engine.evaluate()
        found = self._engine_book.values([self._formulas[place] for place in places])
        self._compare(found, changed)
        return found

    def _compare(self, found: Mapping[Place, Any], changed: Mapping[Place, Any]) -> None:
        """Doubt formulas that compare two numbers which spreadsheets count as equal, and others do not."""
        for formula in self._comparing:
            for pair in formula.shape.comparisons if formula.place in found else ():
                one, other = (self._side(formula, side, found, changed) for side in pair)
                if type(one) is type(other) is float and 0 < abs(one - other) <= NEAR * max(abs(one), abs(other)):
                    self.doubts[formula.place] = SAME_DIGITS

    def _side(self, formula: BookFormula, side: float, found: Mapping[Place, Any], changed: Mapping[Place, Any]) -> Any:
        if type(side) is float:
            return side
        area = area_of(formula.references[int(side)])
        if area is None or not area.is_cell:
            return None
        place = area.sheet or formula.place[0], (area.first_row, area.first_column)
        if place in found:
            return found[place]
        return changed[place] if place in changed else self._book.sheet(place[0]).value(place[1])
