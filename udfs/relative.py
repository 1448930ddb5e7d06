"""Days counted back on the calendar: what `-6M` or `QTD` means, seen from a day."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import assert_never

__all__ = ["Back", "ToDate", "months_before"]

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
        match self:
            case ToDate.MTD:
                return day.replace(day=1)
            case ToDate.QTD:
                return day.replace(month=day.month - (day.month - 1) % 3, day=1)
            case ToDate.YTD:
                return day.replace(month=1, day=1)
            case _:
                assert_never(self)


def months_before(day: date, months: int) -> date:
    """The same day of the month so many months earlier, or that month's last day where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    if year < date.min.year:
        raise ValueError(f"{months} months before {day} lie before the year 1")
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
