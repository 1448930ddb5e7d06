"""All that a book says as lines to sign, and back: what no line about a number covers stands in them too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from addin.formulas import Area
from addin.workbook.audit.chain import Block, Kind
from addin.workbook.audit.contents.book_content import (
    GENERAL,
    BookContent,
    CellContent,
    NameKey,
    cells_of,
    content_of,
)
from addin.workbook.audit.numbers import place_of, read_back, rows_of, written_cell
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.positions import Spot, address, area_of, spot_of
from udfs.cells import Scalar

CELLS_IN_A_LINE = 500
"""So many cells stand in one line; each line is hashed on its own."""


@dataclass(frozen=True, slots=True)
class SignedCell:
    """The signed contents of one cell."""

    value: Scalar
    formula: str | None
    """As typed; None where it held a value only."""
    area: Area | None
    is_from_service: bool = False
    is_calculated: bool = False


@dataclass(slots=True)
class SignedContent:
    """The signed contents of a whole book."""

    book: BookContent
    cells: dict[str, dict[Spot, SignedCell]] = field(default_factory=dict)
    formats: dict[str, dict[Spot, str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The cells that were signed."""
        return sum(map(len, self.cells.values()))


def content_lines(book: Book, numbers: Iterable[Mapping[str, Any]], namespace: str) -> Iterator[dict[str, Any]]:
    """The lines about a book beside those about its `numbers`."""
    content = content_of(book)
    yield {
        "type": Kind.BOOK,
        "dates_from": 1904 if content.counts_from_1904 else 1900,
        "as_shown": content.calculates_as_shown,
        "tabs": [list(tab) for tab in content.tabs],
        "names": [[*key, text] for key, text in content.names.items()],
        "merged": content.merged,
        "looks": {name: sorted(looks) for name, looks in content.looks.items() if looks},
    }
    covered = _covered(numbers)
    for name in book.sheet_names:
        yield from _cell_lines(name, cells_of(book, name, namespace), covered.get(name.casefold(), frozenset()))


def _covered(numbers: Iterable[Mapping[str, Any]]) -> dict[str, set[Spot]]:
    covered: dict[str, set[Spot]] = {}
    for number in numbers:
        name, spot, area = place_of(number)
        spots = covered.setdefault(name.casefold(), set())
        spots.update(_spots(area) if not area.is_cell else (spot,))
    return covered


def _cell_lines(
    name: str, cells: Iterable[tuple[Spot, CellContent]], covered: Iterable[Spot]
) -> Iterator[dict[str, Any]]:
    found: dict[str, Any] = {}
    formats: dict[str, list[str]] = {}
    for spot, cell in cells:
        where = address(spot)
        if spot not in covered:
            found[where] = _written(cell)
        if cell.format != GENERAL:
            formats.setdefault(cell.format, []).append(where)
        if len(found) >= CELLS_IN_A_LINE:
            yield _line(name, found, formats)
            found, formats = {}, {}
    yield _line(name, found, formats)


def _line(name: str, found: Mapping[str, Any], formats: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    told = {code: " ".join(cells) for code, cells in formats.items()}
    return {"type": Kind.CELLS, "sheet": name, "cells": found, "formats": told}


def _written(cell: CellContent) -> Any:
    value = written_cell(cell.value)
    if cell.formula is None:
        return value
    area = {} if cell.area is None else {"area": str(cell.area)}
    return {"formula": cell.formula, "value": value, **area}


def read_content(block: Block, is_ours: Callable[[str], bool]) -> SignedContent | None:
    """Return what a block says about the whole book; None for one of the version before, which says nothing of it.

    `is_ours` tells whether a formula calls a function of the service.
    """
    if block.book is None:
        return None
    signed = SignedContent(_book_content(block.book))
    for line in block.cells:
        cells = signed.cells.setdefault(str(line["sheet"]).casefold(), {})
        for where, value in line["cells"].items():
            cells[spot_of(where, "the line")] = _cell(value)
        formats = signed.formats.setdefault(str(line["sheet"]).casefold(), {})
        for code, places in line["formats"].items():
            formats.update((spot_of(where, "the line"), code) for where in places.split())
    for number in block.numbers:
        _add_number(signed, number, is_frozen=block.is_frozen, is_ours=is_ours)
    return signed


def _book_content(line: Mapping[str, Any]) -> BookContent:
    return BookContent(
        line["dates_from"] == 1904,
        bool(line["as_shown"]),
        tuple((name, state) for name, state in line["tabs"]),
        {NameKey(name, sheet): text for name, sheet, text in line["names"]},
        {name: tuple(areas) for name, areas in line["merged"].items()},
        {name: frozenset((where, what) for where, what in looks) for name, looks in line["looks"].items()},
    )


def _cell(value: Any) -> SignedCell:
    if not isinstance(value, dict) or "formula" not in value:
        return SignedCell(read_back(value), None, None)
    area = area_of(value["area"]) if "area" in value else None
    return SignedCell(read_back(value["value"]), value["formula"], area, is_calculated=True)


def _add_number(
    signed: SignedContent, number: Mapping[str, Any], *, is_frozen: bool, is_ours: Callable[[str], bool]
) -> None:
    name, spot, area = place_of(number)
    cells = signed.cells.setdefault(name.casefold(), {})
    formula = str(number.get("formula"))
    ours = is_ours(formula)
    for row, values in enumerate(rows_of(number), area.first_row):
        for column, value in enumerate(values, area.first_column):
            is_first = (row, column) == spot and not is_frozen
            cells[row, column] = SignedCell(
                read_back(value),
                formula if is_first else None,
                area if is_first and "area" in number else None,
                ours,
                not ours,
            )


def _spots(area: Area) -> Iterator[Spot]:
    for row in range(area.first_row, area.last_row + 1):
        for column in range(area.first_column, area.last_column + 1):
            yield row, column
