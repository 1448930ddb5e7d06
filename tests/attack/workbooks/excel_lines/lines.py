"""The lines: a formula, the cells that it reads, what Excel showed; books made of them, and how a value is judged."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from pathlib import Path
from typing import Any

from addin.formulas.areas import area_of, column_letters, column_number
from addin.formulas.shape import shape_of
from udfs.cells import Scalar
from udfs.errors import CellError

LINES = Path(__file__).resolve().parents[5] / "shared" / "truth" / "excel365.jsonl"
CALL = '_xldudf_DS_SIGNAL("us-cpi")'
FORMULA, BESIDE = "BZ999", "CA999"
"""Where a formula stands whose line does not tell, and the cell with a call: beyond what nearly all lines read."""
FIRST = "Z1"
"""Where Excel had the formulas of suites whose lines are called by what they show, not by a cell."""
NEAR = 1e-9
"""Relative difference of two numbers that count as the same: Excel's stored results are rounded to 15 digits."""
CURRENCY = 0.5001e-4
"""Excel rounds what it gives a currency format to four places; a result with four places may be one."""

_CELL = re.compile(r"([A-Z]{1,3})([0-9]+)")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


class Way(StrEnum):
    """How a formula depends on a call of ours, and whether the file holds its value."""

    INSIDE = "inside"
    INSIDE_STORED = "inside, with the value"
    BESIDE = "beside"
    BESIDE_STORED = "beside, with the value"

    @property
    def is_inside(self) -> bool:
        """Whether the call stands in the formula itself."""
        return self in (Way.INSIDE, Way.INSIDE_STORED)

    @property
    def is_stored(self) -> bool:
        """Whether the file holds Excel's result."""
        return self in (Way.INSIDE_STORED, Way.BESIDE_STORED)


@dataclass(frozen=True, slots=True)
class Line:
    """A formula with what Excel made of it."""

    suite: str
    formula: str
    cells: Mapping[str, Any]
    excel: Any
    place: str = FORMULA
    """The cell in which Excel had it."""

    def inside_of(self, way: Way) -> str:
        """The formula as it stands in the book."""
        condition = CALL if way.is_inside else BESIDE
        return f"IF({condition}>0,{self.formula.removeprefix('=')},0)"


def read_lines(path: Path = LINES) -> list[Line]:
    """Every line of the file."""
    parsed = (json.loads(text) for text in path.read_text(encoding="utf-8").splitlines())
    return [Line(each["suite"], each["formula"], each["cells"], each["excel"], _place(each)) for each in parsed]


def _place(line: Mapping[str, Any]) -> str:
    place = line["id"] if _CELL.fullmatch(line["id"]) else FIRST
    return FORMULA if place in line["cells"] else place


def is_right(shown: Scalar, excel: Any) -> bool:
    """Whether a cell shows what Excel did."""
    if isinstance(excel, dict):
        return isinstance(shown, CellError) and shown.message == excel["error"]
    if isinstance(excel, float) and type(shown) is float:
        distance = abs(shown - excel)
        is_currency = round(excel, 4) == excel and distance <= CURRENCY
        return distance <= NEAR * max(abs(shown), abs(excel)) or is_currency
    if shown is None:
        return excel in ("", 0.0)
    return type(shown) is type(excel) and shown == excel


