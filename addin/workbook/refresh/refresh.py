"""Refreshing a book without a spreadsheet program: plan, count, ask, write, save."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from addin.formulas import stored_form
from addin.formulas.shown_cells import CellReference
from addin.workbook.calculation.engine.process import is_installed
from addin.workbook.calculation.influence import Place
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError, any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.target import Target
from addin.workbook.refresh.collecting import fewer_collections
from addin.workbook.refresh.costing import calls_of, cost_of
from addin.workbook.refresh.plan import Plan, make_plan, referenced_value
from addin.workbook.refresh.report import AnsweredCall, BookCost, CalculatedCell, Refreshed, Signing
from addin.workbook.refresh.worked_out import Working, working
from addin.workbook.refresh.writing import record, write, write_outcome
from udfs import Session

MAX_FURTHER_PASSES = 5
"""How many more passes follow when spills change their size; the next refresh does what is left."""


class TooFewRequestsError(WorkbookError):
    """The refresh would need more requests than the key has left; nothing was sent."""


async def book_cost(session: Session, path: Path, *, namespace: str = "DS", each_sheet: bool = True) -> BookCost:
    """Return what `refresh_book` would spend, in all and with `each_sheet` by sheet and function; nothing is sent."""
    with any_failure_explained(path), fewer_collections():
        return await _cost(session, path, namespace, each_sheet=each_sheet)


async def _cost(session: Session, path: Path, namespace: str, *, each_sheet: bool) -> BookCost:
    with Package(path) as package:
        book = Book(package)
        _mend(book, namespace)
        plan = make_plan(book, namespace, calculates=is_installed())
        work = working(book, plan, namespace, session.now())
        with nullcontext() if work is None or not work.calls_ours else work:
            if work is not None and work.calls_ours:
                await work.prove()
            return await cost_of(session, book, plan, work, each_sheet=each_sheet)


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

    With the calculation engine, every other formula that rests on them is worked out as well.
    With `signing`, what is written is signed, or nothing is written; then the session has to trace its answers.
    Raises `TooFewRequestsError` before the first request when the key has too few requests left (unless `force`), and
    `WorkbookError` for a file that cannot be read or written; the input is never damaged.
    """
    place = Target(target, like=path)
    with any_failure_explained(path), fewer_collections():
        return await _refreshed(session, path, place, namespace, progress, signing, checks_cost=not force)


async def _refreshed(
    session: Session,
    path: Path,
    place: Target,
    namespace: str,
    progress: Callable[[int, int], None] | None,
    signing: Signing | None,
    *,
    checks_cost: bool,
) -> Refreshed:
    """Refresh a book; it is gone from memory before the garbage collector looks through what is left."""
    with Package(path) as package:
        book = Book(package)
        if not has_calls(book, namespace):
            return _untouched(package, place)
        mended = _mend(book, namespace)
        plan = make_plan(book, namespace, calculates=is_installed())
        report = await _pass(session, book, plan, namespace, progress, checks_cost=checks_cost)
        for _ in range(MAX_FURTHER_PASSES):
            if not report.resized:
                break
            # Cells that a spill has just filled may be what other formulas of ours refer to.
            plan = make_plan(book, namespace, calculates=is_installed())
            before = report
            report = await _pass(session, book, plan, namespace)
            report.follow(before)
        report.mended = mended
        _finish(book, plan, report)
        _save(package, book, place, report, signing)
        return report


def has_calls(book: Book, namespace: str) -> bool:
    """Return whether a formula or a rule of the book calls a function of ours."""
    if any(True for _ in book.formulas_with_calls(namespace)):
        return True
    sheets = (book.sheet(name) for name in book.sheet_names if book.has_rules(name))
    return any(book.calls(rule, namespace) for sheet in sheets for rule in sheet.rules())


def _untouched(package: Package, place: Target) -> Refreshed:
    """A book in which nothing is ours stays as it is, byte for byte; so does a copy of it."""
    report = Refreshed()
    if not place.is_same_file(package.path):
        place.path.write_bytes(package.path.read_bytes())
        report.is_saved = True
    return report


def _save(package: Package, book: Book, place: Target, report: Refreshed, signing: Signing | None) -> None:
    """Write the book to its place, unless it is there already and nothing in it changed."""
    parts, around = book.changed_parts(), None
    if signing is not None:
        own, around = signing.signed(book, report, place.path, parts)
        parts |= own
    if parts or not place.is_same_file(package.path):
        package.write(place, parts, around=around)
        report.is_saved = True
    report.not_stamped = "" if signing is None else signing.not_stamped


