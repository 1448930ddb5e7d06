"""Working out the formulas of a book that rest on our values, and telling which results are proven.

The book is worked out twice: with the values that the file holds, to see what of it is reproduced, and with the new
ones. What is written has to be what Excel would show, see `addin.workbook.calculation.proving.proof`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula, resting_on
from addin.workbook.calculation.circles import in_circles
from addin.workbook.calculation.engine_book import EngineBook, as_engine, cells_of_formula
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.functions import differs, outside_of_values
from addin.workbook.calculation.hoisting import Hoisted
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.proving.proof import Proof
from addin.workbook.calculation.reading.letters import (
    OF_LANGUAGE,
    OTHER_LANGUAGE,
    OTHER_TEXTS,
    has_point,
    is_of_other_language,
    speaks_otherwise,
)
from addin.workbook.calculation.reading.shapes import Shape
from addin.workbook.calculation.results import (
    CAME_TO_SPILL,
    IN_A_CIRCLE,
    as_shown,
    doubt_about,
    is_reproduced,
    is_same,
    is_without_room,
    shows_error,
    to_engine,
)
from addin.workbook.calculation.simple_stage import SimpleStage
from addin.workbook.ooxml.book import Book
from addin.workbook.spill_room import spill_area, what_blocks
from udfs.cells import Scalar
from udfs.errors import CellError

AS_SHOWN = "the book calculates with the digits that cells show (precision as displayed)"
RESTS_ON_UNPROVEN = "it rests on a cell that is left as it was"
FINDS_UNPROVEN = "it finds its cells while it calculates, and some are left as they were"
NOT_REPRODUCED = "the value in the file could not be worked out from the other values in it"
NO_ANSWER_YET = "it rests on a cell of ours that has had no answer yet"
NOT_ANSWERED = "a call of ours in it was not answered"
SEVERAL_VALUES = "a function in it gets an area where engines take one value"
NO_SHEET = "it refers to a sheet that is not there"
HIDDEN_ROWS = "it may leave out rows that are hidden or filtered"


@dataclass(slots=True)
class Result:
    """The result of one formula."""

    formula: BookFormula
    value: Scalar = None
    """What its cell shows."""
    old: Scalar = None
    """What its cell shows in the file."""
    rows: Sequence[Sequence[Scalar]] = ()
    """What the cells of an array formula show."""
    unproven: str = ""
    compared: bool = False
    used: Sequence[str] = ()
    """The keys of the calls of ours that it made."""


@dataclass(slots=True)
class _Run:
    """The book with its new values in the engines."""

    cells: EngineBook
    hoisted: Hoisted
    simple: Mapping[Place, Any]
    """What the simple formulas came to."""


class BookCalculation:
    """The calculation of one book: `prove`, then `change`, `evaluate` until nothing is asked, then `results`.

    Every step raises `EngineFailedError`.
    """

    def __init__(
        self, book: Book, formulas: Sequence[BookFormula], engines: Engines, *, unknown: Iterable[Place] = ()
    ) -> None:
        """`unknown` are cells of ours beside these formulas that have no value in the file."""
        self._book = book
        self._engines = engines
        self._formulas = {formula.place: formula for formula in formulas}
        self._unproven: dict[Place, str] = {}
        self._left: set[Place] = set()
        self._accepted: set[Place] = set()
        self._kept: dict[Place, Scalar] = {}
        """What the cells of formulas show in the file, as far as anybody asked."""
        self._before: dict[Place, Any] = {}
        """What the compared formulas came to with the values of the file."""
        self._compared, self._helping = _comparable(self._formulas, unknown)
        self._calling = {formula.place for formula in formulas if formula.shape.sites}
        self._changed: dict[Place, Any] = {}
        self._simple = SimpleStage(book, {}, frozenset())
        self._run: _Run | None = None
        self._answers: dict[str, Any] = {}

    @property
    def used(self) -> Mapping[Place, Sequence[str]]:
        """The keys of the calls of ours that each formula made."""
        return {place: list(keys) for place, keys in self._run.hoisted.used.items()} if self._run else {}

    def prove(self) -> None:
        """Work the book out with the values of the file, and mark what is not reproduced as unproven."""
        for place, formula in self._formulas.items():
            if why := self._refusal(formula):
                self._unproven[place] = why
        for place in in_circles(self._formulas):
            self._unproven.setdefault(place, IN_A_CIRCLE)
        compared = self._compared - self._unproven.keys()
        self._simple = SimpleStage(self._book, self._formulas, self._formulas.keys() - self._unproven.keys())
        self._before = self._simple.worked_out(self._engines, {}, compared)
        others = compared - self._simple.places
        if others:
            cells = EngineBook(self._book, self._engines.formulon, self._formulas)
            known = {place: self._before[place] for place in self._simple.places & self._before.keys()}
            cells.load(others | (self._helping - self._unproven.keys() - self._simple.places), known)
            self._engines.formulon.evaluate()
            self._before |= cells.values([self._formulas[place] for place in others])
            self._unproven |= cells.unreadable
        for place, found in self._before.items():
            if place not in self._unproven and not is_reproduced(self._old(self._formulas[place]), found):
                self._unproven[place] = NOT_REPRODUCED

    def reproduced(self) -> list[tuple[BookFormula, bool]]:
        """Each formula that was worked out with the values of the file, and whether it came to the one it has there."""
        told = ((self._formulas[place], found) for place, found in self._before.items())
        return [
            (formula, self._unproven.get(formula.place) != NOT_REPRODUCED)
            for formula, found in told
            if not doubt_about(formula, found)
        ]

    def change(self, cells: Mapping[Place, Scalar]) -> None:
        """Put new values of ours into their cells."""
        self._changed = as_engine(cells)
        self._run = None

    def accept(self, places: Iterable[Place]) -> None:
        """Take the values that these formulas have in the file as right, without working them out."""
        self._accepted |= {place for place in places if place not in self._unproven}
        self._run = None

    def evaluate(self, answers: Mapping[str, Any]) -> Mapping[str, list[Any]]:
        """Work everything out with these further answers; the calls of ours that are asked now, by key."""
        self._answers |= answers
        if not self._calling - self._unproven.keys() - self._accepted:
            return {}
        run = self._run = self._run or self._begun()
        if not run.cells.live:
            return {}
        while True:  # each step that goes on settles a call that was open
            goes_on, asked = run.hoisted.step()
            if not goes_on:
                return asked
            self._engines.formulon.evaluate()

    def _begun(self) -> _Run:
        """Put the book with the new values into the engines."""
        live = self._formulas.keys() - self._unproven.keys() - self._accepted
        simple = self._simple.worked_out(self._engines, self._changed, live)
        others = live - simple.keys()
        cells = EngineBook(self._book, self._engines.formulon, self._formulas)
        if others:
            cells.load(others, {**self._changed, **simple})
            self._engines.formulon.evaluate()
        hoisted = Hoisted(cells, self._answers)
        hoisted.begin()
        return _Run(cells, hoisted, simple)

    def leave(self, places: Iterable[Place]) -> None:
        """Leave what rests on these cells of ours at its old value, because they keep theirs."""
        self._left |= set(places)

    def leave_users(self, failed: Mapping[str, str]) -> None:
        """Leave the formulas that used one of these answers, for the reason it has.

        One without a value in the file shows its error, unless it hides it (`IFERROR(…,0)`).
        """
        users = {
            place: why
            for place, keys in self.used.items()
            if (why := next((failed[key] for key in keys if key in failed), ""))
        }
        self._leave_without_errors(users)

    def leave_hiding(self, cells: Iterable[Place]) -> None:
        """Leave what rests on these cells of ours, whose error may pass, unless it shows an error in place of none."""
        of_sheets = by_sheet(cells)
        if not of_sheets:
            return
        resting = {formula.place for formula in resting_on(self._formulas.values(), of_sheets)}
        finding = (each for each in self._formulas.values() if each.shape.finds_cells and _may_find(each, of_sheets))
        self._leave_without_errors(dict.fromkeys(resting | {formula.place for formula in finding}, NO_ANSWER_YET))

    def _leave_without_errors(self, users: Mapping[Place, str]) -> None:
        """Leave these formulas, for a reason each, but those that show an error and have no value in the file."""
        if not users:
            return
        run = self._run = self._run or self._begun()
        new = [self._formulas[place] for place in users if not self._has_value(self._formulas[place])]
        found = {**run.simple, **run.cells.values([each for each in new if each.place in run.cells.live])}
        errors = {each.place for each in new if shows_error(found.get(each.place))}
        for place in users.keys() - errors:
            self._unproven.setdefault(place, users[place])

    def _has_value(self, formula: BookFormula) -> bool:
        """Return whether the file holds a result of a formula that is more than an error."""
        is_error = not formula.is_array and isinstance(self._value(formula.place), CellError)
        return formula.formula.is_calculated and not is_error

    def results(self) -> list[Result]:
        """Every formula with its new value, or with its old one and why it stays."""
        run = self._run = self._run or self._begun()
        found = {**run.simple, **run.cells.values([self._formulas[place] for place in run.cells.live])}
        arrays = ((place, rows) for place, rows in self._before.items() if type(rows) is list)
        unchanged = {place for place, rows in arrays if is_same(rows, found.get(place))} | self._accepted
        doubts = (
            run.cells.unreadable | dict.fromkeys(run.hoisted.waiting, NOT_ANSWERED) | self._of_other_language(found)
        )
        doubtful = run.cells.live - self._unproven.keys() - doubts.keys() - unchanged
        if doubtful:
            proof = Proof(run.cells, self._engines, found, reproduced=self._before.keys() - self._unproven.keys())
            doubts |= proof.doubts([self._formulas[place] for place in doubtful])
        for place, formula in self._formulas.items():
            if place in self._unproven or place in unchanged:
                continue
            why = CAME_TO_SPILL if is_without_room(found.get(place)) else doubts.get(place)
            why = why or doubt_about(formula, found[place])
            if why := why or self._no_room(formula, found[place]):
                self._unproven[place] = why
        return self._told(found, unchanged)

    def _no_room(self, formula: BookFormula, found: Any) -> str:
        """Return what is in the way of an array's rows; empty where nothing is."""
        if not formula.is_array:
            return ""
        sheet, spot = formula.place
        return what_blocks(self._book, sheet, formula.formula, spill_area(spot, len(found), len(found[0])))

    def _of_other_language(self, found: Mapping[Place, Any]) -> dict[Place, str]:
        """The formulas that read or write numbers and dates as texts, where the file shows another language's."""
        wrong = (place for place, why in self._unproven.items() if why == NOT_REPRODUCED and place in self._before)
        failed = (self._formulas[place] for place in wrong)
        foreign = (each for each in failed if speaks_otherwise(self._old(each), self._before[each.place]))
        named = OF_LANGUAGE & frozenset[str]().union(*(each.shape.functions for each in foreign))
        doubts: dict[Place, str] = {}
        if named:
            doubts = {place: OTHER_TEXTS for place in found if self._formulas[place].shape.functions & named}
        points = [place for place, value in found.items() if type(value) is not float and has_point(value)]
        if any(is_of_other_language(self._old(self._formulas[place]), found[place]) for place in points):
            doubts |= dict.fromkeys(points, OTHER_LANGUAGE)
        return doubts

    def _told(self, found: Mapping[Place, Any], unchanged: set[Place]) -> list[Result]:
        tainted = self._resting_on_unproven()
        results = []
        used = self.used
        for place, formula in self._formulas.items():
            why = self._unproven.get(place, "")
            if why in ("", NOT_REPRODUCED):
                why = tainted.get(place, why)
            if why or place in unchanged:
                value, rows = self._old_shown(formula)
            else:
                value, rows = as_shown(found[place])
            old = self._value(place)
            results.append(Result(formula, value, old, rows, why, place in self._compared, used.get(place, ())))
        return results

    def _refusal(self, formula: BookFormula) -> str:
        """Return why a formula is not even tried; empty where it is."""
        shape = formula.shape
        why = self._shape_refusal(shape)
        if (
            not why
            and "!" in formula.formula.text
            and not all(self._book.has_sheet(sheet) for sheet, _ in formula.areas)
        ):
            why = NO_SHEET
        if not why and shape.single and not all(map(_is_one_cell, map(formula.references.__getitem__, shape.single))):
            why = SEVERAL_VALUES
        return why or ("" if formula.place in self._compared else _differs(shape))

    @cached_property
    def _shape_refusal(self) -> Callable[[Shape], str]:
        """Return why no formula of a shape is tried; copied formulas have one shape."""
        book = self._book  # and not this object itself, which would then stay until the garbage collector comes
        shows_rounded = book.calculates_as_shown
        hides_rows = cache(lambda: any(map(book.hides_rows, book.sheet_names)))

        @cache
        def refusal(shape: Shape) -> str:
            if shows_rounded:
                return AS_SHOWN
            if shape.refused:
                return shape.refused
            if shape.sees_rows and hides_rows():
                return HIDDEN_ROWS
            return "it is random" if shape.is_random else outside_of_values(shape.functions)

        return refusal

    def _old(self, formula: BookFormula) -> Any:
        """Return what the file holds for a formula, as the engine would give it."""
        if formula.is_array:
            return [[to_engine(each) for each in row] for row in self._old_shown(formula)[1]]
        value = self._value(formula.place)
        return value if type(value) is float else to_engine(value)

    def _value(self, place: Place) -> Scalar:
        """What a formula's cell shows in the file."""
        if place not in self._kept:
            self._kept[place] = self._book.sheet(place[0]).value(place[1])
        return self._kept[place]

    def _old_shown(self, formula: BookFormula) -> tuple[Scalar, Sequence[Sequence[Scalar]]]:
        """The value that the file holds for a formula, and of an array formula the rows."""
        sheet, value = self._book.sheet(formula.place[0]), self._value(formula.place)
        area = formula.formula.filled
        if area is None:
            return value, [[value]] if formula.is_array else ()
        columns = range(area.first_column, area.last_column + 1)
        rows = range(area.first_row, area.last_row + 1)
        return value, [[sheet.value((row, column)) for column in columns] for row in rows]

    def _resting_on_unproven(self) -> dict[Place, str]:
        """Every formula that rests on an unproven one, with the reason."""
        unproven = [self._formulas[place] for place in self._unproven]
        if not unproven and not self._left:
            return {}
        cells = by_sheet([*(cell for formula in unproven for cell in cells_of_formula(formula)), *self._left])
        reached = {formula.place for formula in resting_on(self._formulas.values(), cells)}
        reasons = dict.fromkeys(reached, RESTS_ON_UNPROVEN)
        for place, formula in self._formulas.items():
            if place not in reached and formula.shape.finds_cells and _may_find(formula, cells):
                reasons[place] = FINDS_UNPROVEN
        return reasons


