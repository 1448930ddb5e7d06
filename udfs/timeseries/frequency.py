"""Frequencies: the calendar periods that rows can stand for, their numbers, first days and labels.

A period is labelled by its last day, so no label comes before what it holds. Hours are labelled by their end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from udfs.arguments.kinds import Choice, Explained, Kind, Text, shown
from udfs.arguments.other_tools import advice
from udfs.cells import DAY_US
from udfs.errors import ArgumentError

Times: TypeAlias = NDArray[np.datetime64]
Numbers: TypeAlias = NDArray[np.int64]

HOUR_US = 3_600_000_000
DAY_HOURS = 24
WEEK = 7
WORKDAYS = 5

FIRST_DAY, LAST_DAY = np.datetime64(date.min, "D"), np.datetime64(date.max, "D")

MONDAY = 3
"""1970-01-01, day 0, was a Thursday: three days after a Monday."""

WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


class Unit(Explained):
    """The length of a period."""

    RAW = "raw", "every observation"
    H = "H", "hours, dated by their end"
    D = "D", "days"
    B = "B", "weekdays; Saturday and Sunday count with Monday"
    W = "W", "weeks, Monday to Sunday; W-FRI ends on Fridays"
    M = "M", "months"
    Q = "Q", "quarters; Q-JAN is one that ends in January"
    Y = "Y", "years; Y-MAR is one that ends in March"


UNIT_MONTHS: Mapping[Unit, int] = {Unit.M: 1, Unit.Q: 3, Unit.Y: 12}

ANCHORS: Mapping[Unit, tuple[str, ...]] = {Unit.W: WEEKDAYS, Unit.Q: MONTH_NAMES, Unit.Y: MONTH_NAMES}
"""What may follow a dash: the weekday or month that a period ends with."""


@dataclass(frozen=True, slots=True)
class Freq:
    """The frequency of a table's rows: a unit, and for weeks, quarters and years the day or month they end with.

    `ends` counts from 0, Monday or January; the last one of its kind is what the plain unit means.
    """

    unit: Unit
    ends: int = 0

    RAW: ClassVar[Freq]
    H: ClassVar[Freq]
    D: ClassVar[Freq]
    B: ClassVar[Freq]
    W: ClassVar[Freq]
    M: ClassVar[Freq]
    Q: ClassVar[Freq]
    Y: ClassVar[Freq]

    @property
    def is_raw(self) -> bool:
        """Return whether every observation is a row."""
        return self.unit is Unit.RAW

    @property
    def months(self) -> int:
        """Return how many months a period has; 0 for shorter ones."""
        return UNIT_MONTHS.get(self.unit, 0)

    def __str__(self) -> str:
        names = ANCHORS.get(self.unit)
        return str(self.unit) if names is None or self.ends == len(names) - 1 else f"{self.unit}-{names[self.ends]}"

    def numbers(self, times: Times) -> Numbers:
        """The number of each time's period; the next one has the next number."""
        if self.unit is Unit.H:
            return -(-times.astype("datetime64[us]").astype(np.int64) // HOUR_US)
        days = day_numbers(times)
        match self.unit:
            case Unit.D:
                return days
            case Unit.B:
                return workday_numbers(days)
            case Unit.W:
                return (days + MONDAY + WEEK - 1 - self.ends) // WEEK
        months = days.view("datetime64[D]").astype("datetime64[M]").view(np.int64)
        return months if self.unit is Unit.M else (months - self._shift) // self.months

    def first_days(self, numbers: Numbers) -> Times:
        """The first day of each period; the day in which an hour begins."""
        match self.unit:
            case Unit.H:
                return ((numbers - 1) // DAY_HOURS).astype("datetime64[D]")
            case Unit.D:
                return numbers.astype("datetime64[D]")
            case Unit.B:
                days = workdays(numbers)
                is_monday = (days + MONDAY) % WEEK == 0
                saturday_or_day: Times = (days - 2 * is_monday).astype("datetime64[D]")
                return saturday_or_day
            case Unit.W:
                return (numbers * WEEK - (MONDAY + WEEK - 1 - self.ends)).astype("datetime64[D]")
        return (numbers * self.months + self._shift).astype("datetime64[M]").astype("datetime64[D]")

    def begins(self, numbers: Numbers) -> Times:
        """The first moment of each period."""
        if self.unit is Unit.H:
            return ((numbers - 1) * HOUR_US + 1).view("datetime64[us]")
        return self.first_days(numbers).astype("datetime64[us]")

    def labels(self, numbers: Numbers) -> Times:
        """The last day of each period as datetime64[us], of the year 9999 at most; the end of an hour."""
        if self.unit is Unit.H:
            labels: Times = (numbers * HOUR_US).view("datetime64[us]")
        elif self.unit is Unit.B:
            labels = workdays(numbers).astype("datetime64[D]").astype("datetime64[us]")
        else:
            labels = (self.first_days(numbers + 1) - np.timedelta64(1, "D")).astype("datetime64[us]")
        return np.minimum(labels, LAST_DAY)

    @property
    def _shift(self) -> int:
        return 0 if self.unit is Unit.M else (self.ends + 1) % self.months


Freq.RAW, Freq.H, Freq.D, Freq.B = Freq(Unit.RAW), Freq(Unit.H), Freq(Unit.D), Freq(Unit.B)
Freq.W, Freq.M, Freq.Q, Freq.Y = Freq(Unit.W, 6), Freq(Unit.M), Freq(Unit.Q, 11), Freq(Unit.Y, 11)

_BY_UNIT = {each.unit: each for each in (Freq.RAW, Freq.H, Freq.D, Freq.B, Freq.W, Freq.M, Freq.Q, Freq.Y)}


@dataclass(frozen=True, kw_only=True)
class Frequency(Kind):
    """A frequency as an option: `M`, `W-FRI`, `Y-MAR`."""

    host_type: ClassVar[str] = "string"
    choices: tuple[Choice, ...] = tuple(Choice(each.value, each.help) for each in Unit)
    open_choices: bool = True

    def read(self, raw: Any, name: str, today: date) -> Freq:
        """The frequency; raises `ArgumentError` naming those there are."""
        if isinstance(raw, Freq):
            return raw
        text = Text(help=self.help).read(raw, name, today)
        word, _, ending = text.upper().partition("-")
        unit = next((each for each in Unit if each.upper() == word), None)
        if unit is not None and not ending and "-" not in text:
            return _BY_UNIT[unit]
        names = ANCHORS.get(unit, ()) if unit else ()
        if unit is not None and ending in names:
            return Freq(unit, names.index(ending))
        raise ArgumentError(
            f"{name} {shown(text)} is not one of {', '.join(Unit)}, W-MON to W-SUN, Q-JAN to Q-DEC, Y-JAN to Y-DEC"
            + advice("freq", text)
        )


def day_numbers(times: Times) -> Numbers:
    """The days of times, counted from 1970-01-01."""
    return times.astype("datetime64[us]", copy=False).view(np.int64) // DAY_US  # a fifth of the time of numpy's own


def workday_numbers(days: Numbers) -> Numbers:
    """The number of each day's weekday; Saturday and Sunday have that of the Monday after them."""
    since_monday = days + MONDAY
    return since_monday // WEEK * WORKDAYS + np.minimum(since_monday % WEEK, WORKDAYS)


def workdays(numbers: Numbers) -> Numbers:
    """The days of weekday numbers, counted from 1970-01-01."""
    return numbers // WORKDAYS * WEEK + numbers % WORKDAYS - MONDAY


def period_start(day: date, freq: Freq) -> date:
    """The first day of the period that `day` lies in, of the year 1 at least; the day itself for `raw` and hours."""
    if freq.unit in (Unit.RAW, Unit.H):
        return day
    number = freq.numbers(np.array([day], "datetime64[us]"))
    start: date = max(freq.first_days(number)[0], FIRST_DAY).item()
    return start


def all_periods(first: np.datetime64, last: np.datetime64, freq: Freq) -> Times:
    """The labels of every period from the one of `first` to the one of `last`."""
    low, high = freq.numbers(np.array([first, last], "datetime64[us]"))
    return freq.labels(np.arange(low, high + 1))
