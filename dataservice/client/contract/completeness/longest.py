"""How long a window may be: services refuse longer ones, or give a part of them and count it as all."""

from __future__ import annotations

import re
from datetime import date, timedelta

import numpy as np

from dataservice.client.contract.completeness.evidence import COMMON_SIZES
from dataservice.client.contract.completeness.sources import SEVERAL
from dataservice.client.contract.requests import OBSERVATIONS_LIMIT
from dataservice.client.contract.windows import Window, day_after, day_before
from dataservice.observations import Observations

LENGTHS = (3_653, 1_826, 731, 366, 92, 31)
"""Days of ten, five, two and one year, a quarter and a month: what is tried where a refusal names no length."""

SHORT_DAYS = 21
"""A window that no service refuses for its length: one that is refused, too, is refused for something else."""

BESIDE_DAYS = 4
"""With the days beside a window that are asked for with it, and both ends counted or not."""

CUT_YEARS = (1, 2, 3, 5, 10)
"""To so many years services cut windows."""

CUT_ROWS = COMMON_SIZES | {OBSERVATIONS_LIMIT}
"""To so many rows."""

MOST_INSIDE = 7
"""Days after just so many years before the last row the first one may lie: more are twelve months of any year."""

QUIET_DAYS = 800
"""Where windows are asked for in parts, a series begins behind so many days without an observation."""

_SPAN = re.compile(r"(\d[\d,]*)[\s-]*(day|week|month|year)", re.IGNORECASE)
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


def lengths_to_try(days: int, refusal: str) -> tuple[int, ...]:
    """The days of windows to ask for, the longest first, once one of so many `days` was refused with these words."""
    told = [int(count.replace(",", "")) * _UNIT_DAYS[unit.lower()] for count, unit in _SPAN.findall(refusal)]
    lengths = (*sorted((each for each in told if each >= SHORT_DAYS), reverse=True), *LENGTHS)
    return tuple(dict.fromkeys(each - BESIDE_DAYS for each in lengths if each - BESIDE_DAYS < days))


def names_a_length(refusal: str) -> bool:
    """Return whether a refusal says how long a window may be."""
    return bool(_SPAN.search(refusal))


def looks_cut(found: Observations) -> bool:
    """Return whether a window holds so many rows, or spans just so many years, as services cut windows to."""
    if len(found) < 2:
        return False
    step_days = int(np.max(np.diff(found.times[-SAMPLE:].astype("datetime64[D]")).astype(int)))
    inside = [(found.first_day - _years_before(found.last_day, years)).days for years in CUT_YEARS]
    return any(-2 <= days <= min(step_days, MOST_INSIDE) for days in inside) or len(found) in CUT_ROWS


def lacks_told(found: Observations, told: Observations) -> bool:
    """Return whether a row that was `told` before lies before all that was found, or several behind it.

    The newest ones are taken back more often than the oldest.
    """
    if not len(found):
        return False
    before, behind = told.between(None, day_before(found.first_day)), told.between(day_after(found.last_day))
    return len(before) > 0 or len(behind) >= SEVERAL


def _years_before(day: date, years: int) -> date:
    """The same day so many years before, of a leap day the one before it; the first day there is at the earliest."""
    if day.year <= years:
        return date.min
    return day.replace(year=day.year - years, day=min(day.day, 28) if day.month == 2 else day.day)


SAMPLE = 12
"""The last rows, whose largest distance is that of rows to come."""


def left_out(window: Window, found: Observations, told: Observations, today: date) -> list[Window]:
    """The days before and behind what was found of a window, if they are more than a pause of the series.

    Of few rows the pauses show in what was `told` before, which may have holes. Fewer days are left out, too, where a
    row of them was told.
    """
    if not len(found):
        return []
    steps = np.diff((found if len(found) >= SAMPLE else told).times.astype("datetime64[D]")).astype(int)
    pause = max(7, 2 * int(steps.max(initial=0)))
    before = Window(window.start, day_before(found.first_day))
    behind = Window(day_after(found.last_day), window.end)
    lengths = ((found.first_day - window.start).days, (min(window.end, today) - found.last_day).days)
    return [
        rest
        for rest, days in zip((before, behind), lengths, strict=True)
        if days > pause or (days > 0 and len(told.between(rest.start, rest.end)))
    ]


def part_before(rest: Window, most_days: int, today: date) -> Window:
    """The last days of what is left of a window, as many as may be asked for at once."""
    first = min(rest.end, today) - timedelta(days=min(most_days - 1, (min(rest.end, today) - date.min).days))
    return Window(max(rest.start, first), rest.end)