def write_book(path: Path, lines: Sequence[Line], way: Way, *, is_dynamic: bool = False) -> None:
    """A book with each line on a sheet of its own, its formula an ordinary one or a dynamic array's."""
    sheets = {f"L{number}": _sheet(line, way, is_dynamic=is_dynamic) for number, line in enumerate(lines)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in _parts(sheets):
            package.writestr(name, content)


def _sheet(line: Line, way: Way, *, is_dynamic: bool) -> str:
    cells = {name: _cell(name, value) for name, value in line.cells.items()}
    if not is_dynamic:
        cells |= _below(line)
    if not way.is_inside:
        cells[BESIDE] = f'<c r="{BESIDE}"><f>{escape(CALL, quote=False)}</f></c>'
    array, meta = (f' t="array" ref="{line.place}"', ' cm="1"') if is_dynamic else ("", "")
    text = f"<f{array}>{escape(line.inside_of(way), quote=False)}</f>"
    kind, value = _value(line.excel) if way.is_stored else ("", "")
    cells[line.place] = f'<c r="{line.place}"{meta}{kind}>{text}{value}</c>'
    rows: dict[int, list[str]] = {}
    for name in sorted(cells, key=spot_of_name):
        rows.setdefault(spot_of_name(name)[0], []).append(cells[name])
    data = "".join(f'<row r="{row}">{"".join(each)}</row>' for row, each in rows.items())
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData></worksheet>'


def _below(line: Line) -> dict[str, str]:
    """A filled cell below the formula, as most formulas have one; none where the formula may read it."""
    row, column = spot_of_name(line.place)
    areas = [area_of(reference) for reference in shape_of(line.formula)[1]]
    is_read = any(area is not None and area.contains(row + 1, column) for area in areas)
    name = f"{column_letters(column)}{row + 1}"
    finds = any(each in line.formula for each in ("OFFSET", "INDIRECT", "ANCHORARRAY"))
    return {} if is_read or finds or name in line.cells else {name: _cell(name, "x")}


def spot_of_name(name: str) -> tuple[int, int]:
    match = _CELL.fullmatch(name)
    assert match is not None, name
    return int(match[2]), column_number(match[1])


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str) and value.startswith("="):
        return f'<c r="{name}"><f>{escape(value[1:], quote=False)}</f></c>'
    kind, content = _value(value["text"] if isinstance(value, dict) and "text" in value else value)
    return f'<c r="{name}"{kind}>{content}</c>'


def _value(value: Any) -> tuple[str, str]:
    """The type and the value of a cell as XML."""
    if isinstance(value, bool):
        return ' t="b"', f"<v>{value:d}</v>"
    if isinstance(value, str):
        return ' t="str"', f'<v xml:space="preserve">{escape(value, quote=False)}</v>'
    if isinstance(value, dict):
        return ' t="e"', f"<v>{value['error']}</v>"
    return "", f"<v>{value!r}</v>"


def _parts(sheets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    numbered = list(enumerate(sheets.items(), 1))
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_KIND}.worksheet+xml"/>'
        for number, _ in numbered
    )
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, (name, _) in numbered)
    targets = "".join(
        f'<Relationship Id="rId{n}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n, _ in numbered
    )
    metadata = f"rId{len(numbered) + 1}"
    yield (
        "[Content_Types].xml",
        (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
            f'<Override PartName="/xl/metadata.xml" ContentType="{_KIND}.sheetMetadata+xml"/>{types}</Types>'
        ),
    )
    yield (
        "_rels/.rels",
        (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
    )
    yield (
        "xl/workbook.xml",
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets></workbook>',
    )
    yield (
        "xl/_rels/workbook.xml.rels",
        (
            f'<Relationships xmlns="{_PACKAGE}/relationships">{targets}<Relationship Id="{metadata}" '
            f'Type="{_RELATIONS}/sheetMetadata" Target="metadata.xml"/></Relationships>'
        ),
    )
    yield "xl/metadata.xml", _METADATA
    for number, (_, content) in numbered:
        yield f"xl/worksheets/sheet{number}.xml", content


_METADATA = (
    f'<metadata xmlns="{_MAIN}" xmlns:xda="http://schemas.microsoft.com/office/spreadsheetml/2017/dynamicarray">'
    '<metadataTypes count="1"><metadataType name="XLDAPR" minSupportedVersion="120000" copy="1" pasteAll="1" '
    'pasteValues="1" merge="1" splitFirst="1" rowColShift="1" clearFormats="1" clearComments="1" assign="1" '
    'coerce="1" cellMeta="1"/></metadataTypes><futureMetadata name="XLDAPR" count="1"><bk><extLst>'
    '<ext uri="{bdbb8cdc-fa1e-496e-a857-3c3f30c029c3}"><xda:dynamicArrayProperties fDynamic="1" fCollapsed="0"/></ext>'
    '</extLst></bk></futureMetadata><cellMetadata count="1"><bk><rc t="1" v="0"/></bk></cellMetadata></metadata>'
)
