"""Bringing a book up to date without a spreadsheet program: plan, count, ask, place, save."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from addin.formulas import Unworkable
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package, WorkbookError
from addin.workbook.refresh.cell_references import Copy
from addin.workbook.refresh.dependencies import OurCell, Place
from addin.workbook.refresh.plan import Plan, Skipped, arguments, make_plan, shown
from addin.workbook.refresh.spill import Placed, Placement, place
from udfs import Call, Session
from udfs.cells import cells_of
from udfs.engine.session import Outcome
from udfs.errors import CellError

MAX_FURTHER_PASSES = 3
"""How often spills that changed their size are followed up; what changes still is left to the next refresh."""


class TooFewRequestsError(WorkbookError):
    """The refresh would need more requests than the key has left; nothing was sent."""


@dataclass(frozen=True, slots=True)
class BookCost:
    """What a refresh of a book would spend now."""

    requests: int
    remaining: int | None
    """Requests left to the key this month; None when the service has not said so yet."""
    cells: int
    fresh_cells: int
    by_sheet: dict[tuple[str, str], tuple[int, int]]
    """Sheet and function → formulas, and the requests they would spend on their own."""
    skipped: Sequence[Skipped] = ()

    @property
    def affordable(self) -> bool:
        """Whether the refresh can finish."""
        return self.remaining is None or self.requests <= self.remaining


@dataclass(slots=True)
class Refreshed:
    """What a refresh did."""

    cells: int = 0
    """Formulas worked out."""
    written: set[Place] = field(default_factory=set)
    """Those of them that show something new."""
    resized: bool = False
    """Whether a spill took another size."""
    requests: int = 0
    kept: list[Skipped] = field(default_factory=list)
    """Formulas whose old value stays, because no new one could be had or placed."""
    notes: list[Skipped] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[Skipped] = field(default_factory=list)
    recalculates: bool = False
    """Whether Excel works out all formulas when it opens the book, because some of them rest on changed values."""


async def book_cost(session: Session, path: Path, *, namespace: str = "DS") -> BookCost:
    """What `refresh_book` would spend; nothing is sent."""
    with Package(path) as package:
        book = Book(package)
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
) -> Refreshed:
    """Write the values of now into the formulas of ours in `path`, and save the book as `target`.

    Raises `TooFewRequestsError` before the first request when the key's remaining requests cannot finish the work
    (unless `force`), and `WorkbookError` for a file that cannot be read or written; the input is never harmed.
    """
    refuse_if_open(target)
    with Package(path) as package:
        book = Book(package)
        plan = make_plan(book, namespace)
        if not force:
            _refuse_if_short(await _cost(session, book, plan))
        spent_before = _spent(session)
        report, changed = await _refresh_all(session, book, plan, progress)
        for _ in range(MAX_FURTHER_PASSES):
            if not report.resized:
                break
            # Cells that a spill has just filled may be what other formulas of ours refer to.
            plan = make_plan(book, namespace)
            before = report
            report, changed_now = await _refresh_all(session, book, plan, None)
            report.written |= before.written
            changed |= changed_now
        report.requests = _spent(session) - spent_before
        _finish(book, plan, changed, report)
        package.write(target, book.changed_parts())
        return report


async def _refresh_all(
    session: Session, book: Book, plan: Plan, progress: Callable[[int, int], None] | None
) -> tuple[Refreshed, set[Place]]:
    """Work out all cells of a plan, round by round; the report and the cells whose values changed."""
    report = Refreshed(skipped=plan.skipped, cells=len(plan.cells))
    changed: set[Place] = set()
    done = 0
    for cells in plan.rounds:
        changed |= await _refresh_round(session, book, cells, report)
        done += len(cells)
        if progress:
            progress(done, len(plan.cells))
    return report, changed


async def _refresh_round(session: Session, book: Book, cells: Sequence[OurCell], report: Refreshed) -> set[Place]:
    ready, calls = _calls(book, cells, report.skipped)
    changed: set[Place] = set()
    for cell, outcome in zip(ready, await session.answer(calls), strict=True):
        changed.update((cell.sheet, spot) for spot in _place(book, cell, outcome, report))
    for cell in cells:
        if isinstance(cell.call, Copy):
            sheet = book.sheet(cell.sheet)
            placement = place(sheet, cell, shown(book, cell.call, cell.sheet))
            _count(book, cell, placement, report)
            changed.update((cell.sheet, spot) for spot in placement.changed)
    return changed


def _calls(book: Book, cells: Iterable[OurCell], skipped: list[Skipped]) -> tuple[list[OurCell], list[Call]]:
    ready, calls = [], []
    for cell in cells:
        if isinstance(cell.call, Copy):
            continue
        try:
            calls.append(Call(cell.call.function_id, arguments(book, cell.call, cell.sheet)))
            ready.append(cell)
        except Unworkable as error:
            skipped.append(Skipped(str(cell), cell.formula.text, str(error)))
    return ready, calls


def _place(book: Book, cell: OurCell, outcome: Outcome, report: Refreshed) -> Iterable[Any]:
    """Write one outcome; a value in the book is never given up for an error that may pass."""
    sheet = book.sheet(cell.sheet)
    result = cells_of(outcome.result)
    if isinstance(result, CellError):
        old = sheet.value(cell.spot)
        if outcome.fresh_for_s == 0 and old is not None and not isinstance(old, CellError):
            report.kept.append(Skipped(str(cell), cell.formula.text, result.message))
            return ()
        report.errors.append(Skipped(str(cell), cell.formula.text, f"{result.code} {result.message}"))
    elif outcome.stale is not None:
        report.notes.append(Skipped(str(cell), cell.formula.text, f"last known value: {outcome.stale.reason}"))
    placement = place(sheet, cell, result)
    if placement.placed is Placed.BLOCKED:
        report.kept.append(Skipped(str(cell), cell.formula.text, placement.note))
        return ()
    if placement.note:
        report.notes.append(Skipped(str(cell), cell.formula.text, placement.note))
    _count(book, cell, placement, report)
    return placement.changed


def _count(book: Book, cell: OurCell, placement: Placement, report: Refreshed) -> None:
    if placement.placed is Placed.WRITTEN:
        report.written.add(cell.place)
        report.resized |= placement.resized
        book.touch(book.sheet(cell.sheet))


def _finish(book: Book, plan: Plan, changed: set[Place], report: Refreshed) -> None:
    """Have Excel recalculate on opening when what it shows would not fit together otherwise."""
    rests = plan.dependencies.any_rests_on(changed, map(book.sheet, book.sheet_names)) if changed else False
    report.recalculates = rests or bool(report.skipped)
    if report.recalculates:
        book.recalculate_on_load()


async def _cost(session: Session, book: Book, plan: Plan) -> BookCost:
    skipped = list(plan.skipped)
    ready, calls = _calls(book, plan.cells, skipped)
    total = await session.cost(calls)
    groups: dict[tuple[str, str], list[Call]] = {}
    for cell, call in zip(ready, calls, strict=True):
        groups.setdefault((cell.sheet, call.function_id), []).append(call)
    by_sheet = {group: (len(members), (await session.cost(members)).requests) for group, members in groups.items()}
    quota = session.client.quota_now
    return BookCost(
        requests=total.requests,
        remaining=quota.remaining if quota else None,
        cells=len(calls),
        fresh_cells=total.fresh_calls,
        by_sheet=by_sheet,
        skipped=skipped,
    )


def _spent(session: Session) -> int:
    """Requests spent by this installation this month."""
    quota = session.client.quota_now
    return quota.used_here if quota else 0


def _refuse_if_short(cost: BookCost) -> None:
    if not cost.affordable:
        raise TooFewRequestsError(
            f"the refresh needs {cost.requests} requests and the key has {cost.remaining} left this month; "
            "nothing was sent (--force starts all the same)"
        )


def refuse_if_open(target: Path) -> None:
    """Raise `WorkbookError` where another program has the book open: Excel and Calc leave an owner file beside it."""
    for owner in (target.with_name(f"~${target.name}"), target.with_name(f".~lock.{target.name}#")):
        if owner.exists():
            raise WorkbookError(f"{target} is open in another program; close it there first (or delete {owner.name})")
