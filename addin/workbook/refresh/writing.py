"""Writing outcomes and results into a book, and what the user should know about each."""

from __future__ import annotations

from addin.workbook.calculation.calculation import Result
from addin.workbook.calculation.influence import Place
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.stored import same_value
from addin.workbook.refresh.book_dates import cells_shown
from addin.workbook.refresh.dependencies import FormulaCell
from addin.workbook.refresh.report import AnsweredCall, CalculatedCell, Refreshed
from addin.workbook.refresh.spill import spill
from addin.workbook.refresh.worked_out import WorkedOut, missing_part
from udfs.cells import Grid, Scalar, cells_of
from udfs.engine import Outcome
from udfs.errors import CellError


def write_outcome(book: Book, cell: FormulaCell, outcome: Outcome, report: Refreshed) -> set[Place]:
    """Write one outcome and return the changed cells; an error that may pass never replaces a value."""
    result = cells_shown(book, outcome.result)
    if isinstance(result, CellError):
        sheet = book.sheet(cell.sheet)
        is_known = sheet.is_calculated(cell.spot) and not isinstance(sheet.value(cell.spot), CellError)
        if outcome.fresh_for_s == 0 and is_known:
            report.kept.append(cell.note(result.message))
            return set()
        report.errors.append(cell.note(f"{result.code} {result.message}"))
        if outcome.fresh_for_s == 0:
            report.passing.add(cell.place)
    elif why := missing_part(outcome):
        if _replaces_values(book, cell, result):
            report.kept.append(cell.note(f"a part of it has no answer: {why}"))
            return set()
        report.errors.append(cell.note(f"a part of it has no answer: {why}"))
        report.passing |= _filled_by(cell, result)
    elif outcome.stale is not None:
        report.notes.append(cell.note(f"last known value: {outcome.stale.reason}"))
    return write(book, cell, result, report)


def _filled_by(cell: FormulaCell, result: Scalar | Grid) -> set[Place]:
    """The cells that a result fills."""
    first_row, first_column = cell.spot
    rows = result.rows() if isinstance(result, Grid) else [[result]]
    return {
        (cell.sheet, (first_row + down, first_column + right))
        for down, row in enumerate(rows)
        for right in range(len(row))
    }


def _replaces_values(book: Book, cell: FormulaCell, result: Scalar | Grid) -> bool:
    """Return whether an error in a table stands where the book shows a value of this formula."""
    if not isinstance(result, Grid):
        return False
    sheet, (first_row, first_column) = book.sheet(cell.sheet), cell.spot
    errors = (
        (row, column)
        for row, values in enumerate(result.rows(), first_row)
        for column, value in enumerate(values, first_column)
        if isinstance(value, CellError) and cell.formula.area.contains(row, column)
    )
    return any(sheet.value(spot) is not None and not isinstance(sheet.value(spot), CellError) for spot in errors)


def write(book: Book, cell: FormulaCell, result: Scalar | Grid, report: Refreshed) -> set[Place]:
    spilled = spill(book, cell, result)
    if spilled.note:
        (report.kept if spilled.blocked else report.notes).append(cell.note(spilled.note))
    report.blocked |= spilled.blocked
    if spilled.changed or spilled.resized:
        report.written.add(cell.place)
        report.resized |= spilled.resized
    return {(cell.sheet, spot) for spot in spilled.changed}


def record(book: Book, worked: WorkedOut, report: Refreshed) -> None:
    """Write what was worked out, and report every formula."""
    report.requests += sum(outcome.requests for _, outcome in worked.answers.values())
    for result in worked.results:
        formula = result.formula
        place, text = formula.place, formula.formula.text
        answers = []
        if result.used:
            answers = [worked.answers[key] for key in result.used if key in worked.answers]
            report.answered += [AnsweredCall(place, text, call, outcome) for call, outcome in answers]
        if formula.shape.is_call:
            _write_call(book, result, [outcome for _, outcome in answers], report)
            continue
        old = result.old
        new = old if result.unproven else result.value
        if not result.unproven:
            _write_rows(book, result, old, report)
        essential = place in worked.essential
        report.calculated.append(CalculatedCell(place, text, old, new, result.unproven, result.compared, essential))


def _write_call(book: Book, result: Result, outcomes: list[Outcome], report: Refreshed) -> None:
    """Write the answer of a formula that is one call of ours, whose arguments were worked out."""
    cell = _cell(result)
    if result.unproven or not outcomes:
        report.skipped.append(cell.note(result.unproven or "its arguments could not be worked out"))
        return
    report.cells += 1
    report.changed |= write_outcome(book, cell, outcomes[-1], report)


def _write_rows(book: Book, result: Result, old: Scalar, report: Refreshed) -> None:
    formula = result.formula
    sheet, spot = formula.place
    if formula.is_array:
        rows = [list(row) for row in result.rows]
        report.changed |= write(book, _cell(result), cells_of(rows), report)
        return
    is_told = formula.formula.is_calculated or not formula.shape.calls_ours
    if same_value(old, result.value) and is_told and not book.sheet(sheet).shows_other_value(spot):
        return
    book.sheet(sheet).write(spot, result.value)
    report.written.add(formula.place)
    report.changed.add(formula.place)


def _cell(result: Result) -> FormulaCell:
    formula = result.formula
    return FormulaCell(*formula.place, formula.formula)
