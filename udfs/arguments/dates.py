"""Dates as arguments: serial numbers, ISO text, Python dates, and text relative to a day such as `-5Y`, `YTD`, `N60`.

Whatever is given is cut to its day (UTC), so a volatile `NOW()` does not make a new question at every edit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import isfinite
from typing import Any, ClassVar, TypeAlias

from dataservice.client.contract.dates import FORMS, Back, ToDate, date_in
from udfs.arguments.kinds import Kind, shown
from udfs.cells import EPOCH
from udfs.errors import ArgumentError

LAST = re.compile(r"N(\d{1,7})", re.IGNORECASE)

SPAN = re.compile(r"\d{1,4}[DWMQY]", re.IGNORECASE)
MONTH = re.compile(r"[12]\d{3}(-\d{2})?")
"""What people give for a start, which is none: `5Y`, `2020`, `2020-06`."""

LAST_SERIAL = (date.max - EPOCH).days
AFTER_LAST_SERIAL = LAST_SERIAL + 1

CACHED_DAYS = 65_536
"""Serial numbers whose days are kept: more than a hundred years."""


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

    python_type: ClassVar[Any] = date | str

    def read(self, raw: Any, name: str, today: date) -> date:
        """The day; relative text counts back from `today`."""
        if type(raw) is float or type(raw) is int:  # a cell's own form of a date
            return _from_serial(raw, name)
        value = _read(self._one(raw, name), name, FORMS)
        if isinstance(value, Last | Max):
            raise ArgumentError(f"{name} {shown(raw)} is only possible as a start; {name} takes {FORMS}")
        return _resolved(value, today, name)

    def read_numbers(self, raw: Sequence[float], name: str, today: date) -> list[date]:
        """The same for many numbers, whole days at once where all of them are days."""
        if min(raw) >= 1 and max(raw) < AFTER_LAST_SERIAL and all(map(isfinite, raw)):
            return list(map(_DAYS.__getitem__, map(int, raw)))
        return [self.read(number, name, today) for number in raw]


@dataclass(frozen=True, kw_only=True)
class Start(Kind):
    """Where a window starts: a day, relative text, `MAX` or `N60`."""

    first_of_period: bool = True
    python_type: ClassVar[Any] = date | str

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
    found: StartOf | None
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        found = _from_serial(raw, name)
    else:
        found = _counted(raw.strip()) if isinstance(raw, str) else None
        found = date_in(raw) if found is None else found
    if isinstance(found, datetime):
        found = _utc_day(found)
    if found is None:
        raise ArgumentError(f"{name} {shown(raw)} is not a date; {_hint(raw, name)}it takes {forms}")
    return found


def _hint(raw: Any, name: str) -> str:
    """What was meant, where that can be guessed: an option, a span without its sign, a year, a month."""
    text = raw.strip() if isinstance(raw, str) else ""
    if "=" in text:
        return f"options are the last argument, so leave {name} empty; "
    if SPAN.fullmatch(text):
        return f"did you mean -{text.upper()}? "
    if MONTH.fullmatch(text):
        return f"did you mean {text[:4]}-{text[5:] or '01'}-01? "
    return ""


def _from_serial(serial: float, name: str) -> date:
    """The day of a spreadsheet's serial number; a time of day is cut off."""
    if not 1 <= serial < AFTER_LAST_SERIAL:
        hint = f": serial numbers run from 1 to {LAST_SERIAL}"
        if -AFTER_LAST_SERIAL < serial < 0:
            hint = f"; for {-serial:g} days back give the text -{-serial:g}D"
        raise ArgumentError(f"{name} {shown(serial)} is not a date{hint}")
    return _DAYS[int(serial)]


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


def _utc_day(moment: datetime) -> date | None:
    """The day in UTC; None where that lies outside the years 1 to 9999."""
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except OverflowError:
        return None
