"""The tool about the past of signals: one by itself, or several on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

from addin.mcp.tool import Found, Schema, tool
from addin.mcp.tools.many import (
    CORRELATION,
    SERIES,
    SLUGS,
    STATISTICS,
    about_signal,
    described,
    one_or_many,
    rows_of,
    statistics_of,
)
from addin.mcp.tools.rows import ROWS, rows_of_observations
from addin.mcp.tools.signals import SLUG
from dataservice.client.contract.dates import DAYS, MONTHS, Back
from dataservice.observations import Observations
from udfs.arguments.dates import Day, Last, Max, Start, StartOf, as_day
from udfs.arguments.kinds import Count, Flag, OneOf
from udfs.cells import Table
from udfs.functions.signal_history import SIGNAL_HISTORY
from udfs.records.resolve import need_detail
from udfs.timeseries.compute import Columns, Ending, dated, series_of_table
from udfs.timeseries.coverage import recent
from udfs.timeseries.frequency import Freq, Frequency
from udfs.timeseries.loader import Series, no_observations
from udfs.timeseries.options import Align, TableOptions
from udfs.timeseries.pipeline import Chain, Steps
from udfs.timeseries.resample import Agg
from udfs.timeseries.table import window_for
from udfs.timeseries.transforms import TRANSFORMS
from udfs.timeseries.vintages import Vintage, observed_as_of, series_of

START = Start(
    help="the first day: 2020-01-31, or counted back from end or else today: -30D -8W -6M -4Q -5Y -6H, MTD, QTD, YTD; "
    "MAX is all there is; N60 the last 60 rows. Left out: as far back as limit reaches",
    example="-5Y",
)

END = Day(
    help="the last day: 2024-12-31, or relative to today such as -1Y; left out: the newest",
    example="2024-12-31",
    timed=True,
)

FREQ = Frequency(help="one row for each period, computed here at no cost; W-FRI, Q-JAN, Y-MAR end otherwise")

AGG = OneOf(members=Agg, help="how the values within a period are combined")

AS_OF = Day(help="as known at the end of that day (UTC) by looks made here; costs nothing", example="2026-06-30")

TRANSFORM = Chain(
    help="computed here at no cost, several joined by |: " + ", ".join(each.form for each in TRANSFORMS.values()),
    example="yoy|ma(3)",
)

STATISTICS_TOO = Flag(help="add statistics of each column and their correlations; costs nothing")

TOTALS: dict[str, Schema] = {
    "slug": {"type": "string"},
    "total": {"type": "integer", "description": "how many rows the window has, as far as it is known"},
    "total_is_all": {
        "type": "boolean",
        "description": "false where no start was given and older observations than these may exist",
    },
}


@tool(
    title="Read the observations of one or several signals",
    result={**TOTALS, **ROWS, "series": SERIES, "statistics": STATISTICS, "correlation": CORRELATION},
    optional=frozenset({"slug", "series", "statistics", "correlation"}),
    others=("series",),
    may_spend_many=True,
)
async def get_observations(
    slug: Annotated[str | None, SLUG] = None,
    slugs: Annotated[Sequence[str] | None, SLUGS] = None,
    start: Annotated[StartOf | None, START] = None,
    end: Annotated[date | None, END] = None,
    limit: Annotated[int, Count(help="show at most so many rows, the newest ones", most=10_000)] = 100,
    freq: Annotated[Freq, FREQ] = Freq.RAW,
    agg: Annotated[Agg, AGG] = Agg.LAST,
    transform: Annotated[Steps | None, TRANSFORM] = None,
    as_of: Annotated[date | None, AS_OF] = None,
    align: Annotated[Align, OneOf(members=Align, help="which rows of several signals to show")] = Align.UNION,
    statistics: Annotated[bool, STATISTICS_TOO] = False,
    *,
    today: date,
    now: float,
) -> Found:
    """A signal's observations in a window of days, oldest first; the newest 100 unless told otherwise.

    With slugs in place of slug, several signals as columns on one time axis, and on request their statistics and
    correlations; series says of each its unit, source and dates. The recent 365 observations cost one request a
    signal, longer windows one for every 1,000 observations, and only what is not at hand already.
    Let freq and transform do the arithmetic: they cost nothing and keep answers small.
    """
    names = one_or_many(slug, slugs)
    if names is not None or statistics:
        given = {"freq": freq, "agg": agg, "align": align, "transform": transform and (transform,), "asof": as_of}
        options_given = {name: value for name, value in given.items() if value is not None}
        asked = names or [slug or ""]
        table = await SIGNAL_HISTORY.udf.body(
            asked, start or _as_many(limit, freq), end, options_given, today=today, now=now
        )
        return await _together(asked, table, limit, statistics=statistics)
    return await _of_one(slug or "", start, end, limit, (freq, agg, transform or ()), as_of, (today, now))


async def _together(names: Sequence[str], table: Table, limit: int, *, statistics: bool) -> Found:
    """The columns of several signals, with what they are and, if wished, what they say of each other."""
    total = len(table.columns[0])
    members = {"total": total, "total_is_all": True, "series": await described(names, table), **rows_of(table, limit)}
    if statistics:
        members.update(statistics_of(names, table))
    more = f"{total} rows in all: raise limit, choose a coarser freq, or give start and end"
    return Found(members, more if total > limit else None)


def _as_many(limit: int, freq: Freq) -> StartOf:
    """Where a window of so many rows starts."""
    return Back(limit, freq.unit) if freq.unit in MONTHS.keys() | DAYS.keys() and limit < MOST_PERIODS else Last(limit)


MOST_PERIODS = 1_000
"""Periods that lie behind any signal's first observation."""


