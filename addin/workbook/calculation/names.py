"""Defined names and table references, looked up in a book for the formulas of one sheet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from addin.formulas import Area, Unworkable
from addin.formulas.areas import area_of
from addin.formulas.lexer import PLACEHOLDER
from addin.formulas.shape import shape_of
from addin.workbook.calculation.reading.analysis import analysed
from addin.workbook.calculation.reading.shapes import (
    Fixed,
    Guard,
    Piece,
    Replacement,
    Shape,
    SizedLike,
    SpillOf,
    ThisRow,
)
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.tables import Table

MAX_DEPTH = 8
"""How many names may stand behind one another."""

_TABLE = re.compile(r"(?P<name>[^\[]*)\[(?P<inside>.*)\]", re.DOTALL)
_PART = re.compile(r"(?:\[((?:[^\[\]']|'.)*)\]|([^\[\],:#@'\s][^\[\],:']*))\s*(?:([,:])\s*)?", re.DOTALL)
_LAMBDA = re.compile(r"=?\s*(?:_xlfn\.)?LAMBDA\(", re.IGNORECASE)
_ESCAPED = re.compile(r"'(.)", re.DOTALL)


def no_name(name: str) -> str:
    """Say what to do about a name that a book does not have: most often a text without its quotes."""
    return f'there is no name {name}; text stands in double quotes: "{name}"'


@dataclass
class BookNames:
    """The names and tables that formulas on `sheet` see."""

    book: Book
    sheet: str
    namespace: str
    tables: Mapping[str, Table]
    _depth: int = 0

    def is_defined(self, text: str, /) -> bool:
        """Return whether the book has a name or a table of this name."""
        return self.book.definition(text, self.sheet) is not None or text.casefold() in self.tables

    def lambda_of(self, text: str, /) -> Replacement | None:
        """Return the LAMBDA that a defined name stands for; None where it stands for anything else."""
        sheet, _, plain = text.rpartition("!")
        definition = self.book.definition(plain, self._known(sheet.strip("'")) or self.sheet)
        return self.name(text) if definition and _LAMBDA.match(definition) else None

    def name(self, text: str) -> Replacement:
        """Return what a defined name stands for: an area, or a formula without relative references."""
        sheet, _, plain = text.rpartition("!")
        definition = self.book.definition(plain, self._known(sheet.strip("'")) or self.sheet)
        if definition is None:
            table = self.tables.get(plain.casefold())
            return self._area(table.data) if table else Replacement(refused=no_name(plain[:60]))
        if self._depth >= MAX_DEPTH:
            return Replacement(refused=f"the name {plain[:60]} stands for itself")
        if self._depth and not sheet and definition != self.book.definition(plain, ""):
            return Replacement(refused=f"the name {plain[:60]} in another one stands for several things")
        shape, references = shape_of(definition.removeprefix("="))
        if not all(map(is_fixed, references)):
            return Replacement(refused=f"the name {plain[:60]} means another place in every cell")
        if shape == PLACEHOLDER and (area := area_of(references[0])) is not None:
            return self._area(area)
        self._depth += 1
        inner = analysed(shape, self, self.namespace)
        self._depth -= 1
        return self._formula(plain, inner, references)

    def _known(self, sheet: str) -> str:
        """A sheet's name as the tab has it, where there is one of that name in other letters."""
        with suppress(Unworkable):
            return self.book.known_name(sheet)
        return sheet

    def calls_ours(self, text: str, /) -> bool:
        """Return whether a defined name stands for something with a call of ours, such as a LAMBDA."""
        return text.rpartition("!")[2].casefold() in self.book.names_with_calls(self.namespace)

    def table(self, text: str) -> Replacement:
        """The cells that a reference such as `Sales[[#Totals],[Price]]` names."""
        match = _TABLE.fullmatch(text)
        table = self.tables.get(match["name"].casefold()) if match else None
        if match is None or table is None:
            return Replacement(refused=f"the table reference {text[:60]} is not read")
        try:
            area, this_row = _referred(table, match["inside"])
        except (KeyError, ValueError):
            return Replacement(refused=f"the table reference {text[:60]} is not read")
        return Replacement((ThisRow(area),), area, this_row=True) if this_row else self._area(area)

    def _area(self, area: Area) -> Replacement:
        try:
            sheet = self.book.known_name(area.sheet or self.sheet)
        except Unworkable as error:
            return Replacement(refused=str(error))
        placed = Area(area.first_row, area.first_column, area.last_row, area.last_column, sheet)
        return Replacement((Fixed(quoted(placed)),), placed)

    def _formula(self, name: str, inner: Shape, references: list[str]) -> Replacement:
        if inner.refused or any(isinstance(piece, SpillOf | SizedLike | ThisRow) for piece in inner.pieces):
            return Replacement(refused=f"the name {name[:60]}: {inner.refused or 'it depends on the cell'}")
        areas: list[Piece] = []
        for reference in references:
            found = self._area(area_of(reference) or Area(1, 1, 1, 1))
            if found.refused or found.area is None:
                return found
            inner.areas.append(found.area)
            areas += found.pieces

        def settled(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
            return tuple(areas[piece] if isinstance(piece, int) else piece for piece in pieces)

        inner.sites = [
            replace(
                site,
                arguments=tuple(map(settled, site.arguments)),
                rounds=settled(site.rounds),
                guards=tuple(Guard(settled(guard.pieces), guard.wanted) for guard in site.guards),
            )
            for site in inner.sites
        ]
        inner.required = [(settled(condition), why) for condition, why in inner.required]
        inner.lookups = [each.with_parts(settled) for each in inner.lookups]
        nudged = ("(", *settled(inner.nudged), ")") if inner.nudged else ()
        return Replacement(("(", *settled(inner.pieces), ")"), inner=inner, nudged=nudged)


_CORNERS = re.compile(r"\$[A-Za-z]{1,3}\$[0-9]{1,7}|\$[A-Za-z]{1,3}(?=:|$)|\$[0-9]{1,7}(?=:|$)")


def is_fixed(reference: str) -> bool:
    """Return whether a reference in a defined name means the same cells wherever the name stands.

    >>> is_fixed("S!$A$1:$B$2"), is_fixed("S!$B1"), is_fixed("S!A$1:A$3"), is_fixed("$A$1"), is_fixed("S!$A:$B")
    (True, False, False, False, True)
    """
    _, bang, cells = reference.rpartition("!")
    return bool(bang) and not _CORNERS.sub("", cells).strip(":")


def quoted(area: Area, *, fixed: bool = False) -> str:
    """An area with its sheet, as every formula can name it; `fixed`, with the signs that keep it in every copy.

    >>> quoted(Area(1, 1, 2, 2, "my sheet"))
    "'my sheet'!A1:B2"
    """
    plain = str(Area(area.first_row, area.first_column, area.last_row, area.last_column))
    if fixed:
        plain = re.sub(r"([A-Z]+)([0-9]+)", r"$\1$\2", plain)
    sheet = (area.sheet or "").replace("'", "''")
    return f"'{sheet}'!{plain}"


def _referred(table: Table, inside: str) -> tuple[Area, bool]:
    """The area, and whether only the formula's row counts; raises `KeyError` and `ValueError` for what is not there."""
    if inside.startswith("@"):
        inside = f"[#This Row],[{inside[1:].removeprefix('[').removesuffix(']')}]"
    elif inside and not inside.startswith("["):
        inside = f"[{inside}]"
    parts, links = [], []
    place = 0
    while place < len(inside):
        match = _PART.match(inside, place)
        if match is None:
            raise ValueError(inside)
        parts.append(match[2].rstrip() if match[2] else _ESCAPED.sub(r"\1", match[1]))
        links.append(match[3])
        place = match.end()
    items = {part.casefold() for part in parts if part.startswith("#")}
    columns = [part for part in parts if not part.startswith("#")]
    if len(columns) > 2 or (len(columns) == 2 and ":" not in links):
        raise ValueError(inside)
    area = table.rows_of(items - {"#this row"})
    first = table.column(columns[0]) if columns else area.first_column
    last = table.column(columns[-1]) if columns else area.last_column
    chosen = Area(area.first_row, min(first, last), area.last_row, max(first, last), table.sheet)
    return chosen, "#this row" in items
