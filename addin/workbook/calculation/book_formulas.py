"""The formulas of a book as the calculation sees them, and which of them rest on values of ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from addin.formulas import MAX_COLUMN, MAX_ROW, Area, Unworkable
from addin.formulas.areas import area_of
from addin.formulas.lexer import BRACKETS, TEXT
from addin.formulas.shape import ShapeReader
from addin.workbook.calculation.engine.process import DYNAMIC, PLAIN
from addin.workbook.calculation.influence import Calculation, Influence, Place, SheetArea
from addin.workbook.calculation.names import BookNames, quoted
from addin.workbook.calculation.reading.analysis import analysed
from addin.workbook.calculation.reading.shapes import Answer, Fixed, Piece, Shape, SizedLike, SpillOf, ThisRow
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.positions import CellIndex

_NO_TABLE = re.compile(rf"(?P<kept>{TEXT}|'(?:[^']|'')*'!?|[\w.\\]+{BRACKETS}|\[[0-9]+\])|{BRACKETS}")
"""A table reference without the name of its table, outside of texts and names of files."""


@dataclass(slots=True, eq=False)
class BookFormula:
    """A formula in its cell, its shape, and the references that the shape leaves out."""

    place: Place
    formula: Formula
    shape: Shape
    references: Sequence[str]
    areas: list[SheetArea]
    """The areas that it refers to, each with its sheet."""

    @property
    def is_array(self) -> bool:
        """Return whether it may fill more cells than its own."""
        return self.formula.is_array

    @property
    def kind(self) -> str:
        """Return what it is to an engine; an array formula that cannot grow is its area."""
        if not self.is_array:
            return PLAIN
        area = self.formula.area
        return DYNAMIC if self.formula.is_dynamic else str(Area(*area[:4]))

    def __str__(self) -> str:
        return str(Area(*self.place[1], *self.place[1], sheet=self.place[0]))

    def engine_text(self, spills: Mapping[Place, Area], answers: Sequence[str] = ()) -> str:
        """The formula as an engine gets it.

        `spills` has the area that each array formula fills now, `answers` where each call of ours finds its answer.
        """
        written = self.shape.written
        return "=" + (written(self.references) if written else self.text_of(self.shape.pieces, spills, answers))

    def text_of(self, pieces: Iterable[Piece], spills: Mapping[Place, Area], answers: Sequence[str]) -> str:
        """A part of the formula as an engine gets it."""
        return "".join(self._text(piece, spills, answers) for piece in pieces)

    def _text(self, piece: Piece, spills: Mapping[Place, Area], answers: Sequence[str]) -> str:
        match piece:
            case str():
                return piece
            case int():
                return self.references[piece]
            case Fixed():
                return piece.text
            case Answer():
                return answers[piece.site]
            case SpillOf():
                return self._spilled(piece, spills)
            case SizedLike():
                return self._sized(piece)
            case ThisRow():
                area = piece.area
                inside = area.first_row <= self.place[1][0] <= area.last_row
                return quoted(_in_row(area, self.place[1][0])) if inside else "#VALUE!"

    def _sized(self, piece: SizedLike) -> str:
        own, area = area_of(self.references[piece.reference]), sized_like(self.references, piece)
        if area is None or area == own:
            return self.references[piece.reference]
        return quoted(area) if area.sheet else str(area)

    def anchors(self) -> list[Place]:
        """The cells whose spills it refers to."""
        anchors = (self._anchor(piece.reference) for piece in self.shape.spills)
        return [place for place in anchors if place is not None]

    def _anchor(self, index: int) -> Place | None:
        area = area_of(self.references[index])
        return (area.sheet or self.place[0], (area.first_row, area.first_column)) if area else None

    def _spilled(self, piece: SpillOf, spills: Mapping[Place, Area]) -> str:
        place = self._anchor(piece.reference)
        if place is None or place not in spills:
            return f"{self.references[piece.reference]}#"  # the engine knows what it fills
        area = spills[place]
        return quoted(Area(area.first_row, area.first_column, area.last_row, area.last_column, place[0]))


def sized_like(references: Sequence[str], piece: SizedLike) -> Area | None:
    """The cells from a reference on, as many as another one has; None where they would leave the sheet."""
    first, like = area_of(references[piece.reference]), area_of(references[piece.like])
    if first is None or like is None:
        return None
    last_row = first.first_row + like.last_row - like.first_row
    last_column = first.first_column + like.last_column - like.first_column
    if last_row > MAX_ROW or last_column > MAX_COLUMN:
        return None
    return first._replace(last_row=last_row, last_column=last_column)


def _in_row(area: Area, row: int) -> Area:
    return Area(row, area.first_column, row, area.last_column, area.sheet)


class FormulaReader:
    """Reads a book's formulas; copied formulas share one shape."""

    def __init__(self, book: Book, namespace: str) -> None:
        self._book = book
        self._namespace = namespace
        self._shapes: dict[tuple[str, str], Shape] = {}
        self._names: dict[str, BookNames] = {}
        self._reader = ShapeReader()

    def all(self) -> Iterator[BookFormula]:
        """Every formula of the book."""
        for sheet in self._book.sheet_names:
            for spot, formula in self._book.formulas(sheet):
                yield self.read((sheet, spot), formula)

    def read(self, place: Place, formula: Formula) -> BookFormula:
        """One formula."""
        sheet, text = place[0], formula.text.removeprefix("=")
        if "[" in text:
            text = self._with_table(text, place)
        key, references, areas = self._reader.read(text, place[1][0])
        shape = self._shapes.get((sheet, key))
        if shape is None:
            names = self._names.setdefault(sheet, BookNames(self._book, sheet, self._namespace, self._book.tables))
            shape = self._shapes[sheet, key] = analysed(key, names, self._namespace)
        if "!" in formula.text:
            references = [each if "!" not in each else self._known(each) for each in references]
            areas = [area for each in references if (area := area_of(each)) is not None]
        if shape.areas or shape.rows:
            areas = [*areas, *shape.areas, *(_in_row(area, place[1][0]) for area in shape.rows)]
        if shape.sized:
            areas = [*areas, *(area for each in shape.sized if (area := sized_like(references, each)) is not None)]
        placed = [(area.sheet or sheet, area) for area in (*areas, *formula.headers)]
        return BookFormula(place, formula, shape, references, placed)

    def _with_table(self, text: str, place: Place) -> str:
        """The formula with the name of the table around its cell where a reference such as `[@Price]` leaves it out."""
        sheet, spot = place
        around = (each for each in self._book.tables.values() if each.sheet == sheet and each.area.contains(*spot))
        if (table := next(around, None)) is None:
            return text
        return _NO_TABLE.sub(lambda match: match[0] if match["kept"] else f"{table.name}{match[0]}", text)

    def _known(self, reference: str) -> str:
        """A reference with its sheet's name as the tab has it, which is how the engine knows it."""
        area = area_of(reference)
        try:
            name = self._book.known_name(area.sheet) if area is not None and area.sheet else None
        except Unworkable:
            return reference
        return (
            reference
            if name is None or area is None or name == area.sheet
            else quoted(Area(area.first_row, area.first_column, area.last_row, area.last_column, name))
        )


