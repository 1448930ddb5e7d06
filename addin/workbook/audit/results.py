"""What each formula of ours shows after a refresh, and the answers of the service that this rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from addin.formulas import Area, references
from addin.workbook.calculation.influence import Place
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import same_value
from addin.workbook.refresh.book_dates import cells_shown
from addin.workbook.refresh.report import AnsweredCall, CalculatedCell, Refreshed
from dataservice.client import Answer, Resource
from udfs import Call
from udfs.cells import Grid, Scalar
from udfs.errors import CellError

Rows: TypeAlias = Sequence[Sequence[Scalar]]
"""The cells of a result, row by row; a single value is one row of one cell."""


class Confidence(StrEnum):
    """The confidence in a value."""

    FRESH = "fresh"
    LAST_KNOWN = "last known"
    KEPT = "kept"
    ERROR = "error"
    CALCULATED = "calculated"


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of a formula: its text as stored, the cells that it fills, their values, and what these rest on."""

    formula: str
    area: Area
    rows: Rows
    standing: Confidence = Confidence.FRESH
    why: str = ""
    """The reason where the value is not a fresh one."""
    answers: Mapping[Resource[Any], Answer[Any]] = field(default_factory=dict)
    calls: Sequence[Call] = ()
    """The calls of ours in it, with their arguments as they were worked out."""
    rests_on: Sequence[str] = ()
    """The areas that a formula without calls of ours refers to."""


def results(book: Book, report: Refreshed) -> Iterator[tuple[Place, CellResult]]:
    """Every formula of ours, and every other one that rests on them, with what it shows in the refreshed `book`."""
    calculated = {cell.cell: cell for cell in (*report.calculated, *report.referring)}
    answered: dict[Place, list[AnsweredCall]] = {}
    for call in report.answered:
        calls = answered.setdefault(call.cell, [])
        calls[:] = [each for each in calls if each.call != call.call]  # a further pass asks for some again
        calls.append(call)
    for place, calls in answered.items():
        yield place, _result(book, place, calls, calculated.pop(place, None))
    for place, cell in calculated.items():
        yield place, _calculated(book, place, cell)


def _result(book: Book, place: Place, calls: Sequence[AnsweredCall], calculated: CalculatedCell | None) -> CellResult:
    answers = {resource: answer for call in calls for resource, answer in (call.outcome.answers or {}).items()}
    stale = next((call.outcome.stale for call in calls if call.outcome.stale is not None), None)
    sheet, last = book.sheet(place[0]), calls[-1]
    made = [each.call for each in calls]
    area = _area(sheet, place)
    shown = shown_rows(sheet, area)
    if calculated is not None:
        standing = Confidence.KEPT if calculated.unproven else Confidence.LAST_KNOWN if stale else Confidence.CALCULATED
        why = calculated.unproven or (stale.reason if stale else "")
        return CellResult(last.formula, area, shown, standing, why, answers, made)
    result = cells_shown(book, last.outcome.result)
    rows = _typed(result, shown)
    if rows is not None and book.counts_from_1904:
        rows = shown  # a date among them would be another day
    if rows is None:
        why = result.message if isinstance(result, CellError) else "the result did not fit"
        return CellResult(last.formula, area, shown, Confidence.KEPT, why, calls=made)
    if isinstance(result, CellError):
        return CellResult(last.formula, area, rows, Confidence.ERROR, result.message, answers, made)
    standing = Confidence.FRESH if stale is None else Confidence.LAST_KNOWN
    return CellResult(last.formula, area, rows, standing, stale.reason if stale else "", answers, made)


def _calculated(book: Book, place: Place, cell: CalculatedCell) -> CellResult:
    area = _area(book.sheet(place[0]), place)
    rows = shown_rows(book.sheet(place[0]), area)
    standing = Confidence.KEPT if cell.unproven else Confidence.CALCULATED
    found = (str(each) for each in references(cell.formula) if isinstance(each, Area))
    rests_on = list(dict.fromkeys(each if "!" in each else f"{place[0]}!{each}" for each in found))
    return CellResult(cell.formula, area, rows, standing, cell.unproven, rests_on=rests_on)


def _typed(result: Scalar | Grid, shown: Rows) -> Rows | None:
    """The rows of a result with their dates as dates; None where the sheet shows something else."""
    rows = list(result.rows()) if isinstance(result, Grid) and result.width else []
    if not isinstance(result, Grid) or not rows:
        rows = [(None if isinstance(result, Grid) else result,)]
    typed = []
    for shown_row, row in zip(shown, rows, strict=False):
        typed.append(list(row[: len(shown_row)]))
        if len(row) < len(shown_row) or not all(map(same_value, shown_row, row)):
            return None
    return typed if len(typed) == len(shown) else None


def _area(sheet: Sheet, place: Place) -> Area:
    """The cells that the formula in a cell fills."""
    return sheet.array_at(place[1]) or Area(*place[1], *place[1])


def shown_rows(sheet: Sheet, area: Area) -> Rows:
    """Return what the cells of an area show now."""
    return [
        [sheet.value((row, column)) for column in range(area.first_column, area.last_column + 1)]
        for row in range(area.first_row, area.last_row + 1)
    ]
