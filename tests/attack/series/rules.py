"""The conventions written down a second time, over pandas' periods: what a table must show.

Nothing here knows the code that it checks. Numbers in comments are those of the page of conventions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from tests.attack.series.steps import ANCHORED, LONGEST, STEPS, Periods
from tests.attack.series.worlds import DAYS, MONTHS, WEEKS, Array, World

DAY = timedelta(days=1)
ONE_DAY = np.timedelta64(1, "D")


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
    count: str = "periods"
    fillto: str = "last"

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
        given |= {"count": self.count, "fillto": self.fillto}
        return "; ".join(f"{name}={value}" for name, value in given.items() if value)


@dataclass(frozen=True)
class Rows:
    """One series on its way: sorted times and values, the kind of its periods, and their numbers where known."""

    times: Array
    values: Array
    kind: str
    numbers: Array | None = None

    def cut(self, kept: Any) -> Rows:
        """The rows of a mask or slice."""
        return Rows(
            self.times[kept], self.values[kept], self.kind, None if self.numbers is None else self.numbers[kept]
        )


def table(asked: Asked) -> tuple[Array, list[Array]]:
    """The table that must be shown: the dates of its rows, and the values of each series."""
    rows = [_rows(asked, each) for each in asked.worlds]
    common = reduce(np.intersect1d, [each.times[~np.isnan(each.values)] for each in rows])  # 32
    shown = [_shown(asked, each, common if asked.align == "intersect" else None) for each in rows]
    window = _times(asked, shown)
    times = _to_end(asked, window, rows)
    if asked.freq != "raw":
        window = times
    if asked.limit:
        times = times[-asked.limit :]
    sees_filled = asked.calc == "filled" and (asked.fill != "none" or asked.align == "intersect")
    grid = np.union1d(_times(asked, rows), window)  # 17
    seen = [_on_grid(asked, each, grid) if sees_filled else each for each in rows]
    begins = [window[:1] if sees_filled else each.times[:1] for each in shown]
    base = _base_day(seen, begins, times)
    sources = seen if asked.transform else rows
    made_of = [_made(asked, own, begin, base) for own, begin in zip(sources, begins, strict=True)]
    if asked.transform and asked.transform[-1].startswith("corr"):
        made_of = [_correlated(each, made_of[0], int(asked.transform[-1][5:-1])) for each in made_of]
    columns = []
    for part, made in zip(shown, made_of, strict=True):
        if asked.transform and sees_filled:
            if asked.freq == "raw" and asked.fillto == "end" and len(made.times) and made.times[-1] < times[-1]:  # 26
                made = Rows(np.append(made.times, times[-1]), np.append(made.values, made.values[-1]), made.kind)
            columns.append(_filled(made, times, "none"))
            continue
        if asked.fill not in ("prev", "linear"):  # 25
            made = made.cut(np.isin(made.times, part.times))
        elif asked.transform:  # 25
            made = made.cut(slice(max(0, int(np.searchsorted(made.times, window[0])) - 1) if len(window) else 0, None))
        columns.append(_filled(made, times, asked.fill))
    return times, columns


def _rows(asked: Asked, world: World) -> Rows:
    """Cut, without nulls, aggregated, parts left out."""
    rows = Rows(world.labels, world.values, world.kind, world.numbers)
    if asked.end is not None:
        rows = rows.cut(rows.times < np.datetime64(asked.end + DAY))
    if asked.transform or asked.freq != "raw":  # 18
        rows = rows.cut(~np.isnan(rows.values))
    if asked.freq == "raw" or not len(rows.times):
        return rows
    periods = _periods(asked, rows.times)
    begins = np.append(True, periods.asi8[1:] != periods.asi8[:-1])
    cuts, values = [*np.flatnonzero(begins).tolist(), len(begins)], rows.values.tolist()
    aggregated = [AGGREGATES[asked.agg](values[begin:end]) for begin, end in pairwise(cuts)]
    found = Rows(_labels(periods[begins]), np.array(aggregated), KIND_OF.get(asked.unit, world.kind))
    partial = asked.partial or ("drop" if asked.transform else "mark")  # 24
    if partial != "drop":
        return found
    first, last = _parts(asked, world.kind, rows.times, periods)
    return found.cut(slice(int(first), max(int(first), len(aggregated) - last)))


def _made(asked: Asked, rows: Rows, begin: Array, base: np.datetime64 | None) -> Rows:
    return Rows(rows.times, _transformed(asked, rows, begin, base), rows.kind) if asked.transform else rows


def _correlated(one: Rows, other: Rows, count: int) -> Rows:
    """The correlation over the last rows on which both have a value: 16."""
    both = [each.cut(~np.isnan(each.values)) for each in (one, other)]
    times, *places = np.intersect1d(both[0].times, both[1].times, return_indices=True)
    first, second = (pd.Series(each.values[place]) for each, place in zip(both, places, strict=True))
    found = [
        np.corrcoef(first[end - count : end], second[end - count : end])[0, 1]
        if end >= count and first[end - count : end].nunique() > 1 and second[end - count : end].nunique() > 1
        else np.nan
        for end in range(1, len(times) + 1)
    ]
    return Rows(times, np.array(found, float), one.kind)


def _on_grid(asked: Asked, whole: Rows, grid: Array) -> Rows:
    kind, numbers = _grid_kind(asked, whole, grid), whole.numbers
    numbers = numbers if numbers is not None and len(grid) == len(numbers) else None
    return Rows(grid, _filled(whole, grid, asked.fill), kind, numbers)


def _base_day(seen: Sequence[Rows], begins: Sequence[Array], times: Array) -> np.datetime64 | None:
    """The end of the first day shown by which all series have a value: the base of an index, 14."""
    days = []
    for rows, begin in zip(seen, begins, strict=True):
        is_shown = ~np.isnan(rows.values)
        for first in (begin, times[:1]):
            is_shown &= rows.times >= first[0] if len(first) else False
        days += [rows.times[is_shown][0].astype("datetime64[D]")] if is_shown.any() else []
    return max(days) + ONE_DAY if days else None


def _to_end(asked: Asked, times: Array, rows: Sequence[Rows]) -> Array:
    """The rows up to the end asked for: 26."""
    known = [each.times[~np.isnan(each.values)] for each in rows]
    known = [each for each in known if len(each)]
    if asked.fillto == "last" or not known:
        return times
    end = np.datetime64(asked.latest, "us")
    if asked.freq == "raw":
        return times if len(times) and times[-1] >= end else np.append(times, end)
    first = times[0] if len(times) else end
    if isinstance(asked.start, date):
        first = min(first, max(np.datetime64(asked.start, "us"), min(each[0] for each in known)))
    ends = _periods(asked, np.array([first, max(end, times[-1]) if len(times) else end]))
    return _labels(pd.period_range(ends[0], ends[-1]))


AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "mean": lambda values: sum(values) / len(values),
    "sum": sum,
    "min": min,
    "max": max,
}


def _periods(asked: Asked, times: Array) -> pd.PeriodIndex:
    return pd.PeriodIndex(pd.DatetimeIndex(times), freq=PANDAS.get(asked.freq, asked.freq))


def _labels(periods: pd.PeriodIndex) -> Array:
    """A period is labelled by its last day: 20."""
    days = periods.asfreq("D", how="end").asi8
    found: Array = days.astype("datetime64[D]").astype("datetime64[us]")
    return found


def _parts(asked: Asked, kind: str, times: Array, periods: pd.PeriodIndex) -> tuple[bool, bool]:
    """Whether the first and the last period are only parts: 22 and 23."""
    fewest, numbers = FEWEST.get((asked.unit, kind), 1), periods.asi8
    first, last = (int((numbers == numbers[place]).sum()) for place in (0, -1))
    due, ends = _due(kind, times[-1]), periods[-1].end_time.date()
    is_newest = asked.end is None or asked.end >= asked.today
    goes_on = due <= ends and (ends > asked.latest or (kind == "several a day" and is_newest and ends >= asked.latest))
    return first < fewest, goes_on or ((is_newest or due <= asked.latest) and last < fewest)


def _due(kind: str, time: np.datetime64) -> date:
    last: date = time.astype("datetime64[D]").item()
    if kind in WEEKS:
        return last + DAY * 7 * WEEKS[kind]
    if kind in MONTHS:
        month = last.year * 12 + last.month - 1 + MONTHS[kind]
        return date(month // 12, month % 12 + 1, 1)
    if kind == "several a day":
        return last
    following = last + DAY
    while kind == "business daily" and following.weekday() > 4:
        following += DAY
    return following


def _shown(asked: Asked, rows: Rows, common: Array | None) -> Rows:
    """The rows from the start on."""
    if asked.start is None:
        return rows
    if isinstance(asked.start, int):
        counted = rows.times[~np.isnan(rows.values)] if common is None else common
        return rows.cut(rows.times >= counted[-asked.start]) if len(counted) >= asked.start else rows
    first = np.datetime64(asked.start, "us")
    if asked.freq != "raw":
        period = pd.Period(pd.Timestamp(asked.start), PANDAS.get(asked.freq, asked.freq))
        first = np.datetime64(period.start_time.date(), "us")
    return rows.cut(rows.times >= first)


def _times(asked: Asked, series: Sequence[Rows]) -> Array:
    if asked.align == "intersect":
        times = reduce(np.intersect1d, [each.times[~np.isnan(each.values)] for each in series])
    else:
        times = reduce(np.union1d, [each.times for each in series])
    if asked.fill == "none" or asked.freq == "raw" or not len(times):
        return times
    ends = _periods(asked, times[[0, -1]])
    return _labels(pd.period_range(ends[0], ends[-1]))


def _filled(rows: Rows, times: Array, fill: str) -> Array:
    is_known = ~np.isnan(rows.values)
    known, values = rows.times[is_known], rows.values[is_known]
    if not len(known):
        return np.full(len(times), 0.0 if fill == "zero" else np.nan)
    if fill == "linear":
        return np.interp(times.astype(np.int64), known.astype(np.int64), values, left=np.nan, right=np.nan)
    before, after = np.searchsorted(known, times, "right") - 1, np.searchsorted(known, times)
    found = np.where(before >= 0, values[before], np.nan)
    is_there = (before >= 0) & (known[before] == times)
    match fill:
        case "prev":
            return found
        case "next":
            return np.append(values, np.nan)[after]
    return np.where(is_there, found, 0.0 if fill == "zero" else np.nan)


def _grid_kind(asked: Asked, own: Rows, grid: Array) -> str:
    if asked.unit in KIND_OF:
        return KIND_OF[asked.unit]
    if asked.unit == "B":
        return "business daily"
    if asked.unit == "D" and (asked.fill != "none" or any(each.kind not in DAYS for each in asked.worlds)):  # 19, 28
        return "daily"
    if asked.unit == "D" or own.kind in DAYS:
        return "daily" if (_weekdays(grid[-64:]) > 4).any() else "business daily"
    return own.kind


def _weekdays(times: Array) -> Array:
    return (times.astype("datetime64[D]").astype(np.int64) + 3) % 7


def _transformed(asked: Asked, rows: Rows, begin: Array, base: np.datetime64 | None) -> Array:
    """The chain applied to one value for each period, for each row: 5, 6, 7."""
    if not len(rows.times):
        return rows.values
    kind = rows.kind
    if asked.unit == "D" and kind not in DAYS:
        kind = "daily"
    if asked.unit == "B":
        kind = "business daily"
    if asked.count == "rows":  # 7
        kind = "irregular"
    numbers = _numbers(asked, kind, rows)
    is_last = np.append(numbers[1:] != numbers[:-1], True)
    places = numbers[is_last] - numbers[0]
    dense = np.full(places[-1] + 1, np.nan)
    dense[places] = rows.values[is_last]
    periods = Periods(kind, dense, rows.times[is_last], places, base)
    with np.errstate(all="ignore"):
        for step in asked.transform:
            if step.startswith("corr"):
                break
            if step.partition("(")[0] in ANCHORED:
                periods = periods.from_time(begin)
            found = STEPS[step.partition("(")[0]](periods, step)
            periods = periods.with_values(np.where(np.abs(found) < np.inf, found, np.nan))
    return np.where(is_last, periods.values[numbers - numbers[0]], np.nan)


def _numbers(asked: Asked, kind: str, rows: Rows) -> Array:
    if kind in ("several a day", "irregular"):  # 4
        return np.arange(len(rows.times))
    if kind in DAYS:  # 3
        return _observed_days(rows.times, kind)
    if asked.freq != "raw":
        return np.asarray(_periods(asked, rows.times).asi8)
    if rows.numbers is not None:
        return rows.numbers
    if kind in MONTHS:
        return np.asarray(pd.PeriodIndex(pd.DatetimeIndex(rows.times), freq="M").asi8)
    days = rows.times.astype("datetime64[D]")
    return np.rint((days - days[0]) / ONE_DAY / (7 * WEEKS[kind])).astype(int)


def _observed_days(times: Array, kind: str) -> Array:
    """Days as they are observed; a longer pause counts its weekdays or days."""
    days = times.astype("datetime64[D]")
    steps = np.ones(len(days), np.int64)
    for place in np.flatnonzero(np.diff(days) > LONGEST).tolist():
        before, after = days[place], days[place + 1]
        weekdays = np.busday_count(*np.busday_offset([before, after], 0, roll="forward"))
        steps[place + 1] = max(1, int(weekdays if kind == "business daily" else (after - before) / ONE_DAY))
    return np.cumsum(steps) - 1
