"""One sheet's XML: reading cells, and writing values without touching anything else in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from lxml import etree
from openpyxl.formula.translate import Translator
from openpyxl.utils.cell import column_index_from_string, get_column_letter

from addin.formulas import Area
from addin.workbook.ooxml.package import xml_bytes
from udfs.cells import Scalar, serial
from udfs.errors import CellError, ErrorCode

Spot: TypeAlias = tuple[int, int]
"""A cell's row and column, both from 1."""

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_C, _F, _V, _IS, _T, _ROW, _PHONETIC = (f"{{{MAIN}}}{tag}" for tag in ("c", "f", "v", "is", "t", "row", "rPh"))
_SPOT = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_UNSAFE_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED_XML = re.compile(r"_x([0-9A-Fa-f]{4})_")
_column = cache(column_index_from_string)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as the file stores it, and the cells it fills; `is_array` when the file gives it an area."""

    text: str
    area: Area
    is_array: bool


class Sheet:
    """The cells of one sheet, over its XML; writes change the tree, `content` is the part's new bytes."""

    def __init__(self, name: str, part: str, root: etree._Element, strings: Sequence[str]) -> None:
        self.name = name
        self.part = part
        self.is_changed = False
        self._root = root
        self._strings = strings
        data = root.find(f"{{{MAIN}}}sheetData")
        self._data = data if data is not None else etree.SubElement(root, f"{{{MAIN}}}sheetData")
        self._rows: dict[int, etree._Element] = {}
        self._cells: dict[Spot, etree._Element] = {}
        self._index()
        self._row_numbers = sorted(self._rows)

    def _index(self) -> None:
        """Index rows and cells by position; one without an `r` follows the one before it."""
        row_number = 0
        for row in self._data.iterchildren(_ROW):
            row_number = int(row.get("r") or row_number + 1)
            self._rows[row_number] = row
            column = 0
            for cell in row.iterchildren(_C):
                reference = cell.get("r")
                column = _column_of(reference) if reference else column + 1
                if not reference:
                    cell.set("r", f"{get_column_letter(column)}{row_number}")
                self._cells[row_number, column] = cell

    def spots_in(self, area: Area) -> Iterator[Spot]:
        """The cells that exist inside `area`."""
        rows = range(area.first_row, area.last_row + 1)
        columns = range(area.first_column, area.last_column + 1)
        if len(rows) * len(columns) > len(self._cells):
            yield from (spot for spot in self._cells if area.contains(*spot))
        else:
            yield from (spot for spot in product(rows, columns) if spot in self._cells)

    def value(self, spot: Spot) -> Scalar:
        """The value stored in a cell, None for a blank one; dates are their serial numbers."""
        cell = self._cells.get(spot)
        if cell is None:
            return None
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _unescaped("".join(map(text_of, cell.iter(_IS))))
        text = cell.findtext(_V)
        if not text:
            return None
        match kind:
            case "s":
                return _unescaped(self._strings[int(text)]) if int(text) < len(self._strings) else None
            case "b":
                return text == "1"
            case "e":
                return CellError(ErrorCode.NA, text)
            case "n":
                return float(text)
            case _:
                return _unescaped(text)

    def formulas(self) -> Iterator[tuple[Spot, Formula]]:
        """Every formula of the sheet; shared ones are written out for each cell."""
        shared: dict[str, tuple[str, str]] = {}
        for spot, cell in self._cells.items():
            element = cell.find(_F)
            if element is None:
                continue
            text = element.text or ""
            here = f"{get_column_letter(spot[1])}{spot[0]}"
            if element.get("t") == "shared":
                index = element.get("si", "")
                if text:
                    shared[index] = (text, here)
                elif index in shared:
                    master, origin = shared[index]
                    text = Translator(f"={master}", origin).translate_formula(here)[1:]
            is_array = element.get("t") == "array"
            area = _area(element.get("ref", "")) if is_array else None
            yield spot, Formula(text, area or Area(*spot, *spot), is_array)

    def array_at(self, spot: Spot) -> Area | None:
        """The cells that the array formula in a cell fills; None where there is none."""
        cell = self._cells.get(spot)
        element = cell.find(_F) if cell is not None else None
        return _area(element.get("ref", "")) if element is not None and element.get("t") == "array" else None

    def has_content(self, spot: Spot) -> bool:
        """Whether a cell holds a value or a formula."""
        cell = self._cells.get(spot)
        return cell is not None and len(cell) > 0

    def merged(self) -> list[Area]:
        """The merged areas, into which nothing can spill."""
        areas = (_area(element.get("ref", "")) for element in self._root.iter(f"{{{MAIN}}}mergeCell"))
        return [area for area in areas if area is not None]

    def write(self, spot: Spot, value: Scalar, *, like: Spot | None = None) -> None:
        """Write a value into a cell, which keeps its formula and style; a new cell gets the style of cell `like`."""
        cell = self._cells.get(spot)
        if cell is None:
            if value is None:
                return
            cell = self._new_cell(spot, like)
        self.is_changed = True
        for old in (*cell.findall(_V), *cell.findall(_IS)):
            cell.remove(old)
        kind, text = _stored(value)
        cell.attrib.pop("t", "")
        if kind:
            cell.set("t", kind)
        if text is not None:
            stored = etree.SubElement(cell, _V)
            stored.text = text
            if kind == "str" and text != text.strip():
                stored.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")

    def freeze(self, spot: Spot) -> None:
        """Replace a cell's formula by the value that it shows."""
        self.is_changed = True
        cell = self._cells[spot]
        for formula in cell.findall(_F):
            cell.remove(formula)
        cell.attrib.pop("cm", "")

    def resize(self, spot: Spot, area: Area) -> None:
        """Set the area that the array formula in a cell fills."""
        self.is_changed = True
        element = self._cells[spot].find(_F)
        if element is not None:
            element.set("ref", str(area))
        dimension = self._root.find(f"{{{MAIN}}}dimension")
        old = _area(dimension.get("ref", "")) if dimension is not None else None
        if dimension is not None and old is not None:
            whole = Area(
                min(old.first_row, area.first_row),
                min(old.first_column, area.first_column),
                max(old.last_row, area.last_row),
                max(old.last_column, area.last_column),
            )
            dimension.set("ref", str(whole))

    def content(self) -> bytes:
        """The part's bytes."""
        return xml_bytes(self._root)

    def _new_cell(self, spot: Spot, like: Spot | None) -> etree._Element:
        row = self._row(spot[0])
        cell = etree.Element(_C, r=f"{get_column_letter(spot[1])}{spot[0]}")
        if style := self._style(row, spot[1], like):
            cell.set("s", style)
        row.attrib.pop("spans", "")
        last = row[-1] if len(row) else None
        if last is None or _column_of(last.get("r", "A1")) < spot[1]:
            row.append(cell)
        else:
            after = next(i for i, other in enumerate(row) if _column_of(other.get("r", "A1")) > spot[1])
            row.insert(after, cell)
        self._cells[spot] = cell
        return cell

    def _style(self, row: etree._Element, column: int, like: Spot | None) -> str | None:
        """The style of a new cell: that of the cell it is like, else of its row, else of its column."""
        model = self._cells.get(like) if like else None
        if model is not None:
            return model.get("s")
        if row.get("customFormat") in ("1", "true"):
            return row.get("s")
        for columns in self._root.iterfind(f"{{{MAIN}}}cols/{{{MAIN}}}col"):
            if int(columns.get("min", 0)) <= column <= int(columns.get("max", 0)):
                return columns.get("style")
        return None

    def _row(self, number: int) -> etree._Element:
        row = self._rows.get(number)
        if row is None:
            row = etree.Element(_ROW, r=str(number))
            at = bisect_left(self._row_numbers, number)
            self._data.insert(at, row)
            self._row_numbers.insert(at, number)
            self._rows[number] = row
        return row


