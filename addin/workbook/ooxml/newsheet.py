"""A further sheet in a workbook that exists: its part, its place in the list of sheets, and what leads to it."""

from __future__ import annotations

from lxml import etree

from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import whole_number
from addin.workbook.ooxml.relations import relations_part, with_relation, with_types
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.xmlpart import parse_xml, xml_bytes

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"


def with_sheet(package: Package, name: str, content: bytes) -> dict[str, bytes]:
    """The parts to write so that the last tab of the workbook shows the sheet with this XML.

    Raises `WorkbookError` for a workbook that lists no sheets.
    """
    workbook = package.xml(package.workbook)
    sheets = workbook.find(f"{{{MAIN}}}sheets")
    if sheets is None:
        raise damaged(package.workbook, "it names no sheets")
    number = next(n for n in range(1, 10_000) if f"xl/worksheets/sheet{n}.xml" not in package)
    part = f"xl/worksheets/sheet{number}.xml"
    related = with_relation(package, package.workbook, f"{_OFFICE}/worksheet", f"/{part}")
    taken = [whole_number(sheet.get("sheetId"), package.workbook, "sheet id") for sheet in sheets]
    sheet = etree.SubElement(sheets, f"{{{MAIN}}}sheet", name=name, sheetId=str(max(taken, default=0) + 1))
    sheet.set(f"{{{_OFFICE}}}id", _last_id(related[relations_part(package.workbook)], package.workbook))
    return {part: content, package.workbook: xml_bytes(workbook), **related, **with_types(package, {part: _TYPE})}


def free_name(wanted: str, taken: list[str]) -> str:
    """The name of a new sheet: the wanted one, or that with a number.

    >>> free_name("Sources", ["Start", "sources"])
    'Sources 2'
    """
    folded = {name.casefold() for name in taken}
    names = (wanted, *(f"{wanted} {number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name.casefold() not in folded)


def _last_id(relations: bytes, part: str) -> str:
    return str(parse_xml(relations, part)[-1].get("Id"))
