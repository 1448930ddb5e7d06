"""Dates as callers write them: Python dates and times, ISO text, and text relative to a day such as `-5Y` or `YTD`."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np

from dataservice.client.contract.windows import utc_day_of
from dataservice.key_text import quoted

DateLike: TypeAlias = date | str | np.datetime64
"""What is accepted in place of a date; a time counts as its day in UTC."""

MONTHS = {"M": 1, "Q": 3, "Y": 12}
DAYS = {"D": 1, "W": 7}
HOURS = "H"

FORMS = "a date, text such as 2024-12-31, or relative text: -30D -8W -6M -4Q -5Y MTD QTD YTD PME PQE PYE"


@dataclass(frozen=True, slots=True)
class Back:
    """So many days (D), weeks (W), months (M), quarters (Q) or years (Y) back: `-6M` is `Back(6, "M")`.

    Hours (H) count back from a time, where one is known.
    """

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

    def from_moment(self, moment: datetime) -> datetime:
        """The time so many hours before `moment`; raises `OverflowError` before the year 1."""
        return moment - timedelta(hours=self.count)


class PeriodEnd(StrEnum):
    """The last day of the month, quarter or year before the running one."""

    PME = "PME"
    PQE = "PQE"
    PYE = "PYE"

    def from_day(self, day: date) -> date:
        """The last day before the month, quarter or year of `day`; raises `OverflowError` before the year 1."""
        return ToDate(f"{self[1]}TD").from_day(day) - timedelta(days=1)


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


BACK = re.compile(r"[-−](\d{1,6})([HDWMQY])", re.IGNORECASE)
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


def date_in(given: Any) -> date | Back | ToDate | PeriodEnd | None:
    """The date, time or relative date that was given; None for anything else."""
    match given:
        case np.datetime64():
            found = given.astype("datetime64[us]").item()
            return found if isinstance(found, date) else None
        case date():
            return given if given == given else None  # pandas' not-a-time, which is no date, differs from itself
        case str():
            return _date_in_text(given.strip())
        case _:
            return None


def moment_of(given: DateLike | None, name: str, today: date) -> date | None:
    """The date or time in the argument `name`, relative text counting back from `today`; None for None.

    Raises `ValueError` for what is not a date, naming the argument, what was given and what is allowed.

    >>> moment_of("-1M", "start", date(2026, 3, 31)), moment_of("2026-01-02", "end", date(2026, 3, 31))
    (datetime.date(2026, 2, 28), datetime.date(2026, 1, 2))
    """
    if given is None:
        return None
    found = date_in(given)
    if found is None or (isinstance(found, Back) and found.unit == HOURS):
        raise ValueError(f"{name} {quoted(given)} is not a date; it takes {FORMS}")
    try:
        return found if isinstance(found, date) else found.from_day(today)
    except (OverflowError, ValueError):
        raise ValueError(f"{name} {given!r} lies before the year 1") from None


def days_of(start: DateLike | None, end: DateLike | None, today: date) -> tuple[date | None, date | None]:
    """The UTC days of a window, None for an open end; a relative start counts back from its end, or from today."""
    last = utc_day_of(_day_at_midnight(moment_of(end, "end", today)))
    first = moment_of(start, "start", today if last is None else min(last, today))
    return utc_day_of(_day_at_midnight(first)), last


def moments_of(start: DateLike | None, end: DateLike | None, today: date) -> tuple[date | None, date | None]:
    """The window that `days_of` gives, cut at the times (UTC) of its first and last day where these were given."""
    first, last = days_of(start, end, today)
    cut = [_utc_time(moment_of(given, "time", today)) for given in (start, end)]
    return cut[0] or first, cut[1] or last


def hours_back(given: DateLike | None, end: DateLike | None, now_s: float) -> DateLike | None:
    """A start or since as it was given; `-6H` as the time so many hours before the end, or before now.

    >>> hours_back("-6H", "2026-08-18T22:00", 0.0), hours_back("-1Y", None, 0.0)
    (datetime.datetime(2026, 8, 18, 16, 0), '-1Y')
    """
    back = None if given is None else date_in(given)
    if not isinstance(back, Back) or back.unit != HOURS:
        return given
    now = datetime.fromtimestamp(now_s, UTC).replace(tzinfo=None)
    until = now if end is None else moments_of(None, end, now.date())[1] or now
    if not isinstance(until, datetime):
        until = datetime.combine(until, time.max)
    try:
        return back.from_moment(until)
    except OverflowError:
        raise ValueError(f"{given!r} lies before the year 1") from None


def _day_at_midnight(moment: date | None) -> date | None:
    """The day that a midnight stands for, by its own clock; any other time as it is."""
    return moment.date() if isinstance(moment, datetime) and moment.time() == time.min else moment


def _utc_time(moment: date | None) -> datetime | None:
    """A time as one without a zone; None for a day, and for its midnight, which stands for the day."""
    moment = _day_at_midnight(moment)
    if not isinstance(moment, datetime):
        return None
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _date_in_text(text: str) -> date | Back | ToDate | PeriodEnd | None:
    if back := BACK.fullmatch(text):
        return Back(int(back[1]), back[2].upper())
    if text.upper() in ToDate.__members__:
        return ToDate(text.upper())
    if text.upper() in PeriodEnd.__members__:
        return PeriodEnd(text.upper())
    if not ISO_DAY.match(text):
        return None
    try:
        return date.fromisoformat(text) if len(text) == len("2024-12-31") else datetime.fromisoformat(text)
    except ValueError:
        return None
