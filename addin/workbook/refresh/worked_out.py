"""The formulas that are not one call of ours: worked out by the engine, with calls of ours answered in passes.

Without the engine they are left as they are, as any formula is that only a spreadsheet program can evaluate.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from addin.workbook.calculation.book_formulas import BookFormula, FormulaReader, is_root, resting_on
from addin.workbook.calculation.calculation import MAX_PASSES, BookCalculation, Result
from addin.workbook.calculation.engine import EngineFailedError, FormualizerEngine, is_installed
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.results import to_engine
from addin.workbook.ooxml.book import Book
from addin.workbook.refresh.plan import Plan
from udfs import Call
from udfs.cells import Grid, cells_of
from udfs.engine.session import Outcome
from udfs.errors import CellError, ErrorCode


@dataclass(slots=True)
class WorkedOut:
    """What came of the formulas, and the answers that went into them."""

    results: list[Result] = field(default_factory=list)
    answers: dict[str, tuple[Call, Outcome]] = field(default_factory=dict)
    """Every call of ours and its outcome, by its key."""


class Working:
    """The calculation of one book; a context manager that ends the engine.

    Made before anything is written into the book, because what the file holds is worked out first.
    """

    def __init__(self, book: Book, formulas: Sequence[BookFormula], now: float) -> None:
        self.formulas = formulas
        self._book = book
        self._now = now
        self._engine: FormualizerEngine | None = None
        self._calculation: BookCalculation | None = None
        self._failure = ""

    @property
    def cells(self) -> set[str]:
        """The cells of the formulas, as messages name them."""
        return {str(formula) for formula in self.formulas}

    async def prove(self) -> None:
        """Work out what the file holds, to know which formulas can be relied on."""
        await self._trying(self._prove)

    async def run(
        self,
        changed: Mapping[Place, Any],
        left: Iterable[Place],
        ask: Callable[[list[Call]], Any],
    ) -> WorkedOut:
        """Work everything out after `changed`; `ask` answers calls of ours, or returns None for those it does not.

        The cells in `left` keep an old value, and so does what rests on them.
        """
        worked = WorkedOut()
        await self._trying(lambda calculation: calculation.change(changed))
        if self._calculation is not None:
            self._calculation.leave(left)
        answers: dict[str, Any] = {}
        for _ in range(MAX_PASSES):
            asked = await self._trying(lambda calculation, given=answers: calculation.evaluate(given))  # type: ignore[misc]
            calls = {
                key: Call(name, [_argument(each) for each in given]) for key, (name, *given) in (asked or {}).items()
            }
            calls = {key: call for key, call in calls.items() if key not in worked.answers}
            if not calls:
                break
            outcomes: Sequence[Outcome | None] = await ask(list(calls.values()))
            found = {key: outcome for key, outcome in zip(calls, outcomes, strict=True) if outcome is not None}
            worked.answers.update({key: (calls[key], outcome) for key, outcome in found.items()})
            answers = {key: _answer(outcome) for key, outcome in found.items()}
        failed = {key: _failure_of(outcome) for key, (_, outcome) in worked.answers.items() if _failure_of(outcome)}
        worked.results = await self._trying(lambda calculation: _results(calculation, failed)) or []
        if self._failure:
            worked.results = [Result(formula, unproven=self._failure) for formula in self.formulas]
        return worked

    async def _trying(self, work: Callable[[BookCalculation], Any]) -> Any:
        """The result of one step; None after a failure, from which on nothing more is tried."""
        if self._failure or self._calculation is None:
            return None
        try:
            return await asyncio.to_thread(work, self._calculation)
        except EngineFailedError as error:
            self._failure = str(error)
            return None

    def _prove(self, calculation: BookCalculation) -> None:
        calculation.prove()

    def __enter__(self) -> Self:
        try:
            offset_s = float(time.localtime(self._now).tm_gmtoff)
            self._engine = FormualizerEngine(
                now=self._now, offset_s=offset_s, dates_from_1904=self._book.counts_from_1904
            )
            self._calculation = BookCalculation(self._book, self.formulas, self._engine)
        except EngineFailedError as error:
            self._failure = str(error)
        return self

    def __exit__(self, *_: object) -> None:
        if self._engine is not None:
            self._engine.close()


def working(book: Book, plan: Plan, namespace: str, now: float) -> Working | None:
    """The calculation that a book needs beside its plan; None where it needs none, or the engine is not installed."""
    if not is_installed():
        return None
    planned = {cell.place: cell for cell in plan.cells}
    formulas = [formula for formula in FormulaReader(book, namespace).all() if formula.place not in planned]
    ours = by_sheet(
        (cell.sheet, spot)
        for cell in planned.values()
        for spot in {cell.spot, *book.sheet(cell.sheet).spots_in(cell.formula.area)}
    )
    needed = resting_on(formulas, ours, roots=is_root)
    return Working(book, needed, now) if needed else None


def _results(calculation: BookCalculation, failed: Mapping[str, str]) -> list[Result]:
    """The results, where an error that may pass replaces no value."""
    calculation.leave_users(failed)
    return calculation.results()


def _failure_of(outcome: Outcome) -> str:
    """Why there is no answer for now; empty for an answer, and for an error that stays."""
    result = cells_of(outcome.result)
    return result.message if isinstance(result, CellError) and outcome.fresh_for_s == 0 else ""


def _argument(value: Any) -> Any:
    """An argument as our functions take it from a cell."""
    if isinstance(value, list):
        return [[_argument(cell) for cell in row] for row in value]
    return CellError(ErrorCode.NA, value["error"]) if isinstance(value, dict) else value


def _answer(outcome: Outcome) -> Any:
    """An outcome as the engine gets it; a blank cell of a table is an empty text, so that nothing counts it."""
    result = cells_of(outcome.result)
    if not isinstance(result, Grid):
        return "" if result is None else to_engine(result)
    rows = [["" if value is None else to_engine(value) for value in row] for row in result.rows()]
    return rows if rows and rows[0] else ""
