"""The parts by which Excel opens the task pane together with a workbook (Office web extension parts)."""

from __future__ import annotations

from lxml import etree

from addin.workbook.ooxml.package import Package, xml_bytes

_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_CONTENT_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_OFFICE_2011 = "http://schemas.microsoft.com/office/2011/relationships"
_TASK_PANES = f"{_OFFICE_2011}/webextensiontaskpanes"
_PANES, _EXTENSION = "xl/webextensions/taskpanes.xml", "xl/webextensions/webextension1.xml"

_PANES_XML = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<wetp:taskpanes xmlns:wetp="http://schemas.microsoft.com/office/webextensions/taskpanes/2010/11">\
<wetp:taskpane dockstate="right" visibility="1" width="380" row="1">\
<wetp:webextensionref xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId1"/>\
</wetp:taskpane></wetp:taskpanes>"""

_PANES_RELS = f"""\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="{_RELATIONSHIPS}"><Relationship Id="rId1" Type="{_OFFICE_2011}/webextension" \
Target="webextension1.xml"/></Relationships>"""


def webextension_parts(package: Package, *, addin_id: str, version: str) -> dict[str, bytes]:
    """The parts to add to a package, and its changed ones, so that Excel opens the pane of the add-in `addin_id`.

    The store is that of a sideloaded add-in; a centrally deployed one has `EXCatalog` for both attributes.
    """
    extension = f"""\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<we:webextension xmlns:we="http://schemas.microsoft.com/office/webextensions/webextension/2010/11" \
id="{{{addin_id}}}"><we:reference id="{addin_id}" version="{version}" store="developer" storeType="Registry"/>\
<we:alternateReferences/><we:properties><we:property name="Office.AutoShowTaskpaneWithDocument" value="true"/>\
</we:properties><we:bindings/><we:snapshot xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"/>\
</we:webextension>"""
    return {
        _PANES: _PANES_XML.encode(),
        "xl/webextensions/_rels/taskpanes.xml.rels": _PANES_RELS.encode(),
        _EXTENSION: extension.encode(),
        "_rels/.rels": _with_relationship(package),
        "[Content_Types].xml": _with_content_types(package),
    }


def without_webextension(package: Package) -> dict[str, bytes]:
    """The changed part of a package with which Excel opens no task pane."""
    relationships = package.xml("_rels/.rels")
    for relation in relationships.findall(f"{{{_RELATIONSHIPS}}}Relationship"):
        if relation.get("Type") == _TASK_PANES:
            relationships.remove(relation)
    return {"_rels/.rels": xml_bytes(relationships)}


def _with_relationship(package: Package) -> bytes:
    root = package.xml("_rels/.rels")
    taken = {element.get("Id") for element in root}
    free = next(f"rId{number}" for number in range(1, len(taken) + 2) if f"rId{number}" not in taken)
    etree.SubElement(root, f"{{{_RELATIONSHIPS}}}Relationship", Id=free, Type=_TASK_PANES, Target=_PANES)
    return xml_bytes(root)


def _with_content_types(package: Package) -> bytes:
    root = package.xml("[Content_Types].xml")
    for part, kind in ((_PANES, "webextensiontaskpanes"), (_EXTENSION, "webextension")):
        content_type = f"application/vnd.ms-office.{kind}+xml"
        etree.SubElement(root, f"{{{_CONTENT_TYPES}}}Override", PartName=f"/{part}", ContentType=content_type)
    return xml_bytes(root)
