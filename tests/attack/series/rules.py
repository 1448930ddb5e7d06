"""The conventions written down a second time, slowly, over pandas' periods: what a table must show.

Nothing here knows the code that it checks. Numbers in comments are those of the page of conventions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pandas as pd

from tests.attack.series.worlds import DAYS, MONTHS, WEEKS, World

DAY = timedelta(days=1)

PER_YEAR = {"daily": 365, "business daily": 260, "weekly": 52, "biweekly": 26}  # 10
PER_YEAR |= {"monthly": 12, "quarterly": 4, "half-yearly": 2, "yearly": 1}

FEWEST = {  # 22
    ("W", "daily"): 4,
    ("W", "business daily"): 4,
    ("M", "daily"): 17,
    ("M", "business daily"): 17,
    ("M", "weekly"): 3,
    ("M", "biweekly"): 2,
    ("Q", "daily"): 52,
    ("Q", "business daily"): 52,
    ("Q", "weekly"): 10,
    ("Q", "biweekly"): 7,
    ("Q", "monthly"): 3,
    ("Y", "daily"): 208,
    ("Y", "business daily"): 208,
    ("Y", "weekly"): 39,
    ("Y", "biweekly"): 26,
    ("Y", "monthly"): 12,
    ("Y", "quarterly"): 4,
    ("Y", "half-yearly"): 2,
}

KIND_OF = {"W": "weekly", "M": "monthly", "Q": "quarterly", "Y": "yearly"}
PANDAS = {"W": "W-SUN", "Q": "Q-DEC", "Y": "Y-DEC"}


@dataclass(frozen=True)
class Asked:
    """A table that is asked for."""

    worlds: Sequence[World]
    today: date
    start: date | int | None = None
    """A day, so many rows, or all there are."""
    end: date | None = None
    freq: str = "raw"
    agg: str = "last"
    partial: str = ""
    align: str = "union"
    fill: str = "none"
    calc: str = "filled"
    transform: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def latest(self) -> date:
        """The last day asked for."""
        return self.today if self.end is None else min(self.end, self.today)

    @property
    def unit(self) -> str:
        """The frequency without the day or month that it ends with."""
        return self.freq.partition("-")[0]

    @property
    def options(self) -> str:
        """The options as a formula gives them."""
        given = {"freq": self.freq, "agg": self.agg, "align": self.align, "fill": self.fill, "calc": self.calc}
        given |= {"partial": self.partial, "transform": "|".join(self.transform), "limit": self.limit or ""}
        return "; ".join(f"{name}={value}" for name, value in given.items() if value)


@dataclass
class Rows:
    """One series on its way: values by label, and the kind of its periods with their numbers where they are known."""

    values: pd.Series
    kind: str
    numbers: list[int] = field(default_factory=list)


def table(asked: Asked) -> pd.DataFrame:
    """The table that must be shown, a column for each series."""
    rows = [_rows(asked, each) for each in asked.worlds]
    shown = [_shown(asked, each, rows_) for each, rows_ in zip(asked.worlds, rows, strict=True)]
    times = _times(asked, [each.values for each in shown])
    if asked.limit:
        times = times[-asked.limit :]
    sees_filled = asked.calc == "filled" and (asked.fill != "none" or asked.align == "intersect")
    columns = []
    for whole, part in zip(rows, shown, strict=True):
        if asked.transform and sees_filled:
            grid = _times(asked, [each.values for each in rows]).union(times)  # 17
            numbers = whole.numbers if len(grid) == len(whole.numbers) else []
            filled = Rows(_filled(whole.values, grid, asked.fill), _grid_kind(asked, whole, grid), numbers)
            columns.append(_transformed(asked, filled).reindex(times))
            continue
        values = _transformed(asked, whole) if asked.transform else whole.values
        if asked.transform and asked.fill in ("prev", "linear"):  # 25
            values = values.iloc[_one_before(values, _times(asked, [each.values for each in shown])) :]
        if asked.fill not in ("prev", "linear"):  # 25
            values = values[values.index.isin(part.values.index)]
        columns.append(_filled(values, times, asked.fill))
    return pd.concat(columns, axis=1, keys=range(len(columns)))


def _one_before(values: pd.Series, times: pd.DatetimeIndex) -> int:
    """The place of the row before the first one of the window."""
    return max(0, int(values.index.searchsorted(times[0])) - 1) if len(times) else 0


def _rows(asked: Asked, world: World) -> Rows:
    """Cut, without nulls, aggregated, parts left out."""
    cut = world.up_to(asked.end)
    values = cut.series
    computed = bool(asked.transform) or asked.freq != "raw"
    known = values.notna().to_numpy() if computed else np.ones(len(values), bool)  # 18
    numbers = [number for number, is_known in zip(cut.numbers, known, strict=True) if is_known]
    values = values[known]
    if asked.freq == "raw":
        return Rows(values, world.kind, numbers)
    periods = pd.PeriodIndex(values.index, freq=PANDAS.get(asked.freq, asked.freq))
    grouped = values.groupby(periods.asi8).agg(asked.agg)
    labels = _plain(periods.unique().end_time.normalize())  # 20
    aggregated = pd.Series(grouped.to_numpy(), index=labels)
    partial = asked.partial or ("drop" if asked.transform else "mark")  # 24
    if partial == "drop":
        first, last = _parts(asked, world.kind, values, periods)
        aggregated = aggregated.iloc[int(first) : max(int(first), len(aggregated) - last)]
    return Rows(aggregated, KIND_OF.get(asked.unit, world.kind))


def _parts(asked: Asked, kind: str, values: pd.Series, periods: pd.PeriodIndex) -> tuple[bool, bool]:
    """Whether the first and the last period are only parts: 22 and 23."""
    if not len(values):
        return False, False
    fewest = FEWEST.get((asked.unit, kind), 1)
    first, last = (int((periods == period).sum()) for period in (periods[0], periods[-1]))
    due, ends = _due(kind, values.index), periods[-1].end_time.date()
    is_newest = asked.end is None or asked.end >= asked.today
    goes_on = due <= ends and (ends > asked.latest or (kind == "several a day" and is_newest and ends >= asked.latest))
    return first < fewest, goes_on or ((is_newest or due <= asked.latest) and last < fewest)


def _due(kind: str, days: pd.DatetimeIndex) -> date:
    last: date = days[-1].date()
    if kind in WEEKS:
        return last + DAY * 7 * WEEKS[kind]
    if kind in MONTHS:
        return ((pd.Period(days[-1], "M")) + MONTHS[kind]).start_time.date()
    if kind == "several a day":
        return last
    following = last + DAY
    while kind == "business daily" and following.weekday() > 4:
        following += DAY
    return following


def _shown(asked: Asked, world: World, rows: Rows) -> Rows:
    values = rows.values
    if isinstance(asked.start, int):
        counted = values[values.notna()]
        return Rows(
            values[values.index >= counted.index[-asked.start]] if len(counted) >= asked.start else values, rows.kind
        )
    if asked.start is None:
        return rows
    first = pd.Timestamp(asked.start)
    if asked.freq != "raw":
        first = pd.Period(first, PANDAS.get(asked.freq, asked.freq)).start_time.normalize()
    return Rows(values[values.index >= first], rows.kind)


def _times(asked: Asked, series: Sequence[pd.Series]) -> pd.DatetimeIndex:
    times = series[0].index
    if asked.align == "intersect":
        times = series[0].dropna().index
        for each in series[1:]:
            times = times.intersection(each.dropna().index)
    else:
        for each in series[1:]:
            times = times.union(each.index)
    if asked.fill == "none" or asked.freq == "raw" or not len(times):
        return times
    return _plain(pd.period_range(times[0], times[-1], freq=PANDAS.get(asked.freq, asked.freq)).end_time.normalize())


def _plain(labels: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """The same labels without a frequency of their own, with which pandas joins them wrongly where one is missing."""
    return pd.DatetimeIndex(labels.to_numpy())


def _filled(values: pd.Series, rows: pd.DatetimeIndex, fill: str) -> pd.Series:
    known = values.dropna()
    match fill:
        case "prev":
            return known.reindex(rows, method="ffill")
        case "next":
            return known.reindex(rows, method="bfill")
        case "linear":
            joined = known.reindex(known.index.union(rows))
            return (joined.interpolate("time", limit_area="inside") if len(known) else joined).reindex(rows)
        case "zero":
            return known.reindex(rows).fillna(0.0)
    return known.reindex(rows)


def _grid_kind(asked: Asked, own: Rows, grid: pd.DatetimeIndex) -> str:
    if asked.unit in KIND_OF:
        return KIND_OF[asked.unit]
    if asked.unit in ("D", "B") or own.kind in DAYS:
        return "daily" if asked.unit != "B" and (grid[-64:].day_of_week > 4).any() else "business daily"
    return own.kind


def _transformed(asked: Asked, rows: Rows) -> pd.Series:
    """The chain applied to one value for each period: 5, 6, 7."""
    values = rows.values
    if not len(values):
        return values
    kind = rows.kind
    if asked.unit == "D" and kind not in DAYS:
        kind = "daily"
    if asked.unit == "B":
        kind = "business daily"
    numbers = _numbers(asked, kind, rows)
    by_period = pd.Series(values.to_numpy(), index=numbers)
    is_last = ~by_period.index.duplicated(keep="last")
    dense = by_period[is_last].reindex(range(numbers[0], numbers[-1] + 1))
    days = pd.Series(values.index, index=numbers)[is_last]
    for step in asked.transform:
        dense = STEPS[step.partition("(")[0]](dense, step, kind, days)
        dense = dense.where(dense.abs() < np.inf)
    found = dense.reindex(numbers).to_numpy()
    return pd.Series(np.where(is_last, found, np.nan), index=values.index)


def _numbers(asked: Asked, kind: str, rows: Rows) -> list[int]:
    if kind in ("several a day", "irregular"):  # 4
        return list(range(len(rows.values)))
    if kind in DAYS:  # 3
        return _observed_days(rows.values.index, kind)
    if asked.freq != "raw":
        return list(pd.PeriodIndex(rows.values.index, freq=PANDAS.get(asked.freq, asked.freq)).asi8)
    if rows.numbers:
        return rows.numbers
    days = rows.values.index
    if kind in MONTHS:
        return list(pd.PeriodIndex(days, freq="M").asi8)
    return [round((day - days[0]).days / (7 * WEEKS[kind])) for day in days]


def _observed_days(index: pd.DatetimeIndex, kind: str) -> list[int]:
    days = [each.date() for each in index]
    found = [0]
    for before, day in pairwise(days):
        pause = (day - before).days
        if pause > 10:
            pause = int(np.busday_count(_weekday(before), _weekday(day))) if kind == "business daily" else pause
            found.append(found[-1] + max(1, pause))
        else:
            found.append(found[-1] + 1)
    return found


def _weekday(day: date) -> date:
    """The day itself, or the Monday after a weekend."""
    return day + DAY * (7 - day.weekday()) if day.weekday() > 4 else day


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


def _base(dense: pd.Series, step: str, kind: str, days: pd.Series) -> pd.Series:
    span = _span(step, kind)
    if isinstance(span, int):
        return dense.shift(span)
    anchors = [_anchor(day, int(span), kind) for day in days]
    known = dense[days.index].dropna()
    moments = list(days[known.index])
    found = []
    for anchor in anchors:
        place = bisect_right(moments, anchor) - 1
        is_near = place >= 0 and (anchor.normalize() - moments[place].normalize()).days <= 10
        found.append(known.iloc[place] if is_near else np.nan)
    return pd.Series(found, index=days.index, dtype=float).reindex(dense.index)


@lru_cache(maxsize=200_000)
def _anchor(day: pd.Timestamp, months: int, kind: str) -> pd.Timestamp:
    """The same day of the month earlier, or that month's last; a last day goes to a last day."""
    month = pd.Period(day, "M") - months
    is_last = (day + DAY).month != day.month
    earlier = month.start_time + DAY * ((month.days_in_month if is_last else min(day.day, month.days_in_month)) - 1)
    if kind == "several a day":
        return earlier + (day - day.normalize())
    return earlier + pd.Timedelta(days=1, microseconds=-1)


