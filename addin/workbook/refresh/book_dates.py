"""Dates in books that count them from 1904, as old ones from a Mac do; our functions count from 1900, as most books."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np

from addin.workbook.ooxml.book import Book
from udfs import REGISTRY
from udfs.arguments import Day, Start
from udfs.cells import Column, Grid, Scalar, cells_of

LATER = timedelta(days=1462)
"""How much later a book of 1904 begins to count, so that the same number means a later day."""

_EARLIEST = date(5, 1, 2)
"""No day can be moved further back than to the first one that Python has."""


def given(book: Book, function_id: str, args: Sequence[Any]) -> list[Any]:
    """The arguments of a call in `book`, with numbers for days as our functions count them."""
    function = REGISTRY.get(function_id.upper())
    if not book.counts_from_1904 or function is None:
        return list(args)
    kinds = [parameter.kind for parameter in function.parameters]
    days = {place for place, kind in enumerate(kinds) if isinstance(kind, Day | Start)}
    return [_later(value) if place in days else value for place, value in enumerate(args)]


def cells_shown(book: Book, result: Any) -> Scalar | Grid:
    """The cells of a result of ours, with dates that have the right number in `book`."""
    cells = cells_of(result)
    if not book.counts_from_1904:
        return cells
    if isinstance(cells, Grid):
        return replace(cells, columns=tuple(map(_earlier_column, cells.columns)))
    return _earlier(cells)


def _later(value: Any) -> Any:
    if isinstance(value, list):
        return [_later(each) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value + LATER.days if is_number and value >= 0 else value  # a number below 0 is told as it was given


def _earlier(value: Scalar) -> Scalar:
    return value - LATER if isinstance(value, date) and value.toordinal() >= _EARLIEST.toordinal() else value


def _earlier_column(column: Column) -> Column:
    if isinstance(column.values, list):
        return Column(column.kind, [_earlier(value) for value in column.values])
    is_dated = column.values.dtype.kind == "M"
    return Column(column.kind, column.values - np.timedelta64(LATER)) if is_dated else column
