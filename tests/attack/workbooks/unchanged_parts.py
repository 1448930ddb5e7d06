"""What differs between two books, to the byte or as canonical XML, but for cells whose values may be others."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

from lxml import etree

from addin.workbook.calculation.influence import Place
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import address, area_of

_CHAIN = "calcchain"
"""What says in which order Excel calculates: a hint, which goes where a formula became a value."""
_SETTINGS = "{*}calcPr"
"""Where a book says that it is to be calculated when it opens."""


def parts_of(content: bytes) -> dict[str, bytes]:
    """The parts of a book by their names."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def differences(before: Path, after: Path, *, values: AbstractSet[Place] = frozenset(), frozen: str = "") -> list[str]:
    """The parts that differ but for the `values` of these cells, and a `frozen` one, which was a formula.

    A formula without a value in the file may have one, one that is worked out anew whenever the book opens another, and
    what spills from such a cell may fill more or fewer cells.
    """
    old, new = parts_of(before.read_bytes()), parts_of(after.read_bytes())
    gone = [name for name in old.keys() - new.keys() if _CHAIN not in name.lower()]
    cells = _by_part(before, values)
    told = (
        f"{name} differs" for name in sorted(old.keys() & new.keys()) if not _is_same(name, old, new, cells, frozen)
    )
    return [*(f"{name} is gone" for name in gone), *(f"{name} is new" for name in new.keys() - old.keys()), *told]


def _is_same(
    name: str, old: Mapping[str, bytes], new: Mapping[str, bytes], cells: Mapping[str, set[str]], frozen: str
) -> bool:
    if old[name] == new[name]:
        return True
    try:
        free = cells.get(name, set()) | set(_unsettled(old[name]))
        free |= {cell for part in (old[name], new[name]) for cell in _filled(part, free)}
        one, other = (_canonical(parts[name], free, frozen) for parts in (old, new))
    except etree.XMLSyntaxError:
        return False
    return one == other


def _by_part(book: Path, values: AbstractSet[Place]) -> dict[str, set[str]]:
    """The addresses of cells by the part of their sheet."""
    found: dict[str, set[str]] = {}
    with Package(book) as package:
        opened = Book(package)
        for sheet, spot in values:
            found.setdefault(opened.sheet(sheet).part, set()).add(address(spot))
    return found


def _unsettled(part: bytes) -> Iterator[str]:
    """The addresses of formulas without a value, and of those that are worked out whenever the book opens."""
    for cell in etree.fromstring(part, etree.XMLParser(huge_tree=True)).iter("{*}c"):
        formula = cell.find("{*}f")
        if formula is not None and (cell.find("{*}v") is None or formula.get("ca") == "1"):
            yield cell.get("r", "")


def _filled(part: bytes, heads: AbstractSet[str]) -> Iterator[str]:
    """The addresses of the cells that arrays fill which begin in the cells `heads`."""
    for cell in etree.fromstring(part, etree.XMLParser(huge_tree=True)).iter("{*}c"):
        formula = cell.find("{*}f")
        area = None if formula is None or cell.get("r", "") not in heads else area_of(formula.get("ref", ""))
        if area is not None:
            rows, columns = range(area.first_row, area.last_row + 1), range(area.first_column, area.last_column + 1)
            yield from (address((row, column)) for row in rows for column in columns)


def _canonical(part: bytes, cells: AbstractSet[str], frozen: str) -> str:
    """A part in one form, without what may be another."""
    root = etree.fromstring(part, etree.XMLParser(huge_tree=True))
    for element in list(_left_out(root)):
        parent = element.getparent()
        assert parent is not None
        parent.remove(element)
    for cell in root.iter("{*}c"):
        if (name := cell.get("r", "")) in cells or name == frozen:
            cell.attrib.pop("t", "")
            for element in list(cell):
                element.attrib.pop("ref", "")
                if name == frozen or etree.QName(element).localname != "f":
                    cell.remove(element)
    return ElementTree.canonicalize(etree.tostring(root), rewrite_prefixes=True)


def _left_out(root: etree._Element) -> Iterator[etree._Element]:
    yield from root.iter(_SETTINGS)
    for element in root.iter("{*}Override", "{*}Relationship"):
        if _CHAIN in (element.get("PartName", "") + element.get("Target", "")).lower():
            yield element
