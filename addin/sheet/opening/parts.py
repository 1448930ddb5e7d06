"""The parts of a workbook laid out as the component expects them.

It shows sheets in the order of their files' names, follows only links that are relative, knows elements by the usual
prefixes of their names, and parts by a type that is written out for each; other programs write all of this otherwise.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from lxml import etree

from addin.sheet.opening.digestible import part_types, shown_chart, shown_styles
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.relations import CONTENT_TYPES, RELATIONSHIPS, TYPES_PART
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.xmlpart import parse_xml, xml_bytes

_SHEET_ML = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_WORKBOOK = f"{_SHEET_ML}.sheet.main+xml"
_STYLES = "xl/styles.xml", f"{_SHEET_ML}.styles+xml"
_NO_STYLES = f"""\
<styleSheet xmlns="{MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>\
<fills count="1"><fill><patternFill patternType="none"/></fill></fills>\
<borders count="1"><border/></borders>\
<cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellXfs></styleSheet>"""
_PLAIN = re.compile(r"\.(?:sheet\.main|worksheet|styles)\+xml$")
"""The types of the parts without which no cell can be shown."""
_TEXTS = re.compile(r"\.sharedStrings\+xml$")
"""The type of the part with texts, which stand in the cells themselves."""

_OFFICE = "http://schemas.openxmlformats.org"
_USUAL = {
    MAIN: "",
    RELATIONSHIPS: "",
    CONTENT_TYPES: "",
    f"{_OFFICE}/officeDocument/2006/relationships": "r",
    f"{_OFFICE}/drawingml/2006/spreadsheetDrawing": "xdr",
    f"{_OFFICE}/drawingml/2006/main": "a",
    f"{_OFFICE}/drawingml/2006/chart": "c",
    f"{_OFFICE}/markup-compatibility/2006": "mc",
}
"""The prefix of each namespace; empty where its names have none."""

_FIRST = re.compile(rb"<(?:([\w.-]+):)?[A-Za-z_]")
"""The prefix of the root element."""
_DECLARED = re.compile(rb"""\sxmlns(?::([\w.-]+))?=(?:"([^"]*)"|'([^']*)')""")


def laid_out(
    package: Package, changed: Mapping[str, bytes], sheets: Sequence[str], *, plain: bool = False
) -> dict[str, str]:
    """The XML parts by name, the `changed` ones as they are now, with the parts in `sheets` named in this order.

    Only those that hold cells and styles are there if `plain`.
    """
    names = {part.casefold(): f"xl/worksheets/sheet{number}.xml" for number, part in enumerate(sheets, 1)}
    types = _types(package)
    left_out = {part for part, kind in types.items() if _TEXTS.search(kind) or (plain and not _PLAIN.search(kind))}
    parts = {}
    for part in package.parts():
        source = _source(part)
        if (source is None and part.casefold() not in types) or part.casefold() in left_out:
            continue
        content = changed.get(part) or package.text(part)
        if source is None:
            if types.get(part.casefold()) == _STYLES[1]:
                content = shown_styles(content)
            content = usual_prefixes(content)
            if types.get(part.casefold(), "").endswith(".drawingml.chart+xml"):
                content = shown_chart(content)
            parts[names.get(part.casefold(), part)] = _text(content)
        elif not plain or source.casefold() == package.workbook.casefold():
            renamed = names.get(source.casefold(), source)
            parts[_rels_of(renamed)] = _text(_relative(content, part, source, renamed, names))
    types = {names.get(part, part): kind for part, kind in types.items() if part not in left_out}
    if _STYLES[1] not in types.values():
        parts[_STYLES[0]] = _NO_STYLES
        types[_STYLES[0]] = _STYLES[1]
    return {TYPES_PART: _text(_written(types, list(parts))), **parts}


def _types(package: Package) -> dict[str, str]:
    """The type of every XML part, by its name in lower case."""
    types = part_types(package)
    named = {part: types.get(part, "") for part in map(str.casefold, package.parts()) if part.endswith(".xml")}
    named.pop(TYPES_PART.casefold(), None)
    return named | {package.workbook.casefold(): _WORKBOOK}


def _written(types: Mapping[str, str], parts: Sequence[str]) -> bytes:
    root = etree.Element(f"{{{CONTENT_TYPES}}}Types", nsmap={None: CONTENT_TYPES})  # type: ignore[dict-item]
    for part in parts:
        if kind := types.get(part) or types.get(part.casefold()):
            etree.SubElement(root, f"{{{CONTENT_TYPES}}}Override", PartName=f"/{part}", ContentType=kind)
    return xml_bytes(root)


def _source(part: str) -> str | None:
    """The part whose relationships are in `part`, empty for those of the package; None if it holds none."""
    folder, name = posixpath.split(part)
    if not name.endswith(".rels") or posixpath.basename(folder) != "_rels":
        return None
    return posixpath.join(posixpath.dirname(folder), name.removesuffix(".rels"))


def _rels_of(part: str) -> str:
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _relative(content: bytes, part: str, source: str, renamed: str, names: Mapping[str, str]) -> bytes:
    root = parse_xml(usual_prefixes(content), part)
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


def usual_prefixes(content: bytes) -> bytes:
    """The same XML, in UTF-8, with the usual prefixes; one that is usual already, or means two things, stays.

    >>> usual_prefixes(b'<x:row xmlns:x="%b"><x:c/></x:row>' % MAIN.encode())[:33]
    b'<row xmlns="http://schemas.openxm'
    """
    first = _FIRST.search(content)
    declared = {(found[1] or b"", found[2] or found[3] or b"") for found in _DECLARED.finditer(content)}
    for prefix, namespace in sorted(declared):
        usual = _USUAL.get(namespace.decode("utf-8", "replace"))
        if usual is None or usual.encode() == prefix:
            continue
        if not usual and (first is None or (first[1] or b"") != prefix):
            continue  # only the names of one namespace can be without a prefix: the root's
        if any(other == usual.encode() and meant != namespace for other, meant in declared):
            continue
        content = _renamed(content, prefix, usual.encode())
    return content


def _renamed(content: bytes, prefix: bytes, usual: bytes) -> bytes:
    """The XML with `usual` in place of a prefix; what had none gets it."""
    new = usual + b":" if usual else b""
    if prefix:
        content = re.sub(rb"(</?)" + re.escape(prefix) + rb":", rb"\1" + new, content)
        content = re.sub(rb"(\s)" + re.escape(prefix) + rb":(?=[\w.-]+=[\"'])", rb"\1" + new, content)
    else:
        content = re.sub(rb"(</?)(?=[A-Za-z_][\w.-]*[\s/>])", rb"\1" + new, content)
    old = rb"xmlns:" + re.escape(prefix) if prefix else rb"xmlns"
    now = rb"xmlns" + (b":" + usual if usual else b"")
    content = re.sub(rb"(\s)" + old + rb"=", rb"\1" + now + b"=", content)
    # A tag may have declared both.
    return re.sub(rb"(<[^<>]*\s)(" + now + rb"=\"[^\"]*\")([^<>]*)\s\2", rb"\1\2\3", content)
