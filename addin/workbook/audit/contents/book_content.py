"""What a book says, cell by cell, as one program reads it and as all others do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from addin.formulas import Area
from addin.workbook.audit.numbers import typed_form
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet
from udfs.cells import Scalar

GENERAL = "General"
_HIDDEN_NAMES = "_xlnm."
"""How the names begin that programs make for themselves, for filters and printing; no formula sees them."""


class CellContent(NamedTuple):
    """What one cell holds."""

    value: Scalar
    formula: str | None
    """As it is typed; None where the cell holds a value only."""
    area: Area | None
    """The cells that an array formula fills."""
    format: str


class NameKey(NamedTuple):
    """A defined name and the sheet that it belongs to, None for all of them."""

    name: str
    sheet: str | None


@dataclass(frozen=True, slots=True)
class BookContent:
    """What a book says beside its cells."""

    counts_from_1904: bool
    calculates_as_shown: bool
    tabs: tuple[tuple[str, str], ...]
    """The sheets of any kind in their order, and whether each is visible, hidden or veryHidden."""
    names: Mapping[NameKey, str]
    merged: Mapping[str, tuple[str, ...]]
    shown_otherwise: Mapping[str, tuple[str, ...]]
    """For each sheet, the number formats that conditional formats lay over cells, with these cells."""


def content_of(book: Book) -> BookContent:
    """What a book says beside its cells; raises `WorkbookError` where programs would read it in two ways."""
    names = {
        NameKey(name, sheet): text for (name, sheet), text in book.names.items() if not name.startswith(_HIDDEN_NAMES)
    }
    for table in book.tables.values():  # a formula may name them and their columns
        columns = ",".join(table.columns)
        names[NameKey(f"the table {table.name}", None)] = f'={table.area}&"{columns}"'
    merged = {name: tuple(sorted(map(str, book.sheet(name).merged()))) for name in book.sheet_names}
    dressed = {name: tuple(sorted(_dressed(book, book.sheet(name)))) for name in book.sheet_names}
    return BookContent(
        book.counts_from_1904, book.calculates_as_shown, tuple(book.tabs), names, _filled(merged), _filled(dressed)
    )


def cells_of(book: Book, name: str, namespace: str) -> Iterator[tuple[Spot, CellContent]]:
    """Every cell of a sheet that holds a value or a formula, row by row."""
    sheet = book.sheet(name)
    formulas = {spot: formula for spot, formula in sheet.formulas() if formula.text}
    formats: dict[int, str] = {}
    for spot in sheet.filled():
        formula = formulas.get(spot)
        value = sheet.value(spot)
        if formula is None and value in (None, ""):
            continue
        style = sheet.style(spot)
        if style not in formats:
            formats[style] = GENERAL if book.styles is None else book.styles.format_code(style)
        text = None if formula is None else typed_form(formula.text, namespace)
        yield spot, CellContent(value, text, None if formula is None else formula.filled, formats[style])


def _dressed(book: Book, sheet: Sheet) -> Iterator[str]:
    """The cells over which a conditional format lays a number format, and that format."""
    for areas, style in sheet.conditional_styles():
        code = "" if book.styles is None else book.styles.format_of_condition(style)
        if code and code.casefold() != GENERAL.casefold():
            yield f"{areas}: {code}"


def _filled(found: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: values for name, values in found.items() if values}
