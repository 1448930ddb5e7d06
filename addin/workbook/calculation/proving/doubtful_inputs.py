"""Values that a formula reads, and programs take differently: odd texts, letters, blanks, what looks like a day."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from typing import Any

from addin.formulas import Area
from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine_book import EngineBook
from addin.workbook.calculation.influence import Place
from addin.workbook.calculation.proving.snapshot import Snapshot
from addin.workbook.calculation.reading.constants import OTHER_MARKS, has_other_marks
from addin.workbook.calculation.reading.letters import Letters, depends_on, has_letters, letters_of
from addin.workbook.calculation.reading.noise import CUTTING
from addin.workbook.calculation.reading.oddities import (
    COUNTING,
    COUNTS_ODD_TEXTS,
    COUNTS_ODD_VALUES,
    DOUBTFUL_NUMBER,
    EMPTY_TEXT,
    HARDLY_ANY,
    INTEREST,
    LONG_KEY,
    LONG_TEXT,
    NEARLY_WHOLE,
    OF_BLANKS,
    OF_CRITERIA,
    OF_JOINED_TEXTS,
    OF_KEYS,
    OF_PATTERNS,
    OTHER_TILDE,
    OTHER_VALUE,
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
    is_nearly_whole,
    is_odd_text,
    is_unknown_name,
    odd_input,
)

_HAS_LETTERS = {kind: partial(has_letters, kind) for kind in Letters}


def _is_other_format(value: Any) -> bool:
    return isinstance(value, str) and has_other_marks(value)


class DoubtfulInputs:
    """Looks at what formulas read once they are worked out. `reproduced` are those whose stored value came out."""

    def __init__(self, cells: EngineBook, shown: Snapshot, reproduced: AbstractSet[Place]) -> None:
        self._cells = cells
        self._shown = shown
        self._reproduced = reproduced

    def reason(self, formula: BookFormula) -> str:
        """Return why what a formula reads makes its result doubtful; empty where it does not."""
        return next(filter(None, self._reasons(formula)), "")

    def reads_blank(self, formula: BookFormula) -> bool:
        """Return whether it looks at a blank cell, of which programs make different things."""
        return bool(formula.shape.functions & OF_BLANKS) and None in self._single(formula)

    def _reasons(self, formula: BookFormula) -> Iterator[str]:
        functions, texts = formula.shape.functions, formula.shape.texts
        yield self._odd_letters(formula)
        yield HARDLY_ANY if is_hardly_any(functions, self._shown.first(formula.place)) else ""
        yield READS_DAY if self._cells.book.counts_from_1904 and self._may_read_day(formula) else ""
        yield COUNTS_ODD_TEXTS if self._counts_odd_texts(formula) else ""
        yield UNKNOWN_NAME if self._knows_no_name(formula) else ""
        yield OTHER_VALUE if any(self._shown.has_other_value(*each) for each in formula.areas) else ""
        yield EMPTY_TEXT if any(self._shown.has_empty_text(*each) for each in formula.areas) else ""
        yield OTHER_MARKS if self._has_format_in_cell(formula) else ""
        yield DOUBTFUL_NUMBER if self._reads(formula, is_doubtful_number, areas=False) else ""
        yield self._has_long_texts(formula)
        yield NEARLY_WHOLE if functions & CUTTING and self._reads(formula, is_nearly_whole, areas=True) else ""
        yield OTHER_TILDE if self._has_other_tilde(formula) else ""
        yield COUNTS_ODD_VALUES if counts_odd_values(functions, texts) else ""
        if functions & (COUNTING | INTEREST):
            yield from (odd_input(functions, value) for value in self._single(formula))

    def _single(self, formula: BookFormula) -> Iterator[Any]:
        """The values of the single cells that a formula reads."""
        for sheet, area in formula.areas:
            if area.is_cell:
                yield self._shown[area.sheet or sheet, (area.first_row, area.first_column)]

    def _may_read_day(self, formula: BookFormula) -> bool:
        """Return whether it may make a number of a text that looks like a day; `DATEVALUE` counts as the book does."""
        if "DATEVALUE" in formula.shape.functions:
            return False
        return any(map(is_day, formula.shape.texts)) or any(self._shown.has(is_day, *each) for each in formula.areas)

    def _knows_no_name(self, formula: BookFormula) -> bool:
        """Return whether a formula comes to the error of an unknown name, which no cell explains that it reads."""
        is_unknown = is_unknown_name(self._shown.first(formula.place)) and formula.place not in self._reproduced
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

    def _odd_letters(self, formula: BookFormula) -> str:
        """Return why letters that programs change, count or order differently make the result doubtful."""
        shape = formula.shape
        if (kinds := depends_on(shape.functions)) and (seen := kinds & self._letters_of(formula)):
            return min(seen)
        return Letters.ORDER if shape.ordered and Letters.ORDER in self._letters_ordered(formula) else ""

    def _letters_of(self, formula: BookFormula) -> frozenset[Letters]:
        """The doubtful letters in a formula, in what it shows, and in all that it reads."""
        shown = self._shown.found[formula.place]
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
