"""Our cells, which of them depend on which others, and which other formulas depend on our values.

Besides calls of ours, a formula that only shows another cell is ours where that cell is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

from addin.formulas import Area, Named, ParsedCall, Spill, Unworkable, references
from addin.formulas.shown_cells import CellReference
from addin.workbook.calculation.influence import Calculation, Influence, Place, SheetArea, by_sheet
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.positions import CellIndex, Spot

NO_VALUE_YET = (
    "is a formula that has no value in the file yet: save the book once in Excel or Calc, or use --engine libreoffice"
)
"""Why a call is not computed whose argument nobody has calculated."""


MOST_LEFT_OUT = 200_000
"""Cells of tables without values that are looked at in a book: a file can name areas of billions in a few bytes."""


@dataclass(frozen=True, slots=True)
class CellNote:
    """A formula of ours, and what the user should know about it."""

    where: str
    formula: str
    why: str


@dataclass(frozen=True, slots=True)
class FormulaCell:
    """A formula in its cell."""

    sheet: str
    spot: Spot
    formula: Formula

    @property
    def place(self) -> Place:
        """Its sheet and cell."""
        return self.sheet, self.spot

    def __str__(self) -> str:
        return str(Area(*self.spot, *self.spot, sheet=self.sheet))

    def note(self, why: str) -> CellNote:
        """Return what the user should know about this cell."""
        return CellNote(str(self), self.formula.text, why)


@dataclass(frozen=True, slots=True)
class OurCell(FormulaCell):
    """A cell that we can compute: its formula is one call of ours, or only shows a cell that depends on one."""

    call: ParsedCall | CellReference


class Dependencies:
    """The dependencies between our cells."""

    def __init__(self, book: Book, cells: Iterable[OurCell], namespace: str, *, calculates: bool = False) -> None:
        self._book = book
        self._calculates = calculates
        self._namespace = namespace
        self._areas: dict[tuple[str, Area], frozenset[Place]] = {}
        self._owners: dict[Place, Place] = {}
        self._owned: dict[str, CellIndex] = {}
        self._room = MOST_LEFT_OUT
        self._behind = cache(lambda name, sheet: tuple(book.areas_behind(name, sheet)))
        for cell in cells:
            self.own(cell)

    def owns(self, place: Place) -> bool:
        """Return whether a cell shows a value of ours."""
        return place in self._owners

    def shown_by(self, reference: OurCell) -> list[Place]:
        """The cells that a reference may show, whether they exist or not."""
        with suppress(Unworkable):  # a sheet that is not there
            areas = self._argument_areas(reference)
            return [(sheet, (area.first_row, area.first_column)) for sheet, area in areas]
        return []

    def own(self, cell: OurCell) -> None:
        """Count a cell, and the area it fills, as ours."""
        owned = self._owned.setdefault(cell.sheet, CellIndex())
        for spot in self._spots(cell):
            self._owners[cell.sheet, spot] = cell.place
            owned.add(spot)

    def _spots(self, cell: OurCell) -> Iterable[Spot]:
        """The cells that a formula fills, also those that the file leaves out because they have no values yet."""
        area = cell.formula.area
        there = list(self._book.sheet(cell.sheet).spots_in(area))
        rows = range(area.first_row, area.last_row + 1)
        columns = range(area.first_column, area.last_column + 1)
        size = len(rows) * len(columns)
        if len(there) == size or size > self._room:
            return there
        self._room -= size
        return product(rows, columns)

    def of(self, cell: OurCell) -> set[Place]:
        """The places of our cells to which the arguments of `cell` refer.

        Raises `Unworkable` where they refer to a calculation that depends on a value of ours.
        """
        return set().union(*map(self._in_area, self._argument_areas(cell)))

    def any_depends_on(self, changed: set[Place], *, besides: set[Place]) -> bool:
        """Return whether a formula that is not ours, `besides` some, refers to one of the `changed` cells."""
        cells = by_sheet(changed)
        return any(
            sheet in cells and cells[sheet].first_inside(area) is not None
            for sheet_name, formula in self._others()
            if (sheet_name, formula.spot) not in besides
            for sheet, area in self._areas_of(sheet_name, formula)
        )

    def _argument_areas(self, cell: OurCell) -> Iterator[SheetArea]:
        for argument in cell.call.cells if isinstance(cell.call, CellReference) else cell.call.args:
            if isinstance(argument, Named):
                area = self._book.area_of(argument, cell.sheet)
            elif isinstance(argument, Spill):
                area = argument.anchor
            elif isinstance(argument, Area):
                area = argument
            else:
                continue
            yield self._book.known_name(area.sheet or cell.sheet), area

    def _in_area(self, where: SheetArea) -> frozenset[Place]:
        if where not in self._areas:
            sheet, area = where
            is_plain = sheet not in self._calculated or self._calculated[sheet].first_inside(area) is None
            if not is_plain and (spot := self._influenced.first_inside(sheet, area)) is not None:
                raise Unworkable(f"{Area(*spot, *spot, sheet=sheet)} is a calculation with values of ours")
            if self._calculates and not is_plain and (spot := self._uncalculated(sheet, area)) is not None:
                raise Unworkable(f"{Area(*spot, *spot, sheet=sheet)} {NO_VALUE_YET}")
            owned = self._owned.get(sheet, CellIndex())
            self._areas[where] = frozenset(self._owners[sheet, spot] for spot in owned.inside(area))
        return self._areas[where]

    def _uncalculated(self, sheet: str, area: Area) -> Spot | None:
        """A formula inside `area` that is not ours and has no value in the file; None where there is none."""
        content = self._book.sheet(sheet)
        spots = self._calculated[sheet].inside(area)
        return next((spot for spot in spots if content.has_formula(spot) and not content.is_calculated(spot)), None)

    @cached_property
    def _calculated(self) -> dict[str, CellIndex]:
        """The cells that show the result of a formula that is not ours."""
        found = self._others()
        return by_sheet(
            (sheet, spot) for sheet, formula in found for spot in (formula.spot, *self._filled(sheet, formula))
        )

    @cached_property
    def _influenced(self) -> Influence:
        return Influence(self._calculations(), self._owned)

    def _calculations(self) -> Iterator[Calculation]:
        """Every formula of the book that is not ours, with the areas that it refers to, and the cells it fills."""
        for sheet, formula in self._others():
            calls_ours = self._book.calls(formula.text, self._namespace)
            yield (sheet, formula.spot), self._areas_of(sheet, formula), calls_ours
            for spot in self._filled(sheet, formula):
                yield (sheet, spot), [(sheet, Area(*formula.spot, *formula.spot))], False

    def _others(self) -> Iterator[tuple[str, Formula]]:
        """The formulas that are not ours, each with its sheet."""
        for sheet in self._book.sheet_names:
            for spot, formula in self._book.formulas(sheet):
                if (sheet, spot) not in self._owners:
                    yield sheet, formula

    def _filled(self, sheet: str, formula: Formula) -> Iterator[Spot]:
        """The other cells that an array formula or a data table fills."""
        if not formula.area.is_cell:
            yield from (spot for spot in self._book.sheet(sheet).spots_in(formula.area) if spot != formula.spot)

    def _areas_of(self, sheet: str, formula: Formula) -> list[SheetArea]:
        """The areas that a formula refers to, and those beside a data table."""
        found = [(sheet, area) for area in formula.headers]
        for reference in references(formula.text):
            areas = self._behind(reference, sheet) if isinstance(reference, Named) else (reference,)
            for area in areas:
                with suppress(Unworkable):  # a sheet that is not there
                    found.append((self._book.known_name(area.sheet or sheet), area))
        return found