def _positive(values: pd.Series) -> pd.Series:
    return values.where(values > 0)


def _annual(dense: pd.Series, step: str, kind: str, days: pd.Series) -> pd.Series:
    inside = step.partition("(")[2].rstrip(")") or "1"
    times = 12 / int(inside[:-1]) if inside.endswith("M") else PER_YEAR[kind] / int(inside)
    return (_positive(dense) / _positive(_base(dense, step, kind, days))) ** times - 1


def _rolling(
    dense: pd.Series, step: str, kind: str, days: pd.Series, figure: Callable[[pd.Series], float]
) -> pd.Series:
    span = _span(step, kind)
    if isinstance(span, int):
        places = [(end - span + 1, end) for end in range(len(dense))]
    else:  # 9: what lies after the anchor
        offset, moments, slots = dense.index[0], list(days), list(days.index)
        places = [(1, 0)] * len(dense)
        for slot, day in zip(slots, moments, strict=True):
            anchor = _anchor(day, int(span), kind)
            if anchor.normalize() + pd.Timedelta(days=10) >= moments[0].normalize():
                places[slot - offset] = (slots[bisect_right(moments, anchor)] - offset, slot - offset)
    values, found = dense.to_numpy(), np.full(len(dense), np.nan)
    for place, (start, end) in enumerate(places):
        window = values[start : end + 1]
        if 0 <= start <= end and not np.isnan(window).any():
            found[place] = figure(window)
    return pd.Series(found, index=dense.index)


