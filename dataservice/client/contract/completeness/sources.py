"""A signal's detail and its windows: two sources that tell one series where they were seen to agree row for row.

What four bytes keep of a value, another time of the same day, and a row without a value in place of none are no
difference. Anything else is: in another unit, rounded, adjusted or dated otherwise, the one says nothing of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from dataservice.client.contract.windows import Window
from dataservice.observations import Observations, Values

ENOUGH = 6
"""So many rows that agree show that all do; fewer, where one of the sources has no more."""

SEVERAL = 4
"""So many days that both have show that times of a day differ; fewer may be other observations."""

Mask = NDArray[np.bool_]


class Agreement(Enum):
    """Whether two sources tell one series."""

    ALIKE = auto()
    APART = auto()
    UNKNOWN = auto()


def compared(detail: Observations, window: Observations, days: Iterable[Window]) -> Agreement:
    """Compare all that both sources tell of these `days`, which a window showed whole.

    The newest that both reach is left aside: it is often provisional, and one source may have it later.
    """
    if not len(detail):
        return Agreement.UNKNOWN
    newest = np.datetime64(min(each.last_day for each in (detail, window) if len(each)), "us")
    told = valued(Observations(detail.times[detail.times < newest], detail.values[detail.times < newest]))
    count = 0
    for each in days:
        first = max(each.start, detail.first_day)
        one = told.between(first, each.end)
        other = valued(window.between(first, each.end))
        other = other[: int(np.searchsorted(other.times, newest))]
        if as_known(one, other) != one:
            return Agreement.APART
        count += len(one)
    return Agreement.ALIKE if count >= ENOUGH or 0 < count == len(told) else Agreement.UNKNOWN


def valued(found: Observations) -> Observations:
    """The observations that have a value."""
    has_value = ~np.isnan(found.values)
    return found if has_value.all() else Observations(found.times[has_value], found.values[has_value])


def as_known(known: Observations, found: Observations) -> Observations:
    """`found` in the words in which it was `known`: equal where only the telling differs."""
    found = _restamped(known, found)
    _, known_at, found_at = np.intersect1d(known.times, found.times, assume_unique=True, return_indices=True)
    before, now = known.values[known_at], found.values[found_at]
    same = _is_kept_in_four_bytes(before, now) & (before != now)
    if same.any():
        values = found.values.copy()
        values[found_at[same]] = before[same]
        found = Observations(found.times, values)
    return _with_nulls(known, found)


def _is_kept_in_four_bytes(one: Values, other: Values) -> Mask:
    """Return where one of two values is what four bytes keep of the other."""
    kept, other_kept = (each.astype(np.float32).astype(np.float64) for each in (one, other))
    result: Mask = (kept == other_kept) & ((kept == one) | (other_kept == other))
    return result


def _restamped(known: Observations, found: Observations) -> Observations:
    """`found` with the times of day that are known, where both have one observation a day."""
    if not len(known) or not len(found) or bool(np.isin(found.times, known.times, assume_unique=True).all()):
        return found
    known_days, found_days = (each.times.astype("datetime64[D]") for each in (known, found))
    if _has_doubles(known_days) or _has_doubles(found_days):
        return found
    _, known_at, found_at = np.intersect1d(known_days, found_days, assume_unique=True, return_indices=True)
    if len(known_at) < min(SEVERAL, len(known), len(found)):
        return found
    times = found.times.copy()
    times[found_at] = known.times[known_at]
    return Observations(times, found.values)


def _has_doubles(days: NDArray[np.datetime64]) -> bool:
    return bool(np.any(days[1:] == days[:-1]))


def _with_nulls(known: Observations, found: Observations) -> Observations:
    """`found` with the rows without a value that are known, and without those that are not: they say the same."""
    if not np.isnan(known.values).any() and not np.isnan(found.values).any():
        return found
    if not len(found) or not len(known):
        return found
    inner = (found.times > known.times[0]) & (found.times < known.times[-1])
    new = np.isnan(found.values) & inner & ~np.isin(found.times, known.times, assume_unique=True)
    left_out = np.isnan(known.values) & (known.times > found.times[0]) & (known.times < found.times[-1])
    left_out &= ~np.isin(known.times, found.times, assume_unique=True)
    kept = Observations(known.times[left_out], known.values[left_out])
    return Observations(found.times[~new], found.values[~new]).merged(kept)
