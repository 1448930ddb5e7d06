"""Our cells, which of them depend on which others, and which other formulas depend on our values.

Besides calls of ours, a formula that only shows another cell is ours where that cell is.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from addin.formulas import Area, Named, ParsedCall, Spill, Unworkable, mentions, references
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.sheet import Formula, Sheet, Spot

Place: TypeAlias = tuple[str, Spot]
"""A sheet's name and a cell in it."""


@dataclass(frozen=True, slots=True)
class CellReference:
    """A formula that only shows another cell, or a link to what is in it.

    `=A1`, `=A1&""` (a blank cell stays blank), `=HYPERLINK(A1)`, `=HYPERLINK(A1,"Open")` and
    `=IF(A1="","",HYPERLINK(A1,"Open"))`. `label` is what a link shows instead of its address.
    """

    source: Area
    as_text: bool = False
    label: str | None = None
    blank_if_blank: bool = False


_SOURCE = r"(?P<source>(?:'(?:[^']|'')+'!|[\w.]+!)?\$?[A-Za-z]{1,3}\$?\d{1,7})"
_LABEL = r'"(?P<label>(?:[^"]|"")*)"'
_CELL_REFERENCES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _SOURCE,
        rf'{_SOURCE}&""',
        rf"HYPERLINK\({_SOURCE}\)",
        rf"HYPERLINK\({_SOURCE},{_LABEL}\)",
        rf'IF\({_SOURCE}="","",HYPERLINK\((?P<again>[^,()"]+),{_LABEL}\)\)',
    )
)
"""The forms that `cell_reference` recognizes, without white space."""


def cell_reference(formula: str) -> CellReference | None:
    """The cell that the formula only shows; None for a formula that does anything else."""
    for pattern in _CELL_REFERENCES:
        if match := pattern.fullmatch(formula.removeprefix("=")):
            parts = match.groupdict()
            areas = references(parts["source"])
            if not areas or not isinstance(areas[0], Area) or parts.get("again", parts["source"]) != parts["source"]:
                return None
            label = parts.get("label")
            return CellReference(
                areas[0],
                as_text=pattern is not _CELL_REFERENCES[0],
                label=None if label is None else label.replace('""', '"'),
                blank_if_blank="again" in parts,
            )
    return None


@dataclass(frozen=True, slots=True)
class CellNote:
    """A formula of ours, and what the user should know about it."""

    where: str
    formula: str
    why: str


@dataclass(frozen=True, slots=True)
class OurCell:
    """A cell that we can compute: its formula is one call of ours, or only shows a cell that depends on one."""

    sheet: str
    spot: Spot
    formula: Formula
    call: ParsedCall | CellReference

    @property
    def place(self) -> Place:
        """Its sheet and cell."""
        return self.sheet, self.spot

    def __str__(self) -> str:
        return str(Area(*self.spot, *self.spot, sheet=self.sheet))

    def note(self, why: str) -> CellNote:
        """What the user should know about this cell."""
        return CellNote(str(self), self.formula.text, why)


class Dependencies:
    """Which of our cells depend on which others."""

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

    def argument_cells(self, cell: OurCell) -> list[Place]:
        """The existing cells to which the arguments of `cell` refer."""
        areas = self._argument_areas(cell)
        return [(sheet, spot) for sheet, area in areas for spot in self._book.sheet(sheet).spots_in(area)]

    def own(self, cell: OurCell) -> None:
        """Count a cell, and the area it fills, as ours."""
        for spot in self._book.sheet(cell.sheet).spots_in(cell.formula.area):
            self._owners[cell.sheet, spot] = cell.place

    def of(self, cell: OurCell) -> set[Place]:
        """The places of our cells to which the arguments of `cell` refer.

        Raises `Unworkable` where they refer to a calculation that depends on a value of ours.
        """
        return set().union(*map(self._in_area, self._argument_areas(cell)))

    def any_depends_on(self, changed: set[Place], sheets: Iterable[Sheet]) -> bool:
        """Whether a formula on `sheets` that is not one call of ours refers to one of the `changed` cells."""
        return any(
            place in changed
            for sheet in sheets
            for spot, formula in self._formulas_of(sheet.name).items()
            if (sheet.name, spot) not in self._owners
            for place in self._referred(formula.text, sheet.name)
        )

    def _argument_areas(self, cell: OurCell) -> Iterator[tuple[str, Area]]:
        for argument in (cell.call.source,) if isinstance(cell.call, CellReference) else cell.call.args:
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
        """Whether a formula that is not ours depends on a value of ours, over any number of steps."""
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
