"""The parts of a workbook laid out as the component expects them.

It shows sheets in the order of their files' names, and follows only links that are relative; other programs write both
otherwise.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from lxml import etree

from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.xmlpart import parse_xml, xml_bytes

_CONTENT_TYPES = "[Content_Types].xml"


def laid_out(package: Package, changed: Mapping[str, bytes], sheets: Sequence[str]) -> dict[str, str]:
    """The XML parts by name, the `changed` ones as they are now, with the parts in `sheets` named in this order."""
    names = {part.casefold(): f"xl/worksheets/sheet{number}.xml" for number, part in enumerate(sheets, 1)}
    parts = {}
    for part in package.parts():
        if not part.endswith((".xml", ".rels")):
            continue
        content = changed.get(part) or package.text(part)
        source = _source(part)
        if part.casefold() == _CONTENT_TYPES.casefold():
            parts[_CONTENT_TYPES] = _text(_renamed_types(content, names))
        elif source is not None:
            renamed = names.get(source.casefold(), source)
            parts[_rels_of(renamed)] = _text(_relative(content, part, source, renamed, names))
        else:
            parts[names.get(part.casefold(), part)] = _text(content)
    return parts


def _source(part: str) -> str | None:
    """The part whose relationships are in `part`, empty for those of the package; None if it holds none."""
    folder, name = posixpath.split(part)
    if not name.endswith(".rels") or posixpath.basename(folder) != "_rels":
        return None
    return posixpath.join(posixpath.dirname(folder), name.removesuffix(".rels"))


def _rels_of(part: str) -> str:
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _renamed_types(content: bytes, names: Mapping[str, str]) -> bytes:
    root = parse_xml(content, _CONTENT_TYPES)
    for element in _elements(root):
        part = element.get("PartName", "")
        if part.lstrip("/").casefold() in names:
            element.set("PartName", f"/{names[part.lstrip('/').casefold()]}")
    return xml_bytes(root)


def _relative(content: bytes, part: str, source: str, renamed: str, names: Mapping[str, str]) -> bytes:
    root = parse_xml(content, part)
    for element in _elements(root):
        if element.get("TargetMode") == "External":
            continue
        target = posixpath.normpath(posixpath.join("/", posixpath.dirname(source), element.get("Target", "")))
        target = target.lstrip("/")
        target = names.get(target.casefold(), target)
        element.set("Target", posixpath.relpath(f"/{target}", f"/{posixpath.dirname(renamed)}"))
    return xml_bytes(root)


def _elements(root: etree._Element) -> Iterator[etree._Element]:
    return root.iterchildren(etree.Element)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
