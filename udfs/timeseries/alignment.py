"""Several series on common rows: which rows there are, and the value of a series on each.

A filled value always comes from the series' own values; the last one before the first row counts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dataservice.observations import Observations
from udfs.cells import midnights
from udfs.timeseries.frequency import Freq, Times, all_periods
from udfs.timeseries.options import Align, Fill
from udfs.timeseries.resample import Agg, known_only, resampled

HEAD = 64
"""Observations that are looked at before all others."""

LOOKS_BACK = frozenset({Fill.PREV, Fill.LINEAR})
"""Fills that may take a value from before the first row shown; all others use only what is shown."""


def by_day(
    series: Sequence[Observations], align: Align = Align.UNION, timed: Sequence[bool] = ()
) -> list[Observations]:
    """The series dated by the day where they have one observation a day, so that 16:00 and 00:00 share their rows.

    Those that are `timed` have several a day, though these few may not show it.

    One with several a day keeps its times; beside daily ones, only its last value of each day has a row in common.
    """
    dated = [None if any(timed[place : place + 1]) else _dated_by_day(one) for place, one in enumerate(series)]
    if align is Align.INTERSECT and any(each is not None for each in dated):
        days = (
            resampled(known_only(one), Freq.D, Agg.LAST) if each is None else each
            for one, each in zip(series, dated, strict=True)
        )
        return list(days)
    return [one if each is None else each for one, each in zip(series, dated, strict=True)]


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
    if fill is Fill.NONE or freq.is_raw or not len(times):
        return times
    return all_periods(times[0], times[-1], freq)


def filled(series: Observations, rows: Times, fill: Fill) -> NDArray[np.float64]:
    """The values of `series` on `rows`, NaN where there is none after filling.

    `linear` is by time between two values, and blank outside them.
    """
    if fill is Fill.NONE and len(series) == len(rows) and np.array_equal(series.times, rows):
        return series.values
    known = known_only(series)
    if len(known) == len(rows) and np.array_equal(known.times, rows):  # one series without a gap: nothing to look for
        return known.values
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


def _dated_by_day(one: Observations) -> Observations | None:
    """The series dated by the day; None where it has several observations a day, which it mostly shows at once."""
    head: NDArray[Any] = midnights(one.times[:HEAD])
    if np.any(head[1:] == head[:-1]):
        return None
    days: NDArray[Any] = midnights(one.times)
    return None if np.any(days[1:] == days[:-1]) else Observations(days, one.values)
