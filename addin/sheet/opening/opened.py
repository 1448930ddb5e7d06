"""A workbook as the sheet in the browser opens it: its XML parts, formulas as typed, and the values it has now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from addin.formulas import MAX_COLUMN, MAX_ROW, Area, Named, Unworkable, may_call, parse
from addin.sheet.formulas import typed_form
from addin.sheet.looks import shown_formats
from addin.sheet.opening.digestible import kept_only, make_digestible
from addin.sheet.opening.named_cells import NamedCells
from addin.sheet.opening.parts import laid_out
from addin.sheet.opening.rows import set_apart, styled_columns
from addin.workbook.calculation.book_formulas import FormulaReader, resting_on
from addin.workbook.calculation.engine_book import cells_of_formula
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import Spot, address
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.refresh.book_dates import LATER
from addin.workbook.template.start import BUTTON_NAME
from udfs.cells import Scalar
from udfs.errors import CellError

_EVERYTHING = Area(1, 1, MAX_ROW, MAX_COLUMN)

_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_NOT_PLAIN_TEXT = re.compile(
    rf"['=#@-]|[\s\d.,:/%$€£¥()+\-e]+(?:[ap]m?)?$|(?:true|false)$|[\s\d/-]*(?:{_MONTH})[a-z]*[\s\d.,:/-]+(?:[ap]m?)?$"
    rf"|[\d\s/-]+(?:{_MONTH})[a-z]*$",
    re.IGNORECASE,
)
"""Text that the page would take for a formula, a number, a date, an error, or for text after an apostrophe."""

_CHANGING = re.compile(r"\b(?:NOW|TODAY|RAND|RANDBETWEEN|RANDARRAY|INFO|CELL)\(", re.IGNORECASE)
"""Functions whose value is another one each time."""

_LINK = re.compile(r"\[.+\]\(.+\)$")
LINK_BREAKER = "\u200b"
"""A space of no width: before text of this form it keeps the component from making a link of it."""

_INLINE = b"inlineStr"
"""How some programs keep text; the component reads shared strings and results only."""


def opened_book(path: Path, *, name: str, namespace: str = "DS", plain: bool = False) -> dict[str, Any]:
    """What the page needs to open the workbook at `path`, as JSON; raises `WorkbookError` for a file that is none.

    `parts`: the XML parts by name, without most cells; `cells`: these, by sheet, as `set_apart` tells; `looks`: the
    number format and the border of each style; `formats`: what some formats are shown as, by their numbers. `values`:
    by sheet and cell, the rows that each formula of ours has in the file; the page shows them until it has its own.
    `stored`: the same of all other formulas, each with its first value only, by which the page's own results are
    checked. `button`: the cell that refreshes when it is selected, if there is one. `active`: the sheet to show, unless
    it is the first. `kept`: what the page does not show, but a copy keeps. `headers`: by sheet, the headers of tables.
    `pivots`: by sheet, the areas that pivot tables fill, in which nothing entered would last. `unlocked`: by protected
    sheet, the areas that may be changed all the same. `plain` leaves out everything but cells and their formats, for a
    component that cannot read the rest.
    """
    with any_failure_explained(path), Package(path) as package:
        book = Book(package)
        sheets = book.sheet_names
        unstable = _unstable(book, namespace)
        stored = {sheet: _stored(book.sheet(sheet), namespace, unstable) for sheet in sheets}
        values = {sheet: _prepared(book, sheet, namespace) for sheet in sheets}
        unlocked = {sheet: list(_unlocked(book, sheet)) for sheet in sheets if _is_protected(book.sheet(sheet))}
        for sheet in sheets:
            make_digestible(book.sheet(sheet), plain=plain)
        return {
            "name": name,
            "cells": {sheet: set_apart(book.sheet(sheet)) for sheet in sheets},
            "looks": [] if book.styles is None else book.styles.formats_and_borders(),
            "formats": {} if book.styles is None else shown_formats(book.styles),
            "parts": laid_out(package, book.changed_parts(), [book.sheet(name).part for name in sheets], plain=plain),
            "values": {sheet: cells for sheet, cells in values.items() if cells},
            "stored": {sheet: cells for sheet, cells in stored.items() if cells},
            "button": _button(book),
            "active": book.active_tab,
            "kept": kept_only(package),
            "headers": _headers(book),
            "unlocked": unlocked,
            "pivots": {sheet: areas for sheet in sheets if (areas := list(_pivot_areas(book, sheet)))},
        }


def _headers(book: Book) -> dict[str, list[str]]:
    """The headers of tables, by sheet: each names its column in the part of the table and in formulas, too."""
    found: dict[str, list[str]] = {}
    for table in book.tables.values():
        if table.header_rows:
            found.setdefault(table.sheet, []).append(str(table.rows_of(("#headers",))._replace(sheet=None)))
    return found


def _is_protected(sheet: Sheet) -> bool:
    protection = sheet.root.find(f"{{{MAIN}}}sheetProtection")
    return protection is not None and protection.get("sheet") in ("1", "true")


def _unlocked(book: Book, name: str) -> Iterator[str]:
    """The cells of a protected sheet that may be changed, and the columns."""
    if (styles := book.styles) is None:
        return
    sheet, is_unlocked = book.sheet(name), cache(styles.is_unlocked)
    yield from (address(spot) for spot in sheet.spots_in(_EVERYTHING) if is_unlocked(sheet.style(spot)))
    for first, last, style in styled_columns(sheet):
        if is_unlocked(int(style)):
            yield str(Area(1, int(first), MAX_ROW, int(last)))


def _pivot_areas(book: Book, name: str) -> Iterator[str]:
    """The areas that pivot tables fill on a sheet: programs write them anew when they open or refresh the book."""
    for _, kind, part in book.package.related(book.sheet(name).part):
        if kind.endswith("/pivotTable"):
            for location in book.package.xml(part).iterfind(f"{{{MAIN}}}location"):
                yield str(location.get("ref"))


def _prepared(book: Book, name: str, namespace: str) -> dict[str, list[list[Scalar]]]:
    """The values of our formulas, by cell; afterwards the sheet is as the component needs it."""
    sheet = book.sheet(name)
    if book.counts_from_1904:
        _count_from_1900(book, sheet)
    values = {}
    for spot, formula in list(sheet.formulas()):
        if _is_ours_alone(formula, namespace) and (rows := _rows(sheet, formula.area)):
            values[address(spot)] = rows
        if formula.is_array:
            _clear_spilled(sheet, spot, formula.area)
    _mark_texts(sheet, rewrite=_INLINE in book.package.text(sheet.part))
    named = NamedCells(book, name)
    sheet.rewrite_formulas(lambda text: typed_form(named.written_out(text), namespace))
    return values


def _stored(sheet: Sheet, namespace: str, unstable: set[Place]) -> dict[str, Any]:
    """Return what the file has for each formula, None where it has no value; what has its rows in `values` is left out.

    So are formulas that are another value whenever they are worked out.
    """
    return {
        address(spot): _stored_value(sheet, spot, formula) if formula.is_calculated else None
        for spot, formula in sheet.formulas()
        if (sheet.name, spot) not in unstable
        and not (_is_ours_alone(formula, namespace) and _rows(sheet, formula.area))
    }


def _stored_value(sheet: Sheet, spot: Spot, formula: Formula) -> Any:
    """The value of a formula, or the rows of one that fills several cells."""
    area = formula.area
    if area.is_cell:
        return _as_shown(sheet.value(spot))
    columns = range(area.first_column, area.last_column + 1)
    return [[_as_shown(sheet.value((row, column))) for column in columns] for row in _row_numbers(area)]


def _unstable(book: Book, namespace: str) -> set[Place]:
    """The formulas that show the time or chance, and those that rest on them."""
    if not any(_CHANGING.search(formula.text) for name in book.sheet_names for _, formula in book.formulas(name)):
        return set()
    formulas = list(FormulaReader(book, namespace).all())
    changing = [each for each in formulas if _CHANGING.search(each.formula.text)]
    cells = by_sheet([cell for each in changing for cell in cells_of_formula(each)])
    return {each.place for each in (*changing, *resting_on(formulas, cells))}


def _as_shown(value: Scalar) -> Any:
    """The value, an error as what a cell shows."""
    return {"error": value.message} if isinstance(value, CellError) else "" if value is None else value


def _count_from_1900(book: Book, sheet: Sheet) -> None:
    """Give the cells that show a day the number by which the component counts it."""
    if (styles := book.styles) is None:
        return
    is_day = cache(styles.is_day)
    for spot in list(sheet.spots_in(_EVERYTHING)):
        value = sheet.value(spot)
        if isinstance(value, float) and value >= 0 and is_day(sheet.style(spot)):
            sheet.write(spot, value + LATER.days)


def shows_day(book: Book, style: int) -> bool:
    """Return whether cells of this style show a day, and not only a time."""
    return book.styles is not None and book.styles.is_day(style)


def _clear_spilled(sheet: Sheet, anchor: Spot, area: Area) -> None:
    """Clear the cells that a formula fills, because the component would find no room for the result in them."""
    for spot in list(sheet.spots_in(area)):
        if spot != anchor and sheet.has_content(spot) and not sheet.has_formula(spot):
            sheet.write(spot, None)


def _mark_texts(sheet: Sheet, *, rewrite: bool) -> None:
    """Write an apostrophe before texts that would not stay text; `rewrite` all that the component does not read."""
    for spot in list(sheet.spots_in(_EVERYTHING)):
        text = sheet.value(spot)
        if not isinstance(text, str) or sheet.has_formula(spot):
            continue
        if _LINK.match(text):
            sheet.write(spot, f"'{LINK_BREAKER}{text}")
        elif _NOT_PLAIN_TEXT.match(text):
            sheet.write(spot, f"'{text}")
        elif rewrite:
            sheet.write(spot, text)


def _is_ours_alone(formula: Formula, namespace: str) -> bool:
    """Return whether the formula is one call of ours, so that its value is the call's."""
    if not may_call(formula.text, namespace):
        return False
    try:
        parse(formula.text, namespace)
    except Unworkable:
        return False
    return True


def _rows(sheet: Sheet, area: Area) -> list[list[Scalar]]:
    """The values of an area; empty where its first cell has none, or shows an error."""
    anchor = (area.first_row, area.first_column)
    if not sheet.is_calculated(anchor) or isinstance(sheet.value(anchor), CellError):
        return []
    columns = range(area.first_column, area.last_column + 1)
    return [[_plain(sheet.value((row, column))) for column in columns] for row in _row_numbers(area)]


def _row_numbers(area: Area) -> range:
    return range(area.first_row, area.last_row + 1)


def _plain(value: Scalar) -> Scalar:
    return "#N/A" if isinstance(value, CellError) else value


def _button(book: Book) -> str | None:
    """The cell of the refresh button as `Sheet!B4`."""
    try:
        return str(book.area_of(Named(BUTTON_NAME), book.sheet_names[0]))
    except (Unworkable, IndexError):
        return None
