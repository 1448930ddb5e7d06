"""What the component cannot take in a sheet, taken out of what it gets; the file itself keeps everything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape

from lxml import etree

from addin.formulas.areas import area_of
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import spot_of
from addin.workbook.ooxml.relations import TYPES_PART
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.xmlpart import parse_xml, xml_bytes

MAX_GRID = 2**25
"""The most cells, blank ones included, that the component can lay out: a million rows of 32 columns."""

SPARE_COLUMNS, SPARE_ROWS = 26, 1_000
"""So far beyond the last cell with something in it formats are kept; some programs give whole rows one to the end."""

_PLAIN = frozenset(("dimension", "sheetFormatPr", "cols", "sheetData", "mergeCells"))
_KEPT = {
    "picture": r"^(?!/docProps/).*(?:/media/[^/]+ | image/)",
    "comment sheet": r"\.(?:comments|threadedcomments)\+xml$",
    "pivot table": r"\.pivotTable\+xml$",
    "slicer": r"\.slicer\+xml$",
    "macro project": r"/vbaProject\.bin |\.vbaProject$",
    "control": r"/(?:ctrlProps|activeX)/[^/]+\.xml |\.controlproperties\+xml$|\.activeX\+xml$",
    "external link": r"\.externalLink\+xml$",
    "query": r"\.(?:connections|queryTable)\+xml$",
    "embedded file": r"/embeddings/[^/]+ ",
    "chart": r"\.drawingml\.chart\+xml$|\.chartex\+xml$",
    "chart sheet": r"\.chartsheet\+xml$",
    "digital signature": r"\.digital-signature-xmlsignature\+xml$",
}
"""Parts of which the component shows nothing or only what it takes for them, by name and type; some charts it shows."""


def kept_only(package: Package) -> dict[str, int]:
    """Return how many of each kind of thing the page does not show, but a copy keeps; of charts, how many there are."""
    counted: Counter[str] = Counter()
    types = part_types(package)
    for part in package.parts():
        described = f"/{part} {types.get(part.casefold(), '')}"
        counted.update(kind for kind, pattern in _KEPT.items() if re.search(pattern, described, re.IGNORECASE))
        counted.update(_inside(package, part, types.get(part.casefold(), "")))
    return dict(counted)


_DRAWING, _SHEET = "drawingml/2006/spreadsheetDrawing", r"\.worksheet\+xml$"
_IN_SHEETS = {
    "sparkline": re.compile(rb"<(?:[\w.-]+:)?sparkline>"),
    # Of Excel's own, those that refer to another sheet; the component reads the usual element only.
    "drop-down list or check": re.compile(rb"<x14:dataValidation\s"),
}
"""What the component does not read in the part of a sheet."""
_SHAPE = f"{{http://schemas.openxmlformats.org/{_DRAWING}}}sp"
_ALTERNATIVE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"


def _inside(package: Package, part: str, kind: str) -> Iterator[str]:
    """What the component does not show of what is in the part of a sheet or a drawing; a control has a part, too."""
    if re.search(_SHEET, kind):
        content = package.text(part)
        for what, pattern in _IN_SHEETS.items():
            yield from (what for _ in pattern.finditer(content))
    elif kind.endswith(".drawing+xml"):
        for shape in package.xml(part).iter(_SHAPE):
            if next(shape.iterancestors(_ALTERNATIVE), None) is None:
                yield "text box or shape"


def part_types(package: Package) -> dict[str, str]:
    """Return the type of every part that has one, by its name in lower case."""
    root = package.xml(TYPES_PART)
    kinds = [(each.get("Extension"), each.get("PartName"), each.get("ContentType", "")) for each in _elements(root)]
    usual = {end.casefold(): kind for end, _, kind in kinds if end}
    named = {name.lstrip("/").casefold(): kind for _, name, kind in kinds if name}
    parts = [part.casefold() for part in package.parts() if part != TYPES_PART]
    return {part: kind for part in parts if (kind := named.get(part) or usual.get(part.rpartition(".")[2], ""))}


_LEVELS = re.compile(rb"(<c:multiLvlStrRef>\s*<c:f>)([^<]*)(?=</c:f>)")
"""The cells of labels in several rows or columns."""


def shown_chart(content: bytes) -> bytes:
    """Return a chart with the innermost of its labels, where there are several for a point: the component knows one."""
    return _LEVELS.sub(lambda found: found[1] + _innermost(found[2].decode()).encode(), content)


def _innermost(cells: str) -> str:
    """The last row of cells, or their last column where they are higher than wide.

    >>> _innermost("Data!$B$2:$M$3"), _innermost("'a b'!A2:B9")
    ('Data!B3:M3', "'a b'!B2:B9")
    """
    area = area_of(unescape(cells))
    if area is None:
        return cells
    is_high = area.last_row - area.first_row > area.last_column - area.first_column
    innermost = area._replace(first_column=area.last_column) if is_high else area._replace(first_row=area.last_row)
    sheet, mark, _ = cells.rpartition("!")
    return f"{sheet}{mark}{innermost._replace(sheet=None)}"


def shown_styles(content: bytes) -> bytes:
    """Return the styles of a book so that the component shows the colours that Excel does."""
    root = parse_xml(content, "styles")
    _make_opaque(root)
    for pattern in root.iterfind(f"{{{MAIN}}}dxfs//{{{MAIN}}}patternFill[@patternType='solid']"):
        if pattern.find(f"{{{MAIN}}}bgColor") is not None:  # it fills the cell there
            del pattern.attrib["patternType"]
    return xml_bytes(root)


def _make_opaque(root: etree._Element) -> None:
    """Give colours the full strength that they have in Excel, whatever transparency a program wrote."""
    for element in _elements(root):
        if len(color := str(element.get("rgb", ""))) == len("AARRGGBB"):
            element.set("rgb", f"FF{color[2:]}")


def _elements(root: etree._Element) -> Iterator[etree._Element]:
    return (each for each in root.iter() if isinstance(each.tag, str))


def make_digestible(sheet: Sheet, *, plain: bool) -> None:
    """Change a sheet so that the component can show it; raises `WorkbookError` where it is too large for it."""
    spots = list(sheet.filled())
    rows, columns = max((row for row, _ in spots), default=1), max((column for _, column in spots), default=1)
    if rows * columns > MAX_GRID:
        raise WorkbookError(
            f"the sheet {sheet.name} reaches to row {rows:,} and column {columns:,}, which is more than this page can"
            " show; open it in Excel or LibreOffice Calc"
        )
    root = sheet.root
    _cut_columns(root, columns + SPARE_COLUMNS)
    _cut_cells(sheet.name, root, rows + SPARE_ROWS, columns + SPARE_COLUMNS)
    for formula in list(root.iter(f"{{{MAIN}}}f")):
        if formula.get("t") == "dataTable" and (cell := formula.getparent()) is not None:
            cell.remove(formula)
    if plain:
        for element in [element for element in root if etree.QName(element).localname not in _PLAIN]:
            root.remove(element)
    _separate_rules(root)
    for element in root:
        if etree.QName(element).localname != "sheetData":
            _make_opaque(element)
    sheet.is_changed = True


def _separate_rules(root: etree._Element) -> None:
    """Give each rule of a conditional format an element of its own: of several in one the component reads the first."""
    for several in list(root.iterfind(f"{{{MAIN}}}conditionalFormatting")):
        for rule in several.findall(f"{{{MAIN}}}cfRule")[:0:-1]:
            alone = etree.Element(several.tag, {str(name): str(value) for name, value in several.attrib.items()})
            alone.append(rule)
            several.addnext(alone)


def _cut_columns(root: etree._Element, last: int) -> None:
    """Let no format reach further than to column `last`."""
    for columns in root.iterfind(f"{{{MAIN}}}cols/{{{MAIN}}}col"):
        first, end = (_number(columns.get(name)) for name in ("min", "max"))
        if first > last and (parent := columns.getparent()) is not None:
            parent.remove(columns)
        elif end > last:
            columns.set("max", str(last))


def _cut_cells(sheet_name: str, root: etree._Element, last_row: int, last_column: int) -> None:
    """Let no row and no cell without content stand further away; the component would make all that lie between."""
    for row in list(root.iterfind(f"{{{MAIN}}}sheetData/{{{MAIN}}}row")):
        if _number(row.get("r")) > last_row and (parent := row.getparent()) is not None:
            parent.remove(row)
            continue
        for cell in list(reversed(row)):  # they stand in order
            name = cell.get("r")
            if name is None or spot_of(str(name), sheet_name)[1] <= last_column:
                break
            row.remove(cell)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 1
