"""Our cells, which of them depend on which others, and which other formulas depend on our values.

Besides calls of ours, a formula that only shows another cell is ours where that cell is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property

from addin.formulas import Area, Named, ParsedCall, Spill, Unworkable, references
from addin.workbook.calculation.influence import Calculation, Influence, Place, SheetArea, by_sheet
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.positions import CellIndex, Spot
from udfs.cells import Scalar

NO_VALUE_YET = (
    "is a formula that has no value in the file yet: save the book once in Excel or Calc, or use --engine libreoffice"
)
"""Why a call is not computed whose argument nobody has calculated."""


@dataclass(frozen=True, slots=True)
class Substitute:
    """What is shown where the cell holds this text, of which a blank cell holds none: a text, or another cell."""

    text: str
    by: str | Area

    def fits(self, value: Scalar) -> bool:
        """Whether a cell with this value holds the text; as in every spreadsheet, case does not count."""
        return (value is None and not self.text) or (
            isinstance(value, str) and value.casefold() == self.text.casefold()
        )


@dataclass(frozen=True, slots=True)
class CellReference:
    """A formula that only shows another cell, or a link to what is in it.

    `=A1`, `=A1&""` (a blank cell stays blank), `=HYPERLINK(A1)`, `=HYPERLINK(A1,"Open")`, `=IF(A1="","",A1)`,
    `=IF(A2="",B1,A2)`, `=IF(A1&""="name","Name",A1)`, `=IF(A1="","","More")` and `=IF(A1="","",HYPERLINK(A1,"Open"))`.
    `label` is shown instead of what the cell holds; `=IF(ISERR(A1),"",…)` around any of them is `blank_if_failed`.
    """

    source: Area
    as_text: bool = False
    label: str | None = None
    substitute: Substitute | None = None
    blank_if_failed: bool = False
    """Whether an error other than `#N/A` in the cell shows as nothing."""

    @property
    def cells(self) -> tuple[Area, ...]:
        """The cells that it may show."""
        by = None if self.substitute is None else self.substitute.by
        return (self.source, by) if isinstance(by, Area) else (self.source,)


_SOURCE = r"(?P<source>(?:'(?:[^']|'')+'!|[\w.]+!)?\$?[A-Za-z]{1,3}\$?\d{1,7})"
_LABEL = r'"(?P<label>(?:[^"]|"")*)"'
_AGAIN = r'(?P<again>[^,()"]+)'
_IF = rf'IF\({_SOURCE}(?:&"")?="(?P<text>(?:[^"]|"")*)",(?P<by>"(?:[^"]|"")*"|[^,()"=+*/&<>^-]+),'
_CELL_REFERENCES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _SOURCE,
        rf'{_SOURCE}&""',
        rf"HYPERLINK\({_SOURCE}\)",
        rf"HYPERLINK\({_SOURCE},{_LABEL}\)",
        rf"{_IF}{_AGAIN}\)",
        rf"{_IF}{_LABEL}\)",
        rf"{_IF}HYPERLINK\({_AGAIN},{_LABEL}\)\)",
    )
)
"""The forms that `cell_reference` recognizes, without white space."""
_BLANK_IF_FAILED = re.compile(rf'=?IF\(ISERR\({_SOURCE}\),"",(?P<shown>.+)\)', re.IGNORECASE)
_SHOWN_AS_THEY_ARE = (_CELL_REFERENCES[0], _CELL_REFERENCES[4])
_BEGINNING = re.compile(rf'=?(?:HYPERLINK\(|IF\([^="]+(?:&"")?="[^"]*",|{_SOURCE}(?:$|&""))', re.IGNORECASE)


def cell_reference(formula: str) -> CellReference | None:
    """The cell that the formula only shows; None for a formula that does anything else."""
    if (guarded := _BLANK_IF_FAILED.fullmatch(formula)) is not None:
        reference, source = cell_reference(guarded["shown"]), _cell(guarded["source"])
        return replace(reference, blank_if_failed=True) if reference and reference.source == source else None
    if _BEGINNING.match(formula) is None:  # nearly all end here
        return None
    for pattern in _CELL_REFERENCES:
        if match := pattern.fullmatch(formula.removeprefix("=")):
            parts = match.groupdict()
            source, by = _cell(parts["source"]), _text_or_cell(parts.get("by"))
            if source is None or by is None or parts.get("again", parts["source"]) != parts["source"]:
                return None
            text = parts.get("text")
            return CellReference(
                source,
                as_text=pattern not in _SHOWN_AS_THEY_ARE,
                label=None if parts.get("label") is None else _unquoted(parts["label"]),
                substitute=None if text is None else Substitute(_unquoted(text), by),
            )
    return None


def _cell(text: str) -> Area | None:
    areas = references(text)
    return areas[0] if len(areas) == 1 and isinstance(areas[0], Area) and areas[0].is_cell else None


def _text_or_cell(text: str | None) -> str | Area | None:
    if text is None:
        return ""
    return _unquoted(text[1:-1]) if text.startswith('"') else _cell(text)


def _unquoted(text: str) -> str:
    return text.replace('""', '"')


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
        """What the user should know about this cell."""
        return CellNote(str(self), self.formula.text, why)


@dataclass(frozen=True, slots=True)
class OurCell(FormulaCell):
    """A cell that we can compute: its formula is one call of ours, or only shows a cell that depends on one."""

    call: ParsedCall | CellReference


class Dependencies:
    """Which of our cells depend on which others."""

    def __init__(self, book: Book, cells: Iterable[OurCell], namespace: str, *, calculates: bool = False) -> None:
        self._book = book
        self._calculates = calculates
        self._namespace = namespace
        self._areas: dict[tuple[str, Area], frozenset[Place]] = {}
        self._owners: dict[Place, Place] = {}
        self._owned: dict[str, CellIndex] = {}
        self._behind = cache(lambda name, sheet: tuple(book.areas_behind(name, sheet)))
        for cell in cells:
            self.own(cell)

    def owns(self, place: Place) -> bool:
        """Whether a cell shows a value of ours."""
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
        for spot in self._book.sheet(cell.sheet).spots_in(cell.formula.area):
            self._owners[cell.sheet, spot] = cell.place
            owned.add(spot)

    def of(self, cell: OurCell) -> set[Place]:
        """The places of our cells to which the arguments of `cell` refer.

        Raises `Unworkable` where they refer to a calculation that depends on a value of ours.
        """
        return set().union(*map(self._in_area, self._argument_areas(cell)))

    def any_depends_on(self, changed: set[Place], *, besides: set[Place]) -> bool:
        """Whether a formula of the book that is not ours, `besides` some, refers to one of the `changed` cells."""
        cells = by_sheet(changed)
        return any(
            sheet in cells and cells[sheet].first_inside(area) is not None
            for place, areas, _ in self._calculations()
            if place not in besides
            for sheet, area in areas
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
        """The cells with a formula that is not ours."""
        names = self._book.sheet_names
        places = ((name, spot) for name in names for spot, _ in self._book.formulas(name))
        return by_sheet(place for place in places if place not in self._owners)

    @cached_property
    def _influenced(self) -> Influence:
        return Influence(self._calculations(), self._owned)

    def _calculations(self) -> Iterator[Calculation]:
        """Every formula of the book that is not ours, with the areas that it refers to."""
        for sheet in self._book.sheet_names:
            for spot, formula in self._book.formulas(sheet):
                if (sheet, spot) not in self._owners:
                    areas = self._referred(formula.text, sheet)
                    yield (sheet, spot), areas, self._book.calls(formula.text, self._namespace)

    def _referred(self, text: str, sheet: str) -> list[SheetArea]:
        found = []
        for reference in references(text):
            areas = self._behind(reference, sheet) if isinstance(reference, Named) else (reference,)
            for area in areas:
                with suppress(Unworkable):  # a sheet that is not there
                    found.append((self._book.known_name(area.sheet or sheet), area))
        return found
