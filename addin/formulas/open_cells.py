"""What the cells of an open workbook hold, as far as its host has handed them over: columns in pieces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from addin.formulas.areas import Area
from addin.protocol.messages import MAX_COLUMNS, CellBlock, OpenBook, Scalar, WantedCells
from udfs.engine import in_turns

MOST_CELLS = 300_000
"""Cells that a host is asked for; of a workbook with more, only the lower bound of its cost is told."""

LONG_RANGE_ROWS = 10_000
"""A range with more rows is taken for a whole column, and its blank end is dropped, as the hosts do."""

PIECE_ROWS = 1_000
"""Rows that are added in one go."""

SPILLED = "=#"
"""What stands for the formula of a cell that another one fills: nobody can tell what that will be."""


class Zone(NamedTuple):
    """Cells of a sheet; rows and columns are counted from 0, the last ones included."""

    sheet: int
    top: int
    bottom: int
    left: int
    right: int

    @property
    def size(self) -> int:
        """The number of its cells."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1)


class _Piece:
    """Cells of a column, one below the other."""

    __slots__ = ("formulas", "rows", "top", "values")

    def __init__(self, top: int, values: list[Scalar], formulas: dict[int, str]) -> None:
        self.top, self.values, self.formulas = top, values, formulas
        self.rows = list(formulas)
        """Those with a formula, from the top."""

    @property
    def bottom(self) -> int:
        return self.top + len(self.values) - 1

    def join(self, below: _Piece) -> None:
        """Take in the piece right below."""
        self.values += below.values
        self.formulas |= below.formulas
        self.rows += below.rows


def pieces(block: CellBlock) -> Iterator[CellBlock]:
    """Yield a block in pieces of so many rows that one is soon added; raises `ValueError` where it is no table."""
    if block.left + max(map(len, block.values[:1]), default=0) > MAX_COLUMNS:
        raise ValueError("the cells reach beyond the last column")
    if len(block.values) != len(block.formulas):
        raise ValueError("values and formulas of cells differ in number")
    for first in range(0, len(block.values), PIECE_ROWS):
        rows = slice(first, first + PIECE_ROWS)
        values, formulas = block.values[rows], block.formulas[rows]
        yield CellBlock(block.top + first, block.left, values, formulas, block.spilled)


class OpenCells:
    """The cells that were handed over."""

    def __init__(self, book: OpenBook) -> None:
        self._sheets = {sheet.name.upper(): at for at, sheet in enumerate(book.sheets)}
        self._rows = [sheet.rows for sheet in book.sheets]
        self._columns: defaultdict[tuple[int, int], list[_Piece]] = defaultdict(list)
        self._count = 0

    def add(self, sheet: int, block: CellBlock) -> None:
        """Add cells of a sheet; raises `ValueError` where their rows are not of one length."""
        columns = zip(*block.values, strict=True), zip(*block.formulas, strict=True)
        for column, (values, formulas) in enumerate(zip(*columns, strict=True), block.left):
            with_formula = dict(_formulas(formulas, block))
            self._columns[sheet, column].append(_Piece(block.top, list(values), with_formula))
            self._count += len(values)

    def put_in_order(self) -> None:
        """Sort what was added, before anything is looked up."""
        for pieces in self._columns.values():
            pieces.sort(key=_top)
            joined = pieces[:1]
            for piece in pieces[1:]:
                if piece.top == joined[-1].bottom + 1:
                    joined[-1].join(piece)
                else:
                    joined.append(piece)
            pieces[:] = joined

    def formulas(self) -> Iterator[tuple[int, str]]:
        """Yield every formula, with its sheet."""
        for (sheet, _), pieces in self._columns.items():
            for piece in pieces:
                yield from ((sheet, formula) for formula in piece.formulas.values() if formula != SPILLED)

    def zone(self, area: Area, sheet: int) -> Zone | None:
        """The cells of an area in a formula on a sheet, without what lies beyond its used part; None for no sheet."""
        at = sheet if area.sheet is None else self._sheets.get(area.sheet.upper())
        if at is None:
            return None
        bottom = area.last_row - 1
        if area.last_row - area.first_row >= LONG_RANGE_ROWS:
            if self._rows[at] == 0:
                return None
            bottom = max(area.first_row - 1, min(bottom, self._rows[at] - 1))
        return Zone(at, area.first_row - 1, bottom, area.first_column - 1, area.last_column - 1)

    def formulas_in(self, zone: Zone) -> list[tuple[int, int, str]] | None:
        """The formulas in a zone with their rows and columns; None where not all of it was handed over."""
        found: list[tuple[int, int, str]] = []
        for column in range(zone.left, zone.right + 1):
            for piece, first, last in self._parts(zone, column):
                if piece is None:
                    return None
                inside = piece.rows[bisect_left(piece.rows, first) : bisect_right(piece.rows, last)]
                found += [(row, column, piece.formulas[row]) for row in inside]
        return found

    def rows(self, zone: Zone) -> list[list[Scalar]]:
        """The values of a zone that was handed over, row by row."""
        columns = []
        for column in range(zone.left, zone.right + 1):
            values: list[Scalar] = []
            for piece, first, last in self._parts(zone, column):
                if piece is not None:
                    values += piece.values[first - piece.top : last - piece.top + 1]
            columns.append(values)
        return [list(row) for row in zip(*columns, strict=True)]

    async def unread(self, zones: Sequence[Zone]) -> list[WantedCells]:
        """The cells of zones that were not handed over, in columns, as many as are asked for at all."""
        spans: defaultdict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
        async for part in in_turns(zones, 1):
            for zone in part:
                for column in range(zone.left, zone.right + 1):
                    spans[zone.sheet, column].add((zone.top, zone.bottom))
        room, wanted = MOST_CELLS - self._count, list[WantedCells]()
        async for columns in in_turns(list(spans.items())):
            for (sheet, column), each in columns:
                for top, bottom in _joined(sorted(each)):
                    for piece, first, last in self._parts(Zone(sheet, top, bottom, column, column), column):
                        room -= last - first + 1 if piece is None else 0
                        if piece is None and room >= 0:
                            wanted.append(WantedCells(sheet, first, last, column, column))
        return wanted

    def _parts(self, zone: Zone, column: int) -> Iterator[tuple[_Piece | None, int, int]]:
        """Yield the pieces that hold a zone's rows of a column, with the rows; None for rows that nobody has read."""
        pieces = self._columns.get((zone.sheet, column), ())
        row = zone.top
        for piece in pieces[max(0, bisect_right(pieces, row, key=_top) - 1) :]:
            if piece.top > zone.bottom:
                break
            if piece.bottom < row:
                continue
            if piece.top > row:
                yield None, row, piece.top - 1
                row = piece.top
            yield piece, row, min(piece.bottom, zone.bottom)
            row = piece.bottom + 1
        if row <= zone.bottom:
            yield None, row, zone.bottom


def _top(piece: _Piece) -> int:
    return piece.top


def _formulas(column: Sequence[str | None], block: CellBlock) -> Iterator[tuple[int, str]]:
    """Yield the formulas of a block's column with their rows."""
    for row, formula in enumerate(column, block.top):
        if formula is not None:
            yield row, formula
        elif block.spilled:
            yield row, SPILLED


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield rows from one to another, those that touch as one."""
    first, last = spans[0]
    for begin, end in spans[1:]:
        if begin > last + 1:
            yield first, last
            first = begin
        last = max(last, end) if begin <= last + 1 else end
    yield first, last