@asynccontextmanager
async def _proved(book: Book, plan: Plan, namespace: str, session: Session) -> AsyncIterator[Working | None]:
    """The calculation that the book needs beside its plan, begun; None where it needs none."""
    work = working(book, plan, namespace, session.now())
    if work is None:
        yield None
        return
    with work:
        await work.prove()
        yield work


async def _pass(
    session: Session,
    book: Book,
    plan: Plan,
    namespace: str,
    progress: Callable[[int, int], None] | None = None,
    *,
    checks_cost: bool = False,
) -> Refreshed:
    """Compute the cells of the plan, and then every formula that rests on them."""
    async with _proved(book, plan, namespace, session) as work:
        if checks_cost:
            _refuse_too_few(await cost_of(session, book, plan, work))
        report = await _refresh_all(session, book, plan, progress)
        if work is not None:
            report.skipped = [note for note in report.skipped if note.where not in work.cells]
            values = {place: book.sheet(place[0]).value(place[1]) for place in report.changed}
            record(book, await work.run(values, _left(book, plan, report), session.answer, report.passing), report)
    return report


def _refuse_too_few(cost: BookCost) -> None:
    if not cost.affordable:
        raise TooFewRequestsError(
            f"the refresh needs {cost.cost} and the key has {cost.remaining} left this month; "
            "nothing was sent (--force starts all the same)"
        )


def _left(book: Book, plan: Plan, report: Refreshed) -> set[Place]:
    """The cells of the plan that keep an old value."""
    names = {note.where for note in (*report.kept, *report.skipped)}
    left = [cell for cell in plan.cells if str(cell) in names]
    return {(cell.sheet, spot) for cell in left for spot in book.sheet(cell.sheet).spots_in(cell.formula.area)}


def _mend(book: Book, namespace: str) -> set[Place]:
    """Write every call of ours in the form that Excel computes; the cells whose formula had another one."""
    return set(book.rewrite_formulas(namespace, lambda text: stored_form(text, namespace)))


async def _refresh_all(
    session: Session, book: Book, plan: Plan, progress: Callable[[int, int], None] | None = None
) -> Refreshed:
    """Compute all cells of a plan round by round."""
    report = Refreshed(skipped=plan.skipped, cells=len(plan.cells))
    done = 0
    for cells in plan.rounds:
        ready, calls = calls_of(book, cells, report.skipped)
        for cell, call, outcome in zip(ready, calls, await session.answer(calls), strict=True):
            report.requests += outcome.requests
            report.answered.append(AnsweredCall(cell.place, cell.formula.text, call, outcome))
            report.changed |= write_outcome(book, cell, outcome, report)
        for cell in cells:
            if isinstance(cell.call, CellReference):
                old, new = book.sheet(cell.sheet).value(cell.spot), referenced_value(book, cell.call, cell.sheet)
                report.referring.append(CalculatedCell(cell.place, cell.formula.text, old, new))
                report.changed |= write(book, cell, new, report)
                if not report.passing.isdisjoint(plan.dependencies.shown_by(cell)):
                    report.passing.add(cell.place)
        done += len(cells)
        if progress:
            progress(done, len(plan.cells))
    return report


def _finish(book: Book, plan: Plan, report: Refreshed) -> None:
    """Make Excel recalculate on opening where formulas were left, or worked out with nothing to compare them with."""
    planned = {cell.place for cell in plan.cells}
    # A spill may have made a cell of ours of what was worked out before.
    report.calculated = [cell for cell in report.calculated if cell.cell not in planned]
    # Where the engine is installed, every formula that depends on a changed value has been looked at.
    # A reference to a cell below a table that has become shorter is no longer ours, and up to date all the same.
    shown = {cell.cell for cell in report.referring}
    depends = not is_installed() and plan.dependencies.any_depends_on(report.changed, besides=shown)
    doubtful = any(cell.rests_on_ours and (cell.unproven or not cell.compared) for cell in report.calculated)
    report.recalculates = depends or doubtful or report.blocked or bool(report.skipped or report.passing)
    if report.recalculates:
        book.recalculate_on_load()
