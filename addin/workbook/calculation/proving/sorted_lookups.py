"""Lookups of the nearest value, and whether what they search is sorted; each area is looked at once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from addin.formulas.areas import area_of
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.engine_book import EngineBook
from addin.workbook.calculation.influence import Place, SheetArea
from addin.workbook.calculation.proving.snapshot import Snapshot
from addin.workbook.calculation.reading.lookups import Order, mode_of, order_of, searched_area
from addin.workbook.calculation.reading.shapes import Lookup, Piece, Searched

_Part: TypeAlias = tuple[BookFormula, tuple[Piece, ...]]
_OF_PLACE = frozenset(("ROW", "COLUMN", "INDIRECT", "OFFSET"))
"""Functions that may come to something else in another cell, though the text is the same."""


class SortedLookups:
    """What the lookups of formulas search, in a book that is worked out."""

    def __init__(self, cells: EngineBook, shown: Snapshot) -> None:
        self._cells = cells
        self._shown = shown
        self._rows: dict[object, list[list[Any]] | None] = {}
        self._orders: dict[object, Order | None] = {}

    def uncertain(self, formulas: Sequence[BookFormula]) -> Iterator[Place]:
        """The formulas that look up the nearest value where nothing is sorted."""
        looked = [(formula, lookup) for formula in formulas for lookup in formula.shape.lookups]
        parts = ((formula, part) for formula, each in looked for part in (each.wanted, each.among, each.mode) if part)
        self._work_out(parts)
        for formula, lookup in looked:
            order, sought = self._order((formula, lookup.among)), self._values((formula, lookup.wanted))
            if order is None or sought is None or not order.is_certain(sought, self._searched(formula, lookup)):
                yield formula.place

    def _searched(self, formula: BookFormula, lookup: Lookup) -> Searched:
        """The order that the values need."""
        if not lookup.mode:
            return lookup.order
        modes = self._values((formula, lookup.mode))
        return Searched.UNKNOWN if modes is None or len(modes) > 1 else order_of(lookup.name, mode_of(*modes or [None]))

    def _work_out(self, parts: Iterable[_Part]) -> None:
        """Ask the engine for the parts that are more than cells, those with the same text once."""
        asked = {self._key(part): self._cells.text_of(*part) for part in parts if self._area(part) is None}
        found = self._cells.engine.arrays(list(asked.values())) if asked else []
        self._rows = dict(zip(asked, found, strict=True))

    def _area(self, part: _Part) -> SheetArea | None:
        """The cells that a part names, if it is nothing else."""
        formula, pieces = part
        area = searched_area(pieces, lambda number: area_of(formula.references[number]))
        return None if area is None else (area.sheet or formula.place[0], area)

    def _key(self, part: _Part) -> object:
        formula = part[0]
        sheet, row, column, text = self._cells.text_of(*part)
        return (sheet, row, column, text) if formula.shape.functions & _OF_PLACE else (sheet, text)

    def _values(self, part: _Part) -> list[Any] | None:
        """The values of a part; None where the engine cannot read it."""
        if area := self._area(part):
            return list(self._shown.in_area(*area))
        rows = self._rows[self._key(part)]
        return None if rows is None else [value for row in rows for value in row]

    def _order(self, part: _Part) -> Order | None:
        key = self._area(part) or self._key(part)
        if key not in self._orders:
            values = self._values(part)
            self._orders[key] = None if values is None else Order(values)
        return self._orders[key]
