"""A workbook's sheets, strings and names over its package, each part read when it is first needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

from lxml import etree

from addin.formulas import Area, Named, Unworkable, mentions, references
from addin.formulas.names import names_with_calls, words
from addin.workbook.ooxml.cellformulas import Formula, scanned_formulas
from addin.workbook.ooxml.errors import WorkbookError, damaged
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN, text_of
from addin.workbook.ooxml.strict.book import check_strings, check_workbook
from addin.workbook.ooxml.strict.lexical import check_letters, check_text
from addin.workbook.ooxml.strict.rich_values import formatted_numbers
from addin.workbook.ooxml.styles import Styles
from addin.workbook.ooxml.tables import Table, rewrite_columns, table_in
from addin.workbook.ooxml.xmlpart import xml_bytes

WORKSHEET = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
_RELATIONSHIP_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

_FIXED = r"(?:\$[A-Z]{1,3}\$\d{1,7}|\$[A-Z]{1,3}(?=:)|(?<=:)\$[A-Z]{1,3}|\$\d{1,7}(?=:)|(?<=:)\$\d{1,7})"
_HIDDEN_ROW = re.compile(
    rb"""<(?:\w+:)?(?:row [^>]*\b(?:hidden=["'](?:1|true)|ht=["']0(?:\.[0-9]*)?["'])"""
    rb"""|sheetFormatPr [^>]*\bzeroHeight=["'](?:1|true))"""
)
"""A row that is hidden, by hand, by a filter or by its height, or all rows that are not told otherwise."""
_FIXED_AREA = re.compile(rf"=\s*(?:'(?:[^']|'')+'|[^\W\d][\w.]*)!{_FIXED}(?::{_FIXED})?\s*", re.IGNORECASE)
"""A definition that means the same cells wherever its name stands: nothing is relative, and nothing is computed."""

NOT_CALCULATED = frozenset(("", "0", "124519"))
"""Versions of a calculation engine that libraries give, which calculate nothing: none, or the one of Excel 2007."""


class Book:
    """A workbook for reading cells by sheet name and for writing values; `changed_parts` are what to save."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._part = package.workbook
        self._workbook = package.strict_xml(self._part)
        if etree.QName(self._workbook).localname != "workbook":
            raise WorkbookError(f"{package.path} is a file of another Office program, and no workbook")
        if self._workbook.tag != f"{{{MAIN}}}workbook":
            raise WorkbookError(f"{package.path} is saved as Strict Open XML; save it as an ordinary workbook first")
        check_workbook(self._workbook, self._part)
        self._related = list(package.related(self._part))
        worksheets = {key: part for key, kind, part in self._related if kind == WORKSHEET}
        sheets = self._workbook.iter(f"{{{MAIN}}}sheet")
        keys = {sheet.get("name", ""): sheet.get(_RELATIONSHIP_ID, "") for sheet in sheets}
        self._parts = {name: worksheets[key] for name, key in keys.items() if key in worksheets}
        self._folded = {name.casefold(): name for name in self._parts}
        self._sheets: dict[str, Sheet] = {}
        self._calling: dict[str, frozenset[str]] = {}
        self._is_changed = False
        self._changed_tables: set[str] = set()

    @property
    def sheet_names(self) -> list[str]:
        """The worksheets in the order of their tabs."""
        return list(self._parts)

    @property
    def tabs(self) -> list[tuple[str, str]]:
        """All sheets in the order of their tabs, charts too, and whether each is visible, hidden or veryHidden."""
        sheets = self._workbook.iter(f"{{{MAIN}}}sheet")
        return [(sheet.get("name", ""), sheet.get("state", "visible")) for sheet in sheets]

    @property
    def active_tab(self) -> str | None:
        """The sheet that the book opens on; None where that is the first, or none that has cells."""
        tabs = self.tabs
        views = [view.get("activeTab", "0") for view in self._workbook.iter(f"{{{MAIN}}}workbookView")]
        at = int(views[0]) if views and views[0].isascii() and views[0].isdigit() else 0
        return tabs[at][0] if 0 < at < len(tabs) and tabs[at][0] in self._parts else None

    @property
    def names(self) -> Mapping[tuple[str, str | None], str]:
        """The defined names in lower case, each with its sheet or None for all sheets, and their definitions."""
        return self._names

    def sheet(self, name: str) -> Sheet:
        """The sheet with this name, in any case; raises `Unworkable` where there is none."""
        if (sheet := self._sheets.get(name)) is not None:
            return sheet
        name = self.known_name(name)
        if name not in self._sheets:
            part = self._parts[name]
            root = self.package.strict_xml(part)
            first_day = 1462.0 if self.counts_from_1904 else 0.0
            self._sheets[name] = Sheet(
                name,
                part,
                root,
                self._strings,
                has_placeholders=self._has_placeholders,
                first_day=first_day,
                formatted=self.formatted_numbers,
            )
        return self._sheets[name]

    @cached_property
    def formatted_numbers(self) -> frozenset[str]:
        """The marks of cells whose rich value only says how their number looks."""
        return formatted_numbers(self.package)

    def has_sheet(self, name: str) -> bool:
        """Return whether there is a sheet of this name, in any case."""
        return name.casefold() in self._folded

    def known_name(self, name: str) -> str:
        """The name of a sheet as its tab shows it; raises `Unworkable` where there is none."""
        name = self._folded.get(name.casefold(), name)
        if name not in self._parts:
            raise Unworkable(f"there is no sheet '{name}'")
        return name

    def check_texts(self) -> None:
        """Raise `WorkbookError` for texts that not every program shows alike."""
        for part in (*self._parts.values(), self._related_part("/sharedStrings")):
            if part in self.package:
                check_letters(self.package.text(part), part)

    def formulas(self, name: str) -> Iterator[tuple[Spot, Formula]]:
        """Every formula of the sheet with this name; a sheet that nothing else needs is read without keeping it."""
        if name in self._sheets:
            return self._sheets[name].formulas()
        part = self._parts[name]
        content = self.package.text(part)
        check_text(content, part)
        return scanned_formulas(content, part, has_placeholders=self._has_placeholders)

    def has_rules(self, name: str) -> bool:
        """Return whether the sheet with this name may have conditional formats or validations."""
        content = self.package.text(self._parts[name])
        return b"conditionalFormatting" in content or b"dataValidation" in content

    def has_spill_references(self, name: str) -> bool:
        """Return whether the sheet with this name may refer to a spill (`A1#`)."""
        return b"ANCHORARRAY" in self.package.text(self._parts[name]).upper()

    def sheets_with_calls(self, namespace: str) -> Iterator[Sheet]:
        """The sheets whose XML may hold a call of ours; the others are not even parsed."""
        space = re.escape(namespace).encode()
        # A character reference could stand for any letter of a formula.
        marks = re.compile(rb"_xldudf_" + space + rb"_|" + space + rb"\.|&#x?[0-9a-f]{2}", re.IGNORECASE)
        for name, part in self._parts.items():
            if name in self._sheets or marks.search(self.package.text(part)):
                yield self.sheet(name)

    def calls(self, formula: str, namespace: str) -> bool:
        """Return whether a formula calls a function of ours, itself or through a defined name."""
        if mentions(formula, namespace):
            return True
        names = self.names_with_calls(namespace)
        return bool(names) and not names.isdisjoint(words(formula))

    def names_with_calls(self, namespace: str) -> frozenset[str]:
        """The defined names, in lower case, that stand for something with a call of ours."""
        if namespace not in self._calling:
            definitions = [(name, text) for (name, _), text in self._names.items()]
            self._calling[namespace] = names_with_calls(definitions, namespace)
        return self._calling[namespace]

    def formulas_with_calls(self, namespace: str) -> Iterator[tuple[str, Spot, Formula]]:
        """Every formula that calls a function of ours, itself or through a defined name, with its sheet and cell."""
        own = {sheet.name for sheet in self.sheets_with_calls(namespace)}
        for name in self.sheet_names:
            if name in own or self.names_with_calls(namespace):
                for spot, formula in self.formulas(name):
                    if self.calls(formula.text, namespace):
                        yield name, spot, formula

    def rewrite_formulas(self, namespace: str, mend: Callable[[str], str]) -> list[tuple[str, Spot]]:
        """Replace every formula on the sheets with calls of ours, and every name; the cells whose formula changed."""
        self.rewrite_names(mend)
        self.rewrite_columns(lambda _, text: mend(text))
        changed = []
        for sheet in self.sheets_with_calls(namespace):
            sheet.rewrite_rules(mend)
            changed += [(sheet.name, spot) for spot in sheet.rewrite_formulas(mend)]
        return changed

    def rewrite_names(self, mend: Callable[[str], str]) -> None:
        """Replace the definition of every name by what `mend` makes of it."""
        for element in self._workbook.iter(f"{{{MAIN}}}definedName"):
            if element.text and (mended := mend(element.text)) != element.text:
                element.text = mended
                self._is_changed = True
                self.__dict__.pop("_names", None)

    def area_of(self, name: Named, sheet: str) -> Area:
        """The area that a defined name stands for, seen from `sheet`; raises `Unworkable` for any other kind."""
        text = self.definition(name.name, sheet) or ""
        found = references(text) if _FIXED_AREA.fullmatch(text) else []
        if len(found) != 1 or not isinstance(found[0], Area):
            raise Unworkable(f"the name {name.name} is not a reference to fixed cells")
        return found[0]

    def areas_behind(self, name: Named, sheet: str) -> Iterator[Area]:
        """Every area that the definition of a name refers to, also through other names, each of which is read once."""
        met, left = {name.name.casefold()}, [name.name]
        while left:
            for reference in references(self.definition(left.pop(), sheet) or ""):
                if isinstance(reference, Area):
                    yield reference
                elif (folded := reference.name.casefold()) not in met:
                    met.add(folded)
                    left.append(reference.name)

    def definition(self, name: str, sheet: str) -> str | None:
        """The formula behind a defined name, seen from `sheet`; None where there is no such name."""
        return self._names.get((name.casefold(), sheet)) or self._names.get((name.casefold(), None))

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The tables by their name in lower case."""
        found = (table_in(root, name, part) for part, (name, root) in self._tables.items())
        return {table.name.casefold(): table for table in found if table is not None}

    @cached_property
    def _tables(self) -> dict[str, tuple[str, etree._Element]]:
        """The parts of the tables, each with its sheet and its root."""
        return {
            part: (name, self.package.xml(part))
            for name, sheet in self._parts.items()
            for _, kind, part in self.package.related(sheet)
            if kind.endswith("/table") and part in self.package
        }

    def rewrite_columns(self, mend: Callable[[str, str], str]) -> None:
        """Replace the formulas that tables put into new rows by what `mend` makes of a sheet and one of its formulas.

        An empty one is dropped.
        """
        for part, (name, root) in self._tables.items():
            if rewrite_columns(root, partial(mend, name)):
                self._changed_tables.add(part)

    @property
    def counts_from_1904(self) -> bool:
        """Return whether dates are counted from 1904, as old books from a Mac do."""
        properties = self._workbook.find(f"{{{MAIN}}}workbookPr")
        return properties is not None and properties.get("date1904") in ("1", "true")

    def hides_rows(self, name: str) -> bool:
        """Return whether rows of a sheet are hidden, by hand or by a filter."""
        return _HIDDEN_ROW.search(self.package.text(self._parts[name])) is not None

    @property
    def calculates_as_shown(self) -> bool:
        """Return whether formulas go on with the digits that cells show (Excel's "precision as displayed")."""
        calculation = self._workbook.find(f"{{{MAIN}}}calcPr")
        return calculation is not None and calculation.get("fullPrecision") in ("0", "false")

    def show_as_date(self, sheet: Sheet, spot: Spot, *, with_time: bool) -> None:
        """Give a cell a date format, unless it has a number format already, or the book has no styles."""
        if self.styles is not None:
            style = sheet.style(spot)
            dated = self.styles.as_date(style, with_time=with_time)
            if dated != style:
                sheet.restyle(spot, dated)

    @property
    def recalculates_on_load(self) -> bool:
        """Return whether the book tells programs to recalculate it when they open it."""
        calculation = self._workbook.find(f"{{{MAIN}}}calcPr")
        return calculation is not None and calculation.get("fullCalcOnLoad") in ("1", "true")

    @cached_property
    def _has_placeholders(self) -> bool:
        """Return whether a `0` of a formula may stand there because nobody has calculated it.

        So it is in a book that wants to be calculated, unless a program was the last to calculate it.
        """
        calculation = self._workbook.find(f"{{{MAIN}}}calcPr")
        by = "" if calculation is None else calculation.get("calcId", "")
        return self.recalculates_on_load and by in NOT_CALCULATED

    def mark(self, sheet: Sheet, spot: Spot) -> None:
        """Give a cell a background that stands out, unless the book has no styles."""
        if self.styles is not None:
            sheet.restyle(spot, self.styles.marked(sheet.style(spot)))

    def recalculate_on_load(self) -> None:
        """Make Excel recalculate all formulas when it opens the book."""
        calculation = self._workbook.find(f"{{{MAIN}}}calcPr")
        if calculation is None:
            calculation = etree.Element(f"{{{MAIN}}}calcPr")
            before = ("definedNames", "externalReferences", "functionGroups", "sheets")
            found = (self._workbook.find(f"{{{MAIN}}}{tag}") for tag in before)
            place = next((element for element in found if element is not None), None)
            if place is None:
                raise damaged(self._part, "it names no sheets")
            place.addnext(calculation)
        if calculation.get("fullCalcOnLoad") != "1":
            calculation.set("fullCalcOnLoad", "1")
            self._is_changed = True

    def changed_parts(self) -> dict[str, bytes]:
        """The bytes of every part that was written to."""
        parts = {sheet.part: sheet.content() for sheet in self._sheets.values() if sheet.is_changed}
        parts |= {part: xml_bytes(self._tables[part][1]) for part in self._changed_tables}
        if self._is_changed:
            parts[self._part] = xml_bytes(self._workbook)
        if self.styles is not None and (styles := self.styles.content) is not None:
            parts[self.styles.part] = styles
        return parts

    @cached_property
    def styles(self) -> Styles | None:
        """The styles of the cells; None where the book has none."""
        part = self._related_part("/styles")
        return Styles(self.package, part) if part in self.package else None

    @cached_property
    def _strings(self) -> list[str]:
        part = self._related_part("/sharedStrings")
        if part not in self.package:
            return []
        root = self.package.strict_xml(part)
        check_strings(root, part)
        return [text_of(item) for item in root.iterchildren(f"{{{MAIN}}}si")]

    def _related_part(self, kind: str) -> str:
        return next((part for _, found, part in self._related if found.endswith(kind)), "")

    @cached_property
    def _names(self) -> dict[tuple[str, str | None], str]:
        # `localSheetId` counts all sheets, chart sheets too.
        sheets = {str(i): each.get("name", "") for i, each in enumerate(self._workbook.iter(f"{{{MAIN}}}sheet"))}
        names: dict[tuple[str, str | None], str] = {}
        for element in self._workbook.iter(f"{{{MAIN}}}definedName"):
            sheet = sheets.get(element.get("localSheetId", ""))
            names[element.get("name", "").casefold(), sheet] = f"={element.text or ''}"
        return names
