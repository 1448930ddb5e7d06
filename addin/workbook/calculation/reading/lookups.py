"""Lookups of the nearest value, which are right only where the values are sorted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from addin.workbook.calculation.reading.shapes import Piece

EXACT_IF = {"VLOOKUP": 3, "HLOOKUP": 3, "MATCH": 2, "LOOKUP": None}
"""The argument with which a lookup finds nothing but the value itself."""
_BY_HALVES_IF = {"XLOOKUP": 5, "XMATCH": 3}
"""The argument with which a lookup searches by halves, whatever it looks for."""
_FIRST_LINE = {"VLOOKUP": "INDEX({},0,1)", "HLOOKUP": "INDEX({},1,0)"}


def nearest(name: str, arguments: Sequence[list[Piece]]) -> tuple[tuple[Piece, ...], tuple[Piece, ...], bool] | None:
    """What is looked up, among which values, and whether those have to fall, where a lookup depends on their order."""
    if len(arguments) < 2:
        return None
    if name in _BY_HALVES_IF:
        mode = _written(arguments, _BY_HALVES_IF[name])
        is_any_order, falls = mode in ("", "1", "-1"), mode == "-2"
    elif name in EXACT_IF:
        at = EXACT_IF[name]
        has_mode = at is not None and len(arguments) > at
        mode = _written(arguments, at or 0) if has_mode else "1"
        is_any_order, falls = mode in ("0", "FALSE", ""), name == "MATCH" and mode == "-1"
    else:
        return None
    if is_any_order:
        return None
    among = tuple(arguments[1])
    if line := _FIRST_LINE.get(name):
        before, behind = line.split("{}")
        among = (before, *among, behind)
    return tuple(arguments[0]), among, falls


def _written(arguments: Sequence[list[Piece]], at: int) -> str:
    return "".join(map(str, arguments[at])).upper() if len(arguments) > at else ""


def is_certain(wanted: Any, values: Sequence[Any], *, falls: bool = False) -> bool:
    """Whether a search by halves and one from the beginning find the same: the values are sorted, or all are below.

    Values that have to fall are sorted the other way.

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
    return all(one <= other for one, other in pairwise(reversed(same) if falls else same))
