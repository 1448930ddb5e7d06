"""One sheet's XML: reading cells, and writing values without touching anything else in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from lxml import etree

from addin.formulas import Area
from addin.workbook.ooxml.cellformulas import Formula, FormulaReader, is_formula, rules_in
from addin.workbook.ooxml.positions import CellIndex, Spot, address, area_of, whole_number
from addin.workbook.ooxml.stored import MAIN, is_result, loaded, stored, text_of, unescaped
from addin.workbook.ooxml.strict.rows import Row, indexed
from addin.workbook.ooxml.strict.sheet import check_arrays, check_tree
from addin.workbook.ooxml.xmlpart import xml_bytes
from udfs.cells import Scalar

_C, _F, _V, _IS, _ROW = (f"{{{MAIN}}}{tag}" for tag in ("c", "f", "v", "is", "row"))
_CONTENTS = frozenset((_V, _IS))


SEEN_HEIGHT_POINTS, SEEN_WIDTH_LETTERS = 4.0, 1.0
"""Lower rows and narrower columns show nothing that could be read."""


def is_too_small(size: str | None, seen: float) -> bool:
    """Return whether a height or a width is given, and too small to show anything."""
    try:
        return size is not None and float(size) < seen
    except ValueError:
        return False


class Sheet:
    """The cells of one sheet, over its XML; writes change the tree, `content` is the part's new bytes.

    Raises `WorkbookError` for rows and cells that are not where a sheet has any.
    """

    def __init__(
        self,
        name: str,
        part: str,
        root: etree._Element,
        strings: Sequence[str],
        *,
        has_placeholders: bool = False,
        first_day: float = 0.0,
        formatted: Collection[str] = (),
    ) -> None:
        """`first_day` is the serial number, as most books count, of the day that this one counts as 0.

        `formatted` are the rich values that only say how the number in a cell looks.
        """
        self.name = name
        self.part = part
        self.is_changed = False
        self._root = root
        self._strings = strings
        self._has_placeholders = has_placeholders
        self._first_day = first_day
        check_tree(root, part)
        data = root.find(f"{{{MAIN}}}sheetData")
        self._data = data if data is not None else etree.SubElement(root, f"{{{MAIN}}}sheetData")
        self._rows = indexed(self._data, part, formatted)
        self._row_numbers = sorted(self._rows)
        self._used: dict[Area, Area] = {}
        self._formulas: list[tuple[Spot, Formula]] | None = None
        columns = root.iterfind(f"{{{MAIN}}}cols/{{{MAIN}}}col")
        self._has_column_styles = any(column.get("style", "0") != "0" for column in columns)

    def spots_in(self, area: Area) -> Iterator[Spot]:
        """The cells that exist inside `area`, row by row."""
        start, end = bisect_left(self._row_numbers, area.first_row), bisect_right(self._row_numbers, area.last_row)
        width = area.last_column - area.first_column + 1
        for number in self._row_numbers[start:end]:
            cells = self._rows[number].cells
            few = width <= len(cells)
            columns = range(area.first_column, area.last_column + 1) if few else sorted(cells)
            yield from ((number, column) for column in columns if column in cells and area.contains(number, column))

    def filled(self) -> Iterator[Spot]:
        """Every cell that holds a value or a formula."""
        yield from (
            (number, column) for number, row in self._rows.items() for column, cell in row.cells.items() if len(cell)
        )

    def used_part(self, area: Area) -> Area:
        """Of an area, only as much as holds something; at least its first cell."""
        if area not in self._used:
            used = [spot for spot in self.spots_in(area) if self.has_content(spot) and self.value(spot) is not None]
            last_row = max((row for row, _ in used), default=area.first_row)
            last_column = max((column for _, column in used), default=area.first_column)
            self._used[area] = area._replace(last_row=last_row, last_column=last_column)
        return self._used[area]

    def value(self, spot: Spot) -> Scalar:
        """The value stored in a cell, None for a blank one; dates are their serial numbers."""
        row = self._rows.get(spot[0])
        if row is None:
            return None
        if (number := row.numbers.get(spot[1])) is not None:
            return number
        cell = row.cells.get(spot[1])
        if cell is None:
            return None
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return unescaped("".join(map(text_of, cell.iter(_IS))))
        element = _value_of(cell)
        text = element.text if element is not None else None
        if text == "0" and self._has_placeholders and cell.find(_F) is not None and not self._has_result(cell):
            return None
        if not text:
            return None
        value = loaded(kind, text, self._strings, self.part, spot)
        return value - self._first_day if kind == "d" and type(value) is float else value

    def shown(self, spot: Spot) -> Scalar:
        """Return what programs show in a cell: its value, and also a zero that nobody may have worked out."""
        value = self.value(spot)
        if value is None and self._has_placeholders and self.has_result(spot):
            return 0.0
        return value

    def has_result(self, spot: Spot) -> bool:
        """Return whether the file holds anything for programs to show in a cell, an empty text included."""
        cell = self._cell(spot)
        element = None if cell is None else _value_of(cell)
        return cell is not None and (
            cell.get("t") in ("str", "inlineStr") or (element is not None and bool(element.text))
        )

    def is_calculated(self, spot: Spot) -> bool:
        """Return whether a cell's formula has a result in the file, a blank one included."""
        cell = self._cell(spot)
        return cell is not None and self._has_result(cell)

    def _has_result(self, cell: etree._Element) -> bool:
        value = _value_of(cell)
        if value is None:
            return False
        return is_result(cell.get("t", "n"), value.text or "", has_placeholders=self._has_placeholders)

    def formulas(self) -> Iterator[tuple[Spot, Formula]]:
        """Every formula of the sheet; shared ones are written out for each cell."""
        if self._formulas is None:
            self._formulas = list(self._read_formulas())
            self._check_arrays(self._formulas)
        return iter(self._formulas)

    def _check_arrays(self, formulas: Sequence[tuple[Spot, Formula]]) -> None:
        arrays = {spot: self.array_at(spot) for spot, formula in formulas if formula.is_array}
        if arrays:
            check_arrays(arrays, CellIndex(spot for spot, formula in formulas if formula.text), self.part)

    def _read_formulas(self) -> Iterator[tuple[Spot, Formula]]:
        reader = FormulaReader()
        for spot, cell, element in self._formula_cells():
            is_calculated = spot[1] in self._rows[spot[0]].numbers or self._has_result(cell)
            is_dynamic = cell.get("cm") is not None
            if element.get("t") is None:
                yield spot, Formula(element.text or "", spot, is_dynamic=is_dynamic, is_calculated=is_calculated)
            else:
                attributes: Any = element.attrib
                text = element.text or ""
                yield spot, reader.read(spot, attributes, text, is_dynamic=is_dynamic, is_calculated=is_calculated)

    def rewrite_formulas(self, mend: Callable[[str], str]) -> list[Spot]:
        """Replace the text of every formula by what `mend` makes of it; the cells whose formula is another one now."""
        changed: list[Spot] = []
        if all(mend(formula.text) == formula.text for _, formula in self.formulas()):
            return changed
        for spot, _, element in self._formula_cells():
            text = element.text
            if text and (mended := mend(text)) != text:
                element.text = mended
                changed.append(spot)
        if changed:
            self._change()
        return changed

    def unshare(self, is_wanted: Callable[[str], bool]) -> None:
        """Write the shared formulas that are wanted out in each of their cells."""
        texts = {spot: formula.text for spot, formula in self.formulas() if is_wanted(formula.text)}
        for spot, _, element in self._formula_cells():
            if element.get("t") == "shared" and spot in texts:
                element.attrib.clear()
                element.text = texts[spot]
                self._change()

    def is_shared(self, spot: Spot) -> bool:
        """Return whether the formula in a cell is one that several share."""
        cell = self._cell(spot)
        element = cell.find(_F) if cell is not None else None
        return element is not None and element.get("t") == "shared"

    def leads_shared(self, spot: Spot) -> bool:
        """Return whether the formula in a cell is the one that others share."""
        cell = self._cell(spot)
        element = cell.find(_F) if cell is not None else None
        return element is not None and element.get("t") == "shared" and bool(element.text)

    def rules(self) -> list[str]:
        """The formulas of conditional formats and validations."""
        return [element.text or "" for element in rules_in(self._root)]

    def rewrite_rules(self, mend: Callable[[str], str]) -> None:
        """Replace the formulas of conditional formats and validations by what `mend` makes of them."""
        for element in rules_in(self._root):
            if (mended := mend(element.text or "")) != element.text:
                element.text = mended
                self.is_changed = True

    def has_empty_text(self, spot: Spot) -> bool:
        """Return whether a cell without a formula holds an empty text in a form that some programs take for a blank."""
        return self.value(spot) is None and self.is_calculated(spot) and not self.has_formula(spot)

    def has_formula(self, spot: Spot) -> bool:
        """Return whether a cell holds a formula."""
        cell = self._cell(spot)
        element = cell.find(_F) if cell is not None else None
        return element is not None and is_formula(element.get("t"), element.text)

    def array_at(self, spot: Spot) -> Area | None:
        """The cells that the array formula or data table in a cell fills; None where there is none."""
        cell = self._cell(spot)
        element = cell.find(_F) if cell is not None else None
        fills = element is not None and element.get("t") in ("array", "dataTable")
        return area_of(element.get("ref", "")) if element is not None and fills else None

    def has_content(self, spot: Spot) -> bool:
        """Return whether a cell holds a value or a formula."""
        cell = self._cell(spot)
        return cell is not None and len(cell) > 0

    def rich_values(self) -> Iterator[Spot]:
        """The cells in whose place Excel shows a value that stands elsewhere in the file."""
        for number, row in self._rows.items():
            yield from ((number, column) for column, cell in row.cells.items() if "vm" in cell.attrib)

    def shows_other_value(self, spot: Spot) -> bool:
        """Return whether Excel shows another value in a cell than the text or error that it holds for old programs.

        Such are its younger errors (`#SPILL!`, `#BUSY!`), data types and pictures.
        """
        cell = self._cell(spot)
        return cell is not None and "vm" in cell.attrib and cell.get("t", "n") != "n"

    def drop_rich_value(self, spot: Spot) -> None:
        """Let Excel show what a cell holds, not what stands elsewhere in the file."""
        cell = self._cell(spot)
        if cell is not None and "vm" in cell.attrib:
            self.is_changed = True
            del cell.attrib["vm"]

    def is_hidden(self, number: int) -> bool:
        """Return whether a row is not shown: by hand, by a filter, or because it has no height."""
        row = self._rows[number].element
        if row.get("hidden") in ("1", "true") or is_too_small(row.get("ht"), SEEN_HEIGHT_POINTS):
            return True
        default = self._root.find(f"{{{MAIN}}}sheetFormatPr")
        return default is not None and default.get("zeroHeight") in ("1", "true") and row.get("ht") is None

    def merged(self) -> list[Area]:
        """The merged areas, into which nothing can spill."""
        areas = (
            area_of(element.get("ref", ""))
            for element in self._root.iterfind(f"{{{MAIN}}}mergeCells/{{{MAIN}}}mergeCell")
        )
        return [area for area in areas if area is not None]

    def conditional_styles(self) -> Iterator[tuple[str, int]]:
        """The areas of each rule of the conditional formats that lays a style over cells, and the style's number."""
        for group in self._root.iterfind(f"{{{MAIN}}}conditionalFormatting"):
            for rule in group.iterfind(f"{{{MAIN}}}cfRule"):
                if rule.get("dxfId") is not None:
                    yield group.get("sqref", ""), whole_number(rule.get("dxfId"), self.part, "style")

    def style(self, spot: Spot) -> int:
        """The number of a cell's style; a cell that is not there has that of its row or column."""
        cell = self._cell(spot)
        row = self._rows.get(spot[0])
        text = cell.get("s") if cell is not None else self._style(row.element if row else None, spot[1], None)
        return whole_number(text, self.part, "style")

    def styles(self, spot: Spot) -> tuple[int, int]:
        """The number of a cell's style, and the one that programs take for a cell that names none: of row or column."""
        own = self.style(spot)
        cell = self._cell(spot)
        if cell is None or cell.get("s") is not None:
            return own, own
        row = self._rows[spot[0]].element
        if not self._has_column_styles and row.get("customFormat") is None:  # nearly always
            return own, own
        return own, whole_number(self._style(row, spot[1], None), self.part, "style")

    def restyle(self, spot: Spot, style: int) -> None:
        """Give a cell another style."""
        self.is_changed = True
        cell = self._cell(spot)
        if cell is None:
            cell = self._new_cell(spot, None)
        cell.set("s", str(style))

    def write(self, spot: Spot, value: Scalar, *, like: Spot | None = None) -> None:
        """Write a value into a cell, which keeps its formula and style; a new cell gets the style of cell `like`."""
        cell = self._cell(spot)
        if cell is None:
            if value is None:
                return
            cell = self._new_cell(spot, like)
        self._change()
        self._rows[spot[0]].numbers.pop(spot[1], None)
        self._used.clear()
        kind, text = stored(value)
        if kind is not None or text is None or cell.get("t", "n") != "n":
            cell.attrib.pop("vm", "")  # Excel would go on showing the value of before, which stands elsewhere
        if cell.get("t") != kind:
            cell.attrib.pop("t", "")
            if kind:
                cell.set("t", kind)
        elif kind is None and text is not None and (element := _value_of(cell)) is not None:
            element.text = text  # most cells hold a number, and go on holding one
            return
        for old in [child for child in cell if child.tag in _CONTENTS]:
            cell.remove(old)
        if text is not None:
            element = etree.SubElement(cell, _V)
            element.text = text
            if kind == "str" and text != text.strip():
                element.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")

    def freeze(self, spot: Spot) -> None:
        """Replace a cell's formula by the value that it shows."""
        self._change()
        cell = self._cell(spot)
        if cell is not None:
            for formula in cell.findall(_F):
                cell.remove(formula)
            cell.attrib.pop("cm", "")
            cell.attrib.pop("vm", "")

    def put_formula(self, spot: Spot, text: str, *, spills: str = "") -> None:
        """Replace what a cell holds by a formula as files have it, without a value; with the mark `spills` it may."""
        self._change()
        cell = self._cell(spot)
        if cell is None:
            cell = self._new_cell(spot, None)
        self._rows[spot[0]].numbers.pop(spot[1], None)
        for child in [child for child in cell if child.tag in (_F, *_CONTENTS)]:
            cell.remove(child)
        for name in ("t", "cm", "vm"):
            cell.attrib.pop(name, "")
        element = etree.Element(_F)
        element.text = text
        cell.insert(0, element)
        if spills:
            cell.set("cm", spills)
            element.set("t", "array")
            element.set("ref", address(spot))

    def write_formula(self, spot: Spot, text: str, area: Area | None = None) -> None:
        """Put a formula into a cell, which keeps its value; with `area`, an array formula that fills these cells."""
        self._change()
        cell = self._cell(spot)
        if cell is None:
            cell = self._new_cell(spot, None)
        for old in cell.findall(_F):
            cell.remove(old)
        element = (
            etree.Element(_F) if area is None else etree.Element(_F, t="array", ref=str(area._replace(sheet=None)))
        )
        element.text = text.removeprefix("=")
        if cell.get("t") == "inlineStr":  # a result is no text of its own
            shown = self.value(spot)
            for child in list(cell):
                cell.remove(child)
            cell.set("t", "str")
            etree.SubElement(cell, _V).text = str(shown)
        cell.insert(0, element)

    def resize(self, spot: Spot, area: Area) -> None:
        """Set the area that the array formula in a cell fills."""
        self._change()
        cell = self._cell(spot)
        element = cell.find(_F) if cell is not None else None
        if element is not None:
            element.set("ref", str(area))
        dimension = self._root.find(f"{{{MAIN}}}dimension")
        old = area_of(dimension.get("ref", "")) if dimension is not None else None
        if dimension is not None and old is not None:
            whole = Area(
                min(old.first_row, area.first_row),
                min(old.first_column, area.first_column),
                max(old.last_row, area.last_row),
                max(old.last_column, area.last_column),
            )
            dimension.set("ref", str(whole))

    @property
    def root(self) -> etree._Element:
        """The part's root element; who changes more of it than cells has to say so by `is_changed`."""
        return self._root

    @property
    def data(self) -> etree._Element:
        """The element with the rows, which is never missing."""
        return self._data

    def content(self) -> bytes:
        """The part's bytes."""
        return xml_bytes(self._root)

    def _cell(self, spot: Spot) -> etree._Element | None:
        row = self._rows.get(spot[0])
        return row.cells.get(spot[1]) if row else None

    def _formula_cells(self) -> Iterator[tuple[Spot, etree._Element, etree._Element]]:
        """Every cell with a formula, and the formula's element."""
        for number, row in self._rows.items():
            for column, cell in row.cells.items():
                if len(cell) and (first := cell[0]).tag == _F and is_formula(first.get("t"), first.text):
                    yield (number, column), cell, first

    def _change(self) -> None:
        """Note that the tree is another one now."""
        self.is_changed = True
        self._formulas = None

    def _new_cell(self, spot: Spot, like: Spot | None) -> etree._Element:
        row = self._row(spot[0])
        cell = etree.Element(_C, r=address(spot))
        if style := self._style(row.element, spot[1], like):
            cell.set("s", style)
        row.element.attrib.pop("spans", "")
        row.put(spot[1], cell)
        return cell

    def _style(self, row: etree._Element | None, column: int, like: Spot | None) -> str | None:
        """The style of a new cell: that of the cell it is like, else of its row, else of its column."""
        model = self._cell(like) if like else None
        if model is not None:
            return model.get("s")
        if row is not None and row.get("customFormat") in ("1", "true"):
            return row.get("s")
        for columns in self._root.iterfind(f"{{{MAIN}}}cols/{{{MAIN}}}col"):
            first, last = (whole_number(columns.get(end), self.part, "column") for end in ("min", "max"))
            if first <= column <= last:
                return columns.get("style")
        return None

    def _row(self, number: int) -> Row:
        row = self._rows.get(number)
        if row is None:
            row = self._rows[number] = Row(etree.Element(_ROW, r=str(number)))
            after = bisect_left(self._row_numbers, number)
            if after < len(self._row_numbers):
                self._rows[self._row_numbers[after]].element.addprevious(row.element)
            else:
                self._data.append(row.element)
            insort(self._row_numbers, number)
        return row


def _value_of(cell: etree._Element) -> etree._Element | None:
    """The element with a cell's value; it is nearly always the last."""
    if len(cell) and (last := cell[-1]).tag == _V:
        return last
    return next((child for child in cell if child.tag == _V), None)
