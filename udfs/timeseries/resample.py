"""Observations by calendar periods: days, ISO weeks, months, quarters, years.

A period is labelled by its last day, so no label comes before what it holds. Null observations count as not observed.
"""

from __future__ import annotations

from datetime import date
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dataservice.client.contract.dates import MONTHS
from dataservice.observations import Observations
from udfs.arguments.kinds import Explained

Times: TypeAlias = NDArray[np.datetime64]
Numbers: TypeAlias = NDArray[np.int64]

MONDAY = 3
"""1970-01-01, day 0, was a Thursday: three days after a Monday."""


class Freq(Explained):
    """How often the rows of a table come."""

    RAW = "raw", "every observation"
    D = "D", "days"
    W = "W", "weeks, Monday to Sunday"
    M = "M", "months"
    Q = "Q", "quarters"
    Y = "Y", "years"


class Agg(Explained):
    """How the values within a period are combined."""

    LAST = "last"
    FIRST = "first"
    MEAN = "mean"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


def known_only(observations: Observations) -> Observations:
    """The observations that have a value."""
    gone = np.isnan(observations.values)
    return Observations(observations.times[~gone], observations.values[~gone]) if gone.any() else observations


def resampled(observations: Observations, freq: Freq, agg: Agg) -> Observations:
    """One observation for each period that has any, dated by the period's last day; unchanged for `raw`.

    `observations` must be sorted. A period of which only a part was observed stands for that part.
    """
    if freq is Freq.RAW or not len(observations):
        return observations
    periods = _numbers(observations.times, freq)
    firsts = np.flatnonzero(np.append(True, periods[1:] != periods[:-1]))
    labels = _last_days(periods[firsts], freq).astype("datetime64[us]")
    return Observations(labels, _aggregated(observations.values, firsts, agg))


def all_periods(first: np.datetime64, last: np.datetime64, freq: Freq) -> Times:
    """The labels of every period from the one of `first` to the one of `last`."""
    low, high = _numbers(np.array([first, last], "datetime64[us]"), freq)
    return _last_days(np.arange(low, high + 1), freq).astype("datetime64[us]")


def period_start(day: date, freq: Freq) -> date:
    """The first day of the period that `day` lies in; the day itself for `raw`."""
    if freq is Freq.RAW:
        return day
    number = _numbers(np.array([day], "datetime64[us]"), freq)
    start: date = _first_days(number, freq)[0].item()
    return start


def _aggregated(values: NDArray[np.float64], firsts: NDArray[Any], agg: Agg) -> NDArray[np.float64]:
    ends = np.append(firsts[1:], len(values))
    found: NDArray[np.float64]
    match agg:
        case Agg.LAST:
            found = values[ends - 1]
        case Agg.FIRST:
            found = values[firsts]
        case Agg.SUM:
            found = np.add.reduceat(values, firsts)
        case Agg.MEAN:
            found = np.add.reduceat(values, firsts) / (ends - firsts)
        case Agg.MIN:
            found = np.minimum.reduceat(values, firsts)
        case Agg.MAX:
            found = np.maximum.reduceat(values, firsts)
        case _:
            assert_never(agg)
    return found


def _numbers(times: Times, freq: Freq) -> Numbers:
    """The number of each time's period, counted from 1970-01-01; weeks begin on Monday."""
    if freq in (Freq.D, Freq.W):
        days = times.astype("datetime64[D]").astype(np.int64)
        return days if freq is Freq.D else (days + MONDAY) // 7
    return times.astype("datetime64[M]").astype(np.int64) // MONTHS[freq]


def _first_days(numbers: Numbers, freq: Freq) -> Times:
    if freq in (Freq.D, Freq.W):
        return (numbers if freq is Freq.D else numbers * 7 - MONDAY).astype("datetime64[D]")
    return (numbers * MONTHS[freq]).astype("datetime64[M]").astype("datetime64[D]")


def _last_days(numbers: Numbers, freq: Freq) -> Times:
    return _first_days(numbers + 1, freq) - np.timedelta64(1, "D")
