"""The cells of a book in the engine: put there with their values or formulas, kept up with spills, read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from addin.formulas import Area
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine.engine import Engine, EngineCell, EngineFailedError
from addin.workbook.calculation.influence import Place
from addin.workbook.calculation.results import IN_A_CIRCLE, is_circle, to_engine
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.positions import Spot, address, area_of
from addin.workbook.ooxml.sheet import Sheet


@dataclass
class EngineBook:
    """Those sheets of a book that its `formulas` need, in the engine."""

    book: Book
    engine: Engine
    formulas: Mapping[Place, BookFormula]
    unreadable: dict[Place, str] = field(default_factory=dict)
    """The formulas that the engine cannot read, with its reason."""
    _spills: dict[Place, Area] = field(default_factory=dict)

    def load(self, begin: Sequence[BookFormula]) -> None:
        """Put all values of the file in, but the formulas of `begin` instead of theirs."""
        self.read_spills()
        filled: dict[str, set[Spot]] = {}
        for formula in begin:
            sheet, spot = formula.place
            here = filled.setdefault(sheet, set())
            here.add(spot)
            if formula.formula.filled:
                here.update(spot for _, spot in cells_of_formula(formula))
        cells = [*self._plain_cells(filled), *map(self._formula_cell, begin)]
        self._refuse(self.engine.load(self.book.sheet_names, cells))

    def _plain_cells(self, filled: Mapping[str, AbstractSet[Spot]]) -> Iterator[EngineCell]:
        """The values of the sheets that are needed, but of the cells in `filled`."""
        for name in self._sheets_needed():
            sheet, others = self._sheet(name), filled.get(name, frozenset())
            for spot in sheet.filled():
                if spot not in others:
                    yield name, *spot, False, to_engine(sheet.value(spot))

    def put_values(self, formulas: Iterable[BookFormula]) -> None:
        """Put the values of the file in place of formulas."""
        cells: list[EngineCell] = []
        for formula in formulas:
            sheet = self._sheet(formula.place[0])
            cells += [(name, *spot, False, to_engine(sheet.value(spot))) for name, spot in cells_of_formula(formula)]
        self.put(cells)

    def put_formulas(self, formulas: Iterable[BookFormula]) -> None:
        """Put formulas in place of the values of the file."""
        cells: list[EngineCell] = []
        for formula in formulas:
            others = (cell for cell in cells_of_formula(formula) if cell != formula.place)
            cells += [(sheet, *spot, False, None) for sheet, spot in others]
            cells.append(self._formula_cell(formula))
        self.put(cells)

    def put(self, cells: Sequence[EngineCell]) -> None:
        """Put other contents into cells."""
        if cells:
            self._refuse(self.engine.set(cells))

    def read_spills(self) -> set[Place]:
        """Look up in the file the area of every spill that is referred to; those whose area is another one now."""
        moved = set()
        for anchor in {anchor for formula in self._with_spills() for anchor in formula.anchors()}:
            if anchor in self.formulas and anchor in self._spills:
                continue
            area = self._sheet(anchor[0]).array_at(anchor[1])
            if area is None and anchor in self.formulas:
                area = Area(*anchor[1], *anchor[1])
            if area is not None and self._spills.get(anchor) != area:
                self._spills[anchor] = area
                moved.add(anchor)
        return moved

    def moved_spills(self) -> set[Place]:
        """The spills referred to whose size has changed in the engine."""
        anchors = [anchor for anchor in self._spills if anchor in self.formulas]
        extents = self.engine.extents([(sheet, address(spot)) for sheet, spot in anchors])
        moved = set()
        for anchor, extent in zip(anchors, extents, strict=True):
            area = _extent(extent, anchor)
            if self._spills[anchor] != area:
                self._spills[anchor] = area
                moved.add(anchor)
        return moved

    def respill(self, moved: set[Place], left: Iterable[Place]) -> None:
        """Write the formulas again that refer to a spill of another size, but those in `left`."""
        skipped = set(left)
        formulas = [formula for formula in self._with_spills() if formula.place not in skipped]
        self.put([self._formula_cell(formula) for formula in formulas if moved.intersection(formula.anchors())])

    def _with_spills(self) -> list[BookFormula]:
        return [formula for formula in self.formulas.values() if formula.shape.spills]

    def values(self, formulas: Sequence[BookFormula]) -> dict[Place, Any]:
        """What the engine shows in the cells of formulas: a value, of an array formula its rows."""
        arrays = [formula for formula in formulas if formula.is_array]
        single = [formula.place for formula in formulas if not formula.is_array]
        values = self.engine.values(single)
        found: dict[Place, Any] = dict(zip(single, values, strict=True))
        found.update(self._tables(arrays))
        return found

    def _tables(self, arrays: Sequence[BookFormula]) -> dict[Place, list[list[Any]]]:
        """What the engine shows in the areas that array formulas fill there."""
        names = [(formula.place[0], address(formula.place[1])) for formula in arrays]
        extents = zip(arrays, self.engine.extents(names) if names else (), strict=True)
        areas = {formula.place: _extent(extent, formula.place) for formula, extent in extents}
        cells = [(place[0], spot) for place, area in areas.items() for spot in _spots(area)]
        values = iter(self.engine.values(cells) if cells else ())
        return {
            place: [
                [next(values) for _ in range(area.first_column, area.last_column + 1)]
                for _ in range(area.first_row, area.last_row + 1)
            ]
            for place, area in areas.items()
        }

    def _sheet(self, name: str) -> Sheet:
        try:
            return self.book.sheet(name)
        except WorkbookError as error:
            raise EngineFailedError(str(error)) from None

    def _sheets_needed(self) -> list[str]:
        used = {place[0] for place in self.formulas}
        for formula in self.formulas.values():
            used.update(sheet for sheet, _ in formula.areas)
        used = {name.casefold() for name in used}
        everything = any(formula.shape.finds_cells for formula in self.formulas.values())
        return [name for name in self.book.sheet_names if everything or name.casefold() in used]

    def _formula_cell(self, formula: BookFormula) -> EngineCell:
        sheet, (row, column) = formula.place
        return sheet, row, column, True, formula.engine_text(self._spills)

    def _refuse(self, failed: Sequence[Sequence[Any]]) -> None:
        for sheet, row, column, why in failed:
            told = IN_A_CIRCLE if is_circle(why) else f"the calculation engine cannot read it ({why})"
            self.unreadable[sheet, (row, column)] = told


def cells_of_formula(formula: BookFormula) -> list[Place]:
    """The cells that a formula fills in the file."""
    if formula.formula.filled is None:
        return [formula.place]
    return [(formula.place[0], spot) for spot in _spots(formula.formula.area)]


def _spots(area: Area) -> list[tuple[int, int]]:
    rows, columns = range(area.first_row, area.last_row + 1), range(area.first_column, area.last_column + 1)
    return [(row, column) for row in rows for column in columns]


def _extent(text: str | None, anchor: Place) -> Area:
    """The area that the engine names, with or without its sheet; one cell where it names none."""
    area = area_of(text.rpartition("!")[2].replace("$", "")) if text else None
    return area or Area(*anchor[1], *anchor[1])
