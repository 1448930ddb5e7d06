"""Series that were found, as one table: cut, aggregated, transformed, aligned on common rows, filled, and laid out.

A filled value always comes from the series' own values; the last one before the first row counts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dataservice.observations import Observations
from udfs.arguments.dates import Last, StartOf, first_day
from udfs.arguments.kinds import Explained
from udfs.cells import Table, midnights, objects
from udfs.errors import ArgumentError, CellError
from udfs.timeseries.coverage import Known, Lead, Window
from udfs.timeseries.pipeline import Step, lead_of, transformed
from udfs.timeseries.resample import Agg, Freq, Times, all_periods, known_only, resampled

Values: TypeAlias = NDArray[np.float64] | CellError
NamedColumns: TypeAlias = list[tuple[str, NDArray[Any]]]

DATE = "date"
"""The column that the rows are dated by."""


class Align(Explained):
    """Which rows several series have in common."""

    UNION = "union", "every date of any"
    INTERSECT = "intersect", "dates on which all have a value"


class Fill(Explained):
    """How gaps are filled."""

    NONE = "none", "a blank"
    PREV = "prev", "with the previous value, even from before the start"
    NEXT = "next", "the value after"
    LINEAR = "linear", "a value between, by time"
    ZERO = "zero", "0"


LOOKS_BACK = frozenset({Fill.PREV, Fill.LINEAR})
"""Fills that may take a value from before the first row shown; all others use only what is shown."""


class Order(Explained):
    """Which row is first."""

    ASC = "asc", "oldest"
    DESC = "desc", "newest"


class Header(Explained):
    """What stands above a column of values."""

    SLUG = "slug", "slugs"
    NAME = "name", "names"
    NONE = "none", "no header row"


class Dates(Explained):
    """Whether there is a column of dates."""

    SHOW = "show"
    HIDE = "hide"


class Layout(Explained):
    """One column for each series, or one row for each value."""

    WIDE = "wide", "a column for each signal"
    LONG = "long", "a row for each value"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How a history is shown, by the names of the options; the defaults are the observations as they are."""

    freq: Freq = Freq.RAW
    agg: Agg = Agg.LAST
    fill: Fill = Fill.NONE
    align: Align = Align.UNION
    transform: tuple[Step, ...] = ()
    order: Order = Order.ASC
    header: Header = Header.SLUG
    dates: Dates = Dates.SHOW
    limit: int | None = None
    layout: Layout = Layout.WIDE

    def heading(self, label: str) -> str:
        """What stands above the values of a series: its label, and how its periods were made one value."""
        return label if self.freq is Freq.RAW else f"{label} ({self.agg})"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One column of a table: its label, its rows or why there are none, and the first day shown (None: all rows).

    Rows before that day are only those that a fill may take its first value from.
    """

    label: str
    rows: Observations | CellError
    starts: date | None = None

    @property
    def first_day(self) -> date | None:
        """The first day shown; None where no row is."""
        if not isinstance(self.rows, Observations) or not self.shows_rows:
            return None
        return self.starts or self.rows.first_day

    @property
    def shows_rows(self) -> bool:
        """Whether there is a row to show, and not only one to fill from."""
        return isinstance(self.rows, Observations) and len(self.rows.between(self.starts)) > 0


def window_for(start: StartOf, end: date | None, today: date, options: TableOptions) -> Window:
    """What must be known for the rows asked for: transforms look back, and so does a fill from the value before.

    Raises `ArgumentError` where `start` lies after `end`.
    """
    first = first_day(start, today if end is None else min(end, today))
    if first is not None and end is not None and first > end:
        raise ArgumentError(f"start {first} lies after end {end}")
    lead = lead_of(options.transform)
    if options.fill in LOOKS_BACK:
        lead += Lead(rows=1)
    return Window(first, end, start.count if isinstance(start, Last) else None, options.freq, lead)


def rows_of(known: Known, window: Window, options: TableOptions) -> tuple[Observations, date | None]:
    """The aggregated and transformed rows up to the window's end, and the first day to be shown."""
    starts = window.starts(known)
    observations = known.observations.between(None, window.last)
    if options.transform or options.freq is not Freq.RAW:
        observations = known_only(observations)
    rows = window.with_lead(resampled(observations, options.freq, options.agg), starts)
    if not options.transform:
        return rows, starts
    anchored = any(step.transform.anchored for step in options.transform)
    return transformed(rows, options.transform, starts if anchored else None), starts


def window_to_fill(window: Window, columns: Sequence[Labelled], options: TableOptions) -> Window | None:
    """What must be known to fill rows that only some series show: each of `N60` begins with its own 60th observation.

    None where no fill looks back, or where an anchored transform has no values before its own start.
    """
    days = {day for column in columns if (day := column.first_day) is not None}
    anchored = any(step.transform.anchored for step in options.transform)
    if window.count is None or options.fill not in LOOKS_BACK or len(days) < 2 or anchored:
        return None
    return replace(window, first=min(days), count=None)


