"""Services that thin series out: details of weeks, long windows of month ends. Two looks at the same days tell."""

from __future__ import annotations

from datetime import date, timedelta
from math import ceil

import numpy as np

from dataservice.client.contract.completeness.density import valued_days
from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.windows import Window, day_after
from dataservice.observations import Observations

ENOUGH = 6
"""Days with an observation from which it counts that another look left some of them out."""

KEPT = 0.7
"""The share of them that a look which thins out shows at most: every second row, weeks, months."""

PART_DAYS = 320
"""Windows of so many days are asked for where longer ones were seen to be thinned out.

With what overlaps they span less than a year, from which on many services thin out.
"""

SHORTEST_PART_DAYS = 28

LONGEST_PERIOD_DAYS = 92
"""A row that stands for a period may be its last one: so many days before it the series may begin."""

MARGIN = 1.005
"""By how many times more or fewer rows a window may have than those behind it let expect."""

OVERLAP_DAYS = 62
"""The most days that overlap with what is known, and those beside a window, where long windows are thinned out."""

OVERLAP_ROWS = 24
"""Known rows that are asked again behind a window, until a service was seen to tell them alike."""

LEAST_ROWS = ENOUGH + 2
"""The fewest of them: one may be left out at either end."""


def leaves_out(thin: Observations, full: Observations) -> bool:
    """Return whether the one look shows far fewer days than the other one, where both reach.

    Averages of a period may stand on a day of their own.
    """
    if not len(thin) or not len(full):
        return False
    first, last = max(thin.first_day, full.first_day), min(thin.last_day, full.last_day)
    few, many = valued_days(thin.between(first, last)), valued_days(full.between(first, last))
    return len(many) >= ENOUGH and 0 < len(few) <= KEPT * len(many)


def tells_alike(one: Observations, other: Observations) -> bool:
    """Return whether two looks show observations of the same days, and of enough of them."""
    if not len(one) or not len(other):
        return False
    first, last = max(one.first_day, other.first_day), min(one.last_day, other.last_day)
    days = valued_days(one.between(first, last))
    return len(days) >= ENOUGH and np.array_equal(days, valued_days(other.between(first, last)))


def shorter_parts(days: int, thin_over: int) -> int:
    """The days of the parts to ask for, once a window of so many days was seen to be thinned out.

    Half of it, unless shorter ones are asked for already; such a part may hold what overlaps besides.
    """
    if thin_over and days > thin_over + OVERLAP_DAYS:
        return thin_over
    return max(min(days // 2, (thin_over or 2 * PART_DAYS) // 2), SHORTEST_PART_DAYS)


def parts_of(window: Window, today: date, most_days: int) -> list[Window]:
    """The window in parts of so many days, the newest first; the last one keeps its open end."""
    parts: list[Window] = []
    start = window.start
    while start + timedelta(days=most_days) <= min(window.end, today):
        end = start + timedelta(days=most_days - 1)
        parts.append(Window(start, end))
        start = day_after(end)
    return [Window(start, window.end), *reversed(parts)]


def days_of(window: Window, today: date) -> int:
    """Return how many days a window has up to today."""
    return (min(window.end, today) - window.start).days + 1


def likely_start(first_shown: date) -> date:
    """The day from which a series may go on whose first row is one that stands for a period."""
    return max(date.min, first_shown - timedelta(days=min(LONGEST_PERIOD_DAYS, (first_shown - date.min).days)))


def overlapping(window: Window, known: Observations, seen: Evidence) -> Window:
    """The window and the days of some rows that are known behind it: fewer, or none, where they would take a page more.

    The same where too few are known to tell, and where it would be longer than windows that are thinned out.
    """
    if window.end == date.max:
        return window
    behind = known.between(day_after(window.end))
    if len(behind) <= ENOUGH or not _is_next(window, behind[:OVERLAP_ROWS]):
        return window
    rows, page_rows = _likely_rows(window, behind), seen.page_rows
    for count in (OVERLAP_ROWS, LEAST_ROWS):
        last = behind[:count].last_day
        if seen.thin_over and (last - window.end).days > OVERLAP_DAYS - 2:
            continue
        if rows is None or _pages(rows / MARGIN, page_rows) == _pages(MARGIN * rows + count, page_rows):
            return Window(window.start, last)
    return window


def _is_next(window: Window, behind: Observations) -> bool:
    """Return whether no other days lie between a window and what is known behind it."""
    step_days = (behind.last_day - behind.first_day).days / (len(behind) - 1)
    return (behind.first_day - window.end).days <= 7 + 2 * step_days


def _likely_rows(window: Window, behind: Observations) -> float | None:
    """About how many rows a window has that are as far apart as those behind it; None for one that begins anywhere."""
    if window.start == date.min:
        return None
    return ((window.end - window.start).days + 1) * len(behind) / ((behind.last_day - behind.first_day).days + 1)


def _pages(rows: float, page_rows: int) -> int:
    return ceil(rows / page_rows)
