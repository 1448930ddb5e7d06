"""Working out the formulas of a book that rest on our values, and telling which results are proven.

First the engine works the book out with the values that the file holds. What it does not reproduce is unproven: that
formula and whatever rests on it keep their old values. Then the new values go in, calls of ours are answered in passes
until nothing new is asked, and the rest is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from addin.workbook.calculation.book_formulas import BookFormula, resting_on
from addin.workbook.calculation.engine.engine import Engine, Evaluated
from addin.workbook.calculation.engine_book import EngineBook, cells_of_formula
from addin.workbook.calculation.functions import doubtful
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.results import doubt_about, is_reproduced, is_same, to_cell, to_engine
from addin.workbook.ooxml.book import Book
from udfs.cells import Scalar

MAX_PASSES = 20
"""How many times calls of ours may wait for the answers of others."""

OTHER_BRANCH = "it takes another branch than before, and nothing shows that this one is worked out right"
AS_SHOWN = "the book calculates with the digits that cells show (precision as displayed)"
RESTS_ON_UNPROVEN = "it rests on a cell that is left as it was"
NOT_REPRODUCED = "the value in the file could not be worked out from the other values in it"


@dataclass(slots=True)
class Result:
    """What became of one formula."""

    formula: BookFormula
    value: Scalar = None
    """What its cell shows."""
    rows: Sequence[Sequence[Scalar]] = ()
    """What the cells of an array formula show."""
    unproven: str = ""
    compared: bool = False
    used: Sequence[str] = ()
    """The keys of the calls of ours that it made."""


class BookCalculation:
    """The calculation of one book: `prove`, then `change`, `evaluate` until nothing is asked, then `results`.

    Every step raises `EngineFailedError`.
    """

    def __init__(self, book: Book, formulas: Sequence[BookFormula], engine: Engine) -> None:
        self._book = book
        self._engine = engine
        self._formulas = {formula.place: formula for formula in formulas}
        self._numbers = {formula.number: formula for formula in formulas}
        self._cells = EngineBook(book, engine, self._formulas)
        self._unproven: dict[Place, str] = {}
        self._left: set[Place] = set()
        self._accepted: set[Place] = set()
        self._before: Mapping[int, Mapping[int, list[str]]] = {}
        self._chosen: dict[int, Mapping[int, list[str]]] = {}
        self._reproduced: dict[Place, Any] = {}
        self.used: dict[int, list[str]] = {}
        """The keys of the calls of ours that each formula made, by the formula's number."""
        self._doubts: dict[int, str] = {}
        self._doubtful: dict[tuple[int, bool], str] = {}
        self._compared = _comparable(self._formulas)
        self._as_shown = book.calculates_as_shown

    def prove(self) -> None:
        """Work the book out with the values of the file, and mark what is not reproduced as unproven."""
        for place, formula in self._formulas.items():
            if why := self._refusal(formula):
                self._unproven[place] = why
        # Any other formula shows its stored value in the first run.
        begin = [
            formula
            for place, formula in self._formulas.items()
            if place not in self._unproven and (place in self._compared or not formula.formula.is_calculated)
        ]
        self._cells.load(begin)
        compared = [each for each in begin if each.place in self._compared and each.place not in self._unproven]
        with ThreadPoolExecutor(1) as other:  # the engine works while the file is read
            evaluated = other.submit(self._engine.evaluate, {})
            old = [self._old(each) for each in compared]
            self._take(evaluated.result())
        self._before = dict(self._chosen)
        found = self._cells.values(begin)
        for formula, value in zip(compared, old, strict=True):
            place = formula.place
            if place not in self._unproven:
                self._reproduced[place] = found[place]
                if not is_reproduced(value, found[place]):
                    self._unproven[place] = NOT_REPRODUCED
        begun = set(found)
        self._cells.put_values(self._formulas[place] for place in begun & self._unproven.keys())
        others = (place for place in self._formulas if place not in begun and place not in self._unproven)
        self._cells.put_formulas(self._formulas[place] for place in others)

    def change(self, cells: Mapping[Place, Scalar]) -> None:
        """Put new values of ours into their cells."""
        self._cells.put([(sheet, *spot, False, to_engine(value)) for (sheet, spot), value in cells.items()])
        self._cells.respill(self._cells.read_spills(), self._unproven)

    def evaluate(self, answers: Mapping[str, Any]) -> Mapping[str, list[Any]]:
        """Work everything out with these further answers; the calls of ours that are asked now, by key."""
        asked = self._evaluate(answers)
        for _ in range(MAX_PASSES):
            moved = set() if asked else self._cells.moved_spills()
            if not moved:
                break
            self._cells.respill(moved, self._unproven)
            asked = self._evaluate({})
        return asked

    def accept(self, places: Iterable[Place]) -> None:
        """Take the values that these formulas have in the file as right, without working them out."""
        formulas = [self._formulas[place] for place in places if place not in self._unproven]
        self._accepted |= {formula.place for formula in formulas}
        self._cells.put_values(formulas)

    def leave(self, places: Iterable[Place]) -> None:
        """Leave what rests on these cells of ours at its old value, because they keep theirs."""
        self._left |= set(places)

    def leave_users(self, failed: Mapping[str, str]) -> None:
        """Leave the formulas with a value in the file that used one of these answers, for the reason it has."""
        for number, used in self.used.items():
            why = next((failed[key] for key in used if key in failed), "")
            formula = self._numbers[number]
            if why and formula.formula.is_calculated:
                self._unproven.setdefault(formula.place, why)

    def results(self) -> list[Result]:
        """What became of every formula."""
        found = self._cells.values(list(self._formulas.values()))
        unchanged = {place for place, rows in self._reproduced.items() if is_same(rows, found[place])} | self._accepted
        others = self._taking_other_branches()
        for place, formula in self._formulas.items():
            if place in self._unproven or place in unchanged:
                continue
            if why := self._doubts.get(formula.number) or doubt_about(formula, found[place]):
                self._unproven[place] = why
            elif formula.number in others and place in self._compared:
                self._unproven[place] = OTHER_BRANCH
        tainted = self._resting_on_unproven()
        results = []
        for place, formula in self._formulas.items():
            why = self._unproven.get(place, "")
            if why in ("", NOT_REPRODUCED):
                why = tainted.get(place, why)
            is_old = why or place in unchanged
            shown = found[place]
            if is_old:
                value, rows = self._old_shown(formula)
            else:
                value, rows = (shown, ()) if type(shown) is float else _shown(shown)
            used = self.used.get(formula.number, ())
            results.append(Result(formula, value, rows, why, place in self._compared, used))
        return results

    def _refusal(self, formula: BookFormula) -> str:
        """Why a formula is not even tried; empty where it is."""
        if self._as_shown:
            return AS_SHOWN
        shape = formula.shape
        key = id(shape), formula.place in self._compared
        why = self._doubtful.get(key)
        if why is None:
            why = "it is random" if shape.is_random else doubtful(shape.functions, compared=key[1])
            self._doubtful[key] = why
        return (formula.refusal() if shape.refused or shape.intersected else "") or why

    def _evaluate(self, answers: Mapping[str, Any]) -> Mapping[str, list[Any]]:
        return self._take(self._engine.evaluate(answers))

    def _take(self, found: Evaluated) -> Mapping[str, list[Any]]:
        """Note what an evaluation came to; the calls that are asked."""
        self.used.update(found.used)
        self._chosen.update(found.chosen)
        self._doubts.update(found.doubts)
        self._unproven.update({place: why for place, why in self._cells.unreadable.items() if place in self._formulas})
        return found.asked

    def _old(self, formula: BookFormula) -> Any:
        """What the file holds for a formula, as the engine would give it."""
        value, rows = self._old_shown(formula)
        if formula.is_array:
            return [[to_engine(each) for each in row] for row in rows]
        return value if type(value) is float else to_engine(value)

    def _old_shown(self, formula: BookFormula) -> tuple[Scalar, Sequence[Sequence[Scalar]]]:
        """The value that the file holds for a formula, and of an array formula the rows."""
        sheet = self._book.sheet(formula.place[0])
        value = sheet.value(formula.place[1])
        area = formula.formula.filled
        if area is None:
            return value, [[value]] if formula.is_array else ()
        columns = range(area.first_column, area.last_column + 1)
        rows = range(area.first_row, area.last_row + 1)
        return value, [[sheet.value((row, column)) for column in columns] for row in rows]

    def _taking_other_branches(self) -> set[int]:
        """The numbers of the formulas one of whose conditions came to something to which it did not come before."""
        changed = {number: now for number, now in self._chosen.items() if now != self._before.get(number)}
        return {
            number
            for number, now in changed.items()
            if any(not set(seen) <= set(self._before.get(number, {}).get(site, ())) for site, seen in now.items())
        }

    def _resting_on_unproven(self) -> dict[Place, str]:
        """Every formula that rests on an unproven one, with the reason."""
        unproven = [self._formulas[place] for place in self._unproven]
        if not unproven and not self._left:
            return {}
        cells = by_sheet([*(cell for formula in unproven for cell in cells_of_formula(formula)), *self._left])
        reached = {formula.place for formula in resting_on(self._formulas.values(), cells)}
        reasons = dict.fromkeys(reached, RESTS_ON_UNPROVEN)
        for place, formula in self._formulas.items():
            if place not in reached and formula.shape.finds_cells:
                reasons[place] = "it finds its cells while it calculates, and some are left as they were"
        return reasons


def _shown(found: Any) -> tuple[Scalar, Sequence[Sequence[Scalar]]]:
    """What a cell shows, and the rows of an array formula, of what the engine gave."""
    if type(found) is not list:
        return to_cell(found), ()
    rows = [[to_cell(value) for value in row] for row in found]
    return (rows[0][0] if rows and rows[0] else None), rows


def _comparable(formulas: Mapping[Place, BookFormula]) -> set[Place]:
    """The formulas whose stored value can be worked out from stored values alone."""
    unknown = [
        cell
        for formula in formulas.values()
        if not formula.formula.is_calculated and (formula.shape.calls_ours or formula.shape.shows_time)
        for cell in cells_of_formula(formula)
    ]
    blind = set(unknown)
    if unknown:
        blind |= {formula.place for formula in resting_on(formulas.values(), by_sheet(unknown))}
    return {
        place
        for place, formula in formulas.items()
        if formula.formula.is_calculated
        and place not in blind
        and not (formula.shape.calls_ours or formula.shape.shows_time or formula.shape.is_random)
    }
