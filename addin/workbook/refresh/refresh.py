"""Refreshing a book without a spreadsheet program: plan, count, ask, write, save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from addin.formulas import Unworkable, stored_form
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError, any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.target import Target
from addin.workbook.refresh.dependencies import CellNote, CellReference, OurCell
from addin.workbook.refresh.influence import Place
from addin.workbook.refresh.plan import Plan, arguments, make_plan, referenced_value
from addin.workbook.refresh.spill import spill
from dataservice.client import Cost
from udfs import Call, Session
from udfs.cells import Grid, Scalar, cells_of
from udfs.engine.session import Outcome
from udfs.errors import CellError

MAX_FURTHER_PASSES = 3
"""How many more passes follow when spills change their size; the next refresh does what is left."""


class TooFewRequestsError(WorkbookError):
    """The refresh would need more requests than the key has left; nothing was sent."""


@dataclass(frozen=True, slots=True)
class BookCost:
    """What a refresh of a book would spend now."""

    cost: Cost
    remaining: int | None
    """Requests left to the key this month; None when the service has not said so yet."""
    cells: int
    fresh_cells: int
    by_sheet: dict[tuple[str, str], tuple[int, Cost]]
    """Sheet and function → formulas, and the requests they would spend on their own."""
    skipped: Sequence[CellNote] = ()
    calls: Sequence[Call] = ()
    """The calls of the formulas, for a cost of several books together."""

    @property
    def affordable(self) -> bool:
        """Whether the refresh may finish: not if its fewest requests are too many."""
        return self.remaining is None or self.cost.at_least <= self.remaining

    @property
    def requests(self) -> int:
        """The highest number of requests where there is one, else the lowest."""
        return self.cost.number


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of ours in a cell, and what it was answered; a formula may hold several calls."""

    cell: Place
    formula: str
    call: Call
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CalculatedCell:
    """A formula that is not one call of ours, and that a refresh worked out or left at its old value."""

    cell: Place
    formula: str
    old: Scalar
    new: Scalar
    """What the cell shows now; `old` where it is unproven."""
    unproven: str = ""
    """Why the old value stays; empty for a value that was worked out."""
    compared: bool = True
    """Whether the value that the file held could be worked out first, to compare."""


@dataclass(slots=True)
class Refreshed:
    """What a refresh did."""

    cells: int = 0
    """Formulas computed."""
    written: set[Place] = field(default_factory=set)
    """Those of them that show something new."""
    resized: bool = False
    """Whether a spill changed its size."""
    requests: int = 0
    kept: list[CellNote] = field(default_factory=list)
    """Formulas whose old value stays, because there is no new one or it does not fit."""
    notes: list[CellNote] = field(default_factory=list)
    skipped: list[CellNote] = field(default_factory=list)
    errors: list[CellNote] = field(default_factory=list)
    mended: set[Place] = field(default_factory=set)
    """Formulas that Excel would not have computed as they were stored, and that are written anew."""
    answered: list[AnsweredCall] = field(default_factory=list)
    """Every call of ours with its answer."""
    calculated: list[CalculatedCell] = field(default_factory=list)
    """Every other formula that rests on values of ours, worked out or left."""
    recalculates: bool = False
    """Whether Excel recalculates all formulas when it opens the book, because some depend on changed values."""
    is_saved: bool = False
    """Whether the file was written; a book in which nothing changed is left alone."""


Around: TypeAlias = AbstractContextManager[object]


class Signing(Protocol):
    """Signs what a refresh writes."""

    def signed(self, book: Book, report: Refreshed, target: Path) -> tuple[dict[str, bytes], Around]:
        """The parts that travel with the book at `target`, and a block inside of which the file is put in place."""


async def book_cost(session: Session, path: Path, *, namespace: str = "DS") -> BookCost:
    """What `refresh_book` would spend; nothing is sent."""
    with any_failure_explained(path), Package(path) as package:
        book = Book(package)
        _mend(book, namespace)
        plan = make_plan(book, namespace)
        return await _cost(session, book, plan)


async def refresh_book(
    session: Session,
    path: Path,
    target: Path,
    *,
    namespace: str = "DS",
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
    signing: Signing | None = None,
) -> Refreshed:
    """Write the current values into our formulas in the book at `path`, and save it as `target`.

    With `signing`, what is written is signed, or nothing is written; then the session has to trace its answers.
    Raises `TooFewRequestsError` before the first request when the key has too few requests left (unless `force`), and
    `WorkbookError` for a file that cannot be read or written; the input is never damaged.
    """
    place = Target(target, like=path)
    with any_failure_explained(path), Package(path) as package:
        book = Book(package)
        mended = _mend(book, namespace)
        plan = make_plan(book, namespace)
        cost = None if force else await _cost(session, book, plan)
        if cost and not cost.affordable:
            raise TooFewRequestsError(
                f"the refresh needs {cost.cost} and the key has {cost.remaining} left this month; "
                "nothing was sent (--force starts all the same)"
            )
        changed: set[Place] = set()
        report = await _refresh_all(session, book, plan, changed, progress)
        for _ in range(MAX_FURTHER_PASSES):
            if not report.resized:
                break
            # Cells that a spill has just filled may be what other formulas of ours refer to.
            plan = make_plan(book, namespace)
            before = report
            report = await _refresh_all(session, book, plan, changed)
            report.written |= before.written
            report.requests += before.requests
        report.mended = mended
        _finish(book, plan, changed, report)
        _save(package, book, place, report, signing)
        return report


