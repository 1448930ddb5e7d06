"""Which formulas of ours a book holds, and in which order they can be computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from addin.formulas import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    Argument,
    Named,
    ParsedCall,
    Spill,
    Unworkable,
    mentions,
    parse,
)
from addin.formulas.shown_cells import CellReference, cell_reference
from addin.workbook.calculation.cell_values import as_text
from addin.workbook.calculation.influence import Place
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.refresh.book_dates import given
from addin.workbook.refresh.dependencies import (
    NO_VALUE_YET,
    CellNote,
    Dependencies,
    OurCell,
)
from udfs.cells import Scalar
from udfs.errors import CellError, ErrorCode

MAX_ARGUMENT_CELLS = 100_000
"""More names than any service has; of a reference to whole columns only the used part counts."""


@dataclass(slots=True)
class Plan:
    """The cells to compute, in rounds: each round needs only results of the rounds before it."""

    dependencies: Dependencies
    rounds: list[list[OurCell]] = field(default_factory=list)
    skipped: list[CellNote] = field(default_factory=list)

    @property
    def cells(self) -> list[OurCell]:
        """All cells of all rounds."""
        return [cell for cells in self.rounds for cell in cells]


def make_plan(book: Book, namespace: str = "DS", *, calculates: bool = False) -> Plan:
    """Find every formula of ours in the book, and put those that can be computed in order.

    With `calculates`, calls with arguments that nobody has calculated yet are left to the calculation engine.
    """
    skipped: list[CellNote] = []
    cells: list[OurCell] = []
    references: list[OurCell] = []
    for sheet in book.sheets_with_calls(namespace):
        for spot, formula in sheet.formulas():
            if mentions(formula.text, namespace):
                where = str(Area(*spot, *spot, sheet=sheet.name))
                try:
                    cells.append(OurCell(sheet.name, spot, formula, parse(formula.text, namespace)))
                except Unworkable as error:
                    skipped.append(CellNote(where, formula.text, str(error)))
            elif reference := _reference(formula):
                references.append(OurCell(sheet.name, spot, formula, reference))
    parsed = {sheet.name for sheet in book.sheets_with_calls(namespace)}
    for name in book.sheet_names if cells else ():
        if name not in parsed:
            references += _references_on(book, name)
    skipped += _behind_names(book, namespace)
    plan = Plan(Dependencies(book, cells, namespace, calculates=calculates), skipped=skipped)
    cells.extend(_references_to_ours(plan.dependencies, references))
    _put_in_order(cells, plan)
    return plan


def _behind_names(book: Book, namespace: str) -> Iterator[CellNote]:
    """The formulas that call a function of ours only through a defined name."""
    for sheet, spot, formula in book.formulas_with_calls(namespace):
        if not mentions(formula.text, namespace):
            where = str(Area(*spot, *spot, sheet=sheet))
            yield CellNote(where, formula.text, "our function stands behind a defined name")


def _references_on(book: Book, sheet: str) -> Iterator[OurCell]:
    """The formulas of a sheet without calls that only show another cell."""
    for spot, formula in book.formulas(sheet):
        if reference := _reference(formula):
            yield OurCell(sheet, spot, formula, reference)


def _reference(formula: Formula) -> CellReference | None:
    """What a formula shows that shows another cell in its own and no other; None for any other formula."""
    is_one = formula.filled is None or formula.filled.is_cell
    return cell_reference(formula.text) if is_one else None


def _references_to_ours(dependencies: Dependencies, references: list[OurCell]) -> Iterator[OurCell]:
    """The cell references whose source is ours, or is such a reference."""
    by_source: dict[Place, list[OurCell]] = {}
    for reference in references:
        for source in dependencies.shown_by(reference):
            by_source.setdefault(source, []).append(reference)
    queue = deque(source for source in by_source if dependencies.owns(source))
    while queue:
        for reference in by_source.pop(queue.popleft(), ()):
            if dependencies.owns(reference.place):
                continue
            dependencies.own(reference)
            queue.append(reference.place)
            yield reference


def arguments(book: Book, call: ParsedCall, sheet: str) -> list[Any]:
    """The raw arguments of a call on `sheet`, references replaced by what the cells hold now; raises `Unworkable`."""
    return given(book, call.function_id, [_argument(book, argument, sheet) for argument in call.args])


def referenced_value(book: Book, reference: CellReference, sheet: str) -> Scalar:
    """Return what a formula shows that only shows another cell; a blank cell shows as 0, as in every spreadsheet."""
    value = _shown(book, reference.source, sheet)
    if reference.blank_if_failed and isinstance(value, CellError) and value.code is not ErrorCode.NA:
        return ""
    if (instead := reference.substitute) is not None:
        if isinstance(value, CellError):
            return value
        if instead.fits(value):
            by = instead.by if isinstance(instead.by, str) else _shown(book, instead.by, sheet)
            return 0.0 if by is None else by
    if reference.label is not None:
        return reference.label
    if not reference.as_text or isinstance(value, CellError):
        return 0.0 if value is None else value
    return _as_text(value)


def _as_text(value: Scalar) -> str:
    """A value as `&` joins it."""
    if isinstance(value, float):
        return as_text(value)
    return "" if value is None else str(value).upper() if isinstance(value, bool) else str(value)


def _shown(book: Book, cell: Area, sheet: str) -> Scalar:
    return book.sheet(cell.sheet or sheet).value((cell.first_row, cell.first_column))


def _argument(book: Book, argument: Argument, sheet: str) -> Any:
    if isinstance(argument, Named):
        return _argument(book, book.area_of(argument, sheet), sheet)
    if isinstance(argument, Spill):
        return _argument(book, _spilled(book, argument, sheet), sheet)
    if not isinstance(argument, Area):
        return argument
    source = book.sheet(argument.sheet or sheet)
    if argument.is_cell:
        return _value(source, (argument.first_row, argument.first_column))
    area = _used_part(source, argument)
    rows = range(area.first_row, area.last_row + 1)
    columns = range(area.first_column, area.last_column + 1)
    if len(rows) * len(columns) > MAX_ARGUMENT_CELLS:
        raise Unworkable(f"{argument} holds more than {MAX_ARGUMENT_CELLS:,} cells")
    return [[_value(source, (row, column)) for column in columns] for row in rows]


def _value(sheet: Sheet, spot: Spot) -> Scalar:
    """The value that a cell shows; raises `Unworkable` for a formula that nobody has calculated yet."""
    value = sheet.value(spot)
    if value is None and sheet.has_formula(spot) and not sheet.is_calculated(spot):
        cell = Area(*spot, *spot, sheet=sheet.name)
        raise Unworkable(f"{cell} {NO_VALUE_YET}")
    return value


def _used_part(sheet: Sheet, area: Area) -> Area:
    """Of an area that runs to the sheet's end, only as much as holds something; any other as it is."""
    if area.last_row < MAX_ROW and area.last_column < MAX_COLUMN:
        return area
    return sheet.used_part(area)


