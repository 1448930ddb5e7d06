"""The formulas that are not one call of ours: worked out by the engine, with calls of ours answered in passes.

Without the engine they are left as they are, as any formula is that only a spreadsheet program can evaluate.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import Any, Self, TypeAlias

from addin.workbook.calculation.book_formulas import BookFormula, FormulaReader, is_root, may_rest_on_ours, resting_on
from addin.workbook.calculation.calculation import BookCalculation, Result
from addin.workbook.calculation.engine.process import EngineFailedError, is_installed
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.results import to_engine
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.positions import CellIndex, Spot
from addin.workbook.refresh.book_dates import cells_shown, given
from addin.workbook.refresh.dependencies import OurCell
from addin.workbook.refresh.plan import Plan
from udfs import Call, Session
from udfs.cells import Grid, Scalar, cells_of
from udfs.engine import Outcome
from udfs.errors import CellError, ErrorCode

MAX_FILLED_CELLS = 1_000_000
"""Cells of an array that are looked at one by one; what fills more was not made by a call of ours."""

Asking: TypeAlias = Callable[[Sequence[Call]], Awaitable[Sequence[Outcome | None]]]
"""What answers calls of ours, with None for those that it has no answer to."""


@dataclass(slots=True)
class WorkedOut:
    """The results of the formulas, and the answers that went into them."""

    results: list[Result] = field(default_factory=list)
    """Every formula, but those that rest on nothing of ours and could not be worked out."""
    answers: dict[str, tuple[Call, Outcome]] = field(default_factory=dict)
    """Every call of ours and its outcome, by its key."""
    essential: AbstractSet[Place] = frozenset()
    """The formulas that rest on a value of ours."""


class Working:
    """The calculation of one book; a context manager that ends the engine.

    Made before anything is written into the book, because what the file holds is worked out first.
    """

    def __init__(
        self,
        book: Book,
        formulas: Sequence[BookFormula],
        ours: Mapping[str, CellIndex],
        now: float,
        *,
        unknown: Iterable[Place] = (),
    ) -> None:
        self.formulas = formulas
        has_others = any(is_root(formula) and not may_rest_on_ours(formula) for formula in formulas)
        resting = resting_on(formulas, ours, roots=may_rest_on_ours) if has_others else formulas
        self.essential = {formula.place for formula in resting}
        """The formulas that rest on a value of ours; of the others, what cannot be worked out is as it was."""
        self._book = book
        self._now = now
        self._unknown = list(unknown)
        self._engines: Engines | None = None
        self._calculation: BookCalculation | None = None
        self._failure = ""
        self._calls: dict[str, Call] = {}
        self._outcomes: dict[str, Outcome] = {}

    @cached_property
    def cells(self) -> frozenset[str]:
        """The cells of the formulas, as messages name them."""
        return frozenset(map(str, self.formulas))

    @cached_property
    def calls_ours(self) -> bool:
        """Return whether a call of ours stands in one of the formulas: without one, they decide on no request."""
        return any(formula.shape.calls_ours for formula in self.formulas)

    async def prove(self) -> None:
        """Work out what the file holds, to know which formulas can be relied on."""
        await self._trying(lambda calculation: calculation.prove())

    async def preview(self, ask: Asking) -> list[tuple[Place, Call]]:
        """The calls of ours that the formulas would make now, as far as is known from the answers that `ask` has."""
        used = await self._passes(ask)
        return [(place, self._calls[key]) for place, keys in used.items() for key in keys]

    async def accept(self, places: Iterable[Place]) -> None:
        """Take the values that these formulas have in the file as right."""
        chosen = list(places)
        await self._trying(lambda calculation: calculation.accept(chosen))

    async def unanswered(self) -> set[Place]:
        """The formulas with calls of ours that `preview` or `run` got no answer to."""
        used: Mapping[Place, Sequence[str]] = await self._trying(lambda calculation: calculation.used) or {}
        return {
            formula.place
            for formula in self.formulas
            if any(key not in self._outcomes for key in used.get(formula.place, ()))
        }

    async def run(
        self,
        changed: Mapping[Place, Scalar],
        left: Iterable[Place],
        ask: Asking,
        passing: Iterable[Place] = (),
    ) -> WorkedOut:
        """Work everything out after the cells of ours have `changed`; `ask` answers calls of ours.

        The cells in `left` keep an old value, and so does what rests on them. Those in `passing` show an error that may
        pass; what rests on them may show one too.
        """
        await self._trying(lambda calculation: calculation.change(changed))
        if self._calculation is not None:
            self._calculation.leave(left)
        await self._passes(ask)
        failed = {key: why for key, outcome in self._outcomes.items() if (why := _failure_of(outcome))}
        results = await self._trying(lambda calculation: _results(calculation, failed, passing))
        self._calculation = None  # it takes as much memory as the book
        if results is None:
            results = [self._as_it_was(formula) for formula in self.formulas]
        told = [each for each in results if each.formula.place in self.essential or not each.unproven]
        answers = {key: (self._calls[key], outcome) for key, outcome in self._outcomes.items()}
        return WorkedOut(told, answers, self.essential)

    def _as_it_was(self, formula: BookFormula) -> Result:
        """Return a formula with its old value, because the calculation failed."""
        sheet, spot = formula.place
        return Result(formula, old=self._book.sheet(sheet).value(spot), unproven=self._failure)

    async def _passes(self, ask: Asking) -> Mapping[Place, Sequence[str]]:
        """Work everything out until nothing new is asked; the calls that each formula made, by its number."""
        answers: dict[str, Any] = {}
        given_up: set[str] = set()
        while True:  # each pass answers calls or gives them up, and formulas make only so many
            asked = await self._trying(partial(_evaluated, answers=answers)) or {}
            self._calls.update({key: _call(self._book, parts) for key, parts in asked.items()})
            new = [key for key in asked if key not in given_up]
            if not new:
                break
            outcomes = await ask([self._calls[key] for key in new])
            found = {key: outcome for key, outcome in zip(new, outcomes, strict=True) if outcome is not None}
            given_up.update(key for key in new if key not in found)
            self._outcomes.update(found)
            answers = {key: _answer(self._book, outcome) for key, outcome in found.items()}
        used: Mapping[Place, Sequence[str]] = await self._trying(lambda calculation: calculation.used) or {}
        return used

    async def _trying(self, work: Callable[[BookCalculation], Any]) -> Any:
        """The result of one step; None after a failure, from which on nothing more is tried."""
        calculation = self._calculation
        if self._failure or calculation is None:
            return None
        found: list[Any] = []  # a future would hold on to the results of a whole book
        try:
            await asyncio.to_thread(lambda: found.append(work(calculation)))
            return found.pop()
        except EngineFailedError as error:
            self._failure = str(error)
            return None

    def __enter__(self) -> Self:
        try:
            offset_s = float(time.localtime(self._now).tm_gmtoff)
            self._engines = Engines(now=self._now, offset_s=offset_s, dates_from_1904=self._book.counts_from_1904)
            self._calculation = BookCalculation(self._book, self.formulas, self._engines, unknown=self._unknown)
        except EngineFailedError as error:
            self._failure = str(error)
        return self

    def __exit__(self, *_: object) -> None:
        if self._engines is not None:
            self._engines.close()


def working(book: Book, plan: Plan, namespace: str, now: float) -> Working | None:
    """The calculation that a book needs beside its plan; None where it needs none, or the engine is not installed."""
    if not is_installed():
        return None
    planned = {cell.place: cell for cell in plan.cells}
    formulas = [formula for formula in FormulaReader(book, namespace).all() if formula.place not in planned]
    ours = by_sheet((cell.sheet, spot) for cell in planned.values() for spot in _spots(book, cell))
    needed = resting_on(formulas, ours, roots=is_root)
    unknown = (cell.place for cell in planned.values() if not cell.formula.is_calculated)
    return Working(book, needed, ours, now, unknown=unknown) if needed else None


def free_answers(session: Session) -> Asking:
    """Return what answers the calls that cost nothing now, and no others."""

    async def ask(calls: Sequence[Call]) -> list[Outcome | None]:
        found: list[Outcome | None] = []
        for call in calls:
            preview = await session.cost([call])
            found.append((await session.answer([call]))[0] if preview.fresh_calls else None)
        return found

    return ask


def _spots(book: Book, cell: OurCell) -> Iterable[Spot]:
    """The cells that a call of ours fills in the file; of an array, libraries write only the first one."""
    area = cell.formula.area
    if (area.last_row - area.first_row + 1) * (area.last_column - area.first_column + 1) > MAX_FILLED_CELLS:
        return {cell.spot, *book.sheet(cell.sheet).spots_in(area)}
    return product(range(area.first_row, area.last_row + 1), range(area.first_column, area.last_column + 1))


def _evaluated(calculation: BookCalculation, *, answers: Mapping[str, Any]) -> Mapping[str, list[Any]]:
    return calculation.evaluate(answers)


def _call(book: Book, parts: Sequence[Any]) -> Call:
    name, *args = parts
    return Call(name, given(book, name, [_argument(each) for each in args]))


def _results(calculation: BookCalculation, failed: Mapping[str, str], passing: Iterable[Place]) -> list[Result]:
    """The results, where an error that may pass replaces no value."""
    calculation.leave_users(failed)
    calculation.leave_hiding(passing)
    return calculation.results()


def missing_part(outcome: Outcome) -> str:
    """Return why a part of a table has no answer for now; empty where it is whole, or what is missing stays so."""
    table = cells_of(outcome.result)
    if outcome.fresh_for_s > 0 or outcome.stale is None or not isinstance(table, Grid):
        return ""
    has_errors = any(isinstance(value, CellError) for row in table.rows() for value in row)
    return outcome.stale.reason if has_errors else ""


def _failure_of(outcome: Outcome) -> str:
    """Return why there is no whole answer for now; empty for an answer, and for an error that stays."""
    result = cells_of(outcome.result)
    if isinstance(result, CellError):
        return result.message if outcome.fresh_for_s == 0 else ""
    return missing_part(outcome)


def _argument(value: Any) -> Any:
    """An argument as our functions take it from a cell."""
    if isinstance(value, list):
        return [[_argument(cell) for cell in row] for row in value]
    return CellError(ErrorCode.NA, value["error"]) if isinstance(value, dict) else value


def _answer(book: Book, outcome: Outcome) -> Any:
    """An outcome as the engine gets it; a blank cell of a table is an empty text, so that nothing counts it."""
    result = cells_shown(book, outcome.result)
    if not isinstance(result, Grid):
        return "" if result is None else to_engine(result)
    rows = [["" if value is None else to_engine(value) for value in row] for row in result.rows()]
    return rows if rows and rows[0] else ""
