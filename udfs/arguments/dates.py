"""Dates as arguments: serial numbers, ISO text, Python dates, and text relative to a day such as `-5Y`, `YTD`, `N60`.

A time of day is kept (in UTC) where an argument takes one, and refused elsewhere; it is never dropped. What is asked of
the service goes by days all the same, so a volatile `NOW()` makes no new request.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import isfinite
from typing import Any, ClassVar, TypeAlias

from dataservice.client.contract import FORMS, HOURS, Back, PeriodEnd, ToDate, date_in
from udfs.arguments.kinds import Kind, shown
from udfs.arguments.other_tools import advice
from udfs.cells import EPOCH
from udfs.errors import ArgumentError

LAST = re.compile(r"N(\d{1,7})", re.IGNORECASE)

SPAN = re.compile(r"\d{1,4}[DWMQY]", re.IGNORECASE)
PERIOD = re.compile(r"([12]\d{3})(?:-(0[1-9]|1[0-2])|-?Q([1-4]))?", re.IGNORECASE)
NO_DAY = re.compile(r"([12]\d{3})-(0[1-9]|1[0-2])-(?:29|3[01])")
LOCAL_DAY = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2([12]\d{3})")
"""What people give for a day, which is none: `5Y`, `2020`, `2020-06`, `2020Q2`, `2025-06-31`, `31.12.2025`."""

STARTS = frozenset({"start", "since"})
"""Arguments for which a period stands for its first day; for others it does for its last."""

LAST_SERIAL = (date.max - EPOCH).days
AFTER_LAST_SERIAL = LAST_SERIAL + 1

SECONDS_OF_DAY = 86_400

CACHED_DAYS = 65_536
"""Serial numbers whose days are kept: more than a hundred years."""


@dataclass(frozen=True, slots=True)
class Last:
    """The last `count` observations: `N60` is `Last(60)`."""

    count: int


@dataclass(frozen=True, slots=True)
class Max:
    """From the first observation on."""


StartOf: TypeAlias = date | Back | ToDate | PeriodEnd | Last | Max
"""How a window starts: on a day or at a time, so far back from its end, with so many rows, or with the first one."""

Since: TypeAlias = date | Back
"""A day, a time, or so many hours back from now."""


@dataclass(frozen=True, kw_only=True)
class Day(Kind):
    """One day; a time of it too where the argument is `timed`."""

    timed: bool = False
    python_type: ClassVar[Any] = date | str

    def read(self, raw: Any, name: str, today: date) -> date:
        """The day or time; relative text counts back from `today`. Raises `ArgumentError` for what is none."""
        found = self._found(raw, name)
        if isinstance(found, Last | Max) or (isinstance(found, Back) and found.unit == HOURS):
            raise ArgumentError(f"{name} {shown(raw)} is only possible as a start; {name} takes {FORMS}")
        return _resolved(found, today, name)

    def read_numbers(self, raw: Sequence[float], name: str, today: date) -> list[date]:
        """The same for many numbers, whole days at once where all of them are days."""
        if min(raw) >= 1 and max(raw) < AFTER_LAST_SERIAL and all(map(isfinite, raw)):
            whole = list(map(int, raw))
            if whole == list(raw):
                return list(map(_DAYS.__getitem__, whole))
        return [self.read(number, name, today) for number in raw]

    def _found(self, raw: Any, name: str) -> StartOf:
        if type(raw) is float or type(raw) is int:  # a cell's own form of a date
            found: StartOf = _from_serial(raw, name)
        else:
            found = _read(self._one(raw, name), name, FORMS)
        if isinstance(found, datetime) and not self.timed:
            raise ArgumentError(f"{name} takes a day, without a time of it, not {shown(raw)}")
        return found


@dataclass(frozen=True, kw_only=True)
class SinceDay(Day):
    """A day, a time, or hours back from now."""

    timed: bool = True

    def read(self, raw: Any, name: str, today: date) -> Since:  # type: ignore[override]
        """The day or time; hours are counted back later, by `since_moment`, because they count from now."""
        found = self._found(raw, name)
        return found if isinstance(found, Back) and found.unit == HOURS else Day.read(self, raw, name, today)


def since_moment(since: Since, now: float) -> date:
    """The day or time of a start, `now` being seconds since 1970; raises `ArgumentError` where it lies too early."""
    if not isinstance(since, Back):
        return since
    try:
        return since.from_moment(datetime.fromtimestamp(now, UTC).replace(tzinfo=None))
    except OverflowError:
        raise ArgumentError("since lies before the year 1") from None


@dataclass(frozen=True, kw_only=True)
class Start(Kind):
    """The start of a window: a day, relative text, `MAX` or `N60`."""

    first_of_period: bool = True
    python_type: ClassVar[Any] = date | str

    def read(self, raw: Any, name: str, today: date) -> StartOf:
        """The start; relative text is resolved later, by `first_day`, because it counts back from the window's end."""
        value = _read(self._one(raw, name), name, f"{FORMS} -6H MAX, or N60 for the last 60 observations")
        if not isinstance(value, Last | Max) and not (isinstance(value, Back) and value.unit == HOURS):
            _resolved(value, today, name)  # refuse now what lies before the year 1
        return value


