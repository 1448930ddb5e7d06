"""A workbook's sheets, strings and names over its package, each part read when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from lxml import etree

from addin.formulas import Area, Named, Unworkable, references
from addin.workbook.ooxml.package import Package, WorkbookError
from addin.workbook.ooxml.sheet import MAIN, Sheet

_RELATIONSHIP_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WORKBOOK = "xl/workbook.xml"


class Book:
    """A workbook for reading cells by sheet name and for writing values; `save` keeps all other parts as they are."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._workbook = package.xml(_WORKBOOK)
        if self._workbook.tag != f"{{{MAIN}}}workbook":
            raise WorkbookError(f"{package.path} is saved as Strict Open XML; save it as an ordinary workbook first")
        targets = {identifier: (kind, part) for identifier, kind, part in package.related(_WORKBOOK)}
        self._parts: dict[str, str] = {}
        for element in self._workbook.iter(f"{{{MAIN}}}sheet"):
            kind, part = targets.get(element.get(_RELATIONSHIP_ID, ""), ("", ""))
            if kind.endswith("/worksheet"):
                self._parts[element.get("name", "")] = part
        self._folded = {name.casefold(): name for name in self._parts}
        self._sheets: dict[str, Sheet] = {}
        self._changed: set[str] = set()

    @property
    def sheet_names(self) -> list[str]:
        """The worksheets in the order of their tabs."""
        return list(self._parts)

    def sheet(self, name: str) -> Sheet:
        """The sheet with this name, in any case; raises `Unworkable` where there is none."""
        name = self._folded.get(name.casefold(), name)
        if name not in self._parts:
            raise Unworkable(f"there is no sheet '{name}'")
        if name not in self._sheets:
            part = self._parts[name]
            self._sheets[name] = Sheet(name, part, self.package.xml(part), self._strings)
        return self._sheets[name]

    def sheets_with_calls(self, namespace: str) -> Iterator[Sheet]:
        """The sheets whose XML can hold a call of ours; the others are not even parsed."""
        marks = (f"_xldudf_{namespace}_".lower().encode(), f"{namespace}.".lower().encode())
        for name, part in self._parts.items():
            content = self.package.read(part).lower()
            if any(mark in content for mark in marks):
                yield self.sheet(name)

    def area_of(self, name: Named, sheet: str) -> Area:
        """The area that a defined name stands for, seen from `sheet`; raises `Unworkable` for any other kind."""
        text = self._names.get((name.name.casefold(), sheet)) or self._names.get((name.name.casefold(), None))
        found = references(text) if text else []
        if len(found) != 1 or not isinstance(found[0], Area) or str(found[0].sheet or "") == "":
            raise Unworkable(f"the name {name.name} is not a reference to cells")
        return found[0]

    def recalculate_on_load(self) -> None:
        """Have Excel work out all formulas when it opens the book."""
        calculation = self._workbook.find(f"{{{MAIN}}}calcPr")
        if calculation is None:
            calculation = etree.Element(f"{{{MAIN}}}calcPr")
            before = ("definedNames", "externalReferences", "functionGroups", "sheets")
            found = (self._workbook.find(f"{{{MAIN}}}{tag}") for tag in before)
            next(element for element in found if element is not None).addnext(calculation)
        calculation.set("fullCalcOnLoad", "1")
        self._changed.add(_WORKBOOK)

    def changed_parts(self) -> dict[str, bytes]:
        """The bytes of every part that was written to."""
        parts = {sheet.part: sheet.content() for sheet in self._sheets.values() if sheet.part in self._changed}
        if _WORKBOOK in self._changed:
            parts[_WORKBOOK] = bytes(
                etree.tostring(self._workbook, xml_declaration=True, encoding="UTF-8", standalone=True)
            )
        return parts

    def touch(self, sheet: Sheet) -> None:
        """Note that a sheet was written to."""
        self._changed.add(sheet.part)

    @cached_property
    def _strings(self) -> list[str]:
        part = next((part for _, kind, part in self.package.related(_WORKBOOK) if kind.endswith("/sharedStrings")), "")
        if part not in self.package:
            return []
        items = self.package.xml(part).iterchildren(f"{{{MAIN}}}si")
        return [_text_of(item) for item in items]

    @cached_property
    def _names(self) -> dict[tuple[str, str | None], str]:
        names: dict[tuple[str, str | None], str] = {}
        for element in self._workbook.iter(f"{{{MAIN}}}definedName"):
            position = element.get("localSheetId")
            known = position is not None and position.isdigit() and int(position) < len(self._order)
            local = self._order[int(position or 0)] if known else None
            names[element.get("name", "").casefold(), local] = f"={element.text or ''}"
        return names

    @cached_property
    def _order(self) -> list[str]:
        """All sheets by position, chart sheets too, as `localSheetId` counts them."""
        return [element.get("name", "") for element in self._workbook.iter(f"{{{MAIN}}}sheet")]


def _text_of(item: Any) -> str:
    phonetic = f"{{{MAIN}}}rPh"
    return "".join(element.text or "" for element in item.iter(f"{{{MAIN}}}t") if element.getparent().tag != phonetic)
