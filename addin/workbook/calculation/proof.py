"""Which results may be written: those that Excel would show, as far as anybody can know.

The engine that works out was compared with thousands of results that Excel itself had shown. What it got right there,
with the same kinds of arguments, is relied on. For anything else a second engine, made by others, has to come to the
same value; or the formula takes no branch and its stored value was reproduced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine.process import PLAIN, VALUE, EngineCell, EngineFailedError
from addin.workbook.calculation.engine_book import EngineBook
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.functions import differs, needs_judge
from addin.workbook.calculation.influence import Place
from addin.workbook.calculation.reading.lookups import is_certain
from addin.workbook.calculation.results import is_reproduced

ONE_OF_SEVERAL = "it takes one cell of a range, and is no array formula"
NOT_SORTED = "it looks up the nearest value in cells that are not sorted, where programs find different ones"
_BRANCHING = frozenset(("IF", "IFS", "CHOOSE", "SWITCH", "IFERROR", "IFNA", "LET", "XLOOKUP"))


COUNTING = frozenset(("COUNTIF", "COUNTIFS", "SUMIF", "SUMIFS", "AVERAGEIF", "AVERAGEIFS", "MAXIFS", "MINIFS"))
INTEREST = frozenset(("FV", "PV", "PMT", "NPER", "IPMT", "PPMT", "CUMIPMT", "CUMPRINC"))
TINY_RATE = 1e-4
"""An interest rate below which powers of it lose the digits that programs then differ in."""

HARDLY, FAR = 1e-13, 1e-10
"""Relative: how little inputs are moved, and how much of a result this may move."""
LOSES_DIGITS = "its result is a small difference of large powers, in which programs differ"


def odd_input(functions: AbstractSet[str], value: Any) -> str:
    """Why a single value that a formula reads makes its result doubtful; empty where it does not.

    >>> odd_input({"COUNTIF"}, "true"), odd_input({"SUM"}, "true")
    ('it counts what looks like an error or a logical value', '')
    """
    looks_odd = isinstance(value, dict) or (
        isinstance(value, str) and (value.startswith("#") or value.upper() in ("TRUE", "FALSE"))
    )
    if looks_odd and functions & COUNTING:
        return "it counts what looks like an error or a logical value"
    if functions & INTEREST and type(value) is float and 0 < abs(value) < TINY_RATE:
        return "an interest rate so small loses digits, in which programs differ"
    return ""


ONE_CELL_AS_RANGE = "it names one cell as a range (A1:A1), which some functions take otherwise"


def _names_one_cell_as_range(formula: BookFormula) -> bool:
    return any(
        area.is_cell and ":" in reference
        for reference in formula.references
        if (area := area_of(reference)) is not None
    )


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
        self._reproduced = reproduced

    def doubts(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """The formulas whose value is not proven, with the reason."""
        found = self._intersecting([each for each in formulas if each.kind == PLAIN])
        found |= self._not_sorted(formulas)
        found |= self._odd_inputs(formulas)
        found |= {each.place: ONE_CELL_AS_RANGE for each in formulas if _names_one_cell_as_range(each)}
        doubted = {each.place: why for each in formulas if (why := self._needs_judge(each))}
        judged = (each for each in formulas if each.place in doubted and each.kind == PLAIN)
        agreed = self._agreed([each for each in judged if not differs(each.shape.uses)])
        return {place: why for place, why in doubted.items() if place not in agreed} | found

    def _intersecting(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """Ordinary formulas that take one cell of a range, or show one of several values."""
        places = [each.place for each in formulas]
        taken = self._engines.formulon.intersecting(places) if places else []
        return {place: ONE_OF_SEVERAL for place, takes_one in zip(places, taken, strict=True) if takes_one}

    def _not_sorted(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """Formulas that look up the nearest value where nothing is sorted."""
        looked = [(formula, lookup) for formula in formulas for lookup in formula.shape.lookups]
        if not looked:
            return {}
        texts = [self._cells.text_of(formula, part) for formula, each in looked for part in (each.wanted, each.among)]
        found = self._engines.formulon.arrays(texts)
        uncertain = {}
        for (formula, lookup), wanted, among in zip(looked, found[::2], found[1::2], strict=True):
            values = [value for row in among or () for value in row]
            sought = [value for row in wanted or () for value in row]
            is_known = wanted is not None and among is not None
            if not is_known or not all(is_certain(each, values, falls=lookup.falls) for each in sought):
                uncertain[formula.place] = NOT_SORTED
        return uncertain

    def _odd_inputs(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """Formulas that read a value which their function takes otherwise than others do."""
        read = [
            (formula, (area.sheet or sheet, (area.first_row, area.first_column)))
            for formula in formulas
            if formula.shape.functions & (COUNTING | INTEREST)
            for sheet, area in formula.areas
            if area.is_cell
        ]
        values = self._engines.formulon.values([place for _, place in read]) if read else []
        return self._losing_digits(formulas) | {
            formula.place: why
            for (formula, _), value in zip(read, values, strict=True)
            if (why := odd_input(formula.shape.functions, value))
        }

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

    def _needs_judge(self, formula: BookFormula) -> str:
        shape = formula.shape
        if formula.place in self._reproduced and not shape.functions & _BRANCHING:
            return ""
        return differs(shape.uses) or needs_judge(shape.uses)

    def _agreed(self, formulas: Sequence[BookFormula]) -> set[Place]:
        """The formulas to which a second engine gives the same value, from the same values of all other cells."""
        engine = self._engines.formualizer
        if engine is None or not formulas:
            return set()
        judged = {formula.place for formula in formulas}
        cells: list[EngineCell] = []
        for formula in formulas:
            sheet, row, column, text = self._cells.text_of(formula, formula.shape.pieces)
            cells.append((sheet, row, column, PLAIN, text))
        try:
            cells += [(sheet, *spot, VALUE, value) for (sheet, spot), value in self._inputs(formulas, judged).items()]
            engine.load(self._cells.sheets, cells)
            engine.evaluate()
            values = engine.values([formula.place for formula in formulas])
        except EngineFailedError:
            return set()
        return {
            formula.place
            for formula, value in zip(formulas, values, strict=True)
            if is_reproduced(self._found[formula.place], value)
        }

    def _inputs(self, formulas: Sequence[BookFormula], judged: AbstractSet[Place]) -> dict[Place, Any]:
        """The values of all cells that the formulas read, as they are now."""
        read: dict[Place, Any] = {}
        for formula in formulas:
            for sheet, area in (*formula.areas, *self._cells.spilled(formula)):
                for place in self._cells.filled(sheet, area):
                    if place not in judged:
                        read[place] = None
        read |= dict.fromkeys(self._cells.answer_cells)
        for place, value in zip(read, self._engines.formulon.values(list(read)), strict=True):
            read[place] = value
        return read
