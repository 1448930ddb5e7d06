"""Whether the rows of a look may be a part of denser ones, which its service thins out: weeks, months, averages.

One look never proves that it is whole. Its rhythm, and what other looks have shown, tell where to doubt it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.requests import HISTORY_LIMIT
from dataservice.client.contract.windows import Window
from dataservice.moments import DAY_US, Times, of_axis
from dataservice.observations import Observations, Values

SPARSE_DAYS = 2.0
"""Rows that are so far apart in the middle may be a part of daily ones."""

MOSTLY = 0.6
"""The share of the time for which rows are sparse: of working days, weekends and holidays take half."""

DETAIL_SPANS = ((355, 375), (495, 550))
"""Days that 365 rows span, of every day or of working days: fewer rows in just that time may be left of them."""

SHORT_DAYS = 90
"""Windows of fewer days are not thinned out by any service: they hold few rows."""

FEW = 6
"""Fewer rows do not show a rhythm."""

MONTH_DAYS = 20.0
"""So far apart are the fewest rows that may be what is left of a year: month ends, quarters."""

WORKED_OUT = 6
"""Decimals that hardly anybody publishes: averages have them."""

MAX_DECIMALS = 9

CHECK_DAYS = (14, 62)
"""The fewest and the most days of a check: ten rows of a daily series, and no window that would be thinned out."""


def is_sparse(found: Observations) -> bool:
    """Return whether rows are more than a day apart for most of the time."""
    step = _step(valued_days(found)) if found.lacks_values else of_axis(_step_of_times, found.times)
    return step >= SPARSE_DAYS


def detail_may_be_thin(recent: Observations, seen: Evidence) -> bool:
    """Return whether a recent history may show only some of its days.

    It spans just as long as 365 daily rows do, whatever is left of them; or hardly any series has its rhythm.
    """
    days = valued_days(recent)
    if len(days) < 2 or _step(days) < (SPARSE_DAYS if len(days) >= FEW else MONTH_DAYS):
        return False
    if seen.thin_over or seen.dense_detail:
        return not seen.dense_detail
    is_cut = any(low <= _span(days) <= high for low, high in DETAIL_SPANS)
    return is_cut or not (_are_month_starts(days) or _are_weekly(days))


def window_may_be_thin(found: Observations, known: Observations, seen: Evidence) -> bool:
    """Return whether a window may show only some of its days, by what is `known` of the series otherwise.

    A window that came dense clears all that span no more days than it had rows. One whose rows stand on other days may
    have moved each to the start of its period, though none was left out.
    """
    days, others = valued_days(found), valued_days(known)
    if len(days) < 3 or _step(days) < SPARSE_DAYS or _span(days) < SHORT_DAYS:
        return False
    if len(others) >= FEW:
        return _step(others) < 0.75 * _step(days) or are_moved(found, known)
    if seen.thin_over or _span(days) <= seen.dense_rows:
        return bool(seen.thin_over)
    return not _are_month_starts(days) or _are_worked_out(found)


def are_moved(found: Observations, known: Observations) -> bool:
    """Return whether hardly any row stands on a known day, where both reach."""
    if not len(found) or not len(known):
        return False
    first, last = max(found.first_day, known.first_day), min(found.last_day, known.last_day)
    days, others = (valued_days(each.between(first, last)) for each in (found, known))
    return len(days) >= FEW and 2 * len(np.intersect1d(days, others, assume_unique=True)) < len(days)


def check_window(found: Observations) -> Window:
    """The days to ask for again: of two steps up to the last row that is so far from the one before, as few as tell."""
    least, most = CHECK_DAYS
    days = valued_days(found)
    step = _step(days)
    is_apart = np.diff(days).view(np.int64) >= 0.75 * step
    last: date = days[1:][is_apart][-1].item() if is_apart.any() else found.last_day
    return Window(last - timedelta(days=min(max(least, int(2 * step)), most)), last)


def same_days(found: Observations, again: Observations, window: Window) -> bool:
    """Return whether two looks show rows of the same days of a window."""
    one, other = (valued_days(each.between(window.start, window.end)) for each in (found, again))
    return np.array_equal(one, other)


def after_detail(seen: Evidence, recent: Observations) -> Evidence:
    """With a recent history that came full and daily."""
    if seen.dense_detail or len(recent) < HISTORY_LIMIT:
        return seen
    is_dense = len(valued_days(recent)) >= HISTORY_LIMIT and not is_sparse(recent)
    return replace(seen, dense_detail=True) if is_dense else seen


def after_dense_window(seen: Evidence, found: Observations) -> Evidence:
    """With a window that came daily; any other one says nothing."""
    days = valued_days(found)
    is_dense = len(days) > seen.dense_rows and len(days) > FEW and _step(days) < SPARSE_DAYS
    return replace(seen, dense_rows=len(days)) if is_dense else seen


def valued_days(found: Observations) -> NDArray[np.datetime64]:
    """The days that have a row with a value, each once."""
    return _days(found.times[~np.isnan(found.values)]) if found.lacks_values else of_axis(_days, found.times)


def _days(times: Times) -> NDArray[np.datetime64]:
    days = (times.view(np.int64) // DAY_US).view("datetime64[D]")
    is_another = days[1:] != days[:-1]  # they are in order
    return days if is_another.all() else np.concatenate((days[:1], days[1:][is_another]))


def _step_of_times(times: Times) -> float:
    return _step(of_axis(_days, times))


def _are_month_starts(days: NDArray[np.datetime64]) -> bool:
    """Return whether all rows are of first days of months: what is left of other days hardly is."""
    return bool((days == days.astype("datetime64[M]").astype("datetime64[D]")).all())


def _are_weekly(days: NDArray[np.datetime64]) -> bool:
    """Return whether all rows are of one day of the week."""
    return bool((np.diff(days).astype(int) % 7 == 0).all())


def _are_worked_out(found: Observations) -> bool:
    """Return whether most values have more decimals than anybody publishes."""
    values = found.values[~np.isnan(found.values)]
    return len(values) > 0 and bool(np.mean(decimals_of(values) >= WORKED_OUT) > 0.5)


def _step(days: NDArray[np.datetime64]) -> float:
    """How many days rows are apart in the middle; of those that are sparse for most of the time, only where they are.

    What is left of daily rows may end with days of which every row is told.
    """
    steps = np.diff(days).view(np.int64)
    wide = steps[steps >= SPARSE_DAYS]
    if len(wide) and wide.sum() >= MOSTLY * steps.sum():
        return float(np.median(wide))
    return 1.0 if len(steps) else 0.0


def _span(days: NDArray[np.datetime64]) -> int:
    return int((days[-1] - days[0]).astype(int))


def decimals_of(values: Values) -> NDArray[np.int64]:
    """Return how many decimals each value is told with, at most `MAX_DECIMALS`."""
    result = np.full(len(values), MAX_DECIMALS, np.int64)
    for decimals in reversed(range(MAX_DECIMALS)):
        result[np.round(values, decimals) == values] = decimals
    return result
