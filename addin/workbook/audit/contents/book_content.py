"""What a book says, cell by cell, as one program reads it and as all others do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from addin.formulas import Area
from addin.workbook.audit.contents.looks import Look, looks_of, looks_of_book
from addin.workbook.audit.numbers import typed_form
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.positions import Spot, address
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
    has_result: bool = True
    """Whether the file holds anything to show for a formula."""


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
    looks: Mapping[str, frozenset[Look]]
    """For each sheet, and under no name for the whole book, what makes it show something else than its cells hold."""


def content_of(book: Book) -> BookContent:
    """Return what a book says beside its cells; raises `WorkbookError` where programs would read it in two ways."""
    book.check_texts()
    names = {
        NameKey(name, sheet): text for (name, sheet), text in book.names.items() if not name.startswith(_HIDDEN_NAMES)
    }
    for table in book.tables.values():  # a formula may name them and their columns
        columns = ",".join(table.columns)
        names[NameKey(f"the table {table.name}", None)] = f'={table.area}&"{columns}"'
    merged = {name: tuple(sorted(map(str, book.sheet(name).merged()))) for name in book.sheet_names}
    looks = {name: frozenset(looks_of(book, name)) for name in book.sheet_names} | {"": frozenset(looks_of_book(book))}
    return BookContent(book.counts_from_1904, book.calculates_as_shown, tuple(book.tabs), names, _filled(merged), looks)


def cells_of(book: Book, name: str, namespace: str) -> Iterator[tuple[Spot, CellContent]]:
    """Every cell of a sheet that holds a value or a formula, row by row."""
    sheet = book.sheet(name)
    formulas = {spot: formula for spot, formula in sheet.formulas() if formula.text or sheet.is_shared(spot)}
    formats: dict[tuple[int, int], str] = {}
    for spot in sheet.filled():
        formula = formulas.get(spot)
        styles = sheet.styles(spot)
        if styles not in formats:
            formats[styles] = _format(book, *styles)
        if formula is None:
            value = sheet.value(spot)
            if value not in (None, ""):
                yield spot, CellContent(value, None, None, formats[styles])
        else:
            if not formula.text:
                raise damaged(f"{sheet.part}, {address(spot)}", "it shares a formula that no cell before it has")
            text = typed_form(formula.text, namespace)
            yield (
                spot,
                CellContent(
                    sheet.shown(spot), text, formula.filled, formats[styles], has_result=sheet.has_result(spot)
                ),
            )


def _format(book: Book, own: int, other: int) -> str:
    """How cells show numbers; programs differ about a cell that names no style where its row or column has one."""
    if book.styles is None:
        return GENERAL
    codes = [f"{book.styles.format_code(each)}{' repeated' * book.styles.repeats(each)}" for each in (own, other)]
    return " or ".join(dict.fromkeys(codes))


def _filled(found: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: values for name, values in found.items() if values}
