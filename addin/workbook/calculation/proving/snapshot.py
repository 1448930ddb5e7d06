"""What the cells of a book show once it is worked out, without asking an engine for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from addin.formulas import Area
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine.process import PLAIN, VALUE, Engine, EngineCell
from addin.workbook.calculation.engine_book import EngineBook, cells_of_formula
from addin.workbook.calculation.influence import Place, SheetArea
from addin.workbook.ooxml.positions import CellIndex


class Snapshot:
    """The cells of an engine's book, where its formulas have `found` these values and rows."""

    def __init__(self, cells: EngineBook, found: Mapping[Place, Any]) -> None:
        self._cells = cells
        self.found = found
        self.in_arrays: dict[Place, Any] = {}
        """What the cells of arrays show."""
        for place, value in found.items():
            if type(value) is list:
                self.in_arrays |= dict.fromkeys(cells_of_formula(cells.formulas[place])) | _at(place, value)
        self._empty_texts: dict[str, CellIndex] = {}
        self._other_values: dict[str, CellIndex] = {}
        self._indexes: dict[tuple[Callable[[Any], bool], str], CellIndex] = {}

    def __getitem__(self, place: Place) -> Any:
        """The value of a cell as an engine gives it."""
        if place in self.in_arrays:
            return self.in_arrays[place]
        return self.found[place] if place in self.found else self._cells.put_in(place)

    def first(self, place: Place) -> Any:
        """Return what the first cell of a formula shows."""
        found = self.found[place]
        return found[0][0] if type(found) is list else found

    @cached_property
    def answers(self) -> dict[Place, Any]:
        """The cells with the answers of calls of ours, and their values."""
        places = self._cells.answer_cells
        return dict(zip(places, self._cells.engine.values(places), strict=True)) if places else {}

    def in_area(self, sheet: str, area: Area) -> Iterator[Any]:
        """The values of the cells in an area that hold something."""
        return (self[place] for place in self._cells.filled(sheet, area))

    def has_empty_text(self, sheet: str, area: Area) -> bool:
        """Return whether a cell in an area holds an empty text that was no result of a formula."""
        name = self._cells.book.known_name(area.sheet or sheet)
        if name not in self._empty_texts:
            content = self._cells.book.sheet(name)
            self._empty_texts[name] = CellIndex(filter(content.has_empty_text, content.filled()))
        return self._empty_texts[name].first_inside(area) is not None

    def has_other_value(self, sheet: str, area: Area) -> bool:
        """Return whether Excel shows another value in a cell of an area than the one that is read here."""
        name = self._cells.book.known_name(area.sheet or sheet)
        if name not in self._other_values:
            content = self._cells.book.sheet(name)
            rich = (spot for spot in content.rich_values() if content.shows_other_value(spot))
            self._other_values[name] = CellIndex(
                spot for spot in rich if (name, spot) not in self.found and (name, spot) not in self.in_arrays
            )
        return self._other_values[name].first_inside(area) is not None

    def has(self, is_it: Callable[[Any], bool], sheet: str, area: Area) -> bool:
        """Return whether a cell in an area has such a value; each is looked at once, since areas of totals overlap."""
        name = self._cells.book.known_name(area.sheet or sheet)
        key = is_it, name
        if key not in self._indexes:
            spots = {*self._cells.book.sheet(name).filled(), *(spot for sheet, spot in self.in_arrays if sheet == name)}
            self._indexes[key] = CellIndex(spot for spot in spots if is_it(self[name, spot]))
        return self._indexes[key].first_inside(area) is not None

    def put_into(
        self,
        engine: Engine,
        formulas: Sequence[BookFormula],
        texts: Iterable[tuple[str, int, int, str]],
        *more: EngineCell,
    ) -> None:
        """Put these texts of formulas into an engine, and the values of all other cells that they may read."""
        own = {formula.place for formula in formulas}
        values = ((*place, value) for place, value in self._read_by(formulas).items() if place not in own)
        cells: list[EngineCell] = [(sheet, row, column, PLAIN, text) for sheet, row, column, text in texts]
        cells += [(sheet, *spot, VALUE, value) for sheet, spot, value in values if value is not None]
        engine.load(self._cells.sheets, [*cells, *more])

    def _read_by(self, formulas: Sequence[BookFormula]) -> dict[Place, Any]:
        """The cells that formulas may read, the answers of calls among them, and their values."""
        read = dict.fromkeys(
            place
            for sheet, area in _joined(
                (name, area) for formula in formulas for name, area in (*formula.areas, *self._cells.spilled(formula))
            )
            for place in self._cells.filled(sheet, area)
        )
        return {place: self[place] for place in read} | self.answers


def _at(place: Place, rows: Sequence[Sequence[Any]]) -> dict[Place, Any]:
    sheet, (row, column) = place
    return {
        (sheet, (row + down, column + right)): value
        for down, values in enumerate(rows)
        for right, value in enumerate(values)
    }


def _joined(areas: Iterable[SheetArea]) -> Iterator[SheetArea]:
    """Areas of the same columns as one: those of running totals hold each other's cells."""
    rows: dict[tuple[str, int, int], tuple[int, int]] = {}
    for sheet, area in areas:
        if area.is_cell:
            yield sheet, area
            continue
        key = area.sheet or sheet, area.first_column, area.last_column
        first, last = rows.get(key, (area.first_row, area.last_row))
        rows[key] = min(first, area.first_row), max(last, area.last_row)
    for (sheet, first_column, last_column), (first_row, last_row) in rows.items():
        yield sheet, Area(first_row, first_column, last_row, last_column)
