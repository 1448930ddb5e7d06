"""What a book says, cell by cell, as one program reads it and as all others do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lxml import etree

from addin.formulas import Area
from addin.workbook.audit.contents.sameness import as_read
from addin.workbook.audit.numbers import typed_form
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.positions import Spot, address
from addin.workbook.ooxml.sheet import SEEN_WIDTH_LETTERS, Sheet, is_too_small
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.styles import format_in
from udfs.cells import Scalar

_NEWER = "{http://schemas.microsoft.com/office/spreadsheetml/2009/9/main}"
_AREAS_OF_NEWER = "{http://schemas.microsoft.com/office/excel/2006/main}sqref"
_YES, _NO = ("1", "true"), ("0", "false")
_ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")

_BOX = re.compile(rb"""ObjectType\s*=\s*["'](?!Note["'])""")
"""A box of the old kind that is no comment."""

_WRITE_CELLS = frozenset(
    (
        "connections",
        "control",
        "ctrlProp",
        "customProperty",
        "dialogsheet",
        "externalLink",
        "image",
        "oleObject",
        "package",
        "pivotCacheDefinition",
        "pivotTable",
        "queryTable",
        "rdArray",
        "rdRichValue",
        "rdRichValueStructure",
        "slicer",
        "slicerCache",
        "timeline",
        "timelineCache",
        "vbaProject",
        "volatileDependencies",
        "xlIntlMacrosheet",
        "xlMacrosheet",
    )
)
"""What a book may lead to that writes into its cells when it is opened, or lies over them."""

Look = tuple[str, str]
"""Where, and what."""


def looks_of(book: Book, name: str) -> Iterator[Look]:
    """Return what makes a sheet show something else than its cells hold."""
    sheet = book.sheet(name)
    yield from _conditions(book, sheet)
    yield from _hidden(sheet)
    yield from _settings(sheet)
    yield from _laid_over(book, sheet.part)


def looks_of_book(book: Book) -> Iterator[Look]:
    """Return what a book leads to that may write into cells."""
    yield from _led_to(book, book.package.workbook)


def _conditions(book: Book, sheet: Sheet) -> Iterator[Look]:
    """The number formats that conditions lay over cells, and the conditions that hide their values."""
    styles = book.styles
    for areas, style in sheet.conditional_styles():
        if styles is not None and (code := styles.format_of_condition(style)):
            yield areas, f"a number format by condition: {code}"
    for rule in sheet.root.iter(f"{_NEWER}cfRule"):
        above = rule.getparent()
        areas = "" if above is None else "".join(each.text or "" for each in above.iter(_AREAS_OF_NEWER))
        if code := format_in(rule):
            yield areas, f"a number format by condition: {code}"
    for child in sheet.root:
        if child.tag != f"{{{MAIN}}}sheetData":
            for element in child.iter():
                if element.get("showValue") in _NO:
                    yield "the sheet", "a condition that hides values"


def _hidden(sheet: Sheet) -> Iterator[Look]:
    """Rows and columns that hold something and are not shown."""
    filled = list(sheet.filled())
    columns = {column for _, column in filled}
    for row in dict.fromkeys(row for row, _ in filled):
        if sheet.is_hidden(row):
            yield f"the row {row} of", "hidden"
    for element in sheet.root.iterfind(f"{{{MAIN}}}cols/{{{MAIN}}}col"):
        if element.get("hidden") in _YES or is_too_small(element.get("width"), SEEN_WIDTH_LETTERS):
            first, last = (int(float(element.get(end) or 0)) for end in ("min", "max"))
            yield from ((f"the column {column} of", "hidden") for column in sorted(columns) if first <= column <= last)


def _settings(sheet: Sheet) -> Iterator[Look]:
    for child in sheet.root:
        if child.tag == f"{{{MAIN}}}sheetViews":
            views = list(child.iter(f"{{{MAIN}}}sheetView"))
            if any(view.get("showFormulas") in _YES for view in views):
                yield "the sheet", "formulas shown in place of values"
            if any(view.get("showZeros") in _NO for view in views):
                yield "the sheet", "zeros not shown"
        elif child.tag == f"{{{MAIN}}}sheetPr" and child.get("transitionEvaluation") in _YES:
            yield "the sheet", "texts counted as zero"
        elif child.tag == f"{{{MAIN}}}scenarios":
            for cells in child.iter(f"{{{MAIN}}}inputCells"):
                yield cells.get("r", ""), f"a scenario with {cells.get('val')}"
    for spot in sheet.rich_values():
        if isinstance(sheet.value(spot), float):
            raise damaged(sheet.part, f"{address(spot)}: its number looks as another part of the file says")
        yield address(spot), "a rich value, which Excel shows in place of what the cell holds"


def _laid_over(book: Book, part: str) -> Iterator[Look]:
    """Return what lies over the cells of a sheet: drawings by their number, charts by the cells that they show."""
    yield from _led_to(book, part)
    drawings = [drawing for _, kind, drawing in book.package.related(part) if kind.endswith("/drawing")]
    drawings = [drawing for drawing in drawings if drawing in book.package]
    anchors = (each for drawing in drawings for each in book.package.xml(drawing).iter() if _local(each) in _ANCHORS)
    yield from (("the sheet", f"drawing {number}") for number, _ in enumerate(anchors, 1))
    boxes = (
        _BOX.findall(book.package.read(old))
        for _, kind, old in book.package.related(part)
        if kind.endswith("/vmlDrawing") and old in book.package
    )
    yield from (("the sheet", f"box {number}") for number in range(1, sum(map(len, boxes)) + 1))
    for drawing in drawings:
        for _, kind, chart in book.package.related(drawing):
            if kind.rpartition("/")[2].startswith("chart") and chart in book.package:
                yield from (("the sheet", what) for what in _shown_by(book.package.xml(chart)))


def _shown_by(chart: etree._Element) -> Iterator[str]:
    for element in chart.iter():
        if _local(element) in ("numLit", "strLit"):
            yield "a chart of numbers of its own"
        elif _local(element) == "f" and element.text:
            yield f"a chart of {as_read(element.text)[1:].replace('$', '')}"


def _local(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _led_to(book: Book, part: str) -> Iterator[Look]:
    kinds = {kind.rpartition("/")[2] for _, kind, _ in book.package.related(part)}
    yield from (("the sheet" if part != book.package.workbook else "the book", kind) for kind in kinds & _WRITE_CELLS)


GENERAL = "General"
_HIDDEN_NAMES = "_xlnm."
"""How the names begin that programs make for themselves, for filters and printing; no formula sees them."""


class CellContent(NamedTuple):
    """The contents of one cell."""

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
    """Everything that a book says beside its cells."""

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
    """Return how cells show numbers; programs differ where a cell names no style and its row or column has one."""
    if book.styles is None:
        return GENERAL
    codes = [f"{book.styles.format_code(each)}{' repeated' * book.styles.repeats(each)}" for each in (own, other)]
    return " or ".join(dict.fromkeys(codes))


def _filled(found: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: values for name, values in found.items() if values}
