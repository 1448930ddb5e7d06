"""Observations by calendar periods: one value for each, and which of the periods are only a part of one.

Null observations count as not observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dataservice.observations import Observations
from udfs.arguments.kinds import Explained
from udfs.timeseries.frequency import WORKDAYS, Freq, Numbers, Times, Unit
from udfs.timeseries.rhythm import MONTHS, WEEKS, Pace, Rhythm


class Agg(Explained):
    """The way to combine the values within a period."""

    LAST = "last"
    FIRST = "first"
    MEAN = "mean"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


class Partial(Explained):
    """The treatment of a first or last period of which only a part was observed."""

    DROP = "drop", "left out, so that no part is compared with a whole"
    MARK = "mark", "shown, and named in the header"
    KEEP = "keep", "shown like any other"


FEWEST: Mapping[Unit, Mapping[Pace, int]] = {
    Unit.W: {Pace.DAILY: 4, Pace.BUSINESS: 4},
    Unit.M: {Pace.DAILY: 17, Pace.BUSINESS: 17, Pace.WEEKLY: 3, Pace.BIWEEKLY: 2},
    Unit.Q: {Pace.DAILY: 52, Pace.BUSINESS: 52, Pace.WEEKLY: 10, Pace.BIWEEKLY: 7, Pace.MONTHLY: 3},
    Unit.Y: {
        Pace.DAILY: 208,
        Pace.BUSINESS: 208,
        Pace.WEEKLY: 39,
        Pace.BIWEEKLY: 26,
        Pace.MONTHLY: 12,
        Pace.QUARTERLY: 4,
        Pace.HALF_YEARLY: 2,
    },
}
"""How many observations make a first or last period a whole one: FRED's thresholds."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of a series: whether the first and the last period are only a part of one."""

    first: bool = False
    last: bool = False


def known_only(observations: Observations) -> Observations:
    """The observations that have a value."""
    gone = np.isnan(observations.values)
    return Observations(observations.times[~gone], observations.values[~gone]) if gone.any() else observations


def resampled(observations: Observations, freq: Freq, agg: Agg) -> Observations:
    """One observation for each period that has any, dated by the period's last day; unchanged for `raw`.

    `observations` must be sorted. A period of which only a part was observed stands for that part.
    """
    if freq.is_raw or not len(observations):
        return observations
    periods, firsts = _periods(observations.times, freq)
    return Observations(freq.labels(periods), _aggregated(observations.values, firsts, agg))


def _periods(times: Times, freq: Freq) -> tuple[Numbers, NDArray[Any]]:
    """The numbers of the periods that have observations, and the place of the first one in each."""
    low, high = freq.numbers(times[[0, -1]]).tolist()
    if high - low < len(times):  # looking up where periods begin takes less time than numbering every observation
        periods = np.arange(low, high + 1)
        firsts = np.searchsorted(times, freq.begins(periods))
        is_used = np.append(firsts[1:], len(times)) > firsts
        return periods[is_used], firsts[is_used]
    numbers = freq.numbers(times)
    firsts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    return numbers[firsts], firsts


def partial_ends(observations: Observations, freq: Freq, rhythm: Rhythm, latest: date, *, is_newest: bool) -> Ends:
    """Return which of the first and last period of observations, all of them with values, are only a part of one.

    The first one is where it has fewer observations than the threshold. The last one is where it goes on after the day
    `latest` and another observation is due in it, or where it has too few and none came when the next one was due:
    `is_newest` tells that nothing newer exists.
    """
    if freq.is_raw or not len(observations):
        return Ends()
    fewest = FEWEST.get(freq.unit, {}).get(rhythm.pace, 1)
    periods = freq.numbers(observations.times[[0, -1]])
    begins = [freq.begins(each)[0] for each in (periods[:1] + 1, periods[1:])]
    first_end, last_start = np.searchsorted(observations.times, np.array(begins)).tolist()
    first_count, last_count = first_end, len(observations) - last_start
    ends: date = freq.labels(periods[1:])[0].astype("datetime64[D]").item()
    due = next_due(observations.last_day, rhythm)
    goes_on = due <= ends and (ends > latest or (is_newest and rhythm.pace is Pace.SEVERAL and ends >= latest))
    has_ended = is_newest or due <= latest
    return Ends(first_count < fewest, goes_on or (has_ended and last_count < fewest))


def next_due(day: date, rhythm: Rhythm) -> date:
    """The first day on which the observation after the one of `day` is due; the same day for several a day."""
    if rhythm.pace is Pace.SEVERAL:
        return day
    try:
        if rhythm.pace in WEEKS:
            return day + timedelta(days=7 * WEEKS[rhythm.pace])
        if rhythm.pace in MONTHS:
            number = int(rhythm.numbers(np.array([day], "datetime64[us]"))[0])
            return rhythm.centre(number + 1)
        following = day + timedelta(days=1)
        at_weekend = following.weekday() >= WORKDAYS and rhythm.pace is Pace.BUSINESS
        return following + timedelta(days=7 - following.weekday()) if at_weekend else following
    except OverflowError:
        return date.max


def _aggregated(values: NDArray[np.float64], firsts: NDArray[Any], agg: Agg) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # what overflows becomes a blank
        found = _combined(values, firsts, np.append(firsts[1:], len(values)), agg)
    return np.where(np.abs(found) < np.inf, found, np.nan) if agg in (Agg.SUM, Agg.MEAN) else found


def _combined(values: NDArray[np.float64], firsts: NDArray[Any], ends: NDArray[Any], agg: Agg) -> NDArray[np.float64]:
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
