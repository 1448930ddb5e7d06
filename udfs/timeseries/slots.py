"""The periods of one series as places in a row, so that a rule on them counts periods and not observations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from udfs.cells import DAY_US
from udfs.timeseries.frequency import Numbers, Times
from udfs.timeseries.rhythm import BY_DAYS, STALE_DAYS, Rhythm
from udfs.timeseries.spans import Span, base_positions

Floats: TypeAlias = NDArray[np.float64]

STALE = np.timedelta64(STALE_DAYS, "D")


@dataclass(frozen=True, slots=True)
class Slots:
    """Places of periods: those that have an observation (`used`) with its time, and where the window begins.

    Of two observations in one period the last counts; `rows` gives the place of each observation, -1 for the others.
    """

    rhythm: Rhythm
    used: Numbers
    times: Times
    rows: Numbers
    size: int
    first: int = 0
    base_day: date | None = None
    """The day that every index of the formula is based on, where none is given."""

    @classmethod
    def of(cls, times: Times, rhythm: Rhythm, first: date | None = None, base_day: date | None = None) -> Slots:
        """The places of sorted times; `first` is the first day shown."""
        numbers = rhythm.numbers(times)
        if len(numbers) and numbers[0]:
            numbers = numbers - numbers[0]
        used, last_times, rows = numbers, times, numbers
        is_last = numbers[1:] != numbers[:-1]
        if not is_last.all():
            is_last = np.append(is_last, True)
            used, last_times, rows = numbers[is_last], times[is_last], np.where(is_last, numbers, -1)
        begins = 0 if first is None else int(np.searchsorted(last_times, np.datetime64(first, "us")))
        size = int(used[-1]) + 1 if len(used) else 0
        place = int(used[begins]) if begins < len(used) else size
        return cls(rhythm, used, last_times, rows, size, place, base_day)

    def spread(self, values: Floats) -> Floats:
        """One value for each period, blank where there is none."""
        found = np.full(self.size, np.nan)
        found[self.used] = values[self.rows >= 0]
        return found

    def gathered(self, values: Floats) -> Floats:
        """The periods' values for each observation."""
        return np.append(values, np.nan)[self.rows]

    def begun(self, values: Floats) -> Floats:
        """The values from the window's first row on, blank before."""
        return np.where(np.arange(self.size) >= self.first, values, np.nan)

    def windows(self, span: Span, step: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """The last place and the width of each whole window of a step, which errors name."""
        periods = span.periods(self.rhythm, step)
        if periods is not None:
            ends = np.arange(periods - 1, self.size)
            return ends, np.full(len(ends), periods)
        anchors = span.anchors(self.times, self.rhythm)
        begins = np.minimum(np.searchsorted(self.times, anchors, side="right"), max(0, len(self.used) - 1))
        starts = self.used[begins]
        # A pause is a gap of a series of days; of others, the first observation ever tells how old they are.
        first = self.times[begins] if self.rhythm.pace in BY_DAYS else self.times[:1]
        reaches = anchors.astype("datetime64[D]") + STALE >= first.astype("datetime64[D]")
        fits = reaches & (starts <= self.used)
        return self.used[fits], (self.used - starts + 1)[fits]

    def base_value(self, values: Floats, at: date | int | None) -> float:
        """The value that an index is based on; not-a-number where there is none.

        A day stands for the period it lies in, or for the last value up to it; a year for the mean of its values.
        """
        has_value = ~np.isnan(values[self.used])
        known, times = values[self.used][has_value], self.times[has_value]
        if isinstance(at, int):
            inside = times.astype("datetime64[Y]").astype(np.int64) + 1970 == at
            return float(known[inside].mean()) if inside.any() else np.nan
        if at is not None:
            return self._on(at, known, times)
        day = self.base_day
        if day is None:
            shown = self.used[has_value] >= self.first
            return float(known[shown][0]) if shown.any() else np.nan
        upto = int(np.searchsorted(times, np.datetime64(day, "us") + np.timedelta64(1, "D")))
        return float(known[upto - 1]) if upto else np.nan

    def _on(self, day: date, known: Floats, times: Times) -> float:
        moment: Times = np.array([day], "datetime64[us]")
        if self.rhythm.is_calendar:
            places = np.flatnonzero(self.rhythm.numbers(times) == self.rhythm.numbers(moment)[0])
            return float(known[places[-1]]) if len(places) else np.nan
        end_of_day: Times = (moment.astype(np.int64) + DAY_US - 1).view("datetime64[us]")
        place = int(base_positions(end_of_day, times)[0])
        return float(known[place]) if place >= 0 else np.nan
