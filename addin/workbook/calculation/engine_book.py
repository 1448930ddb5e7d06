"""The cells of a book in an engine: formulas where they are worked out, values everywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from addin.formulas import Area
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine.process import DYNAMIC, VALUE, Engine, EngineCell, EngineFailedError
from addin.workbook.calculation.influence import Place, SheetArea
from addin.workbook.calculation.names import quoted
from addin.workbook.calculation.reading.noise import Move, written
from addin.workbook.calculation.reading.rounds import UNKNOWN, chosen
from addin.workbook.calculation.results import to_engine
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet
from udfs.cells import Scalar

ANSWERS = "answers"
"""The sheet of the engine's copy that holds what calls of ours were answered; another name where the book has it."""

MAX_FILLED = 1_000_000
"""Cells of an array that are looked at one by one; what fills more was not made by a call of ours."""


@dataclass
class EngineBook:
    """Those sheets of a book that its `formulas` need, in an engine."""

    book: Book
    engine: Engine
    formulas: Mapping[Place, BookFormula]
    """All formulas that belong to the calculation."""
    live: set[Place] = field(default_factory=set)
    """Those of them that the engine works out; the others show their values."""
    unreadable: dict[Place, str] = field(default_factory=dict)
    """The formulas that the engine cannot read, with its reason."""
    _answers: dict[Place, list[str]] = field(default_factory=dict)
    _next_row: int = 1
    _width: int = 1
    _spills: dict[Place, Area] = field(default_factory=dict)
    _given: Mapping[Place, Any] = field(default_factory=dict)
    _empty_texts: set[Place] = field(default_factory=set)

    @property
    def sheets(self) -> list[str]:
        """The names of the sheets in the engine."""
        return [*self.book.sheet_names, self._answer_sheet]

    def spilled(self, formula: BookFormula) -> list[SheetArea]:
        """The areas of the spills that a formula refers to, as far as they are values in the engine."""
        return [(anchor[0], self._spills[anchor]) for anchor in formula.anchors() if anchor in self._spills]

    @property
    def answer_cells(self) -> list[Place]:
        """The cells with the answers of calls."""
        name = self._answer_sheet
        return [(name, (row, column)) for row in range(1, self._next_row) for column in range(1, self._width + 1)]

    def gets_tables(self, place: Place) -> bool:
        """Return whether a call of ours in a formula was answered with more than one value."""
        return any(":" in cells for cells in self._answers.get(place, ()))

    def filled(self, sheet: str, area: Area) -> Iterator[Place]:
        """The cells of an area that hold something."""
        name = self.book.known_name(sheet)
        yield from ((name, spot) for spot in self._sheet(name).spots_in(area))

    @property
    def _answer_sheet(self) -> str:
        taken = {name.casefold() for name in self.book.sheet_names}
        return next(name for name in (f"{ANSWERS}{'_' * n}" for n in range(100)) if name not in taken)

    def load(self, live: Iterable[Place], values: Mapping[Place, Any]) -> None:
        """Put the book in: formulas where they are `live`, these `values` in other cells, else those of the file."""
        places = list(live)
        self.live = set(places)
        self._spills, self._given, self._empty_texts = self._fixed_spills(), values, set()
        formulas = [self.formulas[place] for place in places]
        filled = self.live.copy()
        filled.update(*(cells_of_formula(formula) for formula in formulas if formula.formula.filled is not None))
        cells: list[EngineCell] = [
            (at, *spot, VALUE, value) for (at, spot), value in values.items() if value is not None
        ]
        for name in self._sheets_needed():
            sheet = self._sheet(name)
            for spot in sheet.filled():
                if (name, spot) not in filled and (name, spot) not in values:
                    value = to_engine(sheet.value(spot))
                    if value is not None:
                        cells.append((name, *spot, VALUE, value))
                    elif sheet.is_calculated(spot) and sheet.has_formula(spot):
                        cells.append((name, *spot, VALUE, ""))
            self._empty_texts.update(self._blank_results(name, filled, values))
        cells += [(sheet, *spot, VALUE, "") for sheet, spot in self._empty_texts]
        for place, formula in zip(places, formulas, strict=True):
            if sites := formula.shape.sites:
                self._answers[place] = [UNKNOWN if each.rounds else self._place_for(1, 1) for each in sites]
            cells.append(self._cell(formula))
        waiting = [(self._answer_sheet, row, 1, VALUE, {"error": "#N/A"}) for row in range(1, self._next_row)]
        self._refuse(self.engine.load(self.sheets, [*cells, *waiting]))

    def _blank_results(self, name: str, filled: Set[Place], values: Mapping[Place, Any]) -> Iterator[Place]:
        """The cells without a value that array formulas fill: what they show there is an empty text, and no blank."""
        sheet = self._sheet(name)
        for spot, formula in self.book.formulas(name):
            if not formula.is_array:  # nearly all end here
                continue
            area = sheet.array_at(spot)
            if area is None or (name, spot) in filled or not sheet.is_calculated(spot):
                continue
            size = (area.last_row - area.first_row + 1) * (area.last_column - area.first_column + 1)
            for cell in _spots(area) if size <= MAX_FILLED else ():
                known = values[name, cell] if (name, cell) in values else sheet.value(cell)
                if known is None and cell != spot:
                    yield name, cell

    def put_in(self, place: Place) -> Any:
        """Return what `load` put into a cell that is no live formula."""
        if place in self._given:
            return self._given[place]
        sheet = self._sheet(place[0])
        value = to_engine(sheet.value(place[1]))
        is_empty_text = sheet.is_calculated(place[1]) and sheet.has_formula(place[1])
        return "" if value is None and (is_empty_text or place in self._empty_texts) else value

    def answer(self, answers: Mapping[tuple[Place, int], Any]) -> None:
        """Put what calls of ours were answered, a value or rows, where their formulas find it."""
        cells: list[EngineCell] = []
        changed: set[Place] = set()
        for (place, site), answer in answers.items():
            if isinstance(answer, list) and (len(answer), len(answer[0])) != (1, 1):
                self._answers[place][site] = self._table(answer, cells)
                changed.add(place)
                continue
            row = int(self._answers[place][site].rpartition("$")[2].removesuffix(")"))
            cells.append((self._answer_sheet, row, 1, VALUE, answer[0][0] if isinstance(answer, list) else answer))
        self._put_again(changed, cells)

    def answer_each(self, place: Place, site: int, answers: Mapping[str, Any]) -> None:
        """Put what calls in a LAMBDA were answered, by their keys, where their formula finds it."""
        cells: list[EngineCell] = []
        keys = self._table([[key] for key in answers], cells)
        areas = [self._table(each if isinstance(each, list) else [[each]], cells) for each in answers.values()]
        self._answers[place][site] = chosen(keys, areas)
        self._put_again({place}, cells)

    def _table(self, rows: Sequence[Sequence[Any]], cells: list[EngineCell]) -> str:
        """Add the cells of an answer to those of the sheet of answers; its area."""
        first = self._next_row
        cells += [
            (self._answer_sheet, first + down, 1 + right, VALUE, value)
            for down, values in enumerate(rows)
            for right, value in enumerate(values)
        ]
        return self._place_for(len(rows), len(rows[0]))

    def _put_again(self, changed: Iterable[Place], cells: Sequence[EngineCell]) -> None:
        """Put answers, and the formulas that find them in another place now."""
        formulas = [self._cell(self.formulas[place]) for place in changed]
        # A table has to stay one: an ordinary formula would take one cell of it.
        self.put([*cells, *((sheet, row, column, DYNAMIC, text) for sheet, row, column, _, text in formulas)])

    def put(self, cells: Sequence[EngineCell]) -> None:
        """Put other contents into cells."""
        if cells:
            self._refuse(self.engine.set(cells))

    def text_of(self, formula: BookFormula, pieces: Iterable[Any]) -> tuple[str, int, int, str]:
        """A part of a formula, to be worked out in its cell."""
        (sheet, spot), answers = formula.place, self._answers.get(formula.place, ())
        return sheet, *spot, f"={formula.text_of(pieces, self._spills, answers)}"

    def moved(self, formulas: Sequence[BookFormula], seen: Sequence[BookFormula]) -> list[dict[Place, Any]]:
        """Return what the formulas in `seen` show, for each `Move` of the noisy steps in `formulas`."""
        texts = map(self.moved_text, formulas)
        self.put([(sheet, row, column, DYNAMIC, text) for sheet, row, column, text in texts])
        found = []
        for move in Move:
            self.put([self.switch(move)])
            self.engine.evaluate()
            found.append(self.values(seen))
        self._put_again([formula.place for formula in formulas], [])
        self.engine.evaluate()
        return found

    def with_values(self, values: Mapping[Place, float], seen: Sequence[BookFormula]) -> dict[Place, Any]:
        """Return what the formulas in `seen` show where other cells hold these values."""
        formulas = values.keys() & self.live
        self.put([(sheet, *spot, VALUE, value) for (sheet, spot), value in values.items()])
        self.engine.evaluate()
        found = self.values(seen)
        others = [(*place, self.put_in(place)) for place in values.keys() - formulas]
        self._put_again(formulas, [(sheet, *spot, VALUE, value) for sheet, spot, value in others])
        self.engine.evaluate()
        return found

    def switch(self, move: int) -> EngineCell:
        """The cell that moves noisy steps, below all answers; 0 leaves them as they are."""
        return self._answer_sheet, self._next_row, 1, VALUE, float(move)

    def moved_text(self, formula: BookFormula) -> tuple[str, int, int, str]:
        """A formula whose noisy steps the switch moves."""
        sheet, row, column, text = self.text_of(formula, formula.shape.nudged or formula.shape.pieces)
        name, at, *_ = self.switch(0)
        return sheet, row, column, written(text, f"{sheet} {row} {column}", f"'{name}'!$A${at}")

    def values(self, formulas: Sequence[BookFormula]) -> dict[Place, Any]:
        """Return what the engine shows in the cells of formulas: a value, of an array formula its rows."""
        arrays = [formula.place for formula in formulas if formula.is_array]
        single = [formula.place for formula in formulas if not formula.is_array]
        found = zip(single, self.engine.values(single), strict=True) if single else ()
        return dict(found) | self._tables(arrays)

    def _tables(self, arrays: Sequence[Place]) -> dict[Place, list[list[Any]]]:
        """Return what the engine shows in the areas that array formulas fill there."""
        if not arrays:
            return {}
        sizes = dict(zip(arrays, (each or (1, 1) for each in self.engine.extents(arrays)), strict=True))
        cells = [
            (sheet, (spot[0] + down, spot[1] + right))
            for (sheet, spot), (height, width) in sizes.items()
            for down in range(height)
            for right in range(width)
        ]
        values = iter(self.engine.values(cells))
        return {
            place: [[next(values) for _ in range(width)] for _ in range(height)]
            for place, (height, width) in sizes.items()
        }

    def shown(self, area: Area, sheet: str) -> list[list[Any]]:
        """What the cells of an area show in the engine; of one that runs to the sheet's end, the part that is used."""
        used = self._sheet(area.sheet or sheet).used_part(area) if area.last_row - area.first_row > 10_000 else area
        columns = range(used.first_column, used.last_column + 1)
        name = self.book.known_name(area.sheet or sheet)
        values = iter(self.engine.values([(name, spot) for spot in _spots(used)]))
        return [[next(values) for _ in columns] for _ in range(used.first_row, used.last_row + 1)]

    def _fixed_spills(self) -> dict[Place, Area]:
        """The areas, as the file has them, of those spills referred to that are values in the engine."""
        anchors = {anchor for formula in self.formulas.values() for anchor in formula.anchors()} - self.live
        found = {anchor: self._sheet(anchor[0]).array_at(anchor[1]) for anchor in anchors}
        return {anchor: area for anchor, area in found.items() if area is not None}

    def _place_for(self, height: int, width: int) -> str:
        row = self._next_row
        self._next_row += height
        self._width = max(self._width, width)
        if (height, width) == (1, 1):
            return as_values(f"'{self._answer_sheet}'!$A${row}")
        return as_values(quoted(Area(row, 1, row + height - 1, width, self._answer_sheet), fixed=True))

    def _cell(self, formula: BookFormula) -> EngineCell:
        (sheet, spot), answers = formula.place, self._answers.get(formula.place, ())
        return sheet, *spot, formula.kind, formula.engine_text(self._spills, answers)

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

    def _refuse(self, failed: Sequence[Sequence[Any]]) -> None:
        for sheet, row, column, why in failed:
            self.unreadable[sheet, (row, column)] = f"the calculation engine cannot read it ({why})"


def as_values(cells: str) -> str:
    """The values of cells, and no cells any more, as functions give them: `SUM` refuses a text, `ISREF` says no."""
    return f"(+{cells})"


def cells_of_formula(formula: BookFormula) -> list[Place]:
    """The cells that a formula fills in the file."""
    if formula.formula.filled is None:
        return [formula.place]
    return [(formula.place[0], spot) for spot in _spots(formula.formula.area)]


def _spots(area: Area) -> Iterator[Spot]:
    rows, columns = range(area.first_row, area.last_row + 1), range(area.first_column, area.last_column + 1)
    yield from ((row, column) for row in rows for column in columns)


def as_engine(values: Mapping[Place, Scalar]) -> dict[Place, Any]:
    """Values of cells as an engine gets them."""
    return {place: to_engine(value) for place, value in values.items()}