def history_table(columns: Sequence[Labelled], latest: date, options: TableOptions) -> Table:
    """The table: a `date` column and a column for each series, or `date`, `signal`, `value` in the long layout.

    `latest` is the last day that was asked for: the period in which it lies is dated by it, because it may go on.
    """
    found = [(column.rows, column.starts) for column in columns if isinstance(column.rows, Observations)]
    series = by_day([rows for rows, _ in found])
    shown = [rows.between(starts) for rows, (_, starts) in zip(series, found, strict=True)]
    times = row_times(shown, options.align, options.fill, options.freq)
    if options.limit is not None:
        times = times[-options.limit :]
    if options.order is Order.DESC:
        times = times[::-1]
    sources = series if options.fill in LOOKS_BACK else shown
    values = iter([filled(rows, times, options.fill) for rows in sources])
    data = [next(values) if isinstance(column.rows, Observations) else column.rows for column in columns]
    build = _long if options.layout is Layout.LONG else _wide
    found_columns = build([column.label for column in columns], dated(times, latest, options.freq), data, options)
    names = tuple(name for name, _ in found_columns)
    first = -1 if options.layout is Layout.LONG else -len(columns)  # before it stands what the values belong to
    return Table(
        (*names[:first], *map(options.heading, names[first:])),
        tuple(values for _, values in found_columns),
        shows_header=options.header is not Header.NONE,
        dated_by=DATE if options.dates is Dates.SHOW else None,
        names=names,
    )


def by_day(series: Sequence[Observations]) -> list[Observations]:
    """The series dated by the day if none has two observations on one day; else as they are.

    So a daily series stamped 16:00 and one stamped 00:00 share their rows.
    """
    days = [midnights(one.times) for one in series]
    if any(bool(np.any(each[1:] == each[:-1])) for each in days):
        return list(series)
    return [Observations(each, one.values) for each, one in zip(days, series, strict=True)]


def row_times(series: Sequence[Observations], align: Align, fill: Fill, freq: Freq) -> Times:
    """The dates of the rows, oldest first.

    `union`: every date of any series; `intersect`: those on which all have a value. With a frequency and a fill,
    every period from the first of these to the last has a row; without a fill, periods without observations have none.
    """
    times = np.empty(0, "datetime64[us]")
    match align:
        case Align.UNION:
            # One series is sorted already, and making its times unique would take longer than all the rest.
            if len(series) == 1:
                times = series[0].times
            else:
                times = np.unique(np.concatenate([times, *(one.times for one in series)]))
        case Align.INTERSECT:
            for place, one in enumerate(map(known_only, series)):
                times = one.times if place == 0 else np.intersect1d(times, one.times, assume_unique=True)
        case _:
            assert_never(align)
    if fill is Fill.NONE or freq is Freq.RAW or not len(times):
        return times
    return all_periods(times[0], times[-1], freq)


def filled(series: Observations, rows: Times, fill: Fill) -> NDArray[np.float64]:
    """The values of `series` on `rows`, NaN where there is none after filling.

    `linear` is by time between two values, and blank outside them.
    """
    known = known_only(series)
    if len(known) == len(rows) and np.array_equal(known.times, rows):  # one series without a gap: nothing to look for
        return known.values
    after = np.searchsorted(known.times, rows)
    before = np.searchsorted(known.times, rows, side="right") - 1
    values = np.append(known.values, np.nan)
    exact = np.where(after <= before, values[before], np.nan)
    match fill:
        case Fill.NONE:
            return exact
        case Fill.PREV:
            return np.where(before >= 0, values[before], np.nan)
        case Fill.NEXT:
            return values[after]
        case Fill.ZERO:
            return np.where(np.isnan(exact), 0.0, exact)
        case Fill.LINEAR:
            if not len(known):
                return exact
            x, xp = rows.astype(np.int64), known.times.astype(np.int64)
            return np.where(after <= before, exact, np.interp(x, xp, known.values, left=np.nan, right=np.nan))
        case _:
            assert_never(fill)


def dated(times: Times, latest: date, freq: Freq) -> Times:
    """The labels of periods; the period that `latest` lies in is dated by it, because it may go on."""
    if freq is Freq.RAW:
        return times
    day = np.datetime64(latest, "us")
    return np.where(times == all_periods(day, day, freq)[0], day, times)


def _wide(labels: Sequence[str], times: Times, data: Sequence[Values], options: TableOptions) -> NamedColumns:
    height = max(len(times), int(any(isinstance(values, CellError) for values in data)))
    columns: NamedColumns = [(DATE, _padded(times, height))] if options.dates is Dates.SHOW else []
    for label, values in zip(labels, data, strict=True):
        shown = _error_column(values, height) if isinstance(values, CellError) else values
        columns.append((label, shown))
    return columns


def _long(labels: Sequence[str], times: Times, data: Sequence[Values], options: TableOptions) -> NamedColumns:
    """One row a value, by date and then in the order asked for; errors first, values that are missing left out."""
    failed = [(label, values) for label, values in zip(labels, data, strict=True) if isinstance(values, CellError)]
    found = [(label, values) for label, values in zip(labels, data, strict=True) if not isinstance(values, CellError)]
    matrix = np.column_stack([values for _, values in found]) if found else np.empty((0, 0))
    rows, places = np.nonzero(~np.isnan(matrix))
    numbers = matrix[rows, places]
    value = objects([*(error for _, error in failed), *numbers.tolist()]) if failed else numbers
    names = [*(label for label, _ in failed), *(found[place][0] for place in places)]
    dates = np.concatenate([np.full(len(failed), np.datetime64("NaT"), "datetime64[us]"), times[rows]])
    columns: NamedColumns = [(DATE, dates)] if options.dates is Dates.SHOW else []
    return [*columns, ("signal", objects(names)), ("value", value)]


def _padded(times: Times, height: int) -> Times:
    if len(times) == height:
        return times
    return np.concatenate([times, np.full(height - len(times), np.datetime64("NaT"), "datetime64[us]")])


def _error_column(error: CellError, height: int) -> NDArray[Any]:
    """The error in the first row, blanks below: the other columns still show."""
    column = np.full(height, None, object)
    column[0] = error
    return column
