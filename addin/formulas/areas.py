"""Rectangles of cells, and the references that name them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from string import ascii_uppercase
from typing import NamedTuple

from addin.formulas.lexer import SHEET

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
"""The last row and column of a sheet."""

_PARTS = re.compile(rf"(?P<sheet>{SHEET})?(?P<cells>.*)", re.DOTALL)
_ONE_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_PAIR = re.compile(
    rf"({SHEET})?(\$?[A-Za-z]{{1,3}})?(\$?[0-9]{{1,7}})?:(\$?[A-Za-z]{{1,3}})?(\$?[0-9]{{1,7}})?", re.DOTALL
)
_CORNER = re.compile(r"\$?([A-Za-z]{1,3})?\$?([0-9]{1,7})?")


@lru_cache(maxsize=MAX_COLUMN)
def column_letters(column: int) -> str:
    """The letters of a column, counted from 1.

    >>> column_letters(1), column_letters(27), column_letters(16_384)
    ('A', 'AA', 'XFD')
    """
    before, last = divmod(column - 1, len(ascii_uppercase))
    return (column_letters(before) if before else "") + ascii_uppercase[last]


@lru_cache(maxsize=MAX_COLUMN)
def column_number(letters: str) -> int:
    """The number of a column from its letters: 1 for `A`."""
    number = 0
    for letter in letters.upper():
        number = number * len(ascii_uppercase) + ascii_uppercase.index(letter) + 1
    return number


class Area(NamedTuple):
    """A rectangle of cells, both corners included, rows and columns from 1; `sheet` None is the formula's own."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int
    sheet: str | None = None

    def __str__(self) -> str:
        first = f"{column_letters(self.first_column)}{self.first_row}"
        last = f"{column_letters(self.last_column)}{self.last_row}"
        cells = first if first == last else f"{first}:{last}"
        return f"{self.sheet}!{cells}" if self.sheet else cells

    @property
    def is_cell(self) -> bool:
        """Return whether it is one cell."""
        return (self.first_row, self.first_column) == (self.last_row, self.last_column)

    def contains(self, row: int, column: int) -> bool:
        """Return whether the cell lies inside."""
        return self.first_row <= row <= self.last_row and self.first_column <= column <= self.last_column


@lru_cache(maxsize=10_000)  # what is kept lies between what goes, and keeps its pages
def area_of(reference: str) -> Area | None:
    """The area that a reference names; None for what is no place on a sheet of the same book."""
    if one := _ONE_CELL.fullmatch(reference):  # most are
        row, column = int(one[2]), column_number(one[1])
        return Area(row, column, row, column) if 1 <= row <= MAX_ROW and column <= MAX_COLUMN else None
    parts = _PARTS.fullmatch(reference)
    if parts is None:
        return None
    sheet = (parts["sheet"] or "")[:-1]
    if sheet.startswith("'"):
        sheet = sheet[1:-1].replace("''", "'")
    if "[" in sheet or ":" in sheet:
        return None
    first, _, last = parts["cells"].partition(":")
    one, other = _CORNER.fullmatch(first), _CORNER.fullmatch(last or first)
    if one is None or other is None:
        return None
    columns = sorted(column_number(each[1]) if each[1] else end for each, end in _ends(one, other, MAX_COLUMN))
    rows = sorted(int(each[2]) if each[2] else end for each, end in _ends(one, other, MAX_ROW))
    if rows[0] < 1 or rows[1] > MAX_ROW or columns[1] > MAX_COLUMN:
        return None
    return Area(rows[0], columns[0], rows[1], columns[1], sheet or None)


@lru_cache(maxsize=10_000)
def in_order(reference: str) -> str:
    """A reference with its first cell above and left of its last one, as some engines need it.

    >>> in_order("A9:A1"), in_order("'x y'!$C$1:A9"), in_order("B:A"), in_order("A1:B2"), in_order("C3")
    ('A1:A9', "'x y'!A1:$C9", 'A:B', 'A1:B2', 'C3')
    """
    if (pair := _PAIR.fullmatch(reference)) is None:
        return reference
    sheet, left, top, right, bottom = pair.groups("")
    if left and right and column_number(left.strip("$")) > column_number(right.strip("$")):
        left, right = right, left
    if top and bottom and int(top.strip("$")) > int(bottom.strip("$")):
        top, bottom = bottom, top
    return f"{sheet}{left}{top}:{right}{bottom}"


def _ends(one: re.Match[str], other: re.Match[str], last: int) -> Iterator[tuple[re.Match[str], int]]:
    yield one, 1
    yield other, last
