"""Parts that tell spreadsheet programs that the saved values can be relied on.

Calc keeps saved texts only in files whose program it knows, and Excel works out everything anew when it opens a file of
an older calculation engine than its own. XlsxWriter writes the same parts.
"""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from addin.workbook.ooxml.stored import CALCULATION_ENGINE, MAIN
from addin.workbook.ooxml.xmlpart import parse_xml, xml_bytes

_PROGRAM = "docProps/app.xml"
_PROPERTIES = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
_APP = f'<Properties xmlns="{_PROPERTIES}"><Application>Microsoft Excel</Application></Properties>'
_CONTENT = "application/vnd.openxmlformats-officedocument.extended-properties+xml"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/extended-properties"


def with_origin(parts: Mapping[str, str]) -> dict[str, bytes]:
    """The parts of a workbook by name, with those that name a program and a calculation engine if there are none."""
    made = {name: text.encode() for name, text in parts.items()}
    if _PROGRAM not in parts and {"[Content_Types].xml", "_rels/.rels"} <= parts.keys():
        made[_PROGRAM] = _APP.encode()
        override = {"PartName": f"/{_PROGRAM}", "ContentType": _CONTENT}
        made["[Content_Types].xml"] = _added(made["[Content_Types].xml"], f"{{{_TYPES}}}Override", override)
        relation = {"Id": "program", "Type": _KIND, "Target": _PROGRAM}
        made["_rels/.rels"] = _added(made["_rels/.rels"], f"{{{_RELATIONS}}}Relationship", relation)
    if "xl/workbook.xml" in parts:
        made["xl/workbook.xml"] = _calculated(made["xl/workbook.xml"])
    return made


def _added(part: bytes, tag: str, attributes: Mapping[str, str]) -> bytes:
    root = parse_xml(part, tag)
    etree.SubElement(root, tag, dict(attributes))
    return xml_bytes(root)


def _calculated(workbook: bytes) -> bytes:
    """The workbook's part with a calculation engine, which stands after its sheets and names."""
    root = parse_xml(workbook, "xl/workbook.xml")
    if root.find(f"{{{MAIN}}}calcPr") is None:
        before = [root.find(f"{{{MAIN}}}{name}") for name in ("definedNames", "externalReferences", "sheets")]
        last = next((element for element in before if element is not None), None)
        if last is not None:
            last.addnext(etree.Element(f"{{{MAIN}}}calcPr", {"calcId": str(CALCULATION_ENGINE)}))
    return xml_bytes(root)