def text_of(item: Any) -> str:
    """The text of a rich string, without its phonetic hints."""
    return "".join(run.text or "" for run in item.iter(_T) if run.getparent().tag != _PHONETIC)


def same_value(old: Scalar, new: Scalar) -> bool:
    """Whether a cell that holds `old` would hold the same after `new` is written into it."""
    match new:
        case None | "":
            return old in (None, "")
        case bool() | str():
            return type(old) is type(new) and old == new
        case CellError():
            return isinstance(old, CellError) and old.message == str(new.code)
        case int() | float():
            return isinstance(old, float) and old == new
        case _:
            return isinstance(old, float) and old == serial(new)


def _stored(value: Scalar) -> tuple[str | None, str | None]:
    """The type mark and text under which the file keeps a value."""
    match value:
        case None:
            return None, None
        case bool():
            return "b", str(int(value))
        case int() | float():
            return None, repr(value)
        case str():
            return "str", _UNSAFE_XML.sub(_escaped, value)
        case CellError():
            return "e", str(value.code)
        case _:
            return None, repr(serial(value))


def _escaped(match: re.Match[str]) -> str:
    return f"_x{ord(match[0]):04X}_"


def _unescaped(text: str) -> str:
    return _ESCAPED_XML.sub(lambda match: chr(int(match[1], 16)), text)


def _column_of(reference: str) -> int:
    match = _SPOT.match(reference)
    return _column(match[1] if match else "A")


def _area(reference: str) -> Area | None:
    first, _, last = reference.partition(":")
    one, other = _SPOT.fullmatch(first), _SPOT.fullmatch(last or first)
    if not one or not other:
        return None
    return Area(int(one[2]), _column(one[1]), int(other[2]), _column(other[1]))
