"""The signed lines that travel inside a book, as a custom XML part: Excel and Calc keep it when they save the book."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.relations import relations_part, with_relation, with_types
from addin.workbook.ooxml.xmlpart import xml_bytes

NAMESPACE = "urn:dataservice-addin:signed-numbers"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_CUSTOM_XML = f"{_OFFICE}/relationships/customXml"
_PROPERTIES = f"{_OFFICE}/relationships/customXmlProps"
_PROPERTIES_TYPE = "application/vnd.openxmlformats-officedocument.customXmlProperties+xml"
_ITEM_ID = "{6A0E6C1B-54C8-4C7B-9C3F-0D51A6D15B0E}"
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"


def embedded_content(lines: Sequence[bytes]) -> bytes:
    """The part that holds these lines."""
    root = etree.Element(f"{{{NAMESPACE}}}signed", nsmap={None: NAMESPACE})  # type: ignore[dict-item]  # lxml's own way
    for line in lines:
        etree.SubElement(root, f"{{{NAMESPACE}}}line").text = line.decode()
    return xml_bytes(root)


def embedded_frame(package: Package) -> tuple[str, dict[str, bytes]]:
    """Return where the lines stand in the book, and the parts that have to be written so that the book leads there."""
    part = lines_part(package)
    return (part, {}) if part else _new_part(package)


def embedded_lines(package: Package) -> list[bytes]:
    """The lines in a book; none where it holds none. Raises `WorkbookError` where anything else stands among them."""
    part = lines_part(package)
    if not part:
        return []
    root = package.xml(part)
    if root.attrib or any(line.tag != f"{{{NAMESPACE}}}line" or line.attrib or len(line) for line in root):
        raise damaged(part, "something else stands among the signed lines")
    return [(line.text or "").encode() for line in root]


def lines_part(package: Package) -> str | None:
    """The part that holds signed lines; None where there is none. Raises `WorkbookError` where there are two."""
    found = [
        part
        for _, kind, part in package.related(package.workbook)
        if kind == _CUSTOM_XML and part in package and NAMESPACE.encode() in package.text(part)[:400]
    ]
    if len(found) > 1:
        raise damaged(found[1], "a second part holds signed lines")
    return found[0] if found else None


def _new_part(package: Package) -> tuple[str, dict[str, bytes]]:
    number = next(n for n in range(1, 10_000) if f"customXml/item{n}.xml" not in package)
    item, properties = f"customXml/item{number}.xml", f"customXml/itemProps{number}.xml"
    relations = f"""\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="{_RELATIONSHIPS}"><Relationship Id="rId1" Type="{_PROPERTIES}" \
Target="itemProps{number}.xml"/></Relationships>"""
    described = f"""\
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<ds:datastoreItem ds:itemID="{_ITEM_ID}" xmlns:ds="{_OFFICE}/customXml"><ds:schemaRefs>\
<ds:schemaRef ds:uri="{NAMESPACE}"/></ds:schemaRefs></ds:datastoreItem>"""
    return item, {
        properties: described.encode(),
        relations_part(item): relations.encode(),
        **with_relation(package, package.workbook, _CUSTOM_XML, f"/{item}"),
        **with_types(package, {item: "application/xml", properties: _PROPERTIES_TYPE}),
    }
