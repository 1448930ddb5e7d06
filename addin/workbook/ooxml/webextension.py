"""The parts by which Excel opens the task pane together with a workbook (Office web extension parts)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from lxml import etree

from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.relations import RELATIONSHIPS, relations_part, with_relation, with_types, without_parts
from addin.workbook.ooxml.xmlpart import xml_bytes

_OFFICE_2011 = "http://schemas.microsoft.com/office/2011/relationships"
_TASK_PANES = f"{_OFFICE_2011}/webextensiontaskpanes"
_PANES, _EXTENSION = "xl/webextensions/taskpanes.xml", "xl/webextensions/webextension1.xml"

_TYPE = "application/vnd.ms-office.{}+xml"

_PANES_XML = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<wetp:taskpanes xmlns:wetp="http://schemas.microsoft.com/office/webextensions/taskpanes/2010/11">\
<wetp:taskpane dockstate="right" visibility="1" width="380" row="1">\
<wetp:webextensionref xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId1"/>\
</wetp:taskpane></wetp:taskpanes>"""

_PANES_RELS = f"""\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="rId1" Type="{_OFFICE_2011}/webextension" \
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
        **with_relation(package, "", _TASK_PANES, _PANES),
        **with_types(
            package, {_PANES: _TYPE.format("webextensiontaskpanes"), _EXTENSION: _TYPE.format("webextension")}
        ),
    }


def webextension_parts_in(package: Package) -> list[str]:
    """The parts by which Excel opens a task pane with the package."""
    panes = [part for _, kind, part in package.related("") if kind == _TASK_PANES]
    extensions = [part for pane in panes for _, kind, part in package.related(pane) if kind.endswith("/webextension")]
    return [name for part in (*panes, *extensions) for name in (part, relations_part(part)) if name in package]


def without_pane_of(package: Package, addin_id: str) -> tuple[list[str], dict[str, bytes]]:
    """The parts to remove, and the changed ones, so that Excel opens no pane of this add-in; another's stays."""
    removed: list[str] = []
    changed: dict[str, bytes] = {}
    for pane in [part for _, kind, part in package.related("") if kind == _TASK_PANES]:
        parts = {key: part for key, kind, part in package.related(pane) if kind.endswith("/webextension")}
        own = {key: part for key, part in parts.items() if part not in package or _is_of(package.xml(part), addin_id)}
        removed += own.values()
        if own and own.keys() == parts.keys():
            removed.append(pane)
        elif own:
            changed |= {
                pane: _without(package.xml(pane), own.keys()),
                **without_parts(package, removed, leading=[pane]),
            }
    removed += [relations_part(part) for part in removed]
    return [part for part in removed if part in package], changed


def _is_of(extension: etree._Element, addin_id: str) -> bool:
    return any(each.get("id", "").casefold() == addin_id for each in extension.findall("{*}reference"))


def _without(panes: etree._Element, keys: AbstractSet[str]) -> bytes:
    """The list of panes without those that these relationships lead to."""
    for pane in panes.findall("{*}taskpane"):
        if any(key in keys for each in pane.findall("{*}webextensionref") for key in each.attrib.values()):
            panes.remove(pane)
    return xml_bytes(panes)
