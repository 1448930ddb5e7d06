"""The day to compare with: the same day some months earlier, and the observation that stands for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.resample import Times

__all__ = ["STALE_DAYS", "anchor_days", "base_positions"]

STALE_DAYS = 10
"""How much older than its day a base may be: the longest closing of a large exchange (Tokyo, spring 2019)."""


def anchor_days(times: Times, months: int) -> Times:
    """For each time the same day of the month so many months earlier, as datetime64[D].

    Where that month is shorter its last day counts, and the last day of a month always goes to the last day.
    """
    days = times.astype("datetime64[D]")
    month = days.astype("datetime64[M]")
    target = month - months
    first, last = target.astype("datetime64[D]"), (target + 1).astype("datetime64[D]") - 1
    same_day = np.minimum(first + (days - month.astype("datetime64[D]")), last)
    is_last_day = (days + 1).astype("datetime64[M]") != month
    return np.where(is_last_day, last, same_day)


def base_positions(times: Times, known: Times, months: int) -> NDArray[Any]:
    """The place in `known` of each time's base; -1 where there is none that is not too old. Both are sorted."""
    anchors = anchor_days(times, months)
    positions = np.searchsorted(known.astype("datetime64[D]"), anchors, side="right") - 1
    if not len(known):
        return positions
    age = anchors - known.astype("datetime64[D]")[positions]
    return np.where((positions >= 0) & (age <= np.timedelta64(STALE_DAYS, "D")), positions, -1)
