"""Dates as arguments: serial numbers, ISO text, Python dates, and text relative to a day such as `-5Y`, `YTD`, `N60`.

Whatever is given is cut to its day (UTC), so a volatile `NOW()` does not make a new question at every edit.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from udfs.arguments.kinds import Kind, shown
from udfs.cells import EPOCH
from udfs.errors import ArgumentError

MONTHS = {"M": 1, "Q": 3, "Y": 12}
DAYS = {"D": 1, "W": 7}


@dataclass(frozen=True, slots=True)
class Back:
    """So many days (D), weeks (W), months (M), quarters (Q) or years (Y) back: `-6M` is `Back(6, "M")`."""

    count: int
    unit: str

    def from_day(self, day: date) -> date:
        """The day so far before `day`; raises `OverflowError` or `ValueError` before the year 1.

        Months, quarters and years keep the day of the month; where the month is too short, its last day counts:
        a month before 31 March is 28 or 29 February.
        """
        if self.unit in DAYS:
            return day - timedelta(days=self.count * DAYS[self.unit])
        return months_before(day, self.count * MONTHS[self.unit])


class ToDate(StrEnum):
    """The running month, quarter or year, from its first day on."""

    MTD = "MTD"
    QTD = "QTD"
    YTD = "YTD"

    def from_day(self, day: date) -> date:
        """The first day of the month, quarter or year that `day` lies in."""
        months = MONTHS[self[0]]
        return day.replace(month=day.month - (day.month - 1) % months, day=1)


def months_before(day: date, months: int) -> date:
    """The same day of the month so many months earlier, or that month's last day where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    if year < date.min.year:
        raise ValueError(f"{months} months before {day} lie before the year 1")
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


BACK = re.compile(r"[-−](\d{1,6})([DWMQY])", re.IGNORECASE)
LAST = re.compile(r"N(\d{1,7})", re.IGNORECASE)
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")

LAST_SERIAL = (date.max - EPOCH).days

FORMS = "a date, text such as 2024-12-31, or relative text: -30D -8W -6M -4Q -5Y MTD QTD YTD"


@dataclass(frozen=True, slots=True)
class Last:
    """The last `count` observations: `N60` is `Last(60)`."""

    count: int


@dataclass(frozen=True, slots=True)
class Max:
    """From the first observation on."""


StartOf: TypeAlias = date | Back | ToDate | Last | Max
"""How a window starts: on a day, so far back from its end, with so many observations, or with the first one."""


@dataclass(frozen=True, kw_only=True)
class Day(Kind):
    """One day."""

    def read(self, raw: Any, name: str, today: date) -> date:
        """The day; relative text counts back from `today`."""
        value = _read(self._one(raw, name), name, FORMS)
        if isinstance(value, Last | Max):
            raise ArgumentError(f"{name} {shown(raw)} is only possible as a start; {name} takes {FORMS}")
        return _resolved(value, today, name)


@dataclass(frozen=True, kw_only=True)
class Start(Kind):
    """Where a window starts: a day, relative text, `MAX` or `N60`."""

    def read(self, raw: Any, name: str, today: date) -> StartOf:
        """The start; relative text is resolved later, by `first_day`, because it counts back from the window's end."""
        value = _read(self._one(raw, name), name, f"{FORMS} MAX, or N60 for the last 60 observations")
        if not isinstance(value, Last | Max):
            _resolved(value, today, name)  # refuse now what lies before the year 1
        return value


def first_day(start: StartOf, last: date) -> date | None:
    """The first day of a window that ends on `last`; None for an open one (`MAX`, `N60`).

    Raises `ArgumentError` where the start lies before the year 1.
    """
    return None if isinstance(start, Last | Max) else _resolved(start, last, "start")


def _resolved(value: date | Back | ToDate, day: date, name: str) -> date:
    try:
        return value if isinstance(value, date) else value.from_day(day)
    except (OverflowError, ValueError):
        raise ArgumentError(f"{name} lies before the year 1") from None


def _read(raw: Any, name: str, forms: str) -> StartOf:
    found: StartOf | None = None
    match raw:
        case datetime():
            found = _utc_day(raw)
        case date():
            found = raw
        case int() | float() if not isinstance(raw, bool):
            found = _from_serial(raw, name)
        case str():
            found = _from_text(raw.strip())
    if found is None:
        raise ArgumentError(f"{name} {shown(raw)} is not a date; it takes {forms}")
    return found


def _from_serial(serial: float, name: str) -> date:
    """The day of a spreadsheet's serial number; a time of day is cut off."""
    if serial < 0:
        raise ArgumentError(f"{name} {serial:g} is not a date; for {-serial:g} days back give the text -{-serial:g}D")
    if not 1 <= serial < LAST_SERIAL + 1:
        raise ArgumentError(f"{name} {serial:g} is not a date: serial numbers run from 1 to {LAST_SERIAL}")
    return EPOCH + timedelta(days=int(serial))


def _from_text(text: str) -> StartOf | None:
    if back := BACK.fullmatch(text):
        return Back(int(back[1]), back[2].upper())
    if last := LAST.fullmatch(text):
        return Last(int(last[1])) if int(last[1]) else None
    upper = text.upper()
    if upper in ToDate.__members__:
        return ToDate(upper)
    if upper == "MAX":
        return Max()
    if not ISO_DAY.match(text):
        return None
    try:
        return _utc_day(datetime.fromisoformat(text))
    except ValueError:
        return None


def _utc_day(moment: datetime) -> date | None:
    """The day in UTC; None where that lies outside the years 1 to 9999."""
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except OverflowError:
        return None
