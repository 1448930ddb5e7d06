"""The tool for a signal's past: a window of observations, the newest of them first in line where not all are shown."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import numpy as np

from addin.mcp.tool import Found, Schema, tool
from addin.mcp.tools.signals import ROWS, SLUG, rows_of_observations
from dataservice.observations import Observations
from udfs.arguments.dates import Back, Day, Last, Max, Start, StartOf, first_day
from udfs.arguments.kinds import Choice, Count, Text
from udfs.errors import ArgumentError
from udfs.records.resolve import need_detail
from udfs.timeseries.coverage import Window, recent
from udfs.timeseries.loader import Series, known_series, no_observations
from udfs.timeseries.pipeline import Chain
from udfs.timeseries.resample import FREQUENCIES, Agg, Freq
from udfs.timeseries.table import TableOptions, rows_of, window_for
from udfs.timeseries.transforms import TRANSFORMS

START = Start(
    help="the first day: 2020-01-31, or counted back from the end: -30D -8W -6M -4Q -5Y, MTD, QTD, YTD; MAX is all "
    "there is; N60 the last 60 observations. Left out: as far back as limit reaches",
    example="-5Y",
)

END = Day(help="the last day: 2024-12-31, or relative to today such as -1Y; left out: the newest", example="2024-12-31")

FREQ = Text(help="one row for each period, computed here at no cost", choices=FREQUENCIES)

TRANSFORM = Chain(
    help="computed here at no cost, several joined by |: " + ", ".join(each.form for each in TRANSFORMS.values()),
    example="yoy|ma(3)",
)

TOTALS: dict[str, Schema] = {
    "slug": {"type": "string", "description": "the signal's slug"},
    "total": {"type": "integer", "description": "how many rows the window has, as far as it is known"},
    "total_is_all": {
        "type": "boolean",
        "description": "false where no start was given and older observations than these may exist",
    },
}


@tool(title="Read a signal's observations", result={**TOTALS, **ROWS})
async def get_observations(
    slug: Annotated[str, SLUG],
    start: Annotated[StartOf | None, START] = None,
    end: Annotated[date | None, END] = None,
    limit: Annotated[int, Count(help="show at most so many rows, the newest ones", most=10_000)] = 100,
    freq: Annotated[str, FREQ] = "raw",
    agg: Annotated[str, Text(help="what stands for a period", choices=tuple(Choice(agg) for agg in Agg))] = "last",
    transform: Annotated[Any, TRANSFORM] = None,
    *,
    today: date,
) -> Found:
    """A signal's observations in a window of days, oldest first; the newest 100 unless told otherwise.

    The recent 365 observations cost one request, longer windows one for every 1,000 observations, and only what is not
    at hand already. Let freq and transform do the arithmetic: they cost nothing and keep answers small.
    """
    options = TableOptions(freq=Freq(freq), agg=Agg(agg), transform=transform or ())
    window = _window(start or await _start(slug, end, limit, options), end, options, today)
    series = await known_series(slug, window, today)
    rows = _rows(series, window, options)
    if not len(rows):
        raise no_observations(series, window.starts(series.known), window.last)
    whole = start is not None and not isinstance(start, Last)
    at_hand = rows if whole else _rows(series, window_for(None, end, None, options), options)
    total_is_all = whole or series.known.since == date.min
    heading = options.heading(series.slug)
    members = {"slug": series.slug, "total": len(at_hand), "total_is_all": total_is_all}
    members.update(rows_of_observations(_dated(rows[-limit:], end or today, options), heading))
    return Found(members, _more(len(at_hand), min(len(rows), limit), total_is_all=total_is_all))


async def _start(slug: str, end: date | None, limit: int, options: TableOptions) -> StartOf:
    """Where a window of `limit` rows starts: of periods, counted back from the newest observation."""
    if options.freq is Freq.RAW:
        return Last(limit)
    newest = recent((await need_detail(slug)).value).observations
    if not len(newest):
        return Max()
    last = newest.last_day if end is None else min(end, newest.last_day)
    try:
        return Back(limit, str(options.freq)).from_day(last)
    except (OverflowError, ValueError):  # before the year 1
        return Max()


def _window(start: StartOf, end: date | None, options: TableOptions, today: date) -> Window:
    last = today if end is None else min(end, today)
    first = first_day(start, last)
    if first is not None and end is not None and first > end:
        raise ArgumentError(f"start {first} lies after end {end}")
    return window_for(first, end, start.count if isinstance(start, Last) else None, options)


def _rows(series: Series, window: Window, options: TableOptions) -> Observations:
    rows, starts = rows_of(series.known, window, options)
    return rows.between(starts)


def _dated(rows: Observations, latest: date, options: TableOptions) -> Observations:
    """The rows, a period still under way dated by the latest day it can hold."""
    if options.freq is Freq.RAW:
        return rows
    return Observations(np.minimum(rows.times, np.datetime64(latest, "us")), rows.values)


def _more(total: int, shown: int, *, total_is_all: bool) -> str | None:
    if total_is_all and total <= shown:
        return None
    if total <= shown:
        return "there may be older ones: give a start such as -10Y or MAX"
    counted = f"{total} rows in all" if total_is_all else f"{total} rows at hand, and there may be older ones"
    return f"{counted}: raise limit, choose a coarser freq, or give start and end"
