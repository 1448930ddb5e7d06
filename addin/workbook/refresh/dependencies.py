"""Which cells of ours rest on which others, and which formulas rest on values of ours."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from addin.formulas import Area, Named, ParsedCall, Spill, Unworkable, mentions, references
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.sheet import Formula, Sheet, Spot
from addin.workbook.refresh.cell_references import Copy

Place: TypeAlias = tuple[str, Spot]
"""A sheet's name and a cell in it."""


@dataclass(frozen=True, slots=True)
class OurCell:
    """A cell that we can work out: its formula is one call of ours, or only shows a cell that rests on one."""

    sheet: str
    spot: Spot
    formula: Formula
    call: ParsedCall | Copy

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.sheet, self.spot

    def __str__(self) -> str:
        return str(Area(*self.spot, *self.spot, sheet=self.sheet))


class Dependencies:
    """Which of our cells each of our cells waits for."""

    def __init__(self, book: Book, cells: Iterable[OurCell], namespace: str) -> None:
        self._book = book
        self._namespace = namespace
        self._areas: dict[tuple[str, Area], frozenset[Place]] = {}
        self._formulas: dict[str, dict[Spot, Formula]] = {}
        self._owners: dict[Place, Place] = {}
        for cell in cells:
            self.own(cell)

    def owns(self, place: Place) -> bool:
        """Whether a cell shows a value of ours."""
        return place in self._owners

    def shown_by(self, copy: OurCell) -> list[Place]:
        """The cell that a copy shows, where it exists."""
        areas = self._argument_areas(copy)
        return [(sheet, spot) for sheet, area in areas for spot in self._book.sheet(sheet).spots_in(area)]

    def own(self, cell: OurCell) -> None:
        """Count a cell, and the area it fills, as ours."""
        for spot in self._book.sheet(cell.sheet).spots_in(cell.formula.area):
            self._owners[cell.sheet, spot] = cell.place

    def of(self, cell: OurCell) -> set[Place]:
        """The places of our cells that the arguments of `cell` show.

        Raises `Unworkable` where they show a calculation that rests on a value of ours.
        """
        return set().union(*map(self._in_area, self._argument_areas(cell)))

    def any_rests_on(self, changed: set[Place], sheets: Iterable[Sheet]) -> bool:
        """Whether a formula on `sheets` that is not one call of ours refers to one of the `changed` cells."""
        return any(
            place in changed
            for sheet in sheets
            for spot, formula in self._formulas_of(sheet.name).items()
            if (sheet.name, spot) not in self._owners
            for place in self._referred(formula.text, sheet.name)
        )

    def _argument_areas(self, cell: OurCell) -> Iterator[tuple[str, Area]]:
        for argument in (cell.call.source,) if isinstance(cell.call, Copy) else cell.call.args:
            if isinstance(argument, Named):
                area = self._book.area_of(argument, cell.sheet)
            elif isinstance(argument, Spill):
                area = argument.anchor
            elif isinstance(argument, Area):
                area = argument
            else:
                continue
            yield self._book.sheet(area.sheet or cell.sheet).name, area

    def _in_area(self, where: tuple[str, Area]) -> frozenset[Place]:
        if where not in self._areas:
            sheet, area = where
            places = [(sheet, spot) for spot in self._book.sheet(sheet).spots_in(area)]
            for place in places:
                if place not in self._owners and self._reaches_ours(place):
                    cell = Area(*place[1], *place[1], sheet=sheet)
                    raise Unworkable(f"{cell} is a calculation with values of ours")
            self._areas[where] = frozenset(self._owners[place] for place in places if place in self._owners)
        return self._areas[where]

    def _reaches_ours(self, start: Place) -> bool:
        """Whether a formula that is not ours rests on a value of ours, over any number of steps."""
        seen = {start}
        queue = deque([start])
        while queue:
            sheet, spot = queue.popleft()
            formula = self._formulas_of(sheet).get(spot)
            if formula is None:
                continue
            if mentions(formula.text, self._namespace):
                return True
            for place in self._referred(formula.text, sheet):
                if place in self._owners:
                    return True
                if place not in seen:
                    seen.add(place)
                    queue.append(place)
        return False

    def _referred(self, text: str, sheet: str) -> Iterator[Place]:
        for reference in references(text):
            try:
                area = self._book.area_of(reference, sheet) if isinstance(reference, Named) else reference
                source = self._book.sheet(area.sheet or sheet)
            except Unworkable:
                continue
            yield from ((source.name, spot) for spot in source.spots_in(area))

    def _formulas_of(self, sheet: str) -> dict[Spot, Formula]:
        if sheet not in self._formulas:
            self._formulas[sheet] = dict(self._book.sheet(sheet).formulas())
        return self._formulas[sheet]
