"""Rich values: what Excel shows in place of what a cell holds, and which of them only say how its number looks."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.stored import MAIN

_METADATA, _VALUES, _STRUCTURES = "/sheetMetadata", "/rdRichValue", "/rdRichValueStructure"
"""The ends of the relationships by which a workbook leads to these parts."""
_RICH = "http://schemas.microsoft.com/office/spreadsheetml/2017/richdata"
_KIND = "XLRICHVALUE"
_FORMATTED = "_formattednumber"
"""The structure of a number with a format of its own, as functions of add-ins answer dates; it holds no other value."""


def formatted_numbers(package: Package) -> frozenset[str]:
    """Return the marks (`vm`) of cells whose rich value is a format for the number that they hold."""
    parts = {kind: part for _, kind, part in package.related(package.workbook) if part in package}
    found = [
        next((parts[kind] for kind in parts if kind.endswith(end)), None) for end in (_METADATA, _VALUES, _STRUCTURES)
    ]
    metadata, values, structures = (package.strict_xml(part) if part else None for part in found)
    if metadata is None or values is None or structures is None:
        return frozenset()
    names = [each.get("t") for each in structures.iterfind(f"{{{_RICH}}}s")]
    kinds = [_at(names, each.get("s")) for each in values.iterfind(f"{{{_RICH}}}rv")]
    return frozenset(mark for mark, number in _rich_values(metadata) if _at(kinds, number) == _FORMATTED)


def _rich_values(metadata: etree._Element) -> Iterator[tuple[str, str | None]]:
    """Each mark of cells, and the number of the rich value that it leads to."""
    types = [each.get("name") for each in metadata.iterfind(f"{{{MAIN}}}metadataTypes/{{{MAIN}}}metadataType")]
    blocks = [
        next((each.get("i") for each in block.iter(f"{{{_RICH}}}rvb")), None)
        for group in metadata.iterfind(f"{{{MAIN}}}futureMetadata")
        if group.get("name") == _KIND
        for block in group.iterfind(f"{{{MAIN}}}bk")
    ]
    for mark, block in enumerate(metadata.iterfind(f"{{{MAIN}}}valueMetadata/{{{MAIN}}}bk"), 1):
        records = block.findall(f"{{{MAIN}}}rc")
        if len(records) == 1 and _at([None, *types], records[0].get("t")) == _KIND:
            yield str(mark), _at(blocks, records[0].get("v"))


def _at(items: list[str | None], number: str | None) -> str | None:
    """The item of this number; None where there is none."""
    is_number = number is not None and number.isascii() and number.isdecimal() and len(number) < 10
    return items[int(number)] if is_number and number is not None and int(number) < len(items) else None
