"""How far back a transform looks: so many periods of the rhythm (`20`), or so many days, weeks, months … (`12M`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataservice.client.contract import DAYS, MONTHS
from udfs.cells import DAY_US
from udfs.errors import ArgumentError
from udfs.timeseries import rhythm as rhythms
from udfs.timeseries.frequency import Times, day_numbers
from udfs.timeseries.rhythm import STALE_DAYS, Pace, Rhythm

DAYS_OF_YEAR = 365
MONTHS_OF_YEAR = 12


@dataclass(frozen=True, slots=True)
class Span:
    """So many periods, or of a unit: D, W, M, Q, Y."""

    count: int
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.count}{self.unit}"

    @property
    def months(self) -> int:
        """The span in months; 0 for others."""
        return self.count * MONTHS.get(self.unit, 0)

    @property
    def days(self) -> int:
        """The span in days, where it is one of days or weeks; 0 for others."""
        return self.count * DAYS.get(self.unit, 0)

    def periods(self, rhythm: Rhythm, what: str) -> int | None:
        """The span in periods of a rhythm; None where the calendar's day must be looked up.

        Of a weekly series a year is 52 weeks and a month 4: the nearest week. Raises `ArgumentError` for what is no
        whole number of periods, naming the transform `what`.
        """
        if not self.unit:
            return self.count
        if not rhythm.is_calendar:
            return None
        if rhythm.pace in rhythms.WEEKS:
            width = 7 * rhythms.WEEKS[rhythm.pace]
            found = round(self.months * (rhythm.per_year or 0) / MONTHS_OF_YEAR) if self.months else self.days / width
        else:
            found = self.months / rhythms.MONTHS[rhythm.pace] if self.months else 0.5
        if found < 1 or found != int(found):
            raise ArgumentError(f"{what}: {self} is no whole number of periods of a series that is {rhythm}")
        return int(found)

    def times_a_year(self, rhythm: Rhythm, what: str) -> float:
        """Return how often the span fits into a year; raises `ArgumentError` where the rhythm does not tell."""
        if self.months:
            return MONTHS_OF_YEAR / self.months
        if self.unit:
            return (52 if self.unit == "W" else DAYS_OF_YEAR) / self.count
        if rhythm.per_year is None:
            raise ArgumentError(f"{what} needs a rhythm, and the series is {rhythm}: give a span such as 3M, or freq=M")
        return rhythm.per_year / self.count

    def anchors(self, times: Times, rhythm: Rhythm) -> Times:
        """For each time the moment so much earlier: the end of that day, or the same time of it for several a day."""
        days = anchor_days(times, self.months).view(np.int64) if self.months else day_numbers(times) - self.days
        of_day = times.view(np.int64) % DAY_US if rhythm.pace is Pace.SEVERAL else DAY_US - 1
        found: Times = (days * DAY_US + of_day).view("datetime64[us]")
        return found


@dataclass(frozen=True, slots=True)
class Lead:
    """The lead needed before the first row shown: periods, months and days, and so many observations before those.

    `since` is a day that must be known. `has_age` asks how old a series without periods is: for one observation more.
    """

    periods: int = 0
    months: int = 0
    days: int = 0
    since: date | None = None
    rows: int = 0
    has_age: bool = False

    def __add__(self, other: Lead) -> Lead:
        return self._with(other, add)

    def joined(self, other: Lead) -> Lead:
        """Return what is needed for both of two columns."""
        return self._with(other, max)

    def _with(self, other: Lead, both: Callable[[int, int], int]) -> Lead:
        days = [day for day in (self.since, other.since) if day is not None]
        return Lead(
            both(self.periods, other.periods),
            both(self.months, other.months),
            both(self.days, other.days),
            min(days) if days else None,
            both(self.rows, other.rows),
            self.has_age or other.has_age,
        )

    @classmethod
    def of(cls, span: Span, *, inclusive: bool = False) -> Lead:
        """Return what a span needs; `inclusive` where it holds the row itself."""
        if not span.unit:
            return cls(periods=span.count - inclusive)
        return cls(months=span.months, days=span.days + STALE_DAYS, has_age=inclusive)


def anchor_days(times: Times, months: int) -> Times:
    """For each time the same day of the month so many months earlier, as datetime64[D].

    Where that month is shorter its last day counts, and the last day of a month always goes to the last day.
    """
    days: Times = day_numbers(times).view("datetime64[D]")
    month = days.astype("datetime64[M]")
    target = month - months
    first, last = target.astype("datetime64[D]"), (target + 1).astype("datetime64[D]") - 1
    same_day = np.minimum(first + (days - month.astype("datetime64[D]")), last)
    is_last_day = (days + 1).astype("datetime64[M]") != month
    return np.where(is_last_day, last, same_day)


def base_positions(anchors: Times, known: Times) -> NDArray[Any]:
    """The place in `known` of the last time up to each anchor; -1 where there is none within ten days. Both sorted."""
    positions = np.searchsorted(known, anchors, side="right") - 1
    if len(known):
        age = day_numbers(anchors) - day_numbers(known[positions])
        positions[age > STALE_DAYS] = -1
    return positions
