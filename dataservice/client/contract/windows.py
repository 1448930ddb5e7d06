"""Calendar days in UTC and windows of them: both ends included, `date.min` and `date.max` are the open ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """The days from `start` to `end`, both included; empty where `end` lies before `start`."""

    start: date = date.min
    end: date = date.max

    def __bool__(self) -> bool:
        return self.start <= self.end

    def __contains__(self, day: date) -> bool:
        return self.start <= day <= self.end

    @property
    def is_open(self) -> bool:
        """Return whether it has an open end."""
        return self.start == date.min or self.end == date.max

    def meets(self, other: Window) -> bool:
        """Return whether the two share a day."""
        return max(self.start, other.start) <= min(self.end, other.end)

    def covers(self, other: Window) -> bool:
        """Return whether every day of `other` is also one of this."""
        return self.start <= other.start and self.end >= other.end

    def within(self, other: Window) -> Window:
        """The days the two share; empty where there are none."""
        return Window(max(self.start, other.start), min(self.end, other.end))


NO_DAYS = Window(date.max, date.min)
"""The empty window."""


def utc_day(seconds: float) -> date:
    """The calendar day in UTC of a time in seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC).date()


def utc_day_of(moment: date | None) -> date | None:
    """The UTC day of a day or time: resources go by days, so that a minute makes no new resource.

    Raises `ValueError` for a time whose day in UTC lies outside the years 1 to 9999.
    """
    if not isinstance(moment, datetime):
        return moment
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except OverflowError:
        raise ValueError(f"{moment.isoformat()} lies outside the years 1 to 9999 in UTC") from None


def day_after(day: date) -> date:
    """The next day; `date.max` has none and stays."""
    return day if day == date.max else day + _DAY


def day_before(day: date) -> date:
    """The day before; `date.min` has none and stays."""
    return day if day == date.min else day - _DAY


def days_in(windows: Iterable[Window]) -> int:
    """Return how many days windows have together."""
    return sum((window.end - window.start).days + 1 for window in windows)


def missing(known: Iterable[Window], wanted: Window) -> list[Window]:
    """The days of `wanted` that no window of `known` holds, oldest first."""
    gaps: list[Window] = []
    start = wanted.start
    for window in joined(known):
        if not window.meets(wanted):
            continue
        if window.start > start:
            gaps.append(Window(start, day_before(window.start)))
        if window.end >= wanted.end:
            return gaps
        start = max(start, day_after(window.end))
    return [*gaps, Window(start, wanted.end)] if start <= wanted.end else gaps


def joined(windows: Iterable[Window]) -> list[Window]:
    """The same days in as few windows as can be, oldest first; neighbours become one."""
    result: list[Window] = []
    for window in sorted(filter(None, windows)):
        if result and window.start <= day_after(result[-1].end):
            last = result.pop()
            window = Window(last.start, max(last.end, window.end))
        result.append(window)
    return result