def is_root(formula: BookFormula) -> bool:
    """Return whether a formula is to be worked out whatever it refers to.

    It calls a function of ours, has no value in the file, shows the time, or finds its cells while it calculates. Or it
    leaves out others of its kind, which an engine knows only as formulas (`SUBTOTAL`).
    """
    shape = formula.shape
    if shape.calls_ours or not formula.formula.is_calculated:
        return True
    return shape.shows_time or shape.finds_cells or shape.sees_rows


def may_rest_on_ours(formula: BookFormula) -> bool:
    """Return whether a formula calls a function of ours, or may refer to any cell."""
    return formula.shape.calls_ours or formula.shape.finds_cells


def resting_on(
    formulas: Iterable[BookFormula],
    ours: Mapping[str, CellIndex],
    *,
    roots: Callable[[BookFormula], bool] = lambda _: False,
) -> list[BookFormula]:
    """The formulas that rest on a cell of `ours` or on one of the `roots`, over any number of steps; the roots too."""
    known = list(formulas)
    reached = Influence(_calculations(known, roots), ours).places
    return [formula for formula in known if formula.place in reached]


def _calculations(formulas: Iterable[BookFormula], roots: Callable[[BookFormula], bool]) -> Iterator[Calculation]:
    for formula in formulas:
        yield formula.place, formula.areas, roots(formula)
        area = formula.formula.filled
        if area is not None and not area.is_cell:
            sheet, spot = formula.place
            anchor = [(sheet, Area(*spot, *spot))]
            for row in range(area.first_row, area.last_row + 1):
                for column in range(area.first_column, area.last_column + 1):
                    if (row, column) != spot:
                        yield (sheet, (row, column)), anchor, False
