"""Which results may be written: those that Excel would show, as far as anybody can know.

The engine that works out was compared with thousands of results that Excel itself had shown. What it got right there,
with the same kinds of arguments, is relied on. For anything else a second engine, made by others, has to come to the
same value; or the formula takes no branch and its stored value was reproduced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine.process import PLAIN, EngineFailedError
from addin.workbook.calculation.engine_book import EngineBook
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.functions import differs, needs_judge
from addin.workbook.calculation.influence import Place
from addin.workbook.calculation.proving.doubtful_inputs import DoubtfulInputs
from addin.workbook.calculation.proving.jumping import JUMPS, jumping
from addin.workbook.calculation.proving.snapshot import Snapshot
from addin.workbook.calculation.proving.sorted_lookups import SortedLookups
from addin.workbook.calculation.reading.oddities import (
    BLANK,
    COMPARES_NEAR_MISSES,
    COMPARING,
    INTEREST,
    NO_SPILL,
    OF_SURE_ERRORS,
    ONLY_ONE_FAILS,
    in_15_digits,
    is_near_miss,
)
from addin.workbook.calculation.results import is_reproduced

ONE_OF_SEVERAL = "it takes one cell of a range, and is no array formula"
NOT_SORTED = "it looks up the nearest value in cells that are not sorted, where programs find different ones"
_BRANCHING = frozenset(("IF", "IFS", "CHOOSE", "SWITCH", "IFERROR", "IFNA", "LET", "XLOOKUP"))


HARDLY, FAR = 1e-13, 1e-10
"""Relative: how little inputs are moved, and how much of a result this may move."""
LOSES_DIGITS = "its result is a small difference of large powers, in which programs differ"
ONE_CELL_AS_RANGE = "it names one cell as a range (A1:A1), which some functions take otherwise"


def _names_one_cell_as_range(formula: BookFormula) -> bool:
    return any(
        area.is_cell and ":" in reference and number not in formula.shape.whole_areas
        for number, reference in enumerate(formula.references)
        if (area := area_of(reference)) is not None
    )


def _takes_several(formula: BookFormula) -> bool:
    """Return whether a formula is given several values at once: an area or an array."""
    if formula.is_array or not all(area.is_cell for _, area in formula.areas):
        return True
    return any("{" in piece for piece in formula.shape.pieces if isinstance(piece, str))


def _may_intersect(formula: BookFormula) -> bool:
    """Return whether a formula may take one cell of several, or show one of several values."""
    shape = formula.shape
    if shape.gives_several or shape.areas or shape.rows or shape.spills:
        return True
    if any("{" in piece for piece in shape.pieces if isinstance(piece, str)):
        return True
    areas = ((number, area_of(reference)) for number, reference in enumerate(formula.references))
    return any(area is None or not (area.is_cell or number in shape.areas_taken) for number, area in areas)


def _moved(reference: str) -> str:
    """A cell with its number in hardly another size."""
    area = area_of(reference)
    return f"({reference}*{1 + HARDLY!r})" if area is not None and area.is_cell else reference


def _is_far(moved: Any, found: Any) -> bool:
    return type(moved) is type(found) is float and abs(moved - found) > FAR * abs(found)


class Proof:
    """Says of results what speaks against them. `reproduced` are the formulas whose stored value came out before."""

    def __init__(
        self,
        cells: EngineBook,
        engines: Engines,
        found: Mapping[Place, Any],
        *,
        reproduced: AbstractSet[Place],
    ) -> None:
        self._cells = cells
        self._engines = engines
        self._found = found
        self._shown = Snapshot(cells, found)
        self._reproduced = reproduced

    def doubts(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """The formulas whose value is not proven, with the reason."""
        found = self._intersecting(
            [
                each
                for each in formulas
                if each.kind == PLAIN and (_may_intersect(each) or self._cells.gets_tables(each.place))
            ]
        )
        found |= dict.fromkeys(SortedLookups(self._cells, self._shown).uncertain(formulas), NOT_SORTED)
        found |= self._not_given(formulas)
        found |= self._losing_digits(formulas)
        found |= dict.fromkeys(self._comparing_near_misses(formulas), COMPARES_NEAR_MISSES)
        inputs = DoubtfulInputs(self._cells, self._shown, self._reproduced)
        found |= {each.place: why for each in formulas if (why := inputs.reason(each))}
        found |= {each.place: ONE_CELL_AS_RANGE for each in formulas if _names_one_cell_as_range(each)}
        found |= {each.place: NO_SPILL for each in formulas if self._refers_to_no_spill(each)}
        blank = {each.place: BLANK for each in formulas if inputs.reads_blank(each)}
        exact = blank | {each.place: why for each in formulas if (why := self._needs_judge(each))}
        errors = {each.place: ONLY_ONE_FAILS for each in formulas if self._is_doubtful_error(each)}
        doubted = errors | exact
        judged = (each for each in formulas if each.place in doubted and self._shows_one(each))
        agreed = self._agreed([each for each in judged if not differs(each.shape.uses)], errors.keys() - exact.keys())
        found = {place: why for place, why in doubted.items() if place not in agreed} | found
        return found | dict.fromkeys(
            jumping(self._cells, self._shown, self._engines.formualizer, [e for e in formulas if e.place not in found]),
            JUMPS,
        )

    def _is_doubtful_error(self, formula: BookFormula) -> bool:
        """Return whether a formula came to an error, as functions do that an engine did not understand."""
        is_error = self._shows_one(formula) and isinstance(self._shown.first(formula.place), dict)
        if not is_error or formula.shape.functions <= OF_SURE_ERRORS:
            return False
        return _takes_several(formula) or self._cells.gets_tables(formula.place)

    def _refers_to_no_spill(self, formula: BookFormula) -> bool:
        """Return whether it refers to a spill that is not there, and nothing shows that it failed before."""
        arrays = (place in self._cells.formulas and self._cells.formulas[place].is_array for place in formula.anchors())
        spilled = len(self._cells.spilled(formula))
        return formula.place not in self._reproduced and sum(arrays) + spilled < len(formula.anchors())

    def _shows_one(self, formula: BookFormula) -> bool:
        found = self._found[formula.place]
        return formula.kind == PLAIN or (type(found) is list and (len(found), len(found[0])) == (1, 1))

    def _intersecting(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """Ordinary formulas that take one cell of a range, or show one of several values."""
        places = [each.place for each in formulas]
        taken = self._engines.formulon.intersecting(places) if places else []
        return {place: ONE_OF_SEVERAL for place, takes_one in zip(places, taken, strict=True) if takes_one}

    def _not_given(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """Formulas for which a condition does not hold under which they come to what Excel shows."""
        asked = [(formula, condition) for formula in formulas for condition in formula.shape.required]
        texts = [self._cells.text_of(formula, pieces) for formula, (pieces, _) in asked]
        found = self._engines.formulon.arrays(texts) if texts else []
        return {formula.place: why for (formula, (_, why)), rows in zip(asked, found, strict=True) if rows != [[True]]}

    def _losing_digits(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """Formulas of interest that come to quite another number from inputs which hardly differ."""
        asked = [each for each in formulas if each.shape.functions & INTEREST and each.references]
        moved = [replace(each, references=[_moved(reference) for reference in each.references]) for each in asked]
        texts = [self._cells.text_of(each, each.shape.pieces) for each in moved]
        found = self._engines.formulon.arrays(texts) if texts else []
        return {
            formula.place: LOSES_DIGITS
            for formula, rows in zip(asked, found, strict=True)
            if rows and _is_far(rows[0][0], self._found[formula.place])
        }

    def _comparing_near_misses(self, formulas: Sequence[BookFormula]) -> Iterator[Place]:
        """Formulas that come to something else where the cells that they read hold no more than 15 digits."""
        comparing = [each for each in formulas if each.shape.functions & COMPARING]
        asked = [each for each in comparing if any(self._shown.has(is_near_miss, *area) for area in each.areas)]
        read = (place for each in asked for area in each.areas for place in self._cells.filled(*area))
        single = (place for place in read if place not in self._shown.in_arrays)
        near = {place: in_15_digits(self._shown[place]) for place in single if is_near_miss(self._shown[place])}
        if near:
            found = self._cells.with_values(near, asked)
            yield from (each.place for each in asked if not is_reproduced(self._found[each.place], found[each.place]))

    def _needs_judge(self, formula: BookFormula) -> str:
        shape = formula.shape
        if formula.place in self._reproduced and not shape.functions & _BRANCHING:
            return ""
        return differs(shape.uses) or needs_judge(shape.uses)

    def _agreed(self, formulas: Sequence[BookFormula], errors: AbstractSet[Place]) -> set[Place]:
        """The formulas to which a second engine gives the same value, from the same values of all other cells.

        Of those in `errors` it is enough that it comes to an error too.
        """
        engine = self._engines.formualizer
        if engine is None or not formulas:
            return set()
        texts = (self._cells.text_of(each, each.shape.pieces) for each in formulas)
        try:
            self._shown.put_into(engine, formulas, texts)
            engine.evaluate()
            values = engine.values([formula.place for formula in formulas])
        except EngineFailedError:
            return set()
        pairs = zip((each.place for each in formulas), values, strict=True)
        return {
            place
            for place, value in pairs
            if is_reproduced(self._shown.first(place), value) or (place in errors and isinstance(value, dict))
        }
