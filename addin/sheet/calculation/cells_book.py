"""Cells of the page as a workbook file, which is what the calculation reads."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import msgspec

from addin.sheet.calculation.several import may_spill
from addin.sheet.edits import Shown, Value
from addin.sheet.formulas import file_form
from addin.sheet.opening.opened import LINK_BREAKER
from addin.workbook.ooxml.positions import spot_of
from addin.workbook.ooxml.stored import MAIN, stored
from udfs.cells import Scalar
from udfs.errors import CellError, ErrorCode

_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HIDDEN = ' hidden="1"'
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
"""What no file can hold."""


class SheetCells(msgspec.Struct):
    """The cells needed of a sheet: formulas without `=` as typed, and the values of other cells."""

    formulas: dict[str, str] = {}
    values: dict[str, Value] = {}
    hidden: list[int] = []
    """The numbers of its hidden rows, where a formula may leave such out."""


def book_of(sheets: Mapping[str, SheetCells], readable: Mapping[tuple[str, str], str], namespace: str) -> bytes:
    """The bytes of a workbook with nothing but these values and formulas."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as package:
        for name, content in _parts(list(sheets)):
            package.writestr(name, content)
        for number, (name, cells) in enumerate(sheets.items(), 1):
            formulas = {cell: text for (sheet, cell), text in readable.items() if sheet == name}
            package.writestr(f"xl/worksheets/sheet{number}.xml", _sheet(cells, formulas, namespace))
    return stream.getvalue()


def _sheet(sheet: SheetCells, formulas: Mapping[str, str], namespace: str) -> str:
    # A file has no value that is an empty text.
    cells = {
        cell: _formula_cell(cell, '""', namespace) if value == "" else _value_cell(cell, value)
        for cell, value in sheet.values.items()
    }
    cells |= {cell: _formula_cell(cell, text, namespace) for cell, text in formulas.items()}
    hidden = frozenset(sheet.hidden)
    rows: dict[int, list[tuple[int, str]]] = {row: [] for row in hidden}
    for cell, xml in cells.items():
        row, column = spot_of(cell, "the sheet")
        rows.setdefault(row, []).append((column, xml))
    data = "".join(
        f'<row r="{row}"{HIDDEN if row in hidden else ""}>{"".join(xml for _, xml in sorted(rows[row]))}</row>'
        for row in sorted(rows)
    )
    return f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>'


def _value_cell(cell: str, value: Value) -> str:
    kind, text = stored(_from_page(value))
    marked = f' t="{kind}"' if kind else ""
    space = ' xml:space="preserve"' if kind == "str" else ""
    return f'<c r="{cell}"{marked}><v{space}>{escape(text or "", quote=False)}</v></c>'


def _formula_cell(cell: str, text: str, namespace: str) -> str:
    spills = may_spill(text, namespace)
    mark, array = (' cm="1"', f' t="array" ref="{cell}"') if spills else ("", "")
    stored_text = escape(_CONTROL.sub("", file_form(text, namespace)), quote=False)
    return f'<c r="{cell}"{mark}><f{array}>{stored_text}</f></c>'


def _from_page(value: Value) -> Scalar:
    if isinstance(value, Shown):
        return CellError(ErrorCode.NA, value.error)
    return _CONTROL.sub("", value.removeprefix(LINK_BREAKER)) if isinstance(value, str) else value


def _parts(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    parts = [(number, f"worksheets/sheet{number}.xml", name) for number, name in enumerate(names, 1)]
    types = "".join(f'<Override PartName="/xl/{part}" ContentType="{_KIND}.worksheet+xml"/>' for _, part, _ in parts)
    listed = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>' for n, _, name in parts)
    links = "".join(f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="{part}"/>' for n, part, _ in parts)
    relations = f'xmlns="{_PACKAGE}/relationships"'
    yield (
        "[Content_Types].xml",
        (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>{types}</Types>'
        ),
    )
    yield (
        "_rels/.rels",
        (
            f'<Relationships {relations}><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>'
        ),
    )
    yield (
        "xl/workbook.xml",
        f'<workbook xmlns="{MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
    )
    yield "xl/_rels/workbook.xml.rels", f"<Relationships {relations}>{links}</Relationships>"
