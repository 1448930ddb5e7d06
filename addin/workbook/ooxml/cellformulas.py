"""Formulas as a sheet's XML keeps them: shared ones, arrays, and all of a sheet's without keeping the sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from addin.formulas import Area
from addin.formulas.lexer import Token, tokens
from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.positions import Spot, area_of, spot_of, whole_number
from addin.workbook.ooxml.stored import MAIN, is_result
from addin.workbook.ooxml.xmlpart import parse_xml

_C, _F, _V, _ROW, _DATA = (f"{{{MAIN}}}{tag}" for tag in ("c", "f", "v", "row", "sheetData"))
_PARENTS = {_ROW: _DATA, _C: _ROW, _F: _C, _V: _C}
"""Where each element counts; a damaged file may hold it elsewhere too."""
_RULES = (
    *(f"{{{MAIN}}}{tag}" for tag in ("formula", "formula1", "formula2")),
    "{http://schemas.microsoft.com/office/excel/2006/main}f",  # of the newer kinds of rules
)
_ANY_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")


class Formula(NamedTuple):
    """A formula as the file stores it, in the cell at `spot`; `is_array` when the file gives it an area."""

    text: str
    spot: Spot
    filled: Area | None = None
    """The area of an array formula that begins in this cell."""
    is_array: bool = False
    is_dynamic: bool = False
    """Whether its area follows the size of its result, as a spill does."""
    is_calculated: bool = True
    """Whether the file holds a result."""
    headers: tuple[Area, ...] = ()
    """The formulas and values beside a data table, on which it rests as it does on what its text names."""

    @property
    def area(self) -> Area:
        """The cells that it fills."""
        return self.filled or Area(*self.spot, *self.spot)


class FormulaReader:
    """Reads the formulas of one sheet in their order; a shared one is written out for each of its cells."""

    def __init__(self) -> None:
        self._shared: dict[str, tuple[list[Token], Spot]] = {}

    def read(
        self,
        spot: Spot,
        attributes: Mapping[str, str],
        text: str,
        *,
        is_dynamic: bool = False,
        is_calculated: bool = True,
    ) -> Formula:
        """The formula in the cell at `spot`, from its element's attributes and text."""
        kind = attributes.get("t")
        if kind == "shared":
            text = self._written_out(spot, attributes.get("si", ""), text)
        if kind == "dataTable":  # what Excel shows for it in a cell
            text = f"TABLE({attributes.get('r1', '')},{attributes.get('r2', '')})"
        area = area_of(attributes.get("ref", "")) if kind in ("array", "dataTable") else None
        headers = tuple(_headers(area, attributes)) if area is not None and kind == "dataTable" else ()
        if area is not None and (area.first_row, area.first_column) != spot:
            area = None
        return Formula(text, spot, area, kind in ("array", "dataTable"), is_dynamic, is_calculated, headers)

    def _written_out(self, spot: Spot, index: str, text: str) -> str:
        if text:
            self._shared[index] = tokens(text), spot
            return text
        parts, origin = self._shared.get(index, ([], spot))
        return "".join(_moved(part, spot[0] - origin[0], spot[1] - origin[1]) for part in parts)


def _headers(table: Area, attributes: Mapping[str, str]) -> Iterator[Area]:
    """The row above a data table and the column to its left; one with two input cells has its formula in the corner."""
    row, column, last_row, last_column, _ = table
    corner = 1 if attributes.get("dt2D") in ("1", "true") else 0
    if row > 1:
        yield Area(row - 1, max(column - corner, 1), row - 1, last_column)
    if column > 1:
        yield Area(row, column - 1, last_row, column - 1)


def _moved(token: Token, rows: int, columns: int) -> str:
    """A token as it reads some rows and columns away; what leaves the sheet is `#REF!`, as in every spreadsheet."""
    if not (token.kind == "reference" or (token.kind == "name" and "!" in token.text)):
        return token.text
    # It loads all of openpyxl, and only formulas that Excel stores as shared need it.
    from openpyxl.formula.translate import Translator, TranslatorError

    try:
        return str(Translator.translate_range(token.text, rows, columns))  # type: ignore[no-untyped-call]
    except (TranslatorError, ValueError):
        return "#REF!"


def rules_in(root: Any) -> Iterator[Any]:
    """The elements of a sheet's XML that hold the formulas of conditional formats and validations."""
    for part in root:
        if part.tag != _DATA:
            yield from (element for element in part.iter(*_RULES) if element.text)


def is_formula(kind: str | None, text: str | None) -> bool:
    """Return whether an element says what its cell is worked out from: Excel leaves empty ones in spilled cells."""
    return bool(text and text.strip()) or kind in ("shared", "dataTable")


def scanned_formulas(content: bytes, part: str, *, has_placeholders: bool = False) -> Iterator[tuple[Spot, Formula]]:
    """Every formula in a sheet's XML, without building the sheet."""
    if _ANY_FORMULA.search(content):
        yield from parse_xml(content, part, _Scan(part, has_placeholders=has_placeholders))


class _Scan:
    """Collects formulas from the events of a parser."""

    def __init__(self, part: str, *, has_placeholders: bool) -> None:
        self._part = part
        self._has_placeholders = has_placeholders
        self._reader = FormulaReader()
        self._found: list[tuple[Spot, Formula]] = []
        self._row = self._column = 0
        self._parents: list[str] = [""]
        """What the parser is inside of; empty for what does not count."""
        self._cell: Mapping[str, str] = {}
        self._formula: Mapping[str, str] | None = None
        self._text: list[str] | None = None
        self._formula_text = self._value = ""
        self._has_value = self._has_data = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        counts = tag == _DATA or self._parents[-1] == _PARENTS.get(tag)
        if (tag in _PARENTS and not counts) or (tag == _DATA and self._has_data):
            raise damaged(self._part, f"<{tag.rpartition('}')[2]}> stands where not every program looks for it")
        self._has_data |= tag == _DATA
        self._parents.append(tag if counts else "")
        if not counts:
            return
        if tag == _C:
            reference = attributes.get("r")
            self._column = spot_of(reference, self._part)[1] if reference else self._column + 1
            self._cell, self._formula, self._has_value, self._value = dict(attributes), None, False, ""
        elif tag == _F:
            self._formula, self._text = dict(attributes), []
        elif tag == _V:
            self._has_value, self._text = True, []
        elif tag == _ROW:
            self._row = whole_number(attributes.get("r"), self._part, "row number", self._row + 1)
            self._column = 0

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        if not self._parents.pop():
            return
        if tag == _F:
            self._formula_text, self._text = "".join(self._text or ()), None
        elif tag == _V:
            self._value, self._text = "".join(self._text or ()), None
        elif tag == _C and self._formula is not None and is_formula(self._formula.get("t"), self._formula_text):
            spot = (self._row, self._column)
            kind = self._cell.get("t", "n")
            is_calculated = self._has_value and is_result(kind, self._value, has_placeholders=self._has_placeholders)
            formula = self._reader.read(
                spot, self._formula, self._formula_text, is_dynamic="cm" in self._cell, is_calculated=is_calculated
            )
            self._found.append((spot, formula))

    def close(self) -> list[tuple[Spot, Formula]]:
        return self._found
