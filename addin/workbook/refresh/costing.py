"""What a refresh of a book would spend, from the answers that are known now; never less than it spends in the end.

Where an answer that is not known yet decides whether a call is made, the cost is a range. Where it decides on the
arguments of a call, nobody knows the upper end; the likely cost is then that of the arguments that the book shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from addin.formulas import Unworkable
from addin.formulas.shown_cells import CellReference
from addin.workbook.calculation.book_formulas import BookFormula, resting_on
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.ooxml.book import Book
from addin.workbook.refresh.book_dates import cells_shown, given
from addin.workbook.refresh.dependencies import CellNote, OurCell
from addin.workbook.refresh.plan import Plan, arguments
from addin.workbook.refresh.report import BookCost, open_cost
from addin.workbook.refresh.spill import shows
from addin.workbook.refresh.worked_out import Working, free_answers
from udfs import Call, Session


@dataclass(slots=True)
class _Calls:
    """The calls that a refresh makes: those it certainly makes, and those that it may make."""

    certain: list[tuple[str, Call]] = field(default_factory=list)
    """Each with its sheet."""
    possible: list[Call] = field(default_factory=list)
    guessed: list[Call] = field(default_factory=list)
    """Calls with arguments that the book shows now, and that a refresh may replace: it likely makes them."""
    has_unknown: bool = False
    """Whether there may be calls that nobody can name yet."""


async def cost_of(
    session: Session, book: Book, plan: Plan, work: Working | None, *, each_sheet: bool = False
) -> BookCost:
    """Return what refreshing the book would spend, with `each_sheet` by sheet and function as well; nothing is sent."""
    skipped = [note for note in plan.skipped if work is None or note.where not in work.cells]
    ready, calls = calls_of(book, plan.cells, skipped)
    planned = {cell.place: (cell, call) for cell, call in zip(ready, calls, strict=True)}
    found = await _found(session, book, plan, work, planned)
    certain = [call for _, call in found.certain]
    least = await session.cost(certain)
    most = (await session.cost([*certain, *found.possible])).cost if found.possible else least.cost
    usual = (await session.cost([*certain, *found.guessed])).cost.usual if found.has_unknown else None
    groups: dict[tuple[str, str], list[Call]] = {}
    for sheet, call in found.certain:
        groups.setdefault((sheet, call.function_id), []).append(call)
    wanted = groups if each_sheet else {}
    by_function = {group: (len(members), (await session.cost(members)).cost) for group, members in wanted.items()}
    quota = session.client.quota_now
    return BookCost(
        cost=open_cost(least.cost, usual) if found.has_unknown else replace(least.cost, at_most=most.at_most),
        remaining=quota.remaining if quota else None,
        cells=len(found.certain),
        fresh_cells=least.fresh_calls,
        by_sheet=by_function,
        skipped=skipped,
        calls=certain,
        possible=found.possible,
        guessed=found.guessed,
        is_open=found.has_unknown,
    )


async def _found(
    session: Session, book: Book, plan: Plan, work: Working | None, planned: dict[Place, tuple[OurCell, Call]]
) -> _Calls:
    """The calls of the plan's cells, and those inside of longer formulas."""
    found = _Calls()
    needs_order = len(plan.rounds) > 1 or work is not None
    unsettled = await _unsettled(session, book, planned) if needs_order else set()
    for cells in plan.rounds:
        for cell in cells:
            rests = len(plan.rounds) > 1 and not unsettled.isdisjoint(plan.dependencies.of(cell))
            if cell.place in planned and not rests:
                found.certain.append((cell.sheet, planned[cell.place][1]))
            elif cell.place in planned:
                found.guessed.append(planned[cell.place][1])
                found.has_unknown = True
            if rests:
                unsettled.add(cell.place)
    if work is not None:
        await _add_formulas(session, book, plan, work, unsettled, found)
    return found


async def _unsettled(session: Session, book: Book, planned: dict[Place, tuple[OurCell, Call]]) -> set[Place]:
    """The cells whose value in the book a refresh may replace: what rests on them may ask for something else then.

    Those are the cells whose calls would send something, and those that show another value than is known by now.
    """
    groups: dict[str, list[Place]] = {}
    for place, (_, call) in planned.items():
        groups.setdefault(repr((call.function_id, call.args)), []).append(place)
    members = list(groups.values())
    calls = [planned[places[0]][1] for places in members]
    answers = await free_answers(session)(calls)
    unsettled: set[Place] = set()
    for places, outcome in zip(members, answers, strict=True):
        result = None if outcome is None else cells_shown(book, outcome.result)
        unsettled.update(place for place in places if outcome is None or not shows(book, planned[place][0], result))
    return unsettled


async def _add_formulas(
    session: Session, book: Book, plan: Plan, work: Working, changing: set[Place], found: _Calls
) -> None:
    """Add the calls inside of formulas that are not one call of the plan."""
    if not work.calls_ours:
        return
    used = await work.preview(free_answers(session))
    waiting = await work.unanswered()
    by_place: dict[Place, list[Call]] = {}
    for place, call in used:
        by_place.setdefault(place, []).append(call)
    unsettled = {place for cell in plan.cells if cell.place in changing for place in _cells(book, cell)} | waiting
    moving = {formula.place for formula in resting_on(work.formulas, by_sheet(unsettled))}
    for formula in work.formulas:
        place = formula.place
        calls = [(place[0], call) for call in by_place.get(place, ())]
        if place not in moving:
            found.certain += calls
        else:
            found.guessed += [call for _, call in calls]
        if formula.shape.calls_ours and (place in moving or place in waiting):
            _add_possible(book, formula, found, is_moving=place in moving)


def _add_possible(book: Book, formula: BookFormula, found: _Calls, *, is_moving: bool) -> None:
    """Add the calls that a formula may make once the answers are there that it waits for."""
    for site in formula.shape.sites:
        if site.constants is not None:
            call = Call(site.name, given(book, site.name, site.constants))
            if site.is_in_branch:
                found.possible.append(call)
            elif is_moving:
                found.certain.append((formula.place[0], call))
        elif is_moving or site.needs or site.is_in_branch or site.accumulates:
            found.has_unknown = True


def _cells(book: Book, cell: OurCell) -> Iterable[Place]:
    return [(cell.sheet, spot) for spot in {cell.spot, *book.sheet(cell.sheet).spots_in(cell.formula.area)}]


def calls_of(book: Book, cells: Sequence[OurCell], skipped: list[CellNote]) -> tuple[list[OurCell], list[Call]]:
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