def _is_one_cell(reference: str) -> bool:
    area = area_of(reference)
    return area is not None and area.is_cell


@lru_cache(maxsize=4096)
def _differs(shape: Shape) -> str:
    return differs(shape.uses)


def _may_find(formula: BookFormula, cells: Mapping[str, object]) -> bool:
    """Return whether a formula may find one of these cells, by sheet, while it calculates.

    Moved and built ranges stay on their sheet; a text, or a name that nobody read, may name any.
    """
    if formula.shape.hides_references or "INDIRECT" in formula.shape.functions:
        return True
    return not cells.keys().isdisjoint({formula.place[0], *(sheet for sheet, _ in formula.areas)})


def _comparable(formulas: Mapping[Place, BookFormula], cells_unknown: Iterable[Place]) -> tuple[set[Place], set[Place]]:
    """The formulas whose stored value can be worked out from stored values alone; those without one that help to."""
    unknown = [
        *cells_unknown,
        *(
            cell
            for formula in formulas.values()
            if not formula.formula.is_calculated and (formula.shape.calls_ours or formula.shape.shows_time)
            for cell in cells_of_formula(formula)
        ),
    ]
    blind = set(unknown)
    if unknown:
        blind |= {formula.place for formula in resting_on(formulas.values(), by_sheet(unknown))}
    sure = {
        place: formula
        for place, formula in formulas.items()
        if place not in blind and not (formula.shape.calls_ours or formula.shape.shows_time or formula.shape.is_random)
    }
    compared = {place for place, formula in sure.items() if formula.formula.is_calculated}
    return compared, sure.keys() - compared
