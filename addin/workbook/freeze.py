"""Freezing a book: every formula of ours becomes the value it shows, and the book no longer opens the add-in.

Calls of ours keep what the file shows. Every formula that rests on them is worked out from that first, so that no
frozen value rests on another one that was left old.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from addin.errors import as_argument
from addin.excel.manifest import ADDIN_ID
from addin.formulas import MAX_ROW, Area, Unworkable, parse
from addin.formulas.shown_cells import CellReference
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine.process import is_installed
from addin.workbook.live_parts import live_parts
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError, any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.relations import calculation_chain, without_parts
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.target import Target
from addin.workbook.ooxml.webextension import without_pane_of
from addin.workbook.refresh.dependencies import CellNote, OurCell
from addin.workbook.refresh.plan import Plan, arguments, make_plan
from addin.workbook.refresh.report import Refreshed
from addin.workbook.refresh.worked_out import Asking, missing_part, working
from addin.workbook.refresh.writing import record
from addin.workbook.spill_references import name_spills
from udfs import Call
from udfs.cells import Grid, cells_of
from udfs.engine import Outcome
from udfs.errors import CellError

_NOT_YET = ("#NAME?", "#BUSY!", "#GETTING_DATA")
"""What a cell of ours shows as long as it has not been computed."""

PASSING_ERROR = "it shows an error that may have passed: refresh the book"

SHOWN_CELLS = 3
"""How many cells an error names."""


class StaleValuesError(WorkbookError):
    """Some formulas could not be shown to be up to date; nothing was written. `cells` are all of them."""

    def __init__(self, message: str, cells: Sequence[CellNote]) -> None:
        super().__init__(message)
        self.cells = cells


@dataclass(slots=True)
class Frozen:
    """The result of a freeze."""

    cells: int = 0
    """Formulas of ours that became values."""
    stale: list[CellNote] = field(default_factory=list)
    """Formulas whose old values were kept and marked, because nothing shows that they are right."""
    unchecked: list[CellNote] = field(default_factory=list)
    """Formulas that calculate with ours and were frozen as the book shows them, without the calculation engine."""
    rules: int = 0
    """Conditional formats and validations that call our functions: nothing can take their place."""
    left_alone: list[str] = field(default_factory=list)
    """Areas that a name calls of no use in a copy, but that hold what the template never wrote there."""


def freeze_book(path: Path, target: Path, *, namespace: str = "DS", allow_stale: bool = False) -> int:
    """Write the book as `target` with our formulas replaced by their values, and return how many were replaced.

    A formula that uses ours inside a longer calculation becomes a value too; all others stay formulas.
    Raises `StaleValuesError` where a value is not shown to be up to date, unless `allow_stale`; `WorkbookError` for a
    file that cannot be read or written, for a `target` that is the book itself, and where a formula of ours has no
    value in the file yet.
    """
    with ThreadPoolExecutor(1) as thread:  # the caller may be inside a loop
        work = freeze(path, target, namespace=namespace, allow_stale=allow_stale)
        return thread.submit(asyncio.run, work).result().cells


async def freeze(
    path: Path, target: Path, *, namespace: str = "DS", allow_stale: bool = False, ask: Asking | None = None
) -> Frozen:
    """Like `freeze_book`; `ask` answers calls inside longer formulas to which the file holds no answer.

    It also tells which errors of ours have passed; where nobody can be asked they count as they stand.
    """
    place = refuse_itself(path, target)
    with any_failure_explained(path), Package(path) as package:
        book = Book(package)
        stale = await _worked_out(book, namespace, ask)
        if stale and not allow_stale:
            raise StaleValuesError(_not_proven(stale), stale)
        ours = [(book.sheet(name), spot, each.text) for name, spot, each in book.formulas_with_calls(namespace)]
        marked = {note.where for note in stale}
        missing = [(sheet, spot) for sheet, spot, _ in ours if not _has_value(sheet, spot)]
        _refuse_without_values([each for each in missing if _where(*each) not in marked], len(ours), path)
        unchecked = [] if is_installed() else list(_calculating(ours, namespace))
        name_spills(book, {(sheet.name, spot) for sheet, spot, _ in ours})
        left_alone = _clear_live_parts(book, namespace)
        for sheet, spot, _ in ours:
            sheet.freeze(spot)
        for sheet, spot in missing:
            sheet.write(spot, None)
        book.rewrite_columns(lambda _, text: "" if book.calls(text, namespace) else text)
        rules = _rules_with_calls(book, namespace)
        panes, changed = without_pane_of(package, ADDIN_ID)
        removed = panes + (calculation_chain(package) if ours else [])
        package.write(place, {**book.changed_parts(), **changed, **without_parts(package, removed)}, removed)
        return Frozen(len(ours), stale, unchecked, rules, left_alone)


def _calculating(ours: Sequence[tuple[Sheet, Spot, str]], namespace: str) -> Iterator[CellNote]:
    """The formulas that are more than one call of ours."""
    for sheet, spot, text in ours:
        try:
            parse(text, namespace)
        except Unworkable as error:
            yield CellNote(str(Area(*spot, *spot, sheet=sheet.name)), text, str(error))


async def _worked_out(book: Book, namespace: str, ask: Asking | None) -> list[CellNote]:
    """Work out what rests on our values; the formulas that stay old, which are marked."""
    plan = make_plan(book, namespace, calculates=is_installed())
    work = working(book, plan, namespace, time.time())
    shown = await _unsettled(book, plan, ask) if ask and book.recalculates_on_load else []
    stale = [cell.note(PASSING_ERROR) for cell in shown if not isinstance(cell.call, CellReference)]
    for cell in shown:
        book.mark(book.sheet(cell.sheet), cell.spot)
    if work is None:
        return stale
    with work:
        await work.prove()
        await work.accept(each.place for each in work.formulas if each.shape.is_call and each.formula.is_calculated)
        await work.preview(_answers_in(book, plan))
        if not book.recalculates_on_load:
            # Whoever saved the book had worked everything out.
            unanswered = await work.unanswered()
            await work.accept(each.place for each in work.formulas if each.place in unanswered and _has_result(each))
        left = {(cell.sheet, spot) for cell in shown for spot in book.sheet(cell.sheet).spots_in(cell.formula.area)}
        worked = await work.run({}, left, ask or _no_answers)
    report = Refreshed()
    record(book, worked, report)
    unproven = [each for each in worked.results if each.unproven and each.formula.place in work.essential]
    for result in unproven:
        sheet, spot = result.formula.place
        book.mark(book.sheet(sheet), spot)
    if unproven:
        book.recalculate_on_load()
    return stale + [CellNote(str(each.formula), each.formula.formula.text, each.unproven) for each in unproven]


async def _unsettled(book: Book, plan: Plan, ask: Asking) -> list[OurCell]:
    """The cells of ours that show an error which may have passed, and those that show one of them."""
    calls: list[Call] = []
    cells: list[OurCell] = []
    for cell in plan.cells:
        if not isinstance(cell.call, CellReference) and _shows_error(book, cell):
            with suppress(Unworkable):  # an argument that is nowhere: this error stays
                calls.append(Call(cell.call.function_id, arguments(book, cell.call, cell.sheet)))
                cells.append(cell)
    outcomes = await ask(calls) if calls else []
    found = [cell for cell, outcome in zip(cells, outcomes, strict=True) if outcome is None or not _stays(outcome)]
    places = {cell.place for cell in found}
    referring = (cell for cell in plan.cells if isinstance(cell.call, CellReference))
    return found + [cell for cell in referring if not places.isdisjoint(plan.dependencies.shown_by(cell))]


def _shows_error(book: Book, cell: OurCell) -> bool:
    sheet = book.sheet(cell.sheet)
    spots = sheet.spots_in(cell.formula.area) if _has_value(sheet, cell.spot) else ()
    return any(isinstance(sheet.value(spot), CellError) for spot in spots)


def _stays(outcome: Outcome) -> bool:
    """Return whether an answer has an error that stays."""
    result = cells_of(outcome.result)
    if isinstance(result, Grid):
        has_errors = any(isinstance(value, CellError) for row in result.rows() for value in row)
        return has_errors and not missing_part(outcome)
    return isinstance(result, CellError) and outcome.fresh_for_s > 0


def _clear_live_parts(book: Book, namespace: str) -> list[str]:
    """Empty what a copy without formulas has no use for; those cells then look like the rest of their columns.

    The areas that are called so, but that the template never made.
    """
    ours, others = live_parts(book, namespace)
    for name, area in ours:
        sheet = book.sheet(name)
        for spot in list(sheet.spots_in(area)):
            sheet.freeze(spot)
            sheet.write(spot, None)
            sheet.restyle(spot, sheet.style((MAX_ROW, spot[1])))
    return [str(area) for _, area in others]


def _rules_with_calls(book: Book, namespace: str) -> int:
    rules = (rule for name in book.sheet_names if book.has_rules(name) for rule in book.sheet(name).rules())
    return sum(book.calls(rule, namespace) for rule in rules)


def _has_result(formula: BookFormula) -> bool:
    return formula.formula.is_calculated


def _answers_in(book: Book, plan: Plan) -> Asking:
    """Return what answers calls by the cells that are the same call: with the values that they show in the file."""
    known = {}
    for cell in plan.cells:
        sheet = book.sheet(cell.sheet)
        if not isinstance(cell.call, CellReference) and _has_value(sheet, cell.spot):
            try:
                call = Call(cell.call.function_id, arguments(book, cell.call, cell.sheet))
            except Unworkable:  # an argument that is nowhere: no other cell can be the same call
                continue
            known[_key(call)] = Outcome(_shown(sheet, cell.formula.area), fresh_for_s=1.0)

    async def ask(calls: Sequence[Call]) -> list[Outcome | None]:
        return [known.get(_key(call)) for call in calls]

    return ask


async def _no_answers(calls: Sequence[Call]) -> list[Outcome | None]:
    return [None for _ in calls]


def _key(call: Call) -> bytes:
    return msgspec.json.encode([call.function_id.upper(), *call.args], enc_hook=_plain)


def _plain(value: Any) -> Mapping[str, str]:
    return {"error": value.message} if isinstance(value, CellError) else {"other": repr(value)}


def _shown(sheet: Sheet, area: Area) -> Any:
    """Return what an area shows, as a function would have returned it."""
    columns = range(area.first_column, area.last_column + 1)
    rows = [[sheet.value((row, column)) for column in columns] for row in range(area.first_row, area.last_row + 1)]
    return rows[0][0] if area.is_cell else rows


def _not_proven(stale: Sequence[CellNote]) -> str:
    shown = ", ".join(note.where for note in stale[:SHOWN_CELLS]) + (" …" if len(stale) > SHOWN_CELLS else "")
    formulas = "1 formula" if len(stale) == 1 else f"{len(stale):,} formulas"
    return (
        f"{formulas} ({shown}) cannot be shown to be up to date, so nothing was written. Mend what cannot be worked "
        "out, or recalculate the book in Excel or Calc and save it; or write the copy all the same, with these cells "
        "marked, and empty where there never was a value: --allow-stale"
    )


def refuse_itself(path: Path, target: Path) -> Target:
    """Return where the copy goes; raises `WorkbookError` if that is the book itself, or no place for a copy."""
    place = Target(target, like=path)
    if place.is_same_file(path):
        raise WorkbookError(f"{target} is the book itself, whose formulas would be lost; give the copy another name")
    return place


def _where(sheet: Sheet, spot: Spot) -> str:
    return str(Area(*spot, *spot, sheet=sheet.name))


def _refuse_without_values(missing: Sequence[tuple[Sheet, Spot]], formulas: int, path: Path) -> None:
    if missing:
        shown = ", ".join(_where(*each) for each in missing[:SHOWN_CELLS]) + (
            " …" if len(missing) > SHOWN_CELLS else ""
        )
        raise WorkbookError(
            f"{len(missing):,} of {formulas:,} formulas in {path} have no value yet ({shown}), "
            f"so a copy would show nothing there. Refresh the book first: addin refresh {as_argument(path)}"
        )


def _has_value(sheet: Sheet, spot: Spot) -> bool:
    value = sheet.value(spot)
    return sheet.is_calculated(spot) and not (isinstance(value, CellError) and value.message in _NOT_YET)