def as_day(moment: date) -> date:
    """The day of a day or time."""
    return moment.date() if isinstance(moment, datetime) else moment


def first_day(start: StartOf, last: date) -> date | None:
    """The first day of a window that ends on `last`; None for an open one (`MAX`, `N60`).

    Raises `ArgumentError` where the start lies before the year 1.
    """
    return None if isinstance(start, Last | Max) else _resolved(start, last, "start")


def _resolved(value: date | Back | ToDate | PeriodEnd, day: date, name: str) -> date:
    try:
        return value if isinstance(value, date) else value.from_day(day)
    except (OverflowError, ValueError):
        raise ArgumentError(f"{name} lies before the year 1") from None


def _read(raw: Any, name: str, forms: str) -> StartOf:
    found: StartOf | None
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        found = _from_serial(raw, name)
    else:
        found = _counted(raw.strip()) if isinstance(raw, str) else None
        found = date_in(raw) if found is None else found
    if isinstance(found, datetime):
        found = _day_or_utc(found)
    if found is None:
        hint = advice("date", raw) if isinstance(raw, str) else ""
        raise ArgumentError(f"{name} {shown(raw)} is not a date; {_meant(raw, name)}it takes {forms}{hint}")
    return found


def _meant(raw: Any, name: str) -> str:
    """Return what was meant, where that can be guessed: an option, a span without its sign, a year, a month, a day."""
    text = raw.strip() if isinstance(raw, str) else ""
    if "=" in text:
        return f"options are the last argument, so leave {name} empty; "
    if SPAN.fullmatch(text):
        return f"did you mean -{text.upper()}? "
    if found := PERIOD.fullmatch(text):
        year, month, quarter = found.groups()
        first = int(month or 3 * int(quarter or 1) - 2)
        last = int(month or 3 * int(quarter or 4))
        return f"did you mean {f'{year}-{first:02}-01' if name in STARTS else _last_day(int(year), last)}? "
    if found := NO_DAY.fullmatch(text):
        return f"there is no such day, did you mean {_last_day(int(found[1]), int(found[2]))}? "
    if (found := LOCAL_DAY.fullmatch(text)) and (days := _local_days(*found.groups())):
        return f"did you mean {' or '.join(map(str, days))}? "
    return ""


def _local_days(one: str, sign: str, other: str, year: str) -> list[date]:
    """The days that may be meant: with points the day stands first, else it is one or the other."""
    pairs = [(one, other)] if sign == "." else [(one, other), (other, one)]
    found: set[date] = set()
    for day, month in pairs:
        with suppress(ValueError):  # there is no such day
            found.add(date(int(year), int(month), int(day)))
    return sorted(found)


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _from_serial(serial: float, name: str) -> date:
    """The day of a spreadsheet's serial number, or its time to the second."""
    if not 1 <= serial < AFTER_LAST_SERIAL:
        hint = f": serial numbers run from 1 to {LAST_SERIAL}"
        if -AFTER_LAST_SERIAL < serial < 0:
            hint = f"; for {-serial:g} days back give the text -{-serial:g}D"
        raise ArgumentError(f"{name} {shown(serial)} is not a date{hint}")
    day = _DAYS[int(serial)]
    seconds = round((serial - int(serial)) * SECONDS_OF_DAY)  # a cell's number is no more exact than that
    if not seconds:
        return day
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - naive UTC
    return midnight + timedelta(seconds=min(seconds, SECONDS_OF_DAY - 1))


class _Days(dict[int, date]):
    """The days of serial numbers; at most `CACHED_DAYS` are kept."""

    def __missing__(self, serial: int) -> date:
        if len(self) >= CACHED_DAYS:
            self.clear()
        day = self[serial] = EPOCH + timedelta(days=serial)
        return day


_DAYS = _Days()


def _counted(text: str) -> Last | Max | None:
    """A start that is no day: so many observations, or all there are."""
    if last := LAST.fullmatch(text):
        return Last(int(last[1])) if int(last[1]) else None
    return Max() if text.upper() == "MAX" else None


def _day_or_utc(moment: datetime) -> date | None:
    """The day of a midnight, else the time in UTC; None where that lies outside the years 1 to 9999."""
    if moment.hour == moment.minute == moment.second == moment.microsecond == 0:
        return moment.date()
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).replace(tzinfo=None)
    except OverflowError:
        return None
