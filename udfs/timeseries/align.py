"""Several series on common rows: which dates the rows have, and what stands where a series has no value.

A filled value always comes from the series' own values; the last one before the first row counts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from dataservice.observations import Observations
from udfs.timeseries.resample import Freq, Times, all_periods, known_only


class Align(StrEnum):
    """Which rows several series have in common."""

    UNION = "union"
    INTERSECT = "intersect"


class Fill(StrEnum):
    """What stands where a series has no value."""

    NONE = "none"
    PREV = "prev"
    NEXT = "next"
    LINEAR = "linear"
    ZERO = "zero"


def by_day(series: Sequence[Observations]) -> list[Observations]:
    """The series dated by the day if none has two observations on one day; else as they are.

    So a daily series stamped 16:00 and one stamped 00:00 share their rows.
    """
    days = [one.times.astype("datetime64[D]") for one in series]
    if any(bool(np.any(each[1:] == each[:-1])) for each in days):
        return list(series)
    return [Observations(each.astype("datetime64[us]"), one.values) for each, one in zip(days, series, strict=True)]


def row_times(series: Sequence[Observations], align: Align, fill: Fill, freq: Freq) -> Times:
    """The dates of the rows, oldest first.

    `union`: every date of any series; `intersect`: those on which all have a value. With a frequency and a fill,
    every period from the first of these to the last has a row; without a fill, periods without observations have none.
    """
    times = np.empty(0, "datetime64[us]")
    match align:
        case Align.UNION:
            # One series is sorted already, and making its times unique would take longer than all the rest.
            if len(series) == 1:
                times = series[0].times
            else:
                times = np.unique(np.concatenate([times, *(one.times for one in series)]))
        case Align.INTERSECT:
            for place, one in enumerate(map(known_only, series)):
                times = one.times if place == 0 else np.intersect1d(times, one.times, assume_unique=True)
        case _:
            assert_never(align)
    if fill is Fill.NONE or freq is Freq.RAW or not len(times):
        return times
    return all_periods(times[0], times[-1], freq)


def filled(series: Observations, rows: Times, fill: Fill) -> NDArray[np.float64]:
    """The values of `series` on `rows`, NaN where there is none after filling.

    `linear` is by time between two values, and blank outside them.
    """
    known = known_only(series)
    after = np.searchsorted(known.times, rows)
    before = np.searchsorted(known.times, rows, side="right") - 1
    values = np.append(known.values, np.nan)
    exact = np.where(after <= before, values[before], np.nan)
    match fill:
        case Fill.NONE:
            return exact
        case Fill.PREV:
            return np.where(before >= 0, values[before], np.nan)
        case Fill.NEXT:
            return values[after]
        case Fill.ZERO:
            return np.where(np.isnan(exact), 0.0, exact)
        case Fill.LINEAR:
            if not len(known):
                return exact
            x, xp = rows.astype(np.int64), known.times.astype(np.int64)
            return np.where(after <= before, exact, np.interp(x, xp, known.values, left=np.nan, right=np.nan))
        case _:
            assert_never(fill)
