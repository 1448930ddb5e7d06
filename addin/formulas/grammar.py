"""References that a spreadsheet component reads and Excel does not."""

from __future__ import annotations

import re

from addin.formulas.areas import MAX_COLUMN, MAX_ROW, area_of, column_letters
from addin.formulas.lexer import PLACEHOLDER, Token, tokens
from addin.formulas.shape import shape_of

_HALF = re.compile(r"(?:.*!)?(?:[A-Za-z]{1,3}|[0-9]+)", re.DOTALL)
"""A column or a row as one end of an area; the other end is a cell."""

_HALF_OPEN = "an area has a row at both of its ends or at none: A1:A9 or A:A"


def foreign_reference(formula: str) -> str | None:
    """Return why Excel has no such reference as one of the formula's (without its `=`), in a sentence.

    >>> foreign_reference("SUM(A1:A)")
    'an area has a row at both of its ends or at none: A1:A9 or A:A'
    >>> foreign_reference("XFE1")
    'XFE1 is outside of a sheet, whose last cell is XFD1048576'
    >>> foreign_reference("SUM(A:A,1:1,A1:INDEX(B:B,2))")
    """
    read = [token for token in tokens(shape_of(formula.replace("$", ""))[0]) if token.kind != "space"]
    for before, token, after in zip([None, *read], read, [*read[1:], None], strict=False):
        if token.kind == "reference" and area_of(token.text) is None:
            return f"{token.text} is outside of a sheet, whose last cell is {column_letters(MAX_COLUMN)}{MAX_ROW}"
        ends = [before, after] if token.text == ":" else []
        if any(map(_is_cell, ends)) and any(map(_is_half, ends)):
            return _HALF_OPEN
    return None


def _is_cell(end: Token | None) -> bool:
    return end is not None and (end.kind == "reference" or end.text == PLACEHOLDER)


def _is_half(end: Token | None) -> bool:
    return end is not None and end.kind in ("name", "number") and _HALF.fullmatch(end.text) is not None
