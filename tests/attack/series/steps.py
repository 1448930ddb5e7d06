"""What each transform makes of the periods of one series, written down a second time: conventions 5 to 16."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

from tests.attack.series.worlds import DAYS, MONTHS, WEEKS, Array

LONGEST = np.timedelta64(10, "D")
"""The longest pause of a daily series that is no gap: 3 and 9."""

PER_YEAR = {"daily": 365, "business daily": 260, "weekly": 52, "biweekly": 26}  # 10
PER_YEAR |= {"monthly": 12, "quarterly": 4, "half-yearly": 2, "yearly": 1}


@dataclass(frozen=True)
class Periods:
    """One value for each period, blank where there is none: their values, and time and place of those with one."""

    kind: str
    values: Array
    times: Array
    places: Array
    base: np.datetime64 | None

    def with_values(self, values: Array) -> Periods:
        """Others for the same periods."""
        return Periods(self.kind, values, self.times, self.places, self.base)

    def from_time(self, begin: Array) -> Periods:
        """The periods from a time on, blank before: 15."""
        first = np.searchsorted(self.times, begin[0]) if len(begin) else len(self.times)
        place = self.places[first] if first < len(self.places) else len(self.values)
        return self.with_values(np.where(np.arange(len(self.values)) >= place, self.values, np.nan))


def _span(step: str, kind: str) -> int | str:
    """The periods of a step's span, or the span itself where the calendar's day is looked up: 8 and 9."""
    inside = step.partition("(")[2].rstrip(")") or {"yoy": "1Y", "mom": "1M", "yoydiff": "1Y"}.get(step, "1")
    if inside.isdigit():
        return int(inside)
    months = int(inside[:-1]) * {"M": 1, "Q": 3, "Y": 12}[inside[-1]]
    if kind in MONTHS:
        return months // MONTHS[kind]
    if kind in WEEKS:
        return round(months * PER_YEAR[kind] / 12)
    return f"{months}"


def _base(periods: Periods, step: str) -> Array:
    """The value a span before, for each period."""
    span, values = _span(step, periods.kind), periods.values
    if isinstance(span, int):
        return np.concatenate([np.full(min(span, len(values)), np.nan), values[: max(0, len(values) - span)]])
    anchors = _anchors(periods, int(span))
    is_known = ~np.isnan(values[periods.places])
    moments, known = periods.times[is_known], values[periods.places][is_known]
    found = np.full(len(values), np.nan)
    if len(known):
        before = np.searchsorted(moments, anchors, "right") - 1
        pause = anchors.astype("datetime64[D]") - moments[before].astype("datetime64[D]")
        found[periods.places] = np.where((before >= 0) & (pause <= LONGEST), known[before], np.nan)
    return found


def _anchors(periods: Periods, months: int) -> Array:
    """The end of the same day of the month earlier, or of that month's last; a last day goes to a last day: 9."""
    days = pd.DatetimeIndex(periods.times)
    month = pd.PeriodIndex(days, freq="M") - months
    is_last = days.day == days.days_in_month
    day = np.where(is_last, month.days_in_month, np.minimum(days.day, month.days_in_month))
    earlier = month.asfreq("D", how="start").asi8 + day - 1
    start: Array = earlier.astype("datetime64[D]").astype("datetime64[us]")
    if periods.kind == "several a day":
        return start + (periods.times - periods.times.astype("datetime64[D]"))
    return start + np.timedelta64(86_400_000_000 - 1, "us")


def _positive(values: Array) -> Array:
    return np.where(values > 0, values, np.nan)


def _change(periods: Periods, step: str) -> Array:
    return periods.values / _positive(_base(periods, step)) - 1


def _difference(periods: Periods, step: str) -> Array:
    return periods.values - _base(periods, step)


def _annual(periods: Periods, step: str) -> Array:
    inside = step.partition("(")[2].rstrip(")") or "1"
    times = 12 / int(inside[:-1]) if inside.endswith("M") else PER_YEAR.get(periods.kind, np.nan) / int(inside)
    rate: Array = (_positive(periods.values) / _positive(_base(periods, step))) ** times - 1
    return rate


