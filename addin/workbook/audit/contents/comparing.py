"""A book beside what was signed about all of it: each cell, name and setting that differs, and what is covered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from addin.formulas import Area
from addin.workbook.audit.contents.book_content import GENERAL, BookContent, CellContent, cells_of, content_of
from addin.workbook.audit.contents.content_lines import SignedCell, SignedContent
from addin.workbook.audit.contents.sameness import is_same_format, is_same_formula, is_same_value
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.positions import Spot
from udfs.cells import Scalar
from udfs.errors import CellError

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell, a name or a setting that is not as it was signed."""

    where: str
    signed: str
    found: str
    place: tuple[str, Spot] | None = None
    """Its sheet and cell; None for what is no cell."""


@dataclass(slots=True)
class Coverage:
    """The signed part of a book, cell by cell."""

    from_service: int = 0
    """Cells that a formula of the service fills, or filled before the copy was frozen."""
    calculated: int = 0
    """Cells of all other formulas."""
    entered: int = 0
    """Cells that hold what somebody entered."""
    uncovered: int = 0
    """Cells that hold something, but of which nothing was signed."""

    @property
    def cells(self) -> int:
        """All cells that were signed."""
        return self.from_service + self.calculated + self.entered


@dataclass(slots=True)
class Compared:
    """The result of a comparison."""

    coverage: Coverage = field(default_factory=Coverage)
    differences: list[Difference] = field(default_factory=list)
    without_value: list[str] = field(default_factory=list)
    """Formulas as they were signed, for which the program that saved the book wrote no value."""


def compare(book: Book, signed: SignedContent, namespace: str) -> Compared:
    """Every cell of the book beside what was signed."""
    compared = Compared()
    compared.differences += _of_book(content_of(book), signed.book)
    for cells in signed.cells.values():
        for cell in cells.values():
            if cell.is_from_service:
                compared.coverage.from_service += 1
            elif cell.is_calculated:
                compared.coverage.calculated += 1
            else:
                compared.coverage.entered += 1
    left = {name: dict(cells) for name, cells in signed.cells.items()}
    for name in book.sheet_names:
        formats = signed.formats.get(name.casefold(), {})
        expected = left.pop(name.casefold(), {})
        for spot, found in cells_of(book, name, namespace):
            where = str(Area(*spot, *spot, sheet=name))
            before = len(compared.differences)
            _compare_cell(compared, where, found, expected.pop(spot, None), formats.get(spot, GENERAL))
            compared.differences[before:] = [
                replace(each, place=(name, spot)) for each in compared.differences[before:]
            ]
        for spot, cell in expected.items():
            if cell.formula is not None or cell.value not in (None, ""):
                where = str(Area(*spot, *spot, sheet=name))
                then = cell.formula or shown(cell.value)
                compared.differences.append(Difference(where, then, NOTHING, (name, spot)))
    for name, cells in left.items():  # its sheet is missing, which is told once
        compared.differences.append(Difference(name, f"a sheet with {len(cells):,} cells", NOTHING))
    return compared


def _compare_cell(
    compared: Compared, where: str, found: CellContent, signed: SignedCell | None, signed_format: str
) -> None:
    if signed is None:
        compared.coverage.uncovered += 1
        compared.differences.append(Difference(where, NOTHING, found.formula or shown(found.value)))
        return
    differences = list(_cell_differences(where, found, signed, signed_format))
    if found.formula and not found.has_result and [each.signed for each in differences] == [shown(signed.value)]:
        compared.without_value.append(where)
        return
    compared.differences += differences[:1]


def _cell_differences(where: str, found: CellContent, signed: SignedCell, signed_format: str) -> Iterator[Difference]:
    if _is_error_for_error(found, signed):
        found = found._replace(formula=None)
    if (found.formula is None) != (signed.formula is None):
        yield Difference(where, signed.formula or "a value", found.formula or "no formula")
    elif found.formula and signed.formula and not is_same_formula(found.formula, signed.formula):
        yield Difference(where, signed.formula, found.formula)
    if found.area not in (None, signed.area) and (signed.area is not None or not found.area.is_cell):
        yield Difference(where, f"an array in {signed.area}" if signed.area else "no array", f"one in {found.area}")
    is_not_worked_out = signed.value is None and found.formula is not None and found.value == 0
    if not is_same_value(found.value, signed.value) and not is_not_worked_out:
        yield Difference(where, shown(signed.value), shown(found.value))
    if found.format != signed_format and not is_same_format(found.format, signed_format):
        yield Difference(where, f"the number format {signed_format}", found.format)


def _is_error_for_error(found: CellContent, signed: SignedCell) -> bool:
    """Return whether a cell that held an error has a formula of just that error now: so Calc writes it."""
    return (
        signed.formula is None and isinstance(signed.value, CellError) and found.formula == f"={signed.value.message}"
    )


def _of_book(found: BookContent, signed: BookContent) -> Iterator[Difference]:
    if found.counts_from_1904 != signed.counts_from_1904:
        years = ("1900", "1904")
        yield Difference(
            "the date system", f"dates from {years[signed.counts_from_1904]}", years[found.counts_from_1904]
        )
    if found.calculates_as_shown != signed.calculates_as_shown:
        yield Difference("the precision", _precision(signed), _precision(found))
    if found.tabs != signed.tabs:
        yield from _of_tabs(dict(found.tabs), dict(signed.tabs))
    yield from _of_names(found, signed)
    for name, areas in found.merged.items():
        for area in sorted(set(areas) - set(signed.merged.get(name, ()))):
            yield Difference(f"{name}!{area.partition(':')[0]}", "no merged cells", f"merged cells {area}")
    for name, looks in found.looks.items():
        for where, what in sorted(looks - signed.looks.get(name, frozenset())):
            place = f"{name}!{where.partition(':')[0]}" if name and " " not in where else f"{where} {name}".strip()
            yield Difference(place, NOTHING, what)


def _of_tabs(found: Mapping[str, str], signed: Mapping[str, str]) -> Iterator[Difference]:
    for name in {**signed, **found}:
        then, now = signed.get(name, NOTHING), found.get(name, NOTHING)
        if then != now:
            yield Difference(f"the sheet {name}", then, now)
    common = [name for name in found if name in signed]
    if common != [name for name in signed if name in found]:
        yield Difference("the order of the sheets", ", ".join(signed), ", ".join(found))


def _of_names(found: BookContent, signed: BookContent) -> Iterator[Difference]:
    for key in {**signed.names, **found.names}:
        then, now = signed.names.get(key), found.names.get(key)
        if then is None or now is None or not is_same_formula(now, then):
            what = key.name if key.name.startswith("the table ") else f"the name {key.name}"
            yield Difference(what, then or NOTHING, now or NOTHING)


def _precision(content: BookContent) -> str:
    return "as shown" if content.calculates_as_shown else "of all digits"


def shown(value: Scalar | Mapping[str, Any]) -> str:
    """A value as messages show it."""
    if isinstance(value, Mapping):
        return str(next(iter(value.values()), ""))
    if value is None or value == "":
        return NOTHING
    with suppress(AttributeError):
        return value.message if isinstance(value, CellError) else str(value)
    return str(value)
