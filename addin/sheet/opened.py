"""A workbook as the sheet in the browser opens it: its XML parts, formulas as typed, and the values it has now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from addin.formulas import Area, Named, Unworkable, parse
from addin.sheet.formulas import typed_form
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import Spot, address
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.xmlpart import xml_bytes
from addin.workbook.template.start import BUTTON_NAME
from udfs.cells import Scalar
from udfs.errors import CellError

_T = f"{{{MAIN}}}t"

_NOT_PLAIN_TEXT = re.compile(r"['=#]|[\s\d.,:/%$€£¥()+\-e]+(?:am|pm)?$|(?:true|false)$|\[.+\]\(.+\)$", re.IGNORECASE)
"""Text that the component would take for a formula, a number, a date, a link, or for text after an apostrophe."""


def opened_book(path: Path, *, name: str, namespace: str = "DS") -> dict[str, Any]:
    """What the page needs to open the workbook at `path`, as JSON; raises `WorkbookError` for a file that is none.

    `parts`: the XML parts by name. `values`: by sheet and cell, the rows that each formula of ours has in the file; the
    page shows them until it has its own. `button`: the cell that refreshes when it is selected, if the book has one.
    """
    with any_failure_explained(path), Package(path) as package:
        book = Book(package)
        values = {sheet: _prepared(book.sheet(sheet), namespace) for sheet in book.sheet_names}
        changed = {**book.changed_parts(), **_plain_texts(book)}
        return {
            "name": name,
            "parts": {part: _text(changed.get(part) or package.text(part)) for part in _xml_parts(package)},
            "values": {sheet: cells for sheet, cells in values.items() if cells},
            "button": _button(book),
        }


def _prepared(sheet: Sheet, namespace: str) -> dict[str, list[list[Scalar]]]:
    """Write formulas as they are typed, and clear the cells into which they spill; the values of our formulas."""
    values = {}
    spilled: list[Spot] = []
    for spot, formula in list(sheet.formulas()):
        if _is_ours_alone(formula, namespace) and (rows := _rows(sheet, formula.area)):
            values[address(spot)] = rows
        if formula.is_array:
            spilled += [other for other in sheet.spots_in(formula.area) if other != spot]
    for spot in spilled:
        if not sheet.has_formula(spot) and sheet.has_content(spot):
            sheet.write(spot, None)
    sheet.rewrite_formulas(lambda text: typed_form(text, namespace))
    return values


def _is_ours_alone(formula: Formula, namespace: str) -> bool:
    """Whether the formula is one call of ours, so that its value is the call's."""
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


def _plain_texts(book: Book) -> dict[str, bytes]:
    """The part of the shared strings, with an apostrophe before each text that would not stay text; none is usual."""
    part = next((part for _, kind, part in book.package.related(book.package.workbook) if _is_strings(kind)), "")
    if part not in book.package:
        return {}
    root = book.package.xml(part)
    for item in root.iterchildren(f"{{{MAIN}}}si"):
        first = next(item.iter(_T), None)
        if first is not None and _NOT_PLAIN_TEXT.match(_whole(item)):
            first.text = f"'{first.text or ''}"
    return {part: xml_bytes(root)}


def _is_strings(kind: str) -> bool:
    return kind.endswith("/sharedStrings")


def _whole(item: etree._Element) -> str:
    return "".join(text.text or "" for text in item.iter(_T))


def _button(book: Book) -> str | None:
    """The cell of the refresh button as `Sheet!B4`."""
    try:
        return str(book.area_of(Named(BUTTON_NAME), book.sheet_names[0]))
    except (Unworkable, IndexError):
        return None


def _xml_parts(package: Package) -> Iterator[str]:
    return (part for part in package.parts() if part.endswith((".xml", ".rels")))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
