"""Formulas as shapes: the text with its references taken out, so that copied formulas are analysed once."""

from __future__ import annotations

import re
from typing import NamedTuple

from addin.formulas.areas import Area, area_of, in_order
from addin.formulas.lexer import BRACKETS, PLACEHOLDER, REFERENCE, TEXT

_CALLED = r"[A-Za-z][\w.]*\("
_SHAPE = re.compile(rf"(?P<text>{TEXT}|{BRACKETS}|{_CALLED})|(?<![\w.\]$!\\:])(?P<reference>{REFERENCE})")


def shape_of(formula: str) -> tuple[str, list[str]]:
    """The formula with a `PLACEHOLDER` for each reference, and the references, each from its first cell on.

    >>> shape_of("SUM(A1:B2)*LOG10(x!C3)")
    ('SUM(\\x00)*LOG10(\\x00)', ['A1:B2', 'x!C3'])
    """
    parts = _SHAPE.split(formula.replace(PLACEHOLDER, ""))  # what is between, a text, a reference, and so on
    found: list[str] = []
    for at in range(2, len(parts), 3):
        reference = parts[at]
        if reference is None:
            parts[at] = ""
            continue
        parts[at - 1] = ""
        if area_of(reference) is not None:
            found.append(in_order(reference) if ":" in reference else reference)
            parts[at] = PLACEHOLDER
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
        """Return where it leads in another row."""
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
