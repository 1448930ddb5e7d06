"""A book of the corpus with some of its constants replaced by calls of ours, so that its formulas rest on them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from lxml import etree

from addin.formulas import Area, references
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import address
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN
from udfs.cells import Scalar
from udfs.errors import CellError

SHOWING_THE_TIME = ("TODAY(", "NOW(")

Place = tuple[str, tuple[int, int]]

MAX_INPUTS = 12
"""Constants of one book that become calls: enough for most of its formulas to rest on them."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a book holds: its formulas with the areas they name, every value, and the parts of its sheets."""

    formulas: Mapping[Place, list[tuple[str, Area]]]
    texts: Mapping[Place, str]
    values: Mapping[Place, Scalar]
    parts: Mapping[str, str]
    timely: AbstractSet[Place]
    """The formulas that show the time of Excel's last calculation, or rest on one that does."""

    def constants(self) -> list[Place]:
        """The numbers that a formula refers to and that are no formula themselves, in the order of the sheets."""
        used = {place for areas in self.formulas.values() for where in areas for place in self._inside(where)}
        return sorted(place for place in used if type(self.values[place]) is float and place not in self.formulas)

    def resting_on(self, inputs: Iterable[Place]) -> set[Place]:
        """The formulas that name one of `inputs`, or a formula that does, over any number of steps."""
        reached = set(inputs)
        waiting = {place: areas for place, areas in self.formulas.items() if place not in reached}
        while new := [place for place, areas in waiting.items() if any(_meets(where, reached) for where in areas)]:
            reached.update(new)
            for place in new:
                del waiting[place]
        return reached & self.formulas.keys()

    def _inside(self, where: tuple[str, Area]) -> Iterable[Place]:
        sheet, area = where
        if area.is_cell:
            place = (sheet, (area.first_row, area.first_column))
            return [place] if place in self.values else []
        return [place for place in self.values if place[0] == sheet and area.contains(*place[1])]


def _meets(where: tuple[str, Area], reached: set[Place]) -> bool:
    sheet, area = where
    if area.is_cell:
        return (sheet, (area.first_row, area.first_column)) in reached
    return any(place[0] == sheet and area.contains(*place[1]) for place in reached)


def content_of(path: Path) -> Content:
    """What the book at `path` holds."""
    with Package(path) as package:
        book = Book(package)
        sheets = [book.sheet(name) for name in book.sheet_names]
        texts = {(sheet.name, spot): formula.text for sheet in sheets for spot, formula in sheet.formulas()}
        formulas = {place: _areas(text, place[0]) for place, text in texts.items()}
        clocks = {place for place, text in texts.items() if any(each in text.upper() for each in SHOWING_THE_TIME)}
        content = Content(formulas, texts, _values(sheets), {sheet.name: sheet.part for sheet in sheets}, clocks)
        return replace(content, timely=clocks | content.resting_on(clocks))


def _areas(text: str, sheet: str) -> list[tuple[str, Area]]:
    return [(area.sheet or sheet, area) for area in references(text) if isinstance(area, Area)]


def values_of(path: Path) -> dict[Place, Scalar]:
    """Every value of the book at `path`, an error by its code."""
    with Package(path) as package:
        book = Book(package)
        return _values([book.sheet(name) for name in book.sheet_names])


def _values(sheets: Iterable[Sheet]) -> dict[Place, Scalar]:
    found: dict[Place, Scalar] = {}
    for sheet in sheets:
        for spot in sheet.filled():
            value = sheet.value(spot)
            found[sheet.name, spot] = value.message if isinstance(value, CellError) else value
    return found


def chosen_inputs(content: Content, random: Random) -> list[Place]:
    """Constants to replace, `MAX_INPUTS` at most."""
    constants = content.constants()
    return sorted(random.sample(constants, min(MAX_INPUTS, len(constants))))


def changed_book(
    content: bytes,
    parts: Mapping[str, str],
    cells: Mapping[Place, Callable[[etree._Element], None]],
    *,
    without_values_of: Iterable[Place] = (),
) -> bytes:
    """The book with some cells changed, and without the results of the formulas in others."""
    out = io.BytesIO()
    wanted: dict[str, dict[str, Callable[[etree._Element], None]]] = {}
    for place in without_values_of:
        wanted.setdefault(parts[place[0]], {})[address(place[1])] = _without_value
    for place, change in cells.items():
        wanted.setdefault(parts[place[0]], {})[address(place[1])] = change
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            part = source.read(name)
            target.writestr(name, _changed_part(part, wanted[name]) if name in wanted else part)
    return out.getvalue()


def call(formula: str) -> Callable[[etree._Element], None]:
    """What makes a formula of a number's cell, which keeps showing the number."""

    def change(cell: etree._Element) -> None:
        element = etree.Element(f"{{{MAIN}}}f")
        element.text = formula
        cell.insert(0, element)

    return change


def number(value: float) -> Callable[[etree._Element], None]:
    """What puts another number into a number's cell."""

    def change(cell: etree._Element) -> None:
        for element in cell.iter(f"{{{MAIN}}}v"):
            element.text = repr(value)

    return change


def _without_value(cell: etree._Element) -> None:
    for element in cell.findall(f"{{{MAIN}}}v"):
        cell.remove(element)
    cell.attrib.pop("t", "")


def _changed_part(part: bytes, changes: Mapping[str, Callable[[etree._Element], None]]) -> bytes:
    root = etree.fromstring(part)
    for cell in root.iter(f"{{{MAIN}}}c"):
        if change := changes.get(cell.get("r", "")):
            change(cell)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, standalone=True)