def _spilled(book: Book, spill: Spill, sheet: str) -> Area:
    source = spill.anchor.sheet or sheet
    area = book.sheet(source).array_at((spill.anchor.first_row, spill.anchor.first_column))
    if area is None:
        raise Unworkable(f"{spill.anchor} holds no array formula")
    return area._replace(sheet=source)


def _put_in_order(cells: list[OurCell], plan: Plan) -> None:
    """Put the cells in rounds; circles, and cells that depend on a skipped one, are skipped."""
    by_place = {cell.place: cell for cell in cells}
    waits: dict[Place, set[Place]] = {}
    reasons: dict[Place, str] = {}
    for cell in cells:
        try:
            waits[cell.place] = plan.dependencies.of(cell)
        except Unworkable as error:
            waits[cell.place] = set()
            reasons[cell.place] = str(error)
    sorter = TopologicalSorter(waits)
    with suppress(CycleError):
        sorter.prepare()
    while ready := sorter.get_ready():
        blocked = [place for place in ready if waits[place] & reasons.keys()]
        reasons.update(dict.fromkeys(blocked, "it needs a cell that is left as it is"))
        if cells_now := [by_place[place] for place in ready if place not in reasons]:
            plan.rounds.append(cells_now)
        sorter.done(*ready)
    planned = {cell.place for cell in plan.cells}
    for place, cell in by_place.items():
        if place not in planned:
            why = reasons.get(place, "it refers to itself in a circle, or to a cell that does: end the circle")
            plan.skipped.append(cell.note(why))
