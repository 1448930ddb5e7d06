"""Cells as a file for the calculation engine, which reads many cells from a file in a fraction of the time.

What a file cannot say exactly, or what the engine treats otherwise in files, is left to be put in one by one.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from functools import cache
from html import escape
from operator import itemgetter
from typing import Any, TypeAlias

from addin.formulas.areas import column_letters

Cell: TypeAlias = Sequence[Any]
"""Sheet, row, column, kind, content; see `EngineCell`."""

MAX_EMPTY = 100_000
"""Cells without content that a sheet may span: the engine makes room for all cells between the first and the last."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_UNSURE = re.compile(r"_x[0-9A-Fa-f]{4}_|[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Texts that a file writes in an escaped form."""
_letters = cache(column_letters)


def as_file(sheets: Sequence[str], cells: Sequence[Cell], *, dates_from_1904: bool) -> tuple[bytes, list[Cell]]:
    """A workbook with as many of the cells as it can hold, and the other cells."""
    by_sheet: dict[str, list[Cell]] = {sheet: [] for sheet in sheets}
    others: list[Cell] = []
    for cell in cells:
        (by_sheet[cell[0]] if cell[0] in by_sheet and _fits(cell[3], cell[4]) else others).append(cell)
    for each in by_sheet.values():
        if _spans_too_much(each):
            others += each
            each.clear()
    return _package({sheet: _sheet(each) for sheet, each in by_sheet.items()}, dates_from_1904), others


def _fits(kind: str, content: object) -> bool:
    if not isinstance(content, str):
        return isinstance(content, float | bool)
    return _UNSURE.search(content) is None and kind != "dynamic"  # only a formula that is put in spills for certain


def _spans_too_much(cells: Sequence[Cell]) -> bool:
    rows, columns = [cell[1] for cell in cells], [cell[2] for cell in cells]
    if not rows:
        return False
    spanned: int = (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)
    return spanned > MAX_EMPTY + 2 * len(cells)


def _sheet(cells: Sequence[Cell]) -> str:
    """The XML of a sheet."""
    parts = [f'<worksheet xmlns="{_MAIN}"><sheetData>']
    now = 0
    for _, row, column, kind, content in sorted(cells, key=itemgetter(1, 2)):
        if row != now:
            parts.append(f'</row><row r="{row}">' if now else f'<row r="{row}">')
            now = row
        place = f"{_letters(column)}{row}"
        if kind != "value":
            array = "" if kind == "plain" else f' t="array" ref="{kind}"'
            parts.append(f'<c r="{place}"><f{array}>{escape(content[1:], quote=False)}</f></c>')
        elif type(content) is float:
            parts.append(f'<c r="{place}"><v>{content!r}</v></c>')
        elif type(content) is bool:
            parts.append(f'<c r="{place}" t="b"><v>{content:d}</v></c>')
        else:
            text = escape(content, quote=False)
            parts.append(f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>')
    parts.append(("</row>" if now else "") + "</sheetData></worksheet>")
    return "".join(parts)


def _package(sheets: dict[str, str], dates_from_1904: bool) -> bytes:
    names, types, relations = [], [], []
    for number, name in enumerate(sheets, 1):
        names.append(f'<sheet name="{escape(name)}" sheetId="{number}" r:id="rId{number}"/>')
        types.append(f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_KIND}.worksheet+xml"/>')
        relations.append(
            f'<Relationship Id="rId{number}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>{"".join(types)}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
        f'<workbookPr date1904="{dates_from_1904:d}"/><sheets>{"".join(names)}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(relations)}'
        "</Relationships>",
    }
    parts |= {f"xl/worksheets/sheet{number}.xml": content for number, content in enumerate(sheets.values(), 1)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()
