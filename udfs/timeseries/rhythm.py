"""The rhythm of a series: how its observations follow each other, told by their dates alone.

Lags and changes count periods of the rhythm. A period without an observation is a gap, and stays one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from udfs.arguments.kinds import Explained
from udfs.timeseries.frequency import (
    FIRST_DAY,
    LAST_DAY,
    MONDAY,
    WEEK,
    WORKDAYS,
    Freq,
    Numbers,
    Times,
    Unit,
    day_numbers,
    workday_numbers,
)

SAMPLE = 64
"""The last observations, from which the rhythm is told: a series that changed its rhythm has the one it has now."""

STALE_DAYS = 10
"""The longest pause of a daily series that is no gap: the longest closing of a large exchange (Tokyo, spring 2019)."""

MOST = 0.9
"""The share of observations that must fit a rhythm: the tenth that does not are holidays and late releases."""

SEVERAL = 1.2
"""Observations a day from which a series has several a day; a correction now and then makes none."""

SLACK_DAYS = {7: 2, 14: 3}
"""How far from its weekday an observation of weeks may lie."""

SLACK_MONTHS = {1: 1 / 3, 3: 0.75, 6: 1.0, 12: 1.5}
"""How far from its usual place in the period an observation of months may lie, in months."""


class Pace(Explained):
    """The pace at which observations come."""

    SEVERAL = "several a day"
    DAILY = "daily"
    BUSINESS = "business daily"
    WEEKLY = "weekly"
    BIWEEKLY = "biweekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    HALF_YEARLY = "half-yearly"
    YEARLY = "yearly"
    IRREGULAR = "irregular"


WEEKS = {Pace.WEEKLY: 1, Pace.BIWEEKLY: 2}
MONTHS = {Pace.MONTHLY: 1, Pace.QUARTERLY: 3, Pace.HALF_YEARLY: 6, Pace.YEARLY: 12}
BY_DAYS = frozenset({Pace.DAILY, Pace.BUSINESS})
UNCOUNTED = frozenset({Pace.SEVERAL, Pace.IRREGULAR})
"""Paces without periods of their own: each observation is one."""

PER_YEAR = {
    Pace.DAILY: 365,
    Pace.BUSINESS: 260,
    Pace.WEEKLY: 52,
    Pace.BIWEEKLY: 26,
    Pace.MONTHLY: 12,
    Pace.QUARTERLY: 4,
    Pace.HALF_YEARLY: 2,
    Pace.YEARLY: 1,
}
"""Periods of a year, as FRED counts them."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The rhythm of observations, and where in the calendar: `anchor` is the weekday (0 is Monday) of weeks,
    the day from which two weeks are counted, or the month (0 is January) of quarters, half years and years.
    """

    pace: Pace
    anchor: int = 0

    NONE: ClassVar[Rhythm]

    @property
    def is_calendar(self) -> bool:
        """Return whether the calendar alone tells the periods: weeks and months do, trading days do not."""
        return self.pace in WEEKS or self.pace in MONTHS

    @property
    def per_year(self) -> int | None:
        """Periods of a year; None where they cannot be told."""
        return PER_YEAR.get(self.pace)

    @property
    def days(self) -> float:
        """About how many days a period has; 0 where that cannot be told."""
        return 365.25 / self.per_year if self.per_year else 0.0

    def __str__(self) -> str:
        match self.pace:
            case Pace.WEEKLY:
                return f"weekly on {_WEEKDAY_WORDS[self.anchor]}"
            case Pace.BIWEEKLY:
                return f"biweekly on {_WEEKDAY_WORDS[(self.anchor + MONDAY) % WEEK]}"
        return str(self.pace)

    def numbers(self, times: Times) -> Numbers:
        """The number of the period that each time belongs to; `times` are sorted.

        Weeks and months are numbered by the calendar, so a missing one leaves out a number. Days are counted as they
        are observed: a weekend or a holiday is no gap, a pause of more than ten days is one.
        """
        if self.pace in UNCOUNTED:
            return np.arange(len(times))
        if self.pace in MONTHS:
            step = MONTHS[self.pace]
            months = times.astype("datetime64[M]").view(np.int64)
            return (months - self.anchor + (step - 1) // 2) // step
        days = day_numbers(times)
        if self.pace in WEEKS:
            width = WEEK * WEEKS[self.pace]
            return (days - self._first_day + width // 2) // width
        return self._observed_days(days)

    def start(self, number: int) -> date:
        """The first day of a period of weeks or months; `date.min` where it would lie before."""
        if self.pace in WEEKS:
            width = WEEK * WEEKS[self.pace]
            day = np.datetime64(number * width + self._first_day - width // 2, "D")
        else:
            step = MONTHS[self.pace]
            day = np.datetime64(number * step + self.anchor - (step - 1) // 2, "M").astype("datetime64[D]")
        found: date = max(day, FIRST_DAY).item()
        return found

    def centre(self, number: int) -> date:
        """The first day of the month in which an observation of a period of months is due."""
        month = np.datetime64(number * MONTHS[self.pace] + self.anchor, "M")
        day: date = min(month.astype("datetime64[D]"), LAST_DAY).item()
        return day

    def pause(self, first_day: int, last_day: int) -> int:
        """Return how many periods lie from one observed day to the next one: 1, but those of a longer pause."""
        return int(self._observed_days(np.array([first_day, last_day]))[1])

    @property
    def _first_day(self) -> int:
        """A day, counted from 1970-01-01, on which the weeks of this rhythm are centred."""
        return (self.anchor - MONDAY) % WEEK if self.pace is Pace.WEEKLY else self.anchor

    def _observed_days(self, days: Numbers) -> Numbers:
        if not len(days):
            return days
        counted = workday_numbers(days) if self.pace is Pace.BUSINESS else days
        pauses, steps = np.diff(days), np.diff(counted)
        numbers = np.zeros(len(days), np.int64)
        np.cumsum(np.where(pauses > STALE_DAYS, np.maximum(steps, 1), 1), out=numbers[1:])
        return numbers


Rhythm.NONE = Rhythm(Pace.IRREGULAR)

_WEEKDAY_WORDS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def rhythm_of(times: Times) -> Rhythm:
    """The rhythm that sorted times show in their last observations; irregular where they show none."""
    sample = times[-SAMPLE:].astype("datetime64[D]").astype(np.int64)
    days = sample[np.append(True, sample[1:] != sample[:-1])] if len(sample) else sample
    if len(sample) > SEVERAL * len(days):
        return Rhythm(Pace.SEVERAL)
    if len(days) < 2:
        return Rhythm.NONE
    step = int(np.sort(np.diff(days))[(len(days) - 2) // 2])
    if step <= 1:
        return Rhythm(_days_pace(days))
    for width, pace in ((7, Pace.WEEKLY), (14, Pace.BIWEEKLY)):
        if abs(step - width) <= 1 and (anchor := _weeks_anchor(days, width)) is not None:
            return Rhythm(pace, anchor)
    for pace, months in MONTHS.items():
        if (anchor := _months_anchor(days, months)) is not None:
            return Rhythm(pace, anchor)
    return Rhythm.NONE


def rhythm_of_rows(freq: Freq, own: Rhythm) -> Rhythm:
    """The rhythm of rows that stand for periods of a series whose own rhythm is `own`; the same for every observation.

    Days are counted as they are observed, so days and weekdays differ only in what a long pause counts.
    """
    match freq.unit:
        case Unit.RAW:
            return own
        case Unit.H:
            return Rhythm(Pace.SEVERAL)
        case Unit.D:
            return own if own.pace in BY_DAYS else Rhythm(Pace.DAILY)
        case Unit.B:
            return Rhythm(Pace.BUSINESS)
        case Unit.W:
            return Rhythm(Pace.WEEKLY, freq.ends)
        case Unit.M:
            return Rhythm(Pace.MONTHLY)
        case Unit.Q:
            return Rhythm(Pace.QUARTERLY, freq.ends)
        case Unit.Y:
            return Rhythm(Pace.YEARLY, freq.ends)


def _days_pace(days: Numbers) -> Pace:
    return Pace.DAILY if bool(np.any((days + MONDAY) % WEEK >= WORKDAYS)) else Pace.BUSINESS


def _weeks_anchor(days: Numbers, width: int) -> int | None:
    """The commonest day of periods of `width` days, where most observations lie near it and have their own period."""
    places = days % width
    usual = int(np.bincount(places, minlength=width).argmax())
    away = (days - usual + width // 2) % width - width // 2
    numbers = (days - usual + width // 2) // width
    if not _fits(np.abs(away) <= SLACK_DAYS[width], numbers):
        return None
    return (usual + MONDAY) % WEEK if width == WEEK else usual


def _months_anchor(days: Numbers, months: int) -> int | None:
    """The commonest month of periods of so many months, where most observations lie near one place in the period."""
    when = days.astype("datetime64[D]")
    month = when.astype("datetime64[M]")
    number = month.astype(np.int64)
    place = number + (when - month.astype("datetime64[D]")).astype(np.int64) / 31
    usual = int(np.bincount(number % months, minlength=months).argmax())
    centre = _circular_median(place, months)
    away = (place - centre + months / 2) % months - months / 2
    numbers = (number - usual + (months - 1) // 2) // months
    return usual if _fits(np.abs(away) <= SLACK_MONTHS[months], numbers) else None


def _fits(is_near: NDArray[np.bool_], numbers: Numbers) -> bool:
    """Return whether most observations are near their place, most periods have one, and most steps are one period."""
    steps = np.diff(numbers)
    return bool(is_near.mean() >= MOST and (steps > 0).mean() >= MOST and (steps == 1).mean() > 1 / 2)


def _circular_median(places: NDArray[np.float64], width: float) -> float:
    """The middle of places on a circle of `width`: seen from their mean direction, so that the end joins the start."""
    turns = np.exp(2j * np.pi * places / width)
    towards = float(np.angle(turns.mean())) / (2 * np.pi) * width
    away = (places - towards + width / 2) % width - width / 2
    return towards + float(np.median(away))
