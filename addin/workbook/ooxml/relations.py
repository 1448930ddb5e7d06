"""What holds a package together: relationships between parts, and the types of their contents."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from lxml import etree

from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.xmlpart import xml_bytes

RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
CONTENT_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
TYPES_PART = "[Content_Types].xml"


def relations_part(part: str) -> str:
    """The part with the relationships of `part`, or of the package where it is empty."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def with_relation(package: Package, part: str, kind: str, target: str) -> dict[str, bytes]:
    """The changed part with which `part` has a further relationship."""
    root = package.xml(relations_part(part))
    taken = {element.get("Id") for element in root}
    free = next(f"rId{number}" for number in range(1, len(taken) + 2) if f"rId{number}" not in taken)
    etree.SubElement(root, f"{{{RELATIONSHIPS}}}Relationship", Id=free, Type=kind, Target=target)
    return {relations_part(part): xml_bytes(root)}


def with_types(package: Package, types: dict[str, str]) -> dict[str, bytes]:
    """The changed part with which the parts named in `types` have these content types."""
    root = package.xml(TYPES_PART)
    for part, content_type in types.items():
        etree.SubElement(root, f"{{{CONTENT_TYPES}}}Override", PartName=f"/{part}", ContentType=content_type)
    return {TYPES_PART: xml_bytes(root)}


def without_parts(package: Package, parts: Collection[str], *, leading: Collection[str] = ()) -> dict[str, bytes]:
    """The changed parts with which no type names `parts`, and neither the package nor its workbook leads to them.

    Nor do the parts that are `leading` to others.
    """
    gone = {part.casefold() for part in parts}
    changed = {}
    for source in ("", package.workbook, *leading):
        keys = {key for key, _, part in package.related(source) if part.casefold() in gone}
        if keys:
            relations = package.xml(relations_part(source))
            for relation in relations.findall(f"{{{RELATIONSHIPS}}}Relationship"):
                if relation.get("Id", "") in keys:
                    relations.remove(relation)
            changed[relations_part(source)] = xml_bytes(relations)
    if changed:
        types = package.xml(TYPES_PART)
        for override in types.findall(f"{{{CONTENT_TYPES}}}Override"):
            if override.get("PartName", "").lstrip("/").casefold() in gone:
                types.remove(override)
        changed[TYPES_PART] = xml_bytes(types)
    return changed


def calculation_chain(package: Package) -> list[str]:
    """The list of the book's formulas, which Excel makes anew where there is none.

    Excel reports a book as damaged whose list names a cell without a formula.
    """
    return [part for _, kind, part in package.related(package.workbook) if kind.endswith("/calcChain")]
