"""One observation, told in two ways: rounded, as four bytes, with another time of day, with a row for no value or none.

A detail and a window tell one series. What only differs in how it is told is no change of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dataservice.observations import Observations, Values

SEVERAL = 4
"""So many values that differ as by rounding are told otherwise; fewer may have been revised."""

MOST = 0.75
"""The share of them: some may have been revised besides."""

MAX_DECIMALS = 9

Mask = NDArray[np.bool_]


def as_known(known: Observations, found: Observations) -> Observations:
    """`found` in the words in which it was `known`: equal where only the telling differs."""
    found = _restamped(known, found)
    known_at, found_at = _shared(known, found)
    before, now = known.values[known_at], found.values[found_at]
    same = told_alike(before, now) | _rounded_as_all(before, now, found) | _rounded_as_all(now, before, known)
    if not same.any():
        return _with_nulls(known, found)
    values = found.values.copy()
    values[found_at[same]] = before[same]
    return _with_nulls(known, Observations(found.times, values))


def as_told_briefly(known: Observations, found: Observations, widely: Observations) -> Observations:
    """`found` of a detail that shows very few, equal to what was `known` of `widely` shown ones but for rounding."""
    known_at, found_at = _shared(known, found)
    is_other = np.isin(known.times[known_at], widely.times, assume_unique=True)
    same = is_other & _rounded_across(found.values[found_at], known.values[known_at], widely.values)
    return _as_before(known, found, known_at[same], found_at[same])


def as_told_widely(
    known: Observations, found: Observations, briefly: Observations, widely: Observations
) -> Observations:
    """`found` of a window, equal to what was `known` from a detail of very few (`briefly`) but for rounding."""
    known_at, found_at = _shared(known, found)
    is_other = np.isin(known.times[known_at], briefly.times, assume_unique=True)
    column = np.append(widely.values, found.values)
    same = is_other & _rounded_across(known.values[known_at], found.values[found_at], column)
    return _as_before(known, found, known_at[same], found_at[same])


def _as_before(
    known: Observations, found: Observations, known_at: NDArray[np.intp], found_at: NDArray[np.intp]
) -> Observations:
    values = found.values.copy()
    values[found_at] = known.values[known_at]
    return Observations(found.times, values)


def _rounded_across(brief: Values, wide: Values, column: Values) -> Mask:
    """Where one of two sources rounds what the other tells; `column` is all that the one of the `wide` values told.

    That shows how exactly it tells. The few of the other one are rounded to no less than a decimal.
    """
    valued = column[~np.isnan(column)]
    if len(valued) < SEVERAL:
        return np.zeros(len(brief), bool)
    exact, step = decimals_of(brief), 0.5 * (1 + 1e-9)
    wide_decimals = decimals_of(valued).max()
    by_wide = (exact > wide_decimals) & (np.abs(brief - wide) <= step * 10.0**-wide_decimals)
    brief_decimals = np.maximum(exact, 1)
    by_brief = (decimals_of(wide) > brief_decimals) & (np.abs(brief - wide) <= step * 10.0**-brief_decimals)
    return np.asarray(by_wide | by_brief, bool)


def finest(known: Observations, found: Observations) -> Observations:
    """`found`, where it is told less exactly than it was `known` as it was known; the later time of a day counts."""
    found = _restamped(known, found)
    known_at, found_at = _shared(known, found)
    before, now = known.values[known_at], found.values[found_at]
    finer = (told_alike(before, now) | _rounded_as_all(before, now, found)) & _is_less_exact(now, before)
    if not finer.any():
        return found
    values = found.values.copy()
    values[found_at[finer]] = before[finer]
    return Observations(found.times, values)


def told_alike(before: Values, now: Values) -> Mask:
    """Return which of two columns of the same observations differ only in how exactly they are told."""
    differ = (before != now) & ~np.isnan(before) & ~np.isnan(now)
    result = np.zeros(len(before), bool)
    if not differ.any():
        return result
    one, other = before[differ], now[differ]
    alike = _is_in_four_bytes(one, other) | _is_in_four_bytes(other, one)
    if len(one) >= SEVERAL and not alike.all():
        exact, rounded = decimals_of(one).max(), decimals_of(other).max()
        step = 0.5 * 10.0 ** -min(exact, rounded) * (1 + 1e-9)
        by_rounding = np.abs(one - other) <= step
        if exact != rounded and by_rounding.mean() >= MOST:
            alike |= by_rounding
    result[differ] = alike
    return result


def _rounded_as_all(fine: Values, coarse: Values, column: Observations) -> Mask:
    """Return where `coarse` is `fine` with as many decimals as all of the long column that it comes from.

    Only of few observations: of several that both have, those that stayed as they were tell more.
    """
    valued = column.values[~np.isnan(column.values)]
    if len(valued) < SEVERAL or not 0 < len(fine) < SEVERAL:
        return np.zeros(len(fine), bool)
    decimals = int(decimals_of(valued).max())
    result: Mask = (np.abs(fine - coarse) <= 0.5 * 10.0**-decimals * (1 + 1e-9)) & (fine != coarse)
    return result & (decimals_of(fine) > decimals)


def _is_in_four_bytes(one: Values, other: Values) -> Mask:
    """Return where `one` is what four bytes keep of `other`: that has more decimals, none of which anybody wrote."""
    kept = other.astype(np.float32).astype(np.float64)
    result: Mask = (one == kept) & (decimals_of(one) > decimals_of(other))
    return result


def _is_less_exact(one: Values, other: Values) -> Mask:
    rounded = ~_is_in_four_bytes(other, one) & (decimals_of(one) < decimals_of(other))
    return _is_in_four_bytes(one, other) | rounded


def decimals_of(values: Values) -> NDArray[np.int64]:
    """Return how many decimals each value is told with, at most `MAX_DECIMALS`."""
    result = np.full(len(values), MAX_DECIMALS, np.int64)
    for decimals in reversed(range(MAX_DECIMALS)):
        result[np.round(values, decimals) == values] = decimals
    return result


def _shared(known: Observations, found: Observations) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    _, known_at, found_at = np.intersect1d(known.times, found.times, assume_unique=True, return_indices=True)
    return known_at, found_at


def _restamped(known: Observations, found: Observations) -> Observations:
    """`found` with the times of day that are known, where both have one observation a day."""
    if not len(known) or not len(found) or not _may_differ(known, found):
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


def _may_differ(known: Observations, found: Observations) -> bool:
    return not bool(np.isin(found.times, known.times, assume_unique=True).all())


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
