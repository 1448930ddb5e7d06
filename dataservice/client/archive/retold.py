"""Changes of an archive that are none: the same observation, told in another way by another answer.

Versions before compared a signal's detail with windows of its history as if both told alike. Where they do not, their
archives hold revisions that never happened. Nothing of an archive is dropped; these are recognised and marked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dataservice.client.archive.facts import Facts
from dataservice.client.contract.completeness.density import decimals_of
from dataservice.client.contract.completeness.sources import SEVERAL
from dataservice.observations import Values

MOST = 0.75
"""The share of values that differ as by rounding, where all are told otherwise: some may have been revised besides."""

Mask = NDArray[np.bool_]


def retold(facts: Facts) -> Mask:
    """Which facts only tell in another way what was known: rounded, at another time of the day, or as no value."""
    if not len(facts):
        return np.zeros(0, bool)
    again = facts.repeats_observation()
    before = np.where(again, np.append(np.nan, facts.values[:-1]), np.nan)
    was_gone = again & np.append(False, facts.gone[:-1])
    return _rounded(facts, before) | _restamped(facts, before, again & ~was_gone) | _blank(facts, before)


def _rounded(facts: Facts, before: NDArray[np.float64]) -> Mask:
    """Return which differ from what was before only in how exactly they are told; each look is judged as a whole."""
    result = np.zeros(len(facts), bool)
    order = np.argsort(facts.first_seen, kind="stable")
    for look in np.split(order, np.flatnonzero(np.diff(facts.first_seen[order])) + 1):
        result[look] = _told_alike(before[look], facts.values[look])
    return result


def _restamped(facts: Facts, before: NDArray[np.float64], was_there: Mask) -> Mask:
    """Return which vanished and came at another time of the same day, in one look and with one value."""
    days = facts.times.astype("datetime64[D]").astype(np.int64)
    gone, come = np.flatnonzero(facts.gone & was_there), np.flatnonzero(~facts.gone & ~was_there)
    result = np.zeros(len(facts), bool)
    places = {(days[place], facts.first_seen[place]): place for place in come}
    pairs = [(place, places[key]) for place in gone if (key := (days[place], facts.first_seen[place])) in places]
    if pairs:
        left, right = np.array(pairs).T
        one, other = before[left], facts.values[right]
        alike = (one == other) | _told_alike(one, other)
        result[left[alike]] = result[right[alike]] = True
    return result


def _blank(facts: Facts, before: NDArray[np.float64]) -> Mask:
    """Return which say that an observation without a value came or went."""
    return np.isnan(facts.values) & np.isnan(before)


def _told_alike(before: Values, now: Values) -> Mask:
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


def _is_in_four_bytes(one: Values, other: Values) -> Mask:
    """Return where `one` is what four bytes keep of `other`: that has more decimals, none of which anybody wrote."""
    kept = other.astype(np.float32).astype(np.float64)
    result: Mask = (one == kept) & (decimals_of(one) > decimals_of(other))
    return result
