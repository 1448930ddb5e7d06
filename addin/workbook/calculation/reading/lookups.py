"""Lookups of the nearest value, which are right only where the values are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from addin.formulas import Area
from addin.workbook.calculation.reading.shapes import Lookup, Piece, Searched

_MODE_AT = {"VLOOKUP": 3, "HLOOKUP": 3, "MATCH": 2, "LOOKUP": None, "XLOOKUP": 5, "XMATCH": 3}
"""The argument that tells how a lookup searches."""
_EXACT = frozenset(("0", "FALSE", ""))
_FROM_AN_END = frozenset(("1", "-1", ""))
_FIRST_COLUMN, _FIRST_ROW = ",0,1)", ",1,0)"
_FIRST_LINE = {"VLOOKUP": _FIRST_COLUMN, "HLOOKUP": _FIRST_ROW}


def nearest(name: str, arguments: Sequence[Sequence[Piece]]) -> Lookup | None:
    """Return what a lookup searches, where it depends on an order; None where it does not."""
    if len(arguments) < 2 or name not in _MODE_AT:
        return None
    at = _MODE_AT[name]
    given = arguments[at] if at is not None and len(arguments) > at else None
    mode: tuple[Piece, ...] = ()
    if given is None:
        order = order_of(name, "" if name[0] == "X" else "1")
    elif all(isinstance(piece, str) for piece in given):
        order = order_of(name, "".join(map(str, given)).upper())
    else:
        order, mode = Searched.UNKNOWN, tuple(given)
    if order is Searched.IN_ANY_ORDER:
        return None
    among = tuple(arguments[1])
    if line := _FIRST_LINE.get(name):
        among = ("INDEX(", *among, line)
    return Lookup(name, tuple(arguments[0]), among, order, mode)


def order_of(name: str, mode: str) -> Searched:
    """Return the order that a lookup needs with this mode, as it is written.

    >>> [str(order_of(*each)) for each in (("VLOOKUP", "FALSE"), ("MATCH", "-1"), ("XLOOKUP", "1"), ("XMATCH", "2"))]
    ['any', 'falling', 'any', 'rising']
    """
    if mode in (_FROM_AN_END if name[0] == "X" else _EXACT):
        return Searched.IN_ANY_ORDER
    if mode not in ("1", "-1", "TRUE", "2", "-2"):
        return Searched.UNKNOWN
    return Searched.FALLING if mode == ("-2" if name[0] == "X" else "-1") and name[0] in "XM" else Searched.RISING


def mode_of(value: Any) -> str:
    """The mode of a lookup that a cell holds, as it would be written."""
    match value:
        case bool():
            return str(value).upper()
        case float():
            return f"{value:g}"
        case None:
            return "0"
        case _:
            return "?"


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


class Order:
    """The order of the values among which lookups search, found out once for each kind of value."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._values: dict[type, list[Any]] = {}
        for value in values:
            self._values.setdefault(type(value), []).append(value.casefold() if isinstance(value, str) else value)
        self._highest: dict[type, Any] = {}
        self._sorted: dict[tuple[type, bool], bool] = {}

    def is_certain(self, wanted: Iterable[Any], order: Searched) -> bool:
        """Whether searches by halves and from the beginning find the same: values are in order, or all are below.

        >>> rising, mixed = Order([1.0, 2.0, 3.0]), Order([3.0, 1.0, None, "b", "C"])
        >>> [each.is_certain([2.0], Searched.RISING) for each in (rising, mixed)]
        [True, False]
        >>> mixed.is_certain([9e307, "B", None], Searched.RISING), rising.is_certain([2.0], Searched.FALLING)
        (True, False)
        """
        return order is Searched.IN_ANY_ORDER or all(self._is_certain(each, order) for each in wanted)

    def _is_certain(self, wanted: Any, order: Searched) -> bool:
        kind = type(wanted)
        if wanted is None or kind is dict or kind not in self._values:
            return True
        if order is Searched.UNKNOWN:
            return False
        is_above = kind is float and wanted > self._highest_of(kind)
        return is_above or self._is_sorted(kind, falls=order is Searched.FALLING)

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