def _save(package: Package, book: Book, place: Target, report: Refreshed, signing: Signing | None) -> None:
    """Write the book to its place, unless it is there already and nothing in it changed."""
    parts, around = book.changed_parts(), None
    if signing is not None:
        own, around = signing.signed(book, report, place.path)
        parts |= own
    if parts or not place.is_same_file(package.path):
        package.write(place, parts, around=around)
        report.is_saved = True


def _mend(book: Book, namespace: str) -> set[Place]:
    """Write every call of ours in the form that Excel computes; the cells whose formula had another one."""
    return set(book.rewrite_formulas(namespace, lambda text: stored_form(text, namespace)))


async def _refresh_all(
    session: Session, book: Book, plan: Plan, changed: set[Place], progress: Callable[[int, int], None] | None = None
) -> Refreshed:
    """Compute all cells of a plan round by round, and add the cells whose values changed to `changed`."""
    report = Refreshed(skipped=plan.skipped, cells=len(plan.cells))
    done = 0
    for cells in plan.rounds:
        ready, calls = _calls(book, cells, report.skipped)
        for cell, call, outcome in zip(ready, calls, await session.answer(calls), strict=True):
            report.requests += outcome.requests
            report.answered.append(AnsweredCall(cell.place, cell.formula.text, call, outcome))
            changed |= _write_outcome(book, cell, outcome, report)
        for cell in cells:
            if isinstance(cell.call, CellReference):
                old, new = book.sheet(cell.sheet).value(cell.spot), referenced_value(book, cell.call, cell.sheet)
                report.calculated.append(CalculatedCell(cell.place, cell.formula.text, old, new))
                changed |= _write(book, cell, new, report)
        done += len(cells)
        if progress:
            progress(done, len(plan.cells))
    return report


def _calls(book: Book, cells: Sequence[OurCell], skipped: list[CellNote]) -> tuple[list[OurCell], list[Call]]:
    """The cells whose formula is a call, and their calls; those whose arguments cannot be read are `skipped`."""
    ready, calls = [], []
    for cell in cells:
        if isinstance(cell.call, CellReference):
            continue
        try:
            calls.append(Call(cell.call.function_id, arguments(book, cell.call, cell.sheet)))
            ready.append(cell)
        except Unworkable as error:
            skipped.append(cell.note(str(error)))
    return ready, calls


def _write_outcome(book: Book, cell: OurCell, outcome: Outcome, report: Refreshed) -> set[Place]:
    """Write one outcome and return the changed cells; an error that may pass never replaces a value."""
    result = cells_of(outcome.result)
    if isinstance(result, CellError):
        sheet = book.sheet(cell.sheet)
        is_known = sheet.is_calculated(cell.spot) and not isinstance(sheet.value(cell.spot), CellError)
        if outcome.fresh_for_s == 0 and is_known:
            report.kept.append(cell.note(result.message))
            return set()
        report.errors.append(cell.note(f"{result.code} {result.message}"))
    elif outcome.stale is not None:
        report.notes.append(cell.note(f"last known value: {outcome.stale.reason}"))
    return _write(book, cell, result, report)


def _write(book: Book, cell: OurCell, result: Scalar | Grid, report: Refreshed) -> set[Place]:
    spilled = spill(book, cell, result)
    if spilled.note:
        (report.kept if spilled.blocked else report.notes).append(cell.note(spilled.note))
    if spilled.changed or spilled.resized:
        report.written.add(cell.place)
        report.resized |= spilled.resized
    return {(cell.sheet, spot) for spot in spilled.changed}


def _finish(book: Book, plan: Plan, changed: set[Place], report: Refreshed) -> None:
    """Make Excel recalculate on opening where other formulas depend on changed values."""
    depends = plan.dependencies.any_depends_on(changed) if changed else False
    report.recalculates = depends or bool(report.skipped)
    if report.recalculates:
        book.recalculate_on_load()


async def _cost(session: Session, book: Book, plan: Plan) -> BookCost:
    skipped = list(plan.skipped)
    ready, calls = _calls(book, plan.cells, skipped)
    total = await session.cost(calls)
    groups: dict[tuple[str, str], list[Call]] = {}
    for cell, call in zip(ready, calls, strict=True):
        groups.setdefault((cell.sheet, call.function_id), []).append(call)
    by_sheet = {group: (len(members), (await session.cost(members)).cost) for group, members in groups.items()}
    quota = session.client.quota_now
    return BookCost(
        cost=total.cost,
        remaining=quota.remaining if quota else None,
        cells=len(calls),
        fresh_cells=total.fresh_calls,
        by_sheet=by_sheet,
        skipped=skipped,
        calls=calls,
    )
