"""Whether the rows of a look may be a part of denser ones, which its service thins out: weeks, months, averages.

One look never proves that it is whole. Its rhythm, and what other looks have shown, tell where to doubt it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.completeness.looks import decimals_of
from dataservice.client.contract.requests import HISTORY_LIMIT
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations

DAY_US = 86_400_000_000

SPARSE_DAYS = 2.0
"""Rows that are so far apart in the middle may be a part of daily ones."""

RECENT_DAYS = 550
"""365 observations of every working day span no more: fewer rows in so little time may be what is left of them."""

SHORT_DAYS = 90
"""Windows of fewer days are not thinned out by any service: they hold few rows."""

FEW = 6
"""Fewer rows do not show a rhythm."""

MONTH_DAYS = 20.0
"""So far apart are the fewest rows that may be what is left of a year: month ends, quarters."""

OFF_STEP = 0.6
"""A newest row so much nearer to the one before it than the others are stands for a period that has not ended."""

USUAL_STEPS = ((7, 7), (14, 14), (28, 31), (89, 92), (181, 184), (364, 366))
"""Days from row to row of weekly, monthly, quarterly and yearly series."""

WORKED_OUT = 6
"""Decimals that hardly anybody publishes: averages have them."""

OFTEN = 3
"""So many series that turned out to be as sparse as they look clear those that look usual."""

ALWAYS = 10
"""So many clear also those that look unusual."""

CHECK_DAYS = (14, 62)
"""The fewest and the most days of a check: ten rows of a daily series, and no window that would be thinned out."""


def is_sparse(found: Observations) -> bool:
    """Return whether rows are more than a day apart in the middle."""
    steps = np.diff(valued_days(found)).view(np.int64)
    if 2 * int((steps < SPARSE_DAYS).sum()) > len(steps):
        return False  # as of nearly all that are daily, at a fraction of the median's time
    return _median(steps) >= SPARSE_DAYS


def detail_may_be_thin(recent: Observations, seen: Evidence) -> bool:
    """Return whether a recent history, for which 365 were asked, may show only some of its days."""
    days = valued_days(recent)
    if len(days) < 2 or _step(days) < (SPARSE_DAYS if len(days) >= FEW else MONTH_DAYS):
        return False
    if len(days) < HISTORY_LIMIT and _span(days) <= RECENT_DAYS:
        return True
    if seen.dense_detail or seen.natural >= OFTEN:
        return False
    return _is_unusual(days) or _are_averages(recent[:-1], recent[-1:])


def window_may_be_thin(found: Observations, known: Observations, seen: Evidence) -> bool:
    """Return whether a window may show only some of its days, by what is `known` of the series otherwise.

    A window that came dense clears all that span no more days than it had rows.
    """
    days, others = valued_days(found), valued_days(known)
    if len(days) < 3 or _step(days) < SPARSE_DAYS or _span(days) < SHORT_DAYS:
        return False
    if len(others) >= FEW:
        return _step(others) < 0.75 * _step(days)
    if seen.thin_over:
        return True
    if _span(days) <= seen.dense_rows:
        return False
    if _is_unusual(days):
        return seen.natural < ALWAYS
    is_usual = _are_month_starts(days) and _step(days) <= USUAL_STEPS[2][1] and not _are_worked_out(found)
    return not is_usual and seen.natural < OFTEN


def begins_with_a_period(found: Observations, asked: date) -> bool:
    """Return whether only the first row lies before the day `asked` for: that of the period in which this day lies."""
    return len(found) > 1 and is_sparse(found) and len(found.between(asked)) == len(found) - 1


def check_window(found: Observations) -> Window:
    """The days to ask for again: of two steps up to the last row, as few as tell."""
    least, most = CHECK_DAYS
    back = min(max(least, int(2 * _step(valued_days(found)))), most)
    return Window(found.last_day - timedelta(days=back), found.last_day)


def same_days(found: Observations, again: Observations, window: Window) -> bool:
    """Return whether two looks show rows of the same days of a window."""
    one, other = (valued_days(each.between(window.start, window.end)) for each in (found, again))
    return np.array_equal(one, other)


def after_detail(seen: Evidence, recent: Observations) -> Evidence:
    """With a recent history that came full and daily."""
    if seen.dense_detail or len(recent) < HISTORY_LIMIT:
        return seen
    days = valued_days(recent)
    is_dense = len(days) >= HISTORY_LIMIT and _step(days) < SPARSE_DAYS
    return replace(seen, dense_detail=True) if is_dense else seen


def after_dense_window(seen: Evidence, found: Observations) -> Evidence:
    """With a window that came daily; any other one says nothing."""
    days = valued_days(found)
    is_dense = len(days) > seen.dense_rows and len(days) > FEW and _step(days) < SPARSE_DAYS
    return replace(seen, dense_rows=len(days)) if is_dense else seen


def valued_days(found: Observations) -> NDArray[np.datetime64]:
    """The days that have a row with a value, each once."""
    is_lacking = np.isnan(found.values)
    times = found.times[~is_lacking] if is_lacking.any() else found.times
    days = (times.view(np.int64) // DAY_US).view("datetime64[D]")
    is_another = days[1:] != days[:-1]  # they are in order
    return days if is_another.all() else np.concatenate((days[:1], days[1:][is_another]))


def _is_unusual(days: NDArray[np.datetime64]) -> bool:
    """Return whether the rows stand in steps that no series is published in, or the newest lies within one."""
    steps, step = np.diff(days).astype(int), _step(days)
    if len(days) >= FEW and steps[-1] < OFF_STEP * step:
        return True
    return not any(low <= step <= high for low, high in USUAL_STEPS)


def _are_averages(history: Observations, latest: Observations) -> bool:
    """Return whether most values have more decimals than anybody publishes, and the latest one, told apart, has not."""
    return _are_worked_out(history) and not _are_worked_out(latest)


def _are_worked_out(found: Observations) -> bool:
    values = found.values[~np.isnan(found.values)]
    return len(values) > 0 and bool(np.mean(decimals_of(values) >= WORKED_OUT) > 0.5)


def _are_month_starts(days: NDArray[np.datetime64]) -> bool:
    return bool((days == days.astype("datetime64[M]").astype("datetime64[D]")).all())


def _step(days: NDArray[np.datetime64]) -> float:
    return _median(np.diff(days).astype(int))


def _median(steps: NDArray[np.int64]) -> float:
    return float(np.median(steps)) if len(steps) else 0.0


def _span(days: NDArray[np.datetime64]) -> int:
    return int((days[-1] - days[0]).astype(int))