Figure = Callable[[Array], Array]
"""Of each row of a matrix, which is one window."""


def _rolling(figure: Figure) -> Step:
    def rolling(periods: Periods, step: str) -> Array:
        span, values = _span(step, periods.kind), periods.values
        if not isinstance(span, int):
            return _between_anchors(periods, int(span), figure)
        if len(values) < span:
            return np.full(len(values), np.nan)
        windows = sliding_window_view(values, span)
        return np.append(np.full(span - 1, np.nan), np.where(np.isnan(windows).any(axis=1), np.nan, figure(windows)))

    return rolling


def _between_anchors(periods: Periods, months: int, figure: Figure) -> Array:
    """A figure of what lies after the anchor: 9."""
    anchors, values, found = _anchors(periods, months), periods.values, np.full(len(periods.values), np.nan)
    after = np.searchsorted(periods.times, anchors, "right")
    first = periods.times[after if periods.kind in DAYS else np.zeros_like(after)]
    reaches = anchors.astype("datetime64[D]") + LONGEST >= first.astype("datetime64[D]")
    begins = periods.places[after]
    for place, begin, is_whole in zip(periods.places.tolist(), begins.tolist(), reaches.tolist(), strict=True):
        window = values[begin : place + 1]
        if is_whole and not np.isnan(window).any():
            found[place] = figure(window[None, :])[0]
    return found


def _std(windows: Array) -> Array:
    return np.asarray(windows.std(axis=1, ddof=1))


def _score(windows: Array) -> Array:
    away = windows - windows[:, :1]
    deviation = away.std(axis=1, ddof=1)
    return (away[:, -1] - away.mean(axis=1)) / np.where(deviation > 0, deviation, np.nan)


def _rank(windows: Array) -> Array:
    below, equal = (windows < windows[:, -1:]).sum(axis=1), (windows == windows[:, -1:]).sum(axis=1)
    return np.asarray((below + (equal + 1) / 2) / windows.shape[1])


def _ewm(periods: Periods, step: str) -> Array:
    means = pd.Series(periods.values).ewm(span=int(step[4:-1]), adjust=False).mean()  # 13
    return np.where(np.isnan(periods.values), np.nan, means)


def _index(periods: Periods, step: str) -> Array:
    """Scaled so that the last value up to the base day is x: 14."""
    known = ~np.isnan(periods.values[periods.places])
    upto = (
        np.zeros(0) if periods.base is None else periods.values[periods.places][known & (periods.times < periods.base)]
    )
    base = upto[-1] if len(upto) and upto[-1] > 0 else np.nan
    return periods.values / base * float(step[6:-1])


def _drawdown(periods: Periods, _step: str) -> Array:
    return periods.values / _positive(np.fmax.accumulate(periods.values)) - 1


def _cum(periods: Periods, _step: str) -> Array:
    is_known = ~np.isnan(periods.values)
    return np.where(is_known, np.cumsum(np.where(is_known, periods.values, 0.0)), np.nan)


ANCHORED = ("index", "cum", "drawdown")

Step = Callable[[Periods, str], Array]

STEPS: dict[str, Step] = {
    "pct": _change,
    "yoy": _change,
    "mom": _change,
    "diff": _difference,
    "yoydiff": _difference,
    "lag": _base,
    "ann": _annual,
    "log": lambda periods, _: np.log(_positive(periods.values)),
    "ma": _rolling(lambda windows: np.asarray(windows.mean(axis=1))),
    "sum": _rolling(lambda windows: np.asarray(windows.sum(axis=1))),
    "median": _rolling(lambda windows: np.asarray(np.median(windows, axis=1))),
    "std": _rolling(_std),
    "zscore": _rolling(_score),
    "rank": _rolling(_rank),
    "ewm": _ewm,
    "index": _index,
    "cum": _cum,
    "drawdown": _drawdown,
}