async def _of_one(
    slug: str,
    start: StartOf | None,
    end: date | None,
    limit: int,
    made: tuple[Freq, Agg, Steps],
    as_of: date | None,
    at: tuple[date, float],
) -> Found:
    """The observations of one signal."""
    (freq, agg, steps), (today, now) = made, at
    options = TableOptions(freq=freq, agg=agg)
    vintage = Vintage(as_of if as_of is not None and as_of < today else None)
    today = vintage.day(today)
    since = start or await _start(slug, end, limit, options, vintage)
    window = window_for(since, end, today, options, steps, now=now)
    ending = Ending.of(None if end is None else as_day(end), today)
    series = await series_of(slug, window, today, vintage)
    table = Columns([series_of_table(series.slug, series.known, window, steps, options, ending)], options, ending)
    if not len(table.times):
        raise no_observations(series, window.starts(series.known), window.last)
    whole = start is not None and not isinstance(start, Last)
    total = len(table.times) if whole else _rows_at_hand(series, end, today, options, steps)
    total_is_all = whole or series.known.since == date.min
    shown = Observations(dated(table.times, ending.latest, freq), table.values[0])[-limit:]
    members: dict[str, Any] = {"slug": series.slug, "total": total, "total_is_all": total_is_all}
    members["series"] = [await about_signal(series.slug)]
    computed = bool(steps) or (not freq.is_raw and agg in (Agg.MEAN, Agg.SUM))
    heading = options.heading(series.slug, steps, table.marks[0])
    members.update(rows_of_observations(shown, heading, computed=computed))
    return Found(members, _more(total, len(shown), total_is_all=total_is_all))


async def _start(slug: str, end: date | None, limit: int, options: TableOptions, vintage: Vintage) -> StartOf:
    """Where a window of `limit` rows starts: of periods, counted back from the newest observation."""
    if options.freq.unit not in MONTHS.keys() | DAYS.keys():
        return Last(limit)
    if vintage.as_of is None:
        newest = recent((await need_detail(slug)).value).observations
        if not len(newest):
            return Max()
        last = newest.last_day if end is None else min(as_day(end), newest.last_day)
    else:
        last = as_day((await observed_as_of(slug, end, vintage, with_previous=False)).moment)
    try:
        return Back(limit, options.freq.unit).from_day(last)
    except (OverflowError, ValueError):  # before the year 1
        return Max()


def _rows_at_hand(series: Series, end: date | None, today: date, options: TableOptions, steps: Steps) -> int:
    """How many rows of all that is known of the series lie before the end of the window."""
    window, ending = (
        window_for(Max(), end, today, options, steps),
        Ending.of(None if end is None else as_day(end), today),
    )
    made = series_of_table(series.slug, series.known, window, steps, options, ending)
    return len(made.shown)


def _more(total: int, shown: int, *, total_is_all: bool) -> str | None:
    if total > shown:
        counted = f"{total} rows in all" if total_is_all else f"{total} rows at hand, and there may be older ones"
        return f"{counted}: raise limit, choose a coarser freq, or give start and end"
    return None if total_is_all else "there may be older ones: give a start such as -10Y or MAX"
