"""The tool about the past of signals: one by itself, or several on one time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any

from addin.mcp.schemas import TEXT, Schema, object_of
from addin.mcp.tool import Found, tool
from addin.mcp.tools.many import SLUGS, one_or_many
from addin.mcp.tools.rows import ROWS, label, labels
from addin.mcp.tools.shown import SERIES, Shown, starts_at, window_of
from addin.mcp.tools.signals import SLUG
from addin.mcp.tools.statistics import CORRELATION, STATISTICS, statistics_of
from dataservice.client.contract import DAYS, MONTHS, Back
from udfs.arguments import Count, Day, Flag, Last, Max, OneOf, Start, StartOf, as_day
from udfs.engine import gather
from udfs.errors import ArgumentError
from udfs.functions.signal_history import History, history_columns
from udfs.records import need_detail
from udfs.timeseries import (
    TRANSFORMS,
    Agg,
    Align,
    Chain,
    Ending,
    Freq,
    Frequency,
    Labelled,
    NoObservationsError,
    Steps,
    TableOptions,
    Vintage,
    no_observations,
    observed_as_of,
    recent,
    series_of,
    series_of_table,
    text_of,
    window_for,
)

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

AS_OF = Day(
    help="as known at the end of that day (UTC) by looks made here; a day before today costs nothing",
    example="2026-06-30",
)

TRANSFORM = Chain(
    help="computed here at no cost, several joined by |: " + ", ".join(each.form for each in TRANSFORMS.values()),
    example="yoy|ma(3)",
)

STATISTICS_TOO = Flag(help="add statistics of each column and their correlations; costs nothing")

RELEASE_DAYS = 31
"""So long after its day most observations are out; a year of months still lies in the recent history of any series."""

MOST_PERIODS = 1_000
"""Periods that lie behind any signal's first observation."""