def _score(window: np.ndarray) -> float:
    away = window - window[0]
    deviation = away.std(ddof=1)
    return float((away[-1] - away.mean()) / deviation) if deviation > 0 else np.nan


def _rank(window: np.ndarray) -> float:
    return float(((window < window[-1]).sum() + ((window == window[-1]).sum() + 1) / 2) / len(window))


def _ewm(dense: pd.Series, step: str) -> pd.Series:
    span = int(step[4:-1])
    return dense.ewm(span=span, adjust=False).mean().where(dense.notna())  # 13


Step = Callable[[pd.Series, str, str, pd.Series], pd.Series]

STEPS: dict[str, Step] = {
    "pct": lambda v, s, k, d: v / _positive(_base(v, s, k, d)) - 1,
    "yoy": lambda v, s, k, d: v / _positive(_base(v, s, k, d)) - 1,
    "mom": lambda v, s, k, d: v / _positive(_base(v, s, k, d)) - 1,
    "diff": lambda v, s, k, d: v - _base(v, s, k, d),
    "yoydiff": lambda v, s, k, d: v - _base(v, s, k, d),
    "lag": _base,
    "ann": _annual,
    "log": lambda v, _s, _k, _d: np.log(_positive(v)),
    "ma": lambda v, s, k, d: _rolling(v, s, k, d, np.mean),
    "sum": lambda v, s, k, d: _rolling(v, s, k, d, np.sum),
    "median": lambda v, s, k, d: _rolling(v, s, k, d, np.median),
    "std": lambda v, s, k, d: _rolling(v, s, k, d, lambda w: float(w.std(ddof=1))),
    "zscore": lambda v, s, k, d: _rolling(v, s, k, d, _score),
    "rank": lambda v, s, k, d: _rolling(v, s, k, d, _rank),
    "ewm": lambda v, s, _k, _d: _ewm(v, s),
}
