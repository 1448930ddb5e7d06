"""Arguments as Python programs have them: the values and containers of numpy, pandas and their like as plain ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from udfs.errors import ArgumentError

_MISSING = frozenset({"NAType", "NaTType"})
"""The classes of pandas' missing values, which are known without importing pandas."""

TIMED = "mM"
"""Kinds of arrays whose values would become bare numbers in a list of nanoseconds."""


def plain(value: Any, *, first_of_period: bool = False) -> Any:
    """A value as Python's own, a container of any kind as a list; None for what is missing, as for a blank cell.

    A period of pandas is its last day, or its first where `first_of_period`; a shorter one that moment.

    >>> plain(np.int64(3)), plain(np.array(["us-cpi", "us-10y"])), plain(np.array([[1.5, np.nan]]))
    (3, ['us-cpi', 'us-10y'], [[1.5, None]])

    Raises `ArgumentError` for a list that holds itself, lists within lists without end, and what cannot be read.
    """
    try:
        return _plain(value, first_of_period=first_of_period)
    except RecursionError:
        raise ArgumentError("lists lie within lists too deeply; give a value, a list or a table") from None
    except Exception as error:
        raise unreadable(value, error) from error


def unreadable(value: Any, error: Exception) -> ArgumentError:
    """Return what is wrong with a value of a program's own class that raises where it is looked at."""
    return ArgumentError(f"a {type(value).__name__[:60]} cannot be read: it raises {type(error).__name__}")


def _plain(value: Any, *, first_of_period: bool) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each, first_of_period=first_of_period) for key, each in value.items()}
    items = _items(value)
    if items is None:
        return _one(value, first_of_period=first_of_period)
    return [_plain(each, first_of_period=first_of_period) for each in items]


def _items(value: Any) -> Iterable[Any] | None:
    """The values of a list, set, generator, column or array, the rows of a frame or matrix; None for a single value."""
    if isinstance(value, str | bytes | bytearray | memoryview | np.generic):
        return None
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)  # a set has no order of its own, and two runs are to ask the same
    if hasattr(value, "__array__"):
        array = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
        if not array.shape:
            return None
        return array if array.dtype.kind in TIMED else array.tolist()
    return value if isinstance(value, Iterable) else None


def _one(value: Any, *, first_of_period: bool) -> Any:
    """A single value; whatever is not known here stays as it is, and the argument's kind refuses it."""
    if hasattr(value, "__array__") and not isinstance(value, np.generic):  # an array of no dimension is its one value
        array = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
        value = array[()] if array.dtype.kind in TIMED else array.tolist()
    match value:
        case np.datetime64() | np.timedelta64():
            return None if np.isnat(value) else _time(value)
        case np.floating():
            value = float(value)  # also the long ones, whose `item` is no float
        case np.generic():
            value = value.item()
        case str():
            value = str.__str__(value)  # of a program's own kind of text the text alone
        case Decimal() | Fraction():
            value = _float(value)
        case _ if hasattr(value, "as_py"):  # one of pyarrow's
            return _plain(value.as_py(), first_of_period=first_of_period)
        case _ if type(value).__name__ == "Period":
            value = _of_period(value, first=first_of_period)
    if type(value).__name__ in _MISSING or (isinstance(value, float) and value != value):
        return None
    return _without_nanoseconds(value) if isinstance(value, datetime) and hasattr(value, "to_pydatetime") else value


def _of_period(period: Any, *, first: bool) -> Any:
    """The first or last day of a period of days, or that moment of a shorter one."""
    moment = period.start_time if first else period.end_time
    is_of_days = {edge.start_time.time() for edge in (period, period + 1)} == {time.min}
    return moment.date() if is_of_days else moment


def _without_nanoseconds(moment: Any) -> Any:
    """pandas' time as Python's; as numpy's, which arguments refuse, outside the years 1 to 9999."""
    try:
        return moment.to_pydatetime(warn=False)
    except ValueError:
        return moment.to_datetime64()


def _time(value: np.datetime64 | np.timedelta64) -> Any:
    """numpy's time as Python's; as it is, which arguments refuse, outside the years 1 to 9999."""
    found = value.astype("datetime64[us]").item() if isinstance(value, np.datetime64) else value
    return found if isinstance(found, datetime) else value


def _float(value: Decimal | Fraction) -> Any:
    if isinstance(value, Decimal) and value.is_nan():
        return None
    try:
        return float(value)
    except OverflowError:
        return value
