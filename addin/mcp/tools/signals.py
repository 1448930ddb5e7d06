"""The tools about signals: the catalogue, searched on the spot; one signal with its latest values; its past."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from addin.mcp.tool import RECORD, Found, Schema, tool
from addin.mcp.tools.records import OFFSET, field_names, limit, listed, listing_schema, shown
from dataservice.client import SignalDetail
from dataservice.client.contract.dates import DAYS, MONTHS, Back
from dataservice.client.contract.requests import HISTORY_LIMIT
from dataservice.observations import Observations
from udfs.arguments.dates import Day, Last, Max, Start, StartOf, as_day
from udfs.arguments.kinds import Count, OneOf, Text
from udfs.errors import NoDataError
from udfs.functions.signals import CATEGORY, DEFAULT_COLUMNS, SIGNAL_COLUMNS
from udfs.records.fields import day_or_moment
from udfs.records.lookup import by_slug, corrected, in_group, ranked
from udfs.records.resolve import need_catalogue, need_detail
from udfs.records.revisions import last_revision
from udfs.timeseries.compute import Columns, Ending, dated, series_of_table
from udfs.timeseries.coverage import recent
from udfs.timeseries.frequency import Freq, Frequency
from udfs.timeseries.loader import Series, latest, no_observations
from udfs.timeseries.options import TableOptions
from udfs.timeseries.pipeline import Chain, Steps
from udfs.timeseries.resample import Agg
from udfs.timeseries.table import window_for
from udfs.timeseries.transforms import TRANSFORMS
from udfs.timeseries.vintages import Vintage, observed_as_of, series_of, vintages_of

SLUG = Text(help="slug or shortcode of a signal, in any case; list_signals finds it", example="us-cpi")

SEARCH = Text(help="words that must all be in slug, shortcode, name or description", example="oil price")

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

ROWS: dict[str, Schema] = {
    "columns": {"type": "array", "items": {"type": "string"}},
    "rows": {
        "type": "array",
        "description": "oldest first: a day or a moment (UTC), and the value",
        "items": {"type": "array"},
    },
}
"""The schema of observations as rows: a third of the text that an object for each would take."""

OBSERVED: dict[str, Schema] = {
    "value": {"type": "number"},
    "observed_at": {"type": "string"},
    "previous": {"type": "number"},
    "change": {"type": "number"},
    "pct_change": {"type": "number", "description": "a fraction: 0.02 is 2 %"},
}

REVISED: dict[str, Schema] = {
    "revised": {"type": "string", "description": "the last change of an earlier value that was seen here"}
}

TOTALS: dict[str, Schema] = {
    "slug": {"type": "string"},
    "total": {"type": "integer", "description": "how many rows the window has, as far as it is known"},
    "total_is_all": {
        "type": "boolean",
        "description": "false where no start was given and older observations than these may exist",
    },
}


@tool(title="Search the catalogue of signals", result=listing_schema("signals"))
async def list_signals(
    search: Annotated[str | None, SEARCH] = None,
    category: Annotated[str | None, CATEGORY] = None,
    limit: Annotated[int, limit(1_000)] = 20,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str], field_names(SIGNAL_COLUMNS)] = DEFAULT_COLUMNS,
) -> Found:
    """Find signals (data series) by words, best match first; without arguments, all of them by slug.

    The catalogue is searched on the spot: it costs one request for every 500 signals, once a day, and nothing after.
    Use it before the other tools when you do not know a signal's slug.
    """
    signals = by_slug(await need_catalogue())
    found = in_group(signals, category, lambda signal: signal.category, "category")
    if search:
        found = ranked(search, found)
        if not found:
            guess = corrected(search, signals)
            advice = f"did you mean '{guess}'?" if guess else "try fewer or other words, or none to list all"
            raise NoDataError(f"no signal matches '{search[:60]}'; {advice}")
    return listed("signals", found, SIGNAL_COLUMNS, fields, most=limit, offset=offset)


@tool(
    title="Read one signal",
    result={"signal": RECORD, **OBSERVED, **REVISED, **ROWS},
    optional=frozenset(OBSERVED) | REVISED.keys() | ROWS.keys(),
)
async def get_signal(
    slug: Annotated[str, SLUG],
    history: Annotated[int, Count(help="how many of the latest observations to add", least=0, most=HISTORY_LIMIT)] = 12,
) -> Found:
    """What a signal measures, its latest value, the change from the value before, and its latest observations.

    Costs one request, which also answers get_observations for the same signal where 365 observations reach back far
    enough. For a window of dates, for other frequencies or for more, use get_observations.
    """
    detail = (await need_detail(slug)).value
    members: dict[str, Any] = {"signal": shown(detail.signal, SIGNAL_COLUMNS, SIGNAL_COLUMNS.names([detail.signal]))}
    known = detail.history
    if len(known) or detail.latest is not None:
        members.update(_observed(detail))
    if (revision := last_revision((await vintages_of(detail.signal.slug))[1])) is not None:
        members["revised"] = f"{revision.text}, seen {revision.first_seen:%Y-%m-%d}, {revision.since}"
    if history:
        members.update(rows_of_observations(known[-history:]))
    more = f"{len(known)} recent observations: raise history; get_observations reaches further back"
    return Found(members, more if len(known) > history else None)


@tool(title="Read a signal's observations", result={**TOTALS, **ROWS})
async def get_observations(
    slug: Annotated[str, SLUG],
    start: Annotated[StartOf | None, START] = None,
    end: Annotated[date | None, END] = None,
    limit: Annotated[int, Count(help="show at most so many rows, the newest ones", most=10_000)] = 100,
    freq: Annotated[Freq, FREQ] = Freq.RAW,
    agg: Annotated[Agg, AGG] = Agg.LAST,
    transform: Annotated[Steps | None, TRANSFORM] = None,
    as_of: Annotated[date | None, AS_OF] = None,
    *,
    today: date,
    now: float,
) -> Found:
    """A signal's observations in a window of days, oldest first; the newest 100 unless told otherwise.

    The recent 365 observations cost one request, longer windows one for every 1,000 observations, and only what is not
    at hand already. Let freq and transform do the arithmetic: they cost nothing and keep answers small.
    """
    options, steps = TableOptions(freq=freq, agg=agg), transform or ()
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
    members = {"slug": series.slug, "total": total, "total_is_all": total_is_all}
    computed = bool(transform) or (not freq.is_raw and agg in (Agg.MEAN, Agg.SUM))
    heading = options.heading(series.slug, steps, table.marks[0])
    members.update(rows_of_observations(shown, heading, computed=computed))
    return Found(members, _more(total, len(shown), total_is_all=total_is_all))


def rows_of_observations(
    observations: Observations, heading: str = "value", *, computed: bool = False
) -> dict[str, Any]:
    """Observations as the members `columns` and `rows`; a day alone where the time is midnight.

    The service's own values are passed on as they are, computed ones without the digits that only rounding made.
    """
    digits = meaningful if computed else float
    rows = [
        [_text_of(day_or_moment(moment)), digits(value) if math.isfinite(value) else None]
        for moment, value in observations
    ]
    return {"columns": ["date", heading], "rows": rows}


def _observed(detail: SignalDetail) -> dict[str, Any]:
    """The fields of the latest observation that have a value."""
    found = latest(detail)
    values = {name: found.field(name) for name in OBSERVED}
    values["observed_at"] = _text_of(found.moment)
    if found.value is not None and found.before is not None:
        values["change"] = float(Decimal(repr(found.value)) - Decimal(repr(found.before)))
    if values["pct_change"] is not None:
        values["pct_change"] = meaningful(values["pct_change"])
    return {name: value for name, value in values.items() if value is not None}


def meaningful(value: float) -> float:
    """The value with the ten digits that binary arithmetic leaves certain.

    >>> meaningful(0.27000000000001023)
    0.27
    """
    return float(f"{value:.10g}")


def _text_of(moment: date) -> str:
    return moment.isoformat().replace("+00:00", "Z")


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
