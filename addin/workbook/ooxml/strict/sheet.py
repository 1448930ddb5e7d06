"""The XML of a sheet: each cell once, in order, with one value, in the one place where programs look for cells."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from addin.formulas import Area
from addin.workbook.ooxml.errors import WorkbookError, damaged
from addin.workbook.ooxml.positions import CellIndex, area_of
from addin.workbook.ooxml.stored import day_of

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_C, _F, _V, _IS, _ROW, _DATA, _T, _R, _RPH = (
    f"{{{MAIN}}}{tag}" for tag in ("c", "f", "v", "is", "row", "sheetData", "t", "r", "rPh")
)
_MERGE = f"{{{MAIN}}}mergeCell"
_MERGES = f"{{{MAIN}}}mergeCells"
_PHONETIC, _LOOK = f"{{{MAIN}}}phoneticPr", f"{{{MAIN}}}rPr"
_CELL_NAMES = frozenset(("sheetData", "c", "v", "is", "row"))
"""What some programs look for wherever it stands, and whatever it belongs to."""
_ROW_OF_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}row"

_OF_ROW = frozenset(
    "r spans s customFormat ht hidden customHeight outlineLevel collapsed thickTop thickBot ph".split()  # noqa: SIM905
)
_OF_CELL = frozenset(("r", "s", "t", "cm", "vm", "ph"))
_OF_FORMULA = frozenset("t aca ref dt2D dtr del1 del2 r1 r2 ca si bx".split())  # noqa: SIM905
_OWN_NAMES = _OF_ROW | _OF_CELL | _OF_FORMULA

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?")
_VALUES = {
    "b": re.compile("[01]"),
    "s": re.compile("[0-9]{1,9}"),
    "e": re.compile(r"#[A-Z0-9/_!?]{2,30}"),
    "str": re.compile(".*", re.DOTALL),
    "inlineStr": re.compile(""),
    "d": re.compile(r"(?:190[1-9]|19[1-9]\d|[2-9]\d{3})-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3,6})?Z?)?", re.ASCII),
}
_VALUE_REQUIRED = frozenset(("s", "b", "e", "d"))


def check_tree(root: Any, part: str) -> None:
    """Raise `WorkbookError` for a sheet in which cells stand anywhere but in one list of rows."""
    data = [child for child in root if child.tag == _DATA]
    if root.tag != f"{{{MAIN}}}worksheet" or len(data) > 1:
        raise damaged(part, "it holds more than one list of cells, or is no sheet")
    for child in root:
        if child.tag != _DATA:
            for element in child.iter():
                if _local(element.tag) in _CELL_NAMES and element.tag != _ROW_OF_DRAWING:
                    raise damaged(part, f"<{_local(element.tag)}> stands outside of the list of cells")
    _check_merged(root, part)


def cells_of_row(row: Any, part: str) -> list[Any]:
    """The cells of a row; raises `WorkbookError` for what is no row, or has or holds what no row does."""
    if row.tag != _ROW or not _OF_ROW.issuperset(row.keys()):
        _check_attributes(row, _ROW, _OF_ROW, part)
    cells: list[Any] = row.findall(_C)  # not asked for their tags, each of which would remember it in a hundred bytes
    for other in row if len(cells) != len(row) else ():
        _check_attributes(other, _C, _OF_CELL, part)
    _check_blank(row, cells, part)
    return cells


def check_cell(cell: Any, part: str, formatted: Collection[str]) -> float | None:
    """Raise `WorkbookError` for a cell whose value programs could read in two ways; the number in an ordinary one.

    `formatted` are the rich values that only say how the number in a cell looks.
    """
    attributes = cell.attrib
    if not _OF_CELL.issuperset(attributes):
        _check_attributes(cell, _C, _OF_CELL, part)
    kind = attributes.get("t")
    if kind in (None, "n") and "vm" in attributes and attributes["vm"] not in formatted:
        raise _odd(cell, part, "Excel shows another value than its number")
    count = len(cell)
    if count and kind in (None, "n"):  # most are a number, or a formula with one
        value = cell[-1]
        if value.tag == _V and (count == 1 or (count == 2 and _is_plain_formula(cell, value))):
            number = _plain_number(value)
            if number is not None:
                return number
    if count:
        _check_contents(cell, kind or "n", part)
    elif cell.text and not cell.text.isspace():
        raise _odd(cell, part, "it holds text of its own")
    return None


def _plain_number(value: Any) -> float | None:
    text = value.text
    if text is None or len(value) or value.attrib or _NUMBER.fullmatch(text) is None:
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _is_plain_formula(cell: Any, value: Any) -> bool:
    """Return whether a cell begins with an ordinary formula, and no letters stand between its parts."""
    formula = cell[0]
    is_plain = formula.tag == _F and not formula.attrib and not len(formula)
    return is_plain and cell.text is None and formula.tail is None and value.tail is None


def _check_contents(cell: Any, kind: str, part: str) -> None:
    tags = [child.tag for child in cell]
    expected = [tag for tag in (_F, _V, _IS) if tag in tags]
    if tags != expected:
        names = ", ".join(f"<{_local(tag)}>" for tag in tags)
        raise _odd(cell, part, f"it holds {names}, not one formula and one value")
    if (_IS in tags) != (kind == "inlineStr") or (len(tags) > 1 and tags[1] == _IS):
        raise _odd(cell, part, "it has both a text of its own and a value")
    for child in cell:
        if child.tag == _V:
            _check_value(cell, kind, child, part)
        elif child.tag == _F:
            _check_attributes(child, _F, _OF_FORMULA, part)
            if len(child):
                raise _odd(cell, part, "its formula holds further elements")
        else:
            check_text_item(child, part)
    check_blank(cell, part)


def _check_value(cell: Any, kind: str, value: Any, part: str) -> None:
    text = value.text or ""
    if len(value):
        raise _odd(cell, part, "its value holds further elements")
    _check_attributes(value, _V, frozenset(), part)
    if kind == "n":
        is_right = not text or (_NUMBER.fullmatch(text) is not None and math.isfinite(float(text)))
    elif kind not in _VALUES:
        raise _odd(cell, part, f"its value is of the kind {kind[:20]!r}, which not every program knows")
    else:
        is_right = _VALUES[kind].fullmatch(text) is not None or (not text and kind not in _VALUE_REQUIRED)
        is_right = is_right and (kind != "d" or day_of(text) is not None)
    if not is_right:
        raise _odd(cell, part, f"its value is {text[:40]!r}, which not every program reads alike")


def check_text_item(item: Any, part: str) -> None:
    """Raise `WorkbookError` for a text with anything but its characters, their looks and phonetic hints."""
    plain = 0
    for child in item:
        if child.tag == _T and not len(child):
            plain += 1
        elif child.tag in (_R, _RPH):
            if any(len(inner) for inner in child if inner.tag == _T) or any(
                inner.tag not in (_T, _LOOK) for inner in child
            ):
                raise damaged(part, "a text is made of unusual elements")
            if child.tag == _R and sum(inner.tag == _T for inner in child) > 1:
                plain += 2
        elif child.tag != _PHONETIC:
            raise damaged(part, "a text is made of unusual elements")
    if plain > 1 or (plain and any(child.tag == _R for child in item)):
        raise damaged(part, "a text stands in it twice")


def check_arrays(arrays: Mapping[tuple[int, int], Area | None], formulas: CellIndex, part: str) -> None:
    """Raise `WorkbookError` for array formulas that begin elsewhere, overlap, or cover a cell with a formula."""
    wide = []
    for spot, area in arrays.items():
        where = str(Area(*spot, *spot))
        if area is None or (area.first_row, area.first_column) != spot:
            raise damaged(part, f"{where}: an array formula fills cells that do not begin with its own")
        if not area.is_cell:
            wide.append(area)
            if any(other != spot for other in formulas.inside(area)):
                raise damaged(part, f"{where}: an array formula covers cells with formulas of their own")
    if (twice := _first_overlap(wide)) is not None:
        raise damaged(part, f"{twice}: two array formulas fill the same cells")


def _first_overlap(areas: Iterable[Area]) -> Area | None:
    """An area that has cells in common with one before it, from above."""
    open_ones: list[Area] = []
    for area in sorted(areas):
        open_ones = [each for each in open_ones if each.last_row >= area.first_row]
        if any(e.first_column <= area.last_column and area.first_column <= e.last_column for e in open_ones):
            return area
        open_ones.append(area)
    return None


def _check_merged(root: Any, part: str) -> None:
    lists = root.findall(_MERGES)
    if len(lists) > 1:
        raise damaged(part, "it has two lists of merged cells")
    areas = (area_of(element.get("ref", "")) for element in root.iter(_MERGE))
    if (twice := _first_overlap(area for area in areas if area is not None)) is not None:
        raise damaged(part, f"the merged cells {twice} overlap others")


def _check_attributes(element: Any, tag: str, own: frozenset[str], part: str) -> None:
    if element.tag != tag:
        raise damaged(part, f"<{_local(element.tag)}> stands where only <{_local(tag)}> may")
    for name in element.attrib:
        if name not in own and (not name.startswith("{") or _local(name) in _OWN_NAMES):
            raise damaged(
                part, f"<{_local(tag)}> has the attribute {_local(name)!r}, which no spreadsheet program writes"
            )


def check_blank(element: Any, part: str) -> None:
    """Raise `WorkbookError` for letters between the elements of a list of cells."""
    _check_blank(element, element, part)


def _check_blank(element: Any, children: Iterable[Any], part: str) -> None:
    texts = [element.text, *[child.tail for child in children]]
    if any(text and not text.isspace() for text in texts):
        raise damaged(part, "text stands between the cells")


def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]


def _odd(cell: Any, part: str, what: str) -> WorkbookError:
    return damaged(f"{part}, {cell.get('r', 'a cell')}", what)
