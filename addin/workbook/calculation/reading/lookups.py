"""Lookups of the nearest value, which are right only where the values are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from addin.formulas import Area
from addin.workbook.calculation.reading.shapes import Piece

EXACT_IF = {"VLOOKUP": 3, "HLOOKUP": 3, "MATCH": 2, "LOOKUP": None}
"""The argument with which a lookup finds nothing but the value itself."""
_BY_HALVES_IF = {"XLOOKUP": 5, "XMATCH": 3}
"""The argument with which a lookup searches by halves, whatever it looks for."""
_FIRST_COLUMN, _FIRST_ROW = ",0,1)", ",1,0)"
_FIRST_LINE = {"VLOOKUP": _FIRST_COLUMN, "HLOOKUP": _FIRST_ROW}


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
        among = ("INDEX(", *among, line)
    return tuple(arguments[0]), among, falls


def searched_area(among: Sequence[Piece], area_at: Callable[[int], Area | None]) -> Area | None:
    """The cells among which a lookup searches, where it names them; `area_at` is the area of a reference."""
    match among:
        case [int(number)]:
            return area_at(number)
        case ["INDEX(", int(number), line] if area := area_at(number):
            is_column = line == _FIRST_COLUMN
            return area._replace(last_column=area.first_column) if is_column else area._replace(last_row=area.first_row)
        case _:
            return None


def _written(arguments: Sequence[list[Piece]], at: int) -> str:
    return "".join(map(str, arguments[at])).upper() if len(arguments) > at else ""


class Order:
    """The order of the values among which lookups search, found out once for each kind of value."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._values: dict[type, list[Any]] = {}
        for value in values:
            self._values.setdefault(type(value), []).append(value.casefold() if isinstance(value, str) else value)
        self._highest: dict[type, Any] = {}
        self._sorted: dict[tuple[type, bool], bool] = {}

    def is_certain(self, wanted: Any, *, falls: bool = False) -> bool:
        """Whether a search by halves and one from the beginning find the same: values are sorted, or all are below.

        Values that have to fall are sorted the other way.

        >>> rising, mixed = Order([1.0, 2.0, 3.0]), Order([3.0, 1.0, None, "b", "C"])
        >>> rising.is_certain(2.0), mixed.is_certain(2.0), mixed.is_certain(9e307), mixed.is_certain("B")
        (True, False, True, True)
        """
        kind = type(wanted)
        if wanted is None or kind is dict or kind not in self._values:
            return True
        return (kind is float and wanted > self._highest_of(kind)) or self._is_sorted(kind, falls=falls)

    def _highest_of(self, kind: type) -> Any:
        if kind not in self._highest:
            self._highest[kind] = max(self._values[kind])
        return self._highest[kind]

    def _is_sorted(self, kind: type, *, falls: bool) -> bool:
        if (kind, falls) not in self._sorted:
            values = self._values[kind]
            in_order = reversed(values) if falls else values
            self._sorted[kind, falls] = all(one <= other for one, other in pairwise(in_order))
        return self._sorted[kind, falls]
