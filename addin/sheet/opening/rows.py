"""The cells of a sheet apart from its XML: the component reads XML in one go, which takes seconds for large sheets.

Rows that stand apart reach it as many at a time as a page can take without a pause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lxml import etree

from addin.workbook.ooxml.positions import Spot, address, spot_of
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN

_C, _F, _V, _ROW = (f"{{{MAIN}}}{tag}" for tag in ("c", "f", "v", "row"))

_FOR_COMPONENT = re.compile(r"\[|SUBTOTAL\(", re.IGNORECASE)
"""What is in formulas that only the component can translate: other books, tables, and what it has by another name."""

_TEXTS = frozenset(("s", "str", "inlineStr"))
_DIGITS = "0123456789"
_BREAK = re.compile(r"\r\n?")

Cells: TypeAlias = list[float | str | None]
"""Of each cell its column, its style, and what it holds as a user types it; None if it only has a look."""
Apart: TypeAlias = dict[str, Any]


def set_apart(sheet: Sheet) -> Apart:
    """Take the cells out of a sheet's XML that need nothing else of the file, and return them.

    `rows`: of each its number, its cells, and where it has them its style, its height in points, and whether it is
    hidden. `columns`: the first and last column, and the style, of those that have one.
    """
    formulas = {spot: formula.text for spot, formula in sheet.formulas()}
    linked = {link.get("ref") for link in sheet.root.iterfind(f"{{{MAIN}}}hyperlinks/{{{MAIN}}}hyperlink")}
    styled = list(styled_columns(sheet))
    column_of = _Columns(sheet.part)
    rows, number = [], 1
    for row in list(sheet.data):
        number = int(row.get("r", "0"))
        cells: Cells = []
        kept = []
        for cell in row:
            name = cell.get("r", "")
            spot = (number, column_of[name.rstrip(_DIGITS)])
            if name in linked or (spot in formulas and _FOR_COMPONENT.search(formulas[spot])):
                kept.append(cell)
            else:
                cells += (spot[1], _number(cell.get("s")), _typed(sheet, spot, cell, formulas))
        rows.append(_without_blanks([number, cells, *_look_of(row)]))
        if kept or row.get("outlineLevel") or row.get("collapsed"):
            row[:] = kept
        else:
            sheet.data.remove(row)
    for columns in sheet.root.iterfind(f"{{{MAIN}}}cols/{{{MAIN}}}col"):
        columns.attrib.pop("style", "")
    _make_independent(sheet, styled)
    _put_corner(sheet.data, (number, max(column_of.values(), default=1)))
    return {"rows": rows, "columns": styled}


class _Columns(dict[str, int]):
    """The number of each column by its letters."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __missing__(self, letters: str) -> int:
        self[letters] = column = spot_of(f"{letters}1", self._part)[1]
        return column


def _make_independent(sheet: Sheet, styled: Sequence[tuple[float, float, float]]) -> None:
    """Give cells that stay in the XML the texts of which they have the numbers, and the styles of rows and columns."""
    for row in sheet.data:
        for cell in row:
            spot = spot_of(cell.get("r", ""), sheet.part)
            if cell.get("t") == "s":
                sheet.write(spot, sheet.value(spot))
            if not _number(cell.get("s")):
                style = next((style for first, last, style in styled if first <= spot[1] <= last), 0)
                cell.set("s", str(_number(row.get("s")) or style))
        row.attrib.pop("s", "")  # it stands apart, too


def _typed(sheet: Sheet, spot: Spot, cell: etree._Element, formulas: Mapping[Spot, str]) -> str | None:
    """Return what a cell holds, as the component has it when it is typed."""
    if len(cell) and cell[0].tag == _F:
        formula = formulas.get(spot, "")
        return f"={formula.replace('_xlfn.', '', 1).replace('#REF!', '#REF')}" if formula else None
    kind = cell.get("t", "n")
    if kind in _TEXTS:
        return _BREAK.sub("\n", str(sheet.value(spot) or "")) or None
    text = next((child.text for child in cell if child.tag == _V), None)
    if kind == "b" and text is not None:
        return "TRUE" if text in ("1", "true") else "FALSE"
    return text or None


def _look_of(row: etree._Element) -> Iterator[Any]:
    """The style of a row, its height, and whether it is hidden; the component reads the last two of groups of rows."""
    yield _number(row.get("s"))
    yield _number(row.get("ht"))
    yield row.get("hidden") in ("1", "true")


def _without_blanks(values: list[Any]) -> list[Any]:
    """The values without those at the end that say nothing."""
    while values[-1] is False or values[-1] == 0:
        values.pop()
    return values


def _put_corner(data: etree._Element, last: Spot) -> None:
    """Leave a cell where the last row meets the last column, by which the component lays the sheet out."""
    row = data[-1] if len(data) and data[-1].get("r") == str(last[0]) else etree.SubElement(data, _ROW, r=str(last[0]))
    if len(row) == 0 or row[-1].get("r") != address(last):
        etree.SubElement(row, _C, r=address(last))


def styled_columns(sheet: Sheet) -> Iterator[tuple[float, float, float]]:
    """The styles of whole columns: the first, the last, and the number."""
    for columns in sheet.root.iterfind(f"{{{MAIN}}}cols/{{{MAIN}}}col"):
        if style := _number(columns.get("style")):
            yield _number(columns.get("min")), _number(columns.get("max")), style


def _number(text: str | None) -> float:
    """Return the number that an attribute is; 0 for none."""
    if text is None or text.isdecimal():
        return int(text or 0)
    try:
        number = float(text)
    except ValueError:
        return 0
    return int(number) if number.is_integer() else number
