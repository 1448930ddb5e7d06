"""Lookups of the nearest value, which are right only where the values are sorted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from addin.workbook.calculation.reading.shapes import Piece

EXACT_IF = {"VLOOKUP": 3, "HLOOKUP": 3, "MATCH": 2, "LOOKUP": None}
"""The argument with which a lookup finds nothing but the value itself."""
_FIRST_LINE = {"VLOOKUP": "INDEX({},0,1)", "HLOOKUP": "INDEX({},1,0)"}


def nearest(name: str, arguments: Sequence[list[Piece]]) -> tuple[tuple[Piece, ...], tuple[Piece, ...]] | None:
    """What is looked up and among which values, where a lookup may find another value than the one looked up."""
    if name not in EXACT_IF or len(arguments) < 2:
        return None
    at = EXACT_IF[name]
    if at is not None and len(arguments) > at and "".join(map(str, arguments[at])).upper() in ("0", "FALSE", "", "-1"):
        return None  # one after another
    among = tuple(arguments[1])
    if line := _FIRST_LINE.get(name):
        before, behind = line.split("{}")
        among = (before, *among, behind)
    return tuple(arguments[0]), among


def is_certain(wanted: Any, values: Sequence[Any]) -> bool:
    """Whether a search by halves and one from the beginning find the same: the values are sorted, or all are below.

    >>> is_certain(2.0, [1.0, 2.0, 3.0]), is_certain(2.0, [3.0, 1.0, 2.0]), is_certain(9e307, [3.0, None, 2.0])
    (True, False, True)
    """
    same = [each for each in values if type(each) is type(wanted) and not isinstance(each, dict)]
    if isinstance(wanted, str):
        same, wanted = [each.casefold() for each in same], wanted.casefold()
    if isinstance(wanted, dict) or not same:
        return True
    if isinstance(wanted, float) and all(wanted > each for each in same):
        return True
    return all(one <= other for one, other in pairwise(same))
