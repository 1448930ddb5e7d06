"""What the component cannot take in a sheet, taken out of what it gets; the file itself keeps everything."""

from __future__ import annotations

import re
from collections import Counter

from lxml import etree

from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import spot_of
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN

MAX_GRID = 2**25
"""The most cells, blank ones included, that the component can lay out: a million rows of 32 columns."""

SPARE_COLUMNS, SPARE_ROWS = 26, 1_000
"""So far beyond the last cell with something in it formats are kept; some programs give whole rows one to the end."""

_PLAIN = frozenset(("dimension", "sheetFormatPr", "cols", "sheetData", "mergeCells"))
_KEPT = {
    "picture": r"/media/[^/]+$",
    "comment sheet": r"/comments\d*\.xml$|/threadedComments/[^/]+$",
    "pivot table": r"/pivotTables/[^/]+\.xml$",
    "slicer": r"/slicers/[^/]+\.xml$",
    "macro project": r"/vbaProject\.bin$",
    "control": r"/(?:ctrlProps|activeX)/[^/]+\.xml$",
    "external link": r"/externalLinks/[^/]+\.xml$",
    "query": r"/(?:connections|queryTables/[^/]+)\.xml$",
    "embedded file": r"/embeddings/[^/]+$",
    "chart sheet": r"/chartsheets/[^/]+\.xml$",
    "digital signature": r"_xmlsignatures/sig[^/]*\.xml$",
}
"""Parts of which the component shows nothing, or only what it takes for them."""


def kept_only(package: Package) -> dict[str, int]:
    """Return how many of each kind of thing the page does not show, but a copy keeps."""
    counted: Counter[str] = Counter()
    for part in package.parts():
        counted.update(kind for kind, pattern in _KEPT.items() if re.search(pattern, f"/{part}", re.IGNORECASE))
    return dict(counted)


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