FACTS: dict[str, Schema] = {
    "slug": TEXT,
    "window": object_of({"start": TEXT, "end": TEXT}, "the first and the last of all rows"),
    "freq": TEXT,
    "agg": TEXT,
    "transform": TEXT,
    "meaning": {"type": "string", "description": "what the transform gives"},
    "align": TEXT,
    "as_of": TEXT,
    "total": {"type": "integer", "description": "how many rows the window has, as far as it is known"},
    "total_is_all": {
        "type": "boolean",
        "description": "false where no start was given and older observations than these may exist",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The observations that a call asks for, and when."""

    start: StartOf | None
    end: date | None
    limit: int
    freq: Freq
    agg: Agg
    steps: Steps
    as_of: date | None
    align: Align
    today: date
    now: float

    @property
    def has_start(self) -> bool:
        """Return whether the window is told apart from how many rows are shown."""
        return self.start is not None

    def facts(self) -> dict[str, str]:
        """Return how the rows were made, where they are not the observations as they are."""
        raw, told = self.freq.is_raw, dict[str, str]()
        if not raw:
            told |= {"freq": str(self.freq), "agg": str(self.agg)}
        if self.steps:
            told |= {
                "transform": text_of(self.steps),
                "meaning": "; then ".join(_meaning(each.transform.name) for each in self.steps),
            }
        if self.align is not Align.UNION:
            told["align"] = str(self.align)
        if self.as_of is not None:
            told["as_of"] = str(self.as_of)
        return told

    def options(self) -> Mapping[str, Any]:
        """The same as options of the library."""
        given = {"freq": self.freq, "agg": self.agg, "align": self.align, "asof": self.as_of}
        chains = {"transform": (self.steps,)} if self.steps else {}
        return {name: value for name, value in given.items() if value is not None} | chains


@tool(
    title="Read the observations of one or several signals",
    result={**FACTS, **ROWS, "series": SERIES, "statistics": STATISTICS, "correlation": CORRELATION},
    optional=frozenset({*FACTS, "statistics", "correlation"}) - {"total", "total_is_all"},
    others=("slug", "columns", "series", "statistics", "correlation"),
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

    With slugs in place of slug, several signals as columns on one time axis; statistics adds change, mean, z-score and
    correlations. series says of each its name, unit, source, frequency, dates, partial periods. The recent 365
    observations cost one request a signal, longer windows one for every 1,000 observations, and only what is not at
    hand already. Let freq, transform and statistics do the arithmetic: they cost nothing and keep answers small.
    """
    names = one_or_many(slug, slugs)
    if as_of is not None and as_of > today:
        raise ArgumentError(f"as_of {as_of} lies in the future: today is {today} (UTC)")
    asked = Asked(
        start=start, end=end, limit=limit, freq=freq, agg=agg, steps=transform or (), as_of=as_of, align=align,
        today=today, now=now,
    )  # fmt: skip
    try:
        history, is_whole, at_hand = await (_of_several(names, asked) if names else _of_one(slug or "", asked))
    except NoObservationsError as error:
        members = {"total": 0, "total_is_all": asked.has_start, "series": [], "columns": ["date"], "rows": []}
        return Found({**asked.facts(), **members}, str(error))
    shown = Shown(history)
    named = {} if names or not shown.named else {"slug": next(iter(shown.named))}
    told: dict[str, Any] = {**named, **asked.facts(), "window": window_of(shown), "series": await shown.series()}
    told |= {"total": max(at_hand, len(shown.times)), "total_is_all": is_whole, **shown.rows(limit)}
    if statistics:
        told |= statistics_of(shown.named, labels(shown.times, timed=shown.timed))
    return _paged(told, shown, asked, is_whole=is_whole)


def _paged(told: Mapping[str, Any], shown: Shown, asked: Asked, *, is_whole: bool) -> Found:
    """The answer, with how to get the rows before those that it holds."""
    start = {"start": label(starts_at(shown), timed=shown.timed)} if asked.has_start else {}
    count, total = len(told["rows"]), told["total"]

    def goes_on(kept: int) -> Mapping[str, Any]:
        return {**start, "end": shown.before(kept)}

    if is_whole and count == total:
        return Found(told, listed="rows", goes_on=goes_on)
    counted = f"{total} rows in all" if is_whole else f"{total} rows at hand, and there may be older ones"
    advice = "go on with the arguments in next, raise limit, or choose a coarser freq"
    if not is_whole and count == total:
        advice = "go on with the arguments in next, or give a start such as -10Y or MAX"
    return Found(told, f"{counted}: {advice}", goes_on(count), "rows", goes_on)


async def _of_several(names: Sequence[str], asked: Asked) -> tuple[History, bool, int]:
    """The columns of several signals, whether they are all there is to show, and how many rows are at hand."""
    start = asked.start or _as_many(asked)
    try:
        history = await _table(names, start, asked)
    except NoObservationsError:
        if asked.has_start or not isinstance(start, date):
            raise
        newest = await _newest(names, asked)  # the newest of them may be older than so many periods
        if newest is None or newest >= start:
            raise
        history = await _table(names, _back(asked, newest), asked)
    return history, asked.has_start, 0


async def _table(names: Sequence[str], start: StartOf, asked: Asked) -> History:
    return await history_columns(names, start, asked.end, asked.options(), today=asked.today, now=asked.now)


def _as_many(asked: Asked) -> StartOf:
    """Return where a window of so many rows starts: of periods, so far back from the day by which most are out."""
    if asked.freq.unit not in MONTHS.keys() | DAYS.keys() or asked.limit >= MOST_PERIODS:
        return Last(asked.limit)
    by_now = min(asked.today, asked.as_of or asked.today) - timedelta(days=RELEASE_DAYS)
    return _back(asked, by_now if asked.end is None else min(as_day(asked.end), by_now))


async def _newest(names: Sequence[str], asked: Asked) -> date | None:
    """The newest day of several signals up to the end asked for, by their recent histories; None if none tells it."""
    if asked.as_of is not None and asked.as_of < asked.today:
        return None
    found = [each for each in await gather([need_detail(name) for name in names]) if not isinstance(each, Exception)]
    last = asked.today if asked.end is None else as_day(asked.end)
    before = [recent(each.value).observations.between(None, last) for each in found]
    return max((each.last_day for each in before if len(each)), default=None)


async def _of_one(slug: str, asked: Asked) -> tuple[History, bool, int]:
    """The same of one signal, which costs nothing more than what is shown: its periods count from its newest one."""
    options = TableOptions(freq=asked.freq, agg=asked.agg)
    vintage = Vintage(asked.as_of if asked.as_of is not None and asked.as_of < asked.today else None)
    today, end = vintage.day(asked.today), asked.end
    since = asked.start or await _start(slug, asked, options, vintage)
    window = window_for(since, end, today, options, asked.steps, now=asked.now)
    ending = Ending.of(None if end is None else as_day(end), today)
    series = await series_of(slug, window, today, vintage)
    made = series_of_table(series.slug, series.known, window, asked.steps, options, ending)
    if not len(made.shown):
        raise no_observations(series, window.starts(series.known), window.last, is_newest=ending.is_newest)
    history = History([Labelled(series.slug, made)], options, ending, window.first)
    if asked.has_start:
        return history, True, 0
    every = window_for(Max(), end, today, options, asked.steps)
    at_hand = len(series_of_table(series.slug, series.known, every, asked.steps, options, ending).shown)
    return history, series.known.since == date.min, at_hand


async def _start(slug: str, asked: Asked, options: TableOptions, vintage: Vintage) -> StartOf:
    """Return where a window of `limit` rows starts: of periods, counted back from the newest observation."""
    if options.freq.unit not in MONTHS.keys() | DAYS.keys():
        return Last(asked.limit)
    if vintage.as_of is None:
        newest = recent((await need_detail(slug)).value).observations
        if not len(newest):
            return Max()
        last = newest.last_day if asked.end is None else min(as_day(asked.end), newest.last_day)
    else:
        last = as_day((await observed_as_of(slug, asked.end, vintage, with_previous=False)).moment)
    return _back(asked, last)


def _back(asked: Asked, last: date) -> date | Max:
    """Return the day so many periods before another one; all there is where that lies before the year 1."""
    try:
        return Back(asked.limit, asked.freq.unit).from_day(last)
    except (OverflowError, ValueError):
        return Max()


def _meaning(name: str) -> str:
    return TRANSFORMS[name].help
