"""Which results may be written: those that Excel would show, as far as anybody can know.

The engine that works out was compared with thousands of results that Excel itself had shown. What it got right there,
with the same kinds of arguments, is relied on. For anything else a second engine, made by others, has to come to the
same value; or the formula takes no branch and its stored value was reproduced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from addin.formulas import Area
from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine.process import PLAIN, EngineFailedError
from addin.workbook.calculation.engine_book import EngineBook
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.functions import differs, needs_judge
from addin.workbook.calculation.influence import Place
from addin.workbook.calculation.proving.jumping import JUMPS, jumping
from addin.workbook.calculation.proving.snapshot import Snapshot
from addin.workbook.calculation.proving.sorted_lookups import SortedLookups
from addin.workbook.calculation.reading.constants import OTHER_MARKS, has_other_marks
from addin.workbook.calculation.reading.letters import Letters, depends_on, has_letters, letters_of
from addin.workbook.calculation.reading.oddities import (
    BLANK,
    COUNTING,
    COUNTS_ODD_TEXTS,
    COUNTS_ODD_VALUES,
    DOUBTFUL_NUMBER,
    EMPTY_TEXT,
    HARDLY_ANY,
    INTEREST,
    LONG_KEY,
    LONG_TEXT,
    NO_SPILL,
    OF_BLANKS,
    OF_CRITERIA,
    OF_JOINED_TEXTS,
    OF_KEYS,
    OF_PATTERNS,
    OF_SURE_ERRORS,
    ONLY_ONE_FAILS,
    OTHER_TILDE,
    READS_DAY,
    UNKNOWN_NAME,
    counts_by_value,
    counts_odd_values,
    has_other_tilde,
    is_day,
    is_doubtful_number,
    is_hardly_any,
    is_long_key,
    is_long_part,
    is_long_part_of_key,
    is_odd_text,
    is_unknown_name,
    odd_input,
)
from addin.workbook.calculation.results import is_reproduced

ONE_OF_SEVERAL = "it takes one cell of a range, and is no array formula"
NOT_SORTED = "it looks up the nearest value in cells that are not sorted, where programs find different ones"
_BRANCHING = frozenset(("IF", "IFS", "CHOOSE", "SWITCH", "IFERROR", "IFNA", "LET", "XLOOKUP"))


_HAS_LETTERS = {kind: partial(has_letters, kind) for kind in Letters}
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


def _is_other_format(value: Any) -> bool:
    return isinstance(value, str) and has_other_marks(value)


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
        odd, blank = self._odd_inputs(formulas)
        found |= odd | self._odd_letters(formulas)
        found |= {each.place: ONE_CELL_AS_RANGE for each in formulas if _names_one_cell_as_range(each)}
        found |= {each.place: NO_SPILL for each in formulas if self._refers_to_no_spill(each)}
        if self._cells.book.counts_from_1904:
            found |= {each.place: READS_DAY for each in formulas if self._may_read_day(each)}
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
        is_error = self._shows_one(formula) and isinstance(self._one_shown(formula), dict)
        if not is_error or formula.shape.functions <= OF_SURE_ERRORS:
            return False
        return _takes_several(formula) or self._cells.gets_tables(formula.place)

    def _refers_to_no_spill(self, formula: BookFormula) -> bool:
        """Return whether it refers to a spill that is not there, and nothing shows that it failed before."""
        arrays = (place in self._cells.formulas and self._cells.formulas[place].is_array for place in formula.anchors())
        spilled = len(self._cells.spilled(formula))
        return formula.place not in self._reproduced and sum(arrays) + spilled < len(formula.anchors())

    def _may_read_day(self, formula: BookFormula) -> bool:
        """Return whether it may make a number of a text that looks like a day; `DATEVALUE` counts as the book does."""
        if "DATEVALUE" in formula.shape.functions:
            return False
        return any(map(is_day, formula.shape.texts)) or any(self._shown.has(is_day, *each) for each in formula.areas)

    def _shows_one(self, formula: BookFormula) -> bool:
        found = self._found[formula.place]
        return formula.kind == PLAIN or (type(found) is list and (len(found), len(found[0])) == (1, 1))

    def _one_shown(self, formula: BookFormula) -> Any:
        """Return what the first cell of a formula shows."""
        found = self._found[formula.place]
        return found[0][0] if type(found) is list else found

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

    def _odd_inputs(self, formulas: Sequence[BookFormula]) -> tuple[dict[Place, str], dict[Place, str]]:
        """Formulas that read a value which their function takes otherwise than others do; those that read a blank."""
        read = [
            (formula, (area.sheet or sheet, (area.first_row, area.first_column)))
            for formula in formulas
            if formula.shape.functions & (COUNTING | INTEREST | OF_BLANKS)
            for sheet, area in formula.areas
            if area.is_cell
        ]
        pairs = [(formula, self._shown[place]) for formula, place in read]
        odd = {each.place: why for each, value in pairs if (why := odd_input(each.shape.functions, value))}
        odd |= {
            each.place: COUNTS_ODD_VALUES
            for each in formulas
            if counts_odd_values(each.shape.functions, each.shape.texts)
        }
        odd |= {each.place: OTHER_MARKS for each in formulas if self._has_format_in_cell(each)}
        odd |= {each.place: OTHER_TILDE for each in formulas if self._has_other_tilde(each)}
        odd |= {each.place: why for each in formulas if (why := self._has_long_texts(each))}
        odd |= {e.place: DOUBTFUL_NUMBER for e in formulas if self._reads(e, is_doubtful_number, areas=False)}
        odd |= {e.place: EMPTY_TEXT for e in formulas if any(self._shown.has_empty_text(*each) for each in e.areas)}
        odd |= {each.place: UNKNOWN_NAME for each in formulas if self._knows_no_name(each)}
        odd |= {each.place: COUNTS_ODD_TEXTS for each in formulas if self._counts_odd_texts(each)}
        odd |= {
            each.place: HARDLY_ANY for each in formulas if is_hardly_any(each.shape.functions, self._one_shown(each))
        }
        blank = {each.place: BLANK for each, value in pairs if value is None and each.shape.functions & OF_BLANKS}
        return self._losing_digits(formulas) | odd, blank

    def _knows_no_name(self, formula: BookFormula) -> bool:
        """Return whether a formula comes to the error of an unknown name, which no cell explains that it reads."""
        is_unknown = is_unknown_name(self._one_shown(formula)) and formula.place not in self._reproduced
        return is_unknown and not self._reads(formula, is_unknown_name, areas=True)

    def _has_long_texts(self, formula: BookFormula) -> str:
        """Return why the length of texts may decide on the result; empty where it does not."""
        shape = formula.shape
        joins = shape.joins_texts or shape.functions & OF_JOINED_TEXTS
        if shape.functions & OF_KEYS:
            counts = bool(shape.functions & OF_CRITERIA)
            if self._reads(formula, is_long_part_of_key if joins else is_long_key, areas=counts):
                return LONG_KEY
        return LONG_TEXT if joins and self._reads(formula, is_long_part, areas=True) else ""

    def _reads(self, formula: BookFormula, is_it: Callable[[Any], bool], *, areas: bool) -> bool:
        """Return whether a formula, a cell that it reads, or one of an area if asked for, has such a value."""
        read = (each for each in formula.areas if areas or each[1].is_cell)
        answers = self._shown.answers.values() if formula.shape.sites else ()
        return any(map(is_it, (*formula.shape.texts, *answers))) or any(self._shown.has(is_it, *each) for each in read)

    def _has_format_in_cell(self, formula: BookFormula) -> bool:
        """Return whether a number format that a formula reads is written for a language with a decimal comma."""
        if "TEXT" not in formula.shape.functions:
            return False
        return any(self._shown.has(_is_other_format, *each) for each in formula.areas if each[1].is_cell)

    def _has_other_tilde(self, formula: BookFormula) -> bool:
        """Return whether a criterion, written or in a cell, has a `~` that programs read differently."""
        if not formula.shape.functions & OF_PATTERNS:
            return False
        in_cells = (self._shown.has(has_other_tilde, *each) for each in formula.areas)
        return any(map(has_other_tilde, formula.shape.texts)) or any(in_cells)

    def _counts_odd_texts(self, formula: BookFormula) -> bool:
        """Whether a formula counts cells with a text that some programs read as a number, a day or a logical value."""
        if not counts_by_value(formula.shape.uses):
            return False
        return any(self._shown.has(is_odd_text, *each) for each in formula.areas if not each[1].is_cell)

    def _odd_letters(self, formulas: Sequence[BookFormula]) -> dict[Place, str]:
        """Formulas whose result depends on letters that programs change, count or order differently."""
        found: dict[Place, str] = {}
        for formula in formulas:
            shape = formula.shape
            if (kinds := depends_on(shape.functions)) and (seen := kinds & self._letters_of(formula)):
                found[formula.place] = min(seen)
            elif shape.ordered and Letters.ORDER in self._letters_ordered(formula):
                found[formula.place] = Letters.ORDER
        return found

    def _letters_of(self, formula: BookFormula) -> frozenset[Letters]:
        """The doubtful letters in a formula, in what it shows, and in all that it reads."""
        shown = self._found[formula.place]
        rows = shown if type(shown) is list else [[shown]]
        texts = [*formula.shape.pieces, *(value for row in rows for value in row)]
        areas = [*formula.areas, *self._cells.spilled(formula)]
        answered = self._letters_answered if formula.shape.sites else frozenset[Letters]()
        return letters_of(texts).union(answered, *(self._letters_in(sheet, area) for sheet, area in areas))

    @cached_property
    def _letters_answered(self) -> frozenset[Letters]:
        """The doubtful letters in the answers of calls of ours."""
        return letters_of(self._shown.answers.values())

    def _letters_ordered(self, formula: BookFormula) -> frozenset[Letters]:
        """The doubtful letters in what a formula compares."""
        texts = [each for each in formula.shape.ordered if isinstance(each, str)]
        areas = [area_of(formula.references[each]) for each in formula.shape.ordered if isinstance(each, int)]
        compared = (self._letters_in(formula.place[0], area) for area in areas if area is not None)
        return letters_of(texts).union(*compared)

    def _letters_in(self, sheet: str, area: Area) -> frozenset[Letters]:
        return frozenset(kind for kind, has in _HAS_LETTERS.items() if self._shown.has(has, sheet, area))

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
        return {
            formula.place
            for formula, value in zip(formulas, values, strict=True)
            if is_reproduced(self._one_shown(formula), value) or (formula.place in errors and isinstance(value, dict))
        }
