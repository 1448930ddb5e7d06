"""Observations by their days: the last values up to a day, found by bisection and without a copy."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

import msgspec
import numpy as np

from dataservice.client import SignalDetail
from dataservice.observations import Observations
from udfs.cells import DAY_US
from udfs.timeseries.coverage import Known, recent

Values: TypeAlias = Callable[[Observations], Observations]
"""What shows other values for the same observations."""

BEFORE_1970 = date(1970, 1, 1).toordinal() - 1


class Observed(msgspec.Struct, frozen=True, eq=False):
    """An observation and the value before it; None where there is none."""

    time_us: int
    """Its time in microseconds since 1970 (UTC)."""
    value: float | None
    before: float | None

    @property
    def moment(self) -> date | datetime:
        """Its day, or its time where that is not midnight (UTC)."""
        days, rest_us = divmod(self.time_us, DAY_US)
        day = date.fromordinal(days + BEFORE_1970 + 1)
        return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(microseconds=rest_us) if rest_us else day

    def field(self, name: str) -> Any:
        """`value`, `observed_at`, `previous`, `change`, or `pct_change`: a fraction, None on a base of 0 or less."""
        match name:
            case "value":
                return self.value
            case "observed_at":
                return self.moment
            case "previous":
                return self.before
        if self.value is None or self.before is None:
            return None
        if name == "change":
            return self.value - self.before
        return self.value / self.before - 1 if self.before > 0 else None


class ByDay:
    """Observations by their days, nulls left out: ready to be searched, without a copy.

    With `is_kept` they are copied into lists, which are searched in a third of the time.
    """

    __slots__ = ("_is_whole", "_observations", "_times", "_values")

    def __init__(self, known: Known, *, is_kept: bool = False) -> None:
        self._observations = known.observations
        times, values = known.observations.times.view(np.int64), known.observations.values
        self._times: Any = times.tolist() if is_kept else times.data
        self._values: Any = values.tolist() if is_kept else values.data
        self._is_whole = known.since == date.min

    def __len__(self) -> int:
        return len(self._times)

    def last(self, day: date, wanted: int) -> list[int] | None:
        """The places of the last `wanted` values up to a time or the end of a `day`, the newest first.

        Fewer only where there are no more; None where there may be others before.
        """
        after_us = (day.toordinal() - BEFORE_1970) * DAY_US
        if isinstance(day, datetime):
            after_us += _of_day_us(day) + 1 - DAY_US
        end, values = bisect_left(self._times, after_us), self._values
        if wanted == 1 and end and values[end - 1] == values[end - 1]:  # what nearly every cell asks
            return [end - 1]
        places = self.places(end, wanted)
        return places if len(places) == wanted or self._is_whole else None

    def value(self, place: int) -> float | None:
        """The value at `place`."""
        value: float = self._values[place]
        return value if value == value else None

    def places(self, end: int, wanted: int) -> list[int]:
        """The places of the last `wanted` values before the place `end`, the newest first."""
        places: list[int] = []
        while end and len(places) < wanted:
            end -= 1
            value = self._values[end]
            if value == value:  # no null
                places.append(end)
        return places

    def observed(self, place: int, before: Sequence[int], values: Values | None = None) -> Observed:
        """The observation at `place` with the first value of those at `before`."""
        if values is not None:
            at = before[0] if before else 0
            return observed(
                self._observations[place : place + 1], self._observations[at : at + len(before[:1])], values
            )
        return Observed(self._times[place], self.value(place), self._values[before[0]] if before else None)


def _of_day_us(moment: datetime) -> int:
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1_000_000 + moment.microsecond


def observed(current: Observations, before: Observations, values: Values | None = None) -> Observed:
    """The observation `current`, of length 1, and the value of `before`, of length 1 or 0."""
    if values is not None:
        current, before = values(current), values(before)
    value = current.values.item(0)
    previous = before.values.item(0) if len(before) else None
    return Observed(current.times.view(np.int64).item(0), None if math.isnan(value) else value, previous)


def by_day(detail: SignalDetail) -> ByDay:
    """The recent history."""
    found: ByDay | None = detail.derived.get("by day")
    if found is None:
        found = detail.derived["by day"] = ByDay(recent(detail), is_kept=True)
    return found
