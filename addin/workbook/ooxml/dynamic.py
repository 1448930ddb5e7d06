"""Dynamic arrays: the mark in a book's metadata by which a formula may spill."""

from __future__ import annotations

from lxml import etree

from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.relations import with_relation, with_types
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.xmlpart import xml_bytes

_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sheetMetadata"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheetMetadata+xml"
_ARRAYS = "http://schemas.microsoft.com/office/spreadsheetml/2017/dynamicarray"
_NAME = "XLDAPR"
"""The name under which a book's metadata describe dynamic arrays."""

_TYPE_OF_CELLS = f"""\
<metadataType xmlns="{MAIN}" name="{_NAME}" minSupportedVersion="120000" copy="1" pasteAll="1" pasteValues="1" \
merge="1" splitFirst="1" rowColShift="1" clearFormats="1" clearComments="1" assign="1" coerce="1" cellMeta="1"/>"""
_PROPERTIES = f"""\
<futureMetadata xmlns="{MAIN}" name="{_NAME}" count="1"><bk><extLst>\
<ext uri="{{bdbb8cdc-fa1e-496e-a857-3c3f30c029c3}}">\
<xda:dynamicArrayProperties xmlns:xda="{_ARRAYS}" fDynamic="1" fCollapsed="0"/></ext></extLst></bk>\
</futureMetadata>"""
_AFTER_CELLS = ("valueMetadata", "extLst")
_ORDER = ("metadataTypes", "metadataStrings", "mdxMetadata", "futureMetadata", "cellMetadata", *_AFTER_CELLS)
"""The groups of a book's metadata as they have to follow each other."""


def dynamic_mark(package: Package) -> tuple[str, dict[str, bytes]]:
    """Return a cell's `cm` where its formula may spill, and the parts to write so that the book knows this mark."""
    part = next((part for _, kind, part in package.related(package.workbook) if kind == _KIND), "")
    if part in package:
        root = package.xml(part)
        if known := _known(root):
            return known, {}
        return _added(root), {part: xml_bytes(root)}
    part = "xl/metadata.xml"
    root = etree.Element(f"{{{MAIN}}}metadata", nsmap={None: MAIN})  # type: ignore[dict-item]
    mark = _added(root)
    related = with_relation(package, package.workbook, _KIND, f"/{part}")
    return mark, {part: xml_bytes(root), **related, **with_types(package, {part: _TYPE})}


def _known(root: etree._Element) -> str:
    """The mark that the metadata have for a dynamic array; empty where they have none."""
    types = [each.get("name") for each in root.iterfind(f"{{{MAIN}}}metadataTypes/{{{MAIN}}}metadataType")]
    if _NAME not in types:
        return ""
    kind = str(types.index(_NAME) + 1)
    for number, block in enumerate(root.iterfind(f"{{{MAIN}}}cellMetadata/{{{MAIN}}}bk"), 1):
        if any(record.get("t") == kind for record in block):
            return str(number)
    return ""


def _added(root: etree._Element) -> str:
    """The mark for a dynamic array, which is put into the metadata."""
    types, cells = _group(root, "metadataTypes"), _group(root, "cellMetadata")
    types.append(etree.fromstring(_TYPE_OF_CELLS))
    place = cells.getprevious()
    properties = etree.fromstring(_PROPERTIES)
    if place is None:
        root.insert(0, properties)
    else:
        place.addnext(properties)
    block = etree.SubElement(cells, f"{{{MAIN}}}bk")
    etree.SubElement(block, f"{{{MAIN}}}rc", t=str(len(types)), v="0")
    for group in (types, cells):
        group.set("count", str(len(group)))
    return str(len(cells))


def _group(root: etree._Element, name: str) -> etree._Element:
    """A group of the metadata, made in its place where there is none."""
    if (found := root.find(f"{{{MAIN}}}{name}")) is not None:
        return found
    later = {f"{{{MAIN}}}{each}" for each in _ORDER[_ORDER.index(name) + 1 :]}
    group = etree.Element(f"{{{MAIN}}}{name}")
    at = next((number for number, child in enumerate(root) if child.tag in later), len(root))
    root.insert(at, group)
    return group
