"""Times as RFC 3339: texts, and numbers since 1970; where two readings are possible there is none."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NoReturn

from dataservice.errors import MalformedAnswerError

_MONTH = re.compile(r"\d{4}-\d{2}")
_WEEK = re.compile(r"\d{4}-W\d{2}(-\d)?")
_COMPACT = re.compile(r"\d{8}")
_BASIC = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2}(?:\.\d+)?)(Z?)")
_SHORT_ZONE = re.compile(r"^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)([+-]\d{2})$")
_SLASHED = re.compile(r"(\d{4})/(\d{2})/(\d{2})(.*)")
_EITHER = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})(.*)")
"""Days whose first number may be the day or the month."""

_EPOCH = re.compile(r"-?\d{9,19}(?:\.\d+)?")
_ZONE = re.compile(r" ?(?:UTC|GMT)$")
_DAY_NAMED = re.compile(r"(?:[A-Z][a-z]{2,8},? )?(\d{1,2})[ -]([A-Z][a-z]{2,8})\.?,?[ -](\d{4})(.*)")
_MONTH_FIRST = re.compile(r"([A-Z][a-z]{2,8})\.? (\d{1,2}),? (\d{4})(.*)")
_MONTHS = {name[:3]: number for number, name in enumerate(calendar.month_name) if name}
_LONG_MONTHS = frozenset(calendar.month_name)

SMALLEST_EPOCH = 10_000_000
"""As seconds this is April 1970: numbers that are all smaller are days, years or months, and not known which."""

SCALES = ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (math.inf, 10**9))
"""Up to which size numbers are seconds, milliseconds, microseconds, nanoseconds: 10^11 seconds is the year 5138."""

_EPOCH_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)

LAST_SECOND = 7_258_118_400
"""The year 2200: an epoch time beyond is no time of an observation."""


def times_of(times: Sequence[Any], day_first: bool | None = None) -> list[str]:
    """Times as RFC 3339 texts: of texts of the usual forms, or of numbers since 1970.

    `day_first`: how this service is known to write days such as 03/04/2026. Else one of a column has to show it.
    """
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in times):
        return _epochs(times)
    if all(isinstance(each, str) and _EPOCH.fullmatch(each) for each in times):
        return _epochs([float(each) if "." in each else int(each) for each in times])
    if times and all(isinstance(each, str) and _EITHER.fullmatch(each) for each in times):
        return _in_either_order(times, day_first)
    return [_time_text(each) for each in times]


def _in_either_order(times: Sequence[str], day_first: bool | None) -> list[str]:
    """Days such as 25/12/2026 or 12/25/2026: a column is written in one order, and days beyond the 12th show which."""
    parts = [found for each in times if (found := _EITHER.fullmatch(each))]
    shown = {
        first > 12 for first, second in ((int(part[1]), int(part[2])) for part in parts) if max(first, second) > 12
    }
    if len(shown) > 1 or (not shown and day_first is None):
        _no_time(times[0])
    is_day_first = shown.pop() if shown else day_first
    return [
        _day_and_time(part[3], part[2] if is_day_first else part[1], part[1] if is_day_first else part[2], part[4])
        for part in parts
    ]


def order_of_days(times: Sequence[Any]) -> bool | None:
    """Whether days such as 25/12/2026 begin with the day; None where they are not such days, or none shows it."""
    parts = [found for each in times if isinstance(each, str) and (found := _EITHER.fullmatch(each))]
    if any(int(part[1]) > 12 for part in parts):
        return True
    return False if any(int(part[2]) > 12 for part in parts) else None


def _epochs(times: Sequence[int | float]) -> list[str]:
    """Numbers as times: seconds since 1970 or a thousandth of them, and so on, as their size tells."""
    largest = max(map(abs, times), default=0)
    if not math.isfinite(largest):
        _no_time(largest)
    if (days := _compact(times)) is not None:
        return days
    if times and largest < SMALLEST_EPOCH:
        _no_time(max(times))
    parts = next(parts for limit, parts in SCALES if largest < limit)
    if largest > LAST_SECOND * parts:
        _no_time(max(times))
    moments = (_EPOCH_BEGIN + timedelta(microseconds=each * 10**6 / parts) for each in times)
    return [moment.isoformat().replace("+00:00", "Z") for moment in moments]


def _compact(times: Sequence[int | float]) -> list[str] | None:
    """Days written as numbers such as 20260131, if all are such days; None where they are not.

    As seconds they would lie in 1970. What is observed is so at whole minutes: days that all are may be either.
    """
    if not times or not all(isinstance(each, int) and 10**7 < each < 3 * 10**7 for each in times):
        return None
    try:
        days = [date(day // 10_000, day // 100 % 100, day % 100).isoformat() for day in map(int, times)]
    except ValueError:
        return None
    return days if any(each % 60 for each in times) else _no_time(times[0])


def _time_text(given: Any) -> str:
    if not isinstance(given, str):
        _no_time(given)
    told: str = given
    if _MONTH.fullmatch(told):
        return f"{told}-01"
    if _WEEK.fullmatch(told):
        return _day_of_week(told)
    if _COMPACT.fullmatch(told):
        return f"{told[:4]}-{told[4:6]}-{told[6:]}"
    if basic := _BASIC.fullmatch(told):
        return "{}-{}-{}T{}:{}:{}{}".format(*basic.groups())
    told = _ZONE.sub("Z", _SHORT_ZONE.sub(r"\1T\2\3:00", told))
    if slashed := _SLASHED.fullmatch(told):
        return _day_and_time(slashed[1], slashed[2], slashed[3], slashed[4])
    if named := _DAY_NAMED.fullmatch(told):
        return _day_and_time(named[3], _month(named[2]), named[1], named[4])
    if named := _MONTH_FIRST.fullmatch(told):
        return _day_and_time(named[3], _month(named[1]), named[2], named[4])
    if len(told) == len("2026-01-02Z") and told.endswith("Z"):
        return told[:-1]
    return told


def _day_of_week(week: str) -> str:
    """The day of a week such as 2026-W33-2; its Monday where none is told."""
    try:
        return date.fromisoformat(week if week.count("-") > 1 else f"{week}-1").isoformat()
    except ValueError:
        _no_time(week)


def _month(name: str) -> str:
    """The number of a month by its English name, whole or three letters of it; no other beginning counts."""
    if name in _LONG_MONTHS or len(name) == len("Jan"):
        return f"{_MONTHS.get(name[:3], 0):02}"
    return "00"


def _day_and_time(year: str, month: str, day: str, rest: str) -> str:
    text = f"{year}-{int(month):02}-{int(day):02}"
    rest = rest.strip()
    return text if rest in ("", "Z") else f"{text}T{rest}"


def _no_time(told: Any) -> NoReturn:
    raise MalformedAnswerError(f"{str(told)[:40]!r} is no date or time")
