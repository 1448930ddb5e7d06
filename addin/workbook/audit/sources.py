"""The sheet *Sources* of a frozen copy: what was signed about each number, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from addin.formulas import Area
from addin.workbook.audit.chain import Block
from addin.workbook.audit.keys import fingerprint
from addin.workbook.audit.numbers import place_of, read_back
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.newsheet import free_name
from addin.workbook.ooxml.positions import address
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN, stored
from addin.workbook.ooxml.styles import Look

NAME = "Sources"
SHOWN_REQUESTS = 4
"""How many requests of one source a cell names."""

TITLE = "Sources of the numbers in this book"
HEADER = (
    "Sheet",
    "Cell",
    "Value",
    "Formula",
    "State",
    "Asked from the service",
    "Fetched at (UTC)",
    "Age",
    "Hash of the answer (SHA-256)",
    "Add-in",
)
_WIDTHS = (16, 12, 26, 46, 13, 46, 21, 9, 68, 9)
_HEADER_ROW = 5
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def sources_rows(block: Block) -> Iterator[list[Any]]:
    """The cells of the sheet row by row, as the lines write values."""
    begin = block.begin
    yield [TITLE]
    yield [f"Made {str(begin.get('at'))[:19].replace('T', ' ')} UTC from {begin.get('source')}"]
    yield [f"Signed with the key {fingerprint(block.public_key)}. Find every cell that was changed since: addin verify"]
    yield [None]
    yield list(HEADER)
    for number in block.numbers:
        yield from _rows(number, begin.get("asked") or ())


def sources_sheet(book: Book) -> Sheet | None:
    """The sheet of sources in a book; None where there is none."""
    found = [name for name in book.sheet_names if name == NAME or name.startswith(f"{NAME} ")]
    sheets = (book.sheet(name) for name in reversed(found))
    return next((sheet for sheet in sheets if sheet.value((1, 1)) == TITLE), None)


def sources_xml(block: Block, book: Book) -> tuple[str, bytes]:
    """The name and the XML of the sheet; values look as in their own cells."""
    look = book.styles.look if book.styles is not None else _no_look
    rows = list(sources_rows(block))
    formats = iter([value_style for number in block.numbers for value_style in _value_styles(number, book)])
    cells = []
    for row, values in enumerate(rows, 1):
        styles = [look(Look.TITLE if row == 1 else Look.HEADER if row == _HEADER_ROW else Look.TEXT)] * len(values)
        if row == _HEADER_ROW:
            styles[2:4] = [look(Look.RIGHT_HEADER), look(Look.INSET_HEADER)]
        elif row > _HEADER_ROW:
            styles[2:4] = [next(formats), look(Look.INSET_TEXT)]  # numbers end where the formula would begin
        written = "".join(_cell(address((row, at)), value, styles[at - 1]) for at, value in enumerate(values, 1))
        cells.append(f'<row r="{row}">{written}</row>')
    return free_name(NAME, book.sheet_names), _page("".join(cells), rows).encode()


def _asked(source: Mapping[str, Any], asked: Sequence[Mapping[str, Any]]) -> str:
    """The requests that were really sent for a source; else what it is, and that its requests were not recorded."""
    named = [str(asked[each]["address"]) for each in source.get("requests") or () if each < len(asked)]
    if "requests" not in source:  # lines of the version before, and the archive, name no requests
        return str(source.get("resource") or "")
    shown = ", ".join(named[:SHOWN_REQUESTS]) + (
        f" and {len(named) - SHOWN_REQUESTS} more" if named[SHOWN_REQUESTS:] else ""
    )
    return (
        shown
        if named and not source.get("unrecorded")
        else f"{shown or source.get('resource')} (earlier, not recorded)"
    )


def _reason(number: Mapping[str, Any]) -> str:
    rests_on = ", ".join(number.get("rests_on") or ())
    return str(number.get("why") or (rests_on and f"calculated from {rests_on}") or "none")


def _rows(number: Mapping[str, Any], asked: Sequence[Mapping[str, Any]]) -> Iterator[list[Any]]:
    """A row for each source of a number; a number without one has a row with the reason."""
    value = number.get("value")
    shown = f"{len(value)} × {len(value[0])} cells" if isinstance(value, list) else value
    place = [number.get("sheet"), number.get("area", number.get("cell")), shown, number.get("formula")]
    for source in number.get("sources") or [{}]:
        yield [
            *place,
            number.get("standing"),
            _asked(source, asked) or _reason(number),
            str(source.get("fetched_at", ""))[:19].replace("T", " ") or None,
            _age(source["age_s"]) if "age_s" in source else None,
            source.get("sha256"),
            number.get("version"),
        ]


def _value_styles(number: Mapping[str, Any], book: Book) -> list[int]:
    """The style of a number's value, once for each of its rows: the number format of its own cell."""
    name, spot, _ = place_of(number)
    style = 0 if book.styles is None else book.styles.plain(book.sheet(name).style(spot))
    return [style] * max(1, len(number.get("sources") or ()))


def _no_look(_: Look) -> int:
    return 0


def _age(age_s: float) -> str:
    for unit, seconds in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if age_s >= 2 * seconds:
            return f"{age_s / seconds:.0f} {unit}"
    return f"{age_s:.0f} s"


def _cell(where: str, value: Any, style: int) -> str:
    kind, text = stored(read_back(value))
    if text is None:
        return ""
    mark = f' s="{style}"' if style else ""
    if kind == "str":
        return f'<c r="{where}"{mark} t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
    return f'<c r="{where}"{mark}{f" t={quoteattr(kind)}" if kind else ""}><v>{escape(text)}</v></c>'


def _page(cells: str, rows: list[list[Any]]) -> str:
    table = Area(_HEADER_ROW, 1, len(rows), len(HEADER))
    whole = Area(1, 1, len(rows), len(HEADER))
    columns = "".join(f'<col min="{at}" max="{at}" width="{width}" customWidth="1"/>' for at, width in _columns())
    links = "".join(_link(row, values) for row, values in enumerate(rows, 1) if row > _HEADER_ROW)
    return (
        f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
        f'<worksheet xmlns="{MAIN}" xmlns:r="{_RELATIONS}">'
        f'<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><dimension ref="{whole}"/>'
        f'<sheetViews><sheetView showGridLines="0" workbookViewId="0"><pane ySplit="{_HEADER_ROW}" '
        f'topLeftCell="A{_HEADER_ROW + 1}" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
        f"<cols>{columns}</cols><sheetData>{cells}</sheetData>"
        f'<autoFilter ref="{table}"/>'
        + (f"<hyperlinks>{links}</hyperlinks>" if links else "")
        + '<pageSetup orientation="landscape" fitToHeight="0"/></worksheet>'
    )


def _columns() -> Iterator[tuple[int, int]]:
    yield from enumerate(_WIDTHS, 1)


def _link(row: int, values: list[Any]) -> str:
    """A link from the name of a cell to the cell."""
    sheet = str(values[0]).replace("'", "''")
    location = quoteattr(f"'{sheet}'!{values[1]}")
    return f'<hyperlink ref="B{row}" location={location}/>'
