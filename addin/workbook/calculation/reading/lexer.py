"""Formulas as shapes: the text with its references taken out, so that copied formulas are analysed once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from addin.formulas import MAX_COLUMN, MAX_ROW, Area
from addin.openpyxl_parts import column_index_from_string

HOLE = "\x00"
"""What stands in a shape where a reference was."""

_SHEET = r"(?:'(?:[^']|'')*'|[^\W\d][\w.]*)!"
_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_REFERENCE = (
    rf"(?:{_SHEET})?(?:{_CELL}(?::{_CELL})?|\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}}|\$?[0-9]{{1,7}}:\$?[0-9]{{1,7}})"
    r"(?![\w(.!\[\\?])"
)
TEXT = r'"(?:[^"]|"")*"'
BRACKETS = r"\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*\])*\]"
_CALLED = r"[A-Za-z][\w.]*\("
_SHAPE = re.compile(rf"(?P<text>{TEXT}|{BRACKETS}|{_CALLED})|(?<![\w.\]$!\\:])(?P<reference>{_REFERENCE})")
_PARTS = re.compile(rf"(?P<sheet>{_SHEET})?(?P<cells>.*)", re.DOTALL)
_ONE_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_CORNER = re.compile(r"\$?([A-Za-z]{1,3})?\$?([0-9]{1,7})?")


class Token(NamedTuple):
    """A piece of a shape: its kind and its text."""

    kind: str
    text: str


_TOKEN = re.compile(
    rf"""(?P<hole>{HOLE})
    |(?P<text>{TEXT})
    |(?P<error>\#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!|GETTING_DATA))
    |(?P<call>@?[^\W\d][\w.\\]*\()
    |(?P<table>(?:[^\W\d][\w.\\]*)?{BRACKETS})
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?)
    |(?P<name>(?:{_SHEET})?[^\W\d][\w.\\?]*)
    |(?P<compare><>|<=|>=|[<>=])
    |(?P<join>&)
    |(?P<open>\()
    |(?P<close>\))
    |(?P<brace>[{{}}])
    |(?P<separator>[,;])
    |(?P<space>\s+)
    |(?P<operator>[-+*/^%@\#:])""",
    re.VERBOSE,
)


def shape_of(formula: str) -> tuple[str, list[str]]:
    """The formula with a `HOLE` for each reference, and the references.

    >>> shape_of("SUM(A1:B2)*LOG10(x!C3)")
    ('SUM(\\x00)*LOG10(\\x00)', ['A1:B2', 'x!C3'])
    """
    parts = _SHAPE.split(formula.replace(HOLE, ""))  # what is between, a text, a reference, and so on
    found: list[str] = []
    for at in range(2, len(parts), 3):
        reference = parts[at]
        if reference is None:
            parts[at] = ""
            continue
        parts[at - 1] = ""
        if area_of(reference) is not None:
            found.append(reference)
            parts[at] = HOLE
    return "".join(parts), found


ROW = "\x01"
"""What stands for the number of a formula's own row while the formulas of a column are compared."""
_IN_ROW = re.compile(rf"\$?[A-Za-z]{{1,3}}\$?{ROW}(?::\$?[A-Za-z]{{1,3}}\$?{ROW})?")


class _Reference(NamedTuple):
    """A reference that the formulas of a column have in common."""

    text: str
    """With `ROW` for the row."""
    area: Area
    """Where it leads in the first of them."""
    is_in_row: bool

    def area_in(self, row: int) -> Area:
        """Where it leads in another row."""
        area = self.area
        return Area(row, area.first_column, row, area.last_column) if self.is_in_row else area


class ShapeReader:
    """Reads shapes; formulas that were filled down differ in nothing but their row, and are read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, list[_Reference]]] = {}

    def read(self, formula: str, row: int) -> tuple[str, list[str], list[Area]]:
        """The shape of a formula in this row, its references, and their areas."""
        number = str(row)
        pattern = formula.replace(number, ROW)
        if known := self._known.get(pattern):
            shape, common = known
            return shape, [each.text.replace(ROW, number) for each in common], [each.area_in(row) for each in common]
        shape, references = shape_of(formula)
        areas = [area for each in references if (area := area_of(each)) is not None]
        common = [_common(each.replace(number, ROW), area) for each, area in zip(references, areas, strict=True)]
        # The row's number may stand elsewhere as well, and mean something else there.
        if ROW not in formula and pattern.count(ROW) == sum(each.text.count(ROW) for each in common if each.is_in_row):
            self._known[pattern] = shape, common
        return shape, references, areas


def _common(text: str, area: Area) -> _Reference:
    return _Reference(text, area, _IN_ROW.fullmatch(text) is not None)


def tokens(shape: str) -> list[Token] | None:
    """The tokens of a shape; None for what cannot be read."""
    found: list[Token] = []
    place = 0
    while place < len(shape):
        match = _TOKEN.match(shape, place)
        if match is None or match.lastgroup is None:
            return None
        found.append(Token(match.lastgroup, match[0]))
        place = match.end()
    return found


@lru_cache(maxsize=100_000)
def area_of(reference: str) -> Area | None:
    """The area that a reference names; `sheet` is None for the formula's own. None for what is no place."""
    if one := _ONE_CELL.fullmatch(reference):  # most are
        row, column = int(one[2]), column_index_from_string(one[1])
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
    columns = sorted(
        column_index_from_string(each[1]) if each[1] else end for each, end in _ends(one, other, MAX_COLUMN)
    )
    rows = sorted(int(each[2]) if each[2] else end for each, end in _ends(one, other, MAX_ROW))
    if rows[0] < 1 or rows[1] > MAX_ROW or columns[1] > MAX_COLUMN:
        return None
    return Area(rows[0], columns[0], rows[1], columns[1], sheet or None)


def _ends(one: re.Match[str], other: re.Match[str], last: int) -> Iterator[tuple[re.Match[str], int]]:
    yield one, 1
    yield other, last
