"""SIGNAL_HISTORY: the observations of one or several signals as a table, computed on the spot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Any

from dataservice.client import SignalResource
from udfs.arguments.dates import Day, Start, StartOf, as_day
from udfs.arguments.kinds import Count, Names, OneOf
from udfs.arguments.options import Option, Options
from udfs.cells import Table
from udfs.engine.decorator import udf
from udfs.engine.effects import EVER, PAUSE, ask, gather, have
from udfs.errors import ArgumentError, CellError, error_cell
from udfs.records.resolve import CATALOGUE, need_of
from udfs.timeseries.compute import Ending, Series, series_of_table
from udfs.timeseries.coverage import Window
from udfs.timeseries.frequency import Frequency
from udfs.timeseries.loader import NoObservationsError, no_observations, only_a_part
from udfs.timeseries.loader import Series as Found
from udfs.timeseries.options import (
    Align,
    Calc,
    Counted,
    Dates,
    Fill,
    FillTo,
    Header,
    Layout,
    Order,
    TableOptions,
)
from udfs.timeseries.pipeline import Chains, Steps
from udfs.timeseries.resample import Agg, Partial
from udfs.timeseries.table import (
    COMMON_LOOKS,
    Labelled,
    common_begin,
    history_table,
    joined_windows,
    nothing_in_common,
    window_for,
    window_to_fill,
    windows_of_common_rows,
    windows_of_one_start,
    windows_to_share,
)
from udfs.timeseries.vintages import VINTAGE_OPTIONS, Vintage, series_of

SLUGS = Names(
    help="slugs or shortcodes of signals: one, several separated by commas, or a range", example="eia.wti.spot"
)

START = Start(
    help="the first day or time: a date, text such as 2020-01-31, -5Y (back from end, or from today), -6H, YTD, PYE, "
    "MAX, or N60 for the last 60 rows",
    example="-5Y",
)

END = Day(help="the last day or time; if omitted, the newest observation", example="2024-12-31", timed=True)

OPTIONS = Options(
    help="text such as freq=M; fill=prev, or a range of two columns",
    example="freq=M; transform=yoy",
    options=(
        Option(
            "freq",
            Frequency(
                help="one row for each period that has observations, dated by its last day; W-FRI, Q-JAN, Y-MAR end "
                "otherwise",
                example="M",
            ),
            "raw",
        ),
        Option("agg", OneOf(members=Agg, help="how the values within a period are combined", place="agg"), "last"),
        Option(
            "partial",
            OneOf(
                members=Partial,
                help="a first or last period of which only a part was observed; if omitted, drop where a transform is "
                "given, else mark",
            ),
        ),
        Option("align", OneOf(members=Align, help="which rows to show for several signals"), "union"),
        Option("fill", OneOf(members=Fill, help="how gaps are filled", place="fill"), "none"),
        Option("fillto", OneOf(members=FillTo, help="how far fill=prev goes"), "last"),
        Option(
            "transform",
            Chains(
                help="one or several, separated by | and applied in this order; several chains separated by commas are "
                "one for each signal, or columns of a single one",
                example="yoy|ma(3)",
            ),
        ),
        Option("calc", OneOf(members=Calc, help="which values a transform sees"), "filled"),
        Option("count", OneOf(members=Counted, help="what the n of a transform counts"), "periods"),
        Option("order", OneOf(members=Order, help="which row is first"), "asc"),
        Option("header", OneOf(members=Header, help="the header of the columns"), "slug"),
        Option("dates", OneOf(members=Dates, help="the column of dates"), "show"),
        Option("limit", Count(help="only the newest n rows", example="12")),
        Option("layout", OneOf(members=Layout, help="the form of the table"), "wide"),
        *VINTAGE_OPTIONS,
    ),
)


@udf(
    group="Signals",
    shape="table",
    examples=(
        '=DS.SIGNAL_HISTORY("us-cpi")',
        '=DS.SIGNAL_HISTORY("eia.wti.spot", "-5Y", , "freq=M; agg=mean")',
        '=DS.SIGNAL_HISTORY("us-cpi, wb.gold", "MAX", , "transform=yoy; fill=prev")',
        '=DS.SIGNAL_HISTORY(A2:A5, "N60", , "header=name; order=desc")',
    ),
)
async def SIGNAL_HISTORY(  # noqa: N802 - the id that workbooks store
    slug: Annotated[Sequence[str], SLUGS],
    start: Annotated[StartOf, START] = "-1Y",  # type: ignore[assignment]  # as a formula gives it, and read like it
    end: Annotated[date | None, END] = None,
    options: Annotated[Mapping[str, Any] | None, OPTIONS] = None,
    *,
    today: date,
    now: float,
) -> Table:
    """The observations of one or several signals: a column of dates and a column of values for each, oldest first.

    Both `start` and `end` are included; with a frequency the start moves to the first day of its period, so that no
    value stands for a part of one. A relative start counts back from `end`, or from today (UTC); `N60` shows each
    signal's own last 60 rows, with `align=intersect` the last 60 that all have in common. Columns are headed by slug,
    because that costs nothing; a header also tells what was computed, and what is odd with it:
    `eia.wti.spot (mean, yoy; partial 2026-08-19)`.

    Everything is computed on the spot, in this order: observations without a value are left out where anything is
    computed; `freq` and `agg`; `partial`; `align`; `fill`; `transform`, with what it needs from before the start, so
    its first rows are not blank; `limit`; `order`. So a transform sees what is shown; `calc=own` transforms each
    signal's own observations, and aligns and fills after.

    Lags and changes count periods of the series' rhythm, which its dates tell: a year of a weekly series is 52 weeks,
    and a missing month stays a gap. Spans such as `ma(12M)` count by the calendar. The page Conventions says all this
    by number.

    Costs no request where the recent history in hand (365 observations, shared with SIGNAL) or a stored one holds the
    window; else one for the recent history, or one for every 1,000 observations. A signal that fails shows its error
    in its column's first row, and the others still show; where all fail, so does the cell.
    """
    history = await history_columns(slug, start, end, options, today=today, now=now)
    return history_table(history.columns, history.options, history.ending, history.first)


@dataclass(frozen=True, slots=True)
class History:
    """The columns of a table, each with its series or why there is none, and what they have in common."""

    columns: Sequence[Labelled]
    options: TableOptions
    ending: Ending
    first: date | None
    """The window's first day, where it has one."""


async def history_columns(
    slug: Sequence[str],
    start: StartOf,
    end: date | None,
    options: Mapping[str, Any] | None,
    *,
    today: date,
    now: float,
) -> History:
    """Return what `SIGNAL_HISTORY` lays out as a table; raises the first error where every column has one."""
    own = {name: value for name, value in (options or {}).items() if name in TableOptions.__slots__}
    shown, vintage = TableOptions(**own), Vintage.given(options, today)
    if not slug:
        raise ArgumentError("slug holds no name")
    if shown.fillto is FillTo.END and shown.fill is not Fill.PREV:
        raise ArgumentError("option fillto=end carries the last value on: it needs fill=prev")
    today = vintage.day(today)
    asked = _Asked(today, vintage, shown, Ending.of(None if end is None else as_day(end), today))
    columns = shown.columns(slug)
    windows = [window_for(start, end, today, shown, steps, now=now) for _, steps in columns]
    windows = joined_windows(windows, columns, shown)
    results = await _results(columns, windows, asked)
    failed = [result for result in results if isinstance(result, Exception)]
    if len(failed) == len(results):
        raise failed[0]
    labelled = [_labelled(name, result) for (name, _), result in zip(columns, results, strict=True)]
    window = windows[0]
    is_carried = shown.fillto is FillTo.END and (window.first is None or window.first <= asked.ending.latest)
    if not is_carried and not any(column.shows_rows for column in labelled):
        await asked.series(*columns[0], window, is_carried=False)  # which says why
    if len(failed) == 0 and (apart := nothing_in_common(labelled, window, shown, asked.ending)):
        raise NoObservationsError(apart)
    return History(labelled, shown, asked.ending, window.first)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all columns share: the day that counts as today, the vintage, the options, and the last day."""

    today: date
    vintage: Vintage
    options: TableOptions
    ending: Ending

    async def series(self, name: str, steps: Steps, window: Window, *, is_carried: bool = True) -> Series:
        """The series of one column for a window; one that ended before it only where its last value is carried on."""
        found = await series_of(name, window, self.today, self.vintage)
        if steps:
            await ask(PAUSE)  # each is some work, and there may be hundreds
        made = series_of_table(found.slug, found.known, window, steps, self.options, self.ending)
        if not len(made.shown) and not (is_carried and len(made.rows) and self.options.fill is Fill.PREV):
            raise self._why_empty(found, made, window)
        return replace(made, asked=name)

    def _why_empty(self, found: Found, made: Series, window: Window) -> NoObservationsError:
        """That the window is empty, or all of it was left out, with what shows more."""
        last = window.last_moment or window.last
        if not self.options.freq.is_raw and (part := only_a_part(found, made.starts, last)):
            return part
        error = no_observations(found, made.starts, last, is_newest=self.ending.is_newest)
        may_be_carried = self.options.fill is Fill.PREV and self.options.fillto is not FillTo.END
        hint = "; fillto=end carries it to the end" if may_be_carried and len(made.rows) else ""
        return NoObservationsError(f"{error}{hint}")


async def _results(
    columns: Sequence[tuple[str, Steps]], windows: Sequence[Window], asked: _Asked
) -> list[Labelled | Exception]:
    """Each column, or why there is none; looked up further back where rows that others show are computed or filled."""
    shown = asked.options
    results = await gather([_column(*each, asked) for each in zip(columns, windows, strict=True)])
    count = windows[0].count
    begin = common_begin(_found(results), shown, asked.ending)
    for _ in range(COMMON_LOOKS if count else 0):
        begin = begin or common_begin(_found(results), shown, asked.ending)
        common = windows_of_common_rows(windows, count or 0, _found(results), shown, asked.ending, begin)
        if common is None:
            break
        windows = common
        results = await gather([_column(*each, asked) for each in zip(columns, windows, strict=True)])
    if count and (alike := windows_of_one_start(windows, [name for name, _ in columns], results)):
        windows = alike
        results = await gather([_column(*each, asked) for each in zip(columns, windows, strict=True)])
    counted = next((window for window in windows if window.count), windows[0])
    wider = window_to_fill(counted, _found(results), shown)
    further = None if wider is None else [replace(wider, lead=window.lead) for window in windows]
    while further or (further := windows_to_share(windows, _found(results), shown, asked.ending, begin)):
        windows, further = further, None
        results = await gather([_looking_back(*each, asked) for each in zip(columns, results, windows, strict=True)])
    return list(results)


def _found(results: Sequence[Labelled | Exception]) -> list[Labelled]:
    return [each for each in results if isinstance(each, Labelled)]


async def _column(column: tuple[str, Steps], window: Window, asked: _Asked) -> Labelled:
    made = await asked.series(*column, window)
    label = await _name_of(made.slug) if asked.options.header is Header.NAME else made.slug
    return Labelled(label, made)


async def _looking_back(
    column: tuple[str, Steps], result: Labelled | Exception, wider: Window, asked: _Asked
) -> Labelled:
    """The column with the rows of the `wider` window to fill from; it shows the same rows of its own."""
    if isinstance(result, Exception):
        raise result
    made = await asked.series(*column, wider)
    starts = None if isinstance(result.found, CellError) else result.found.starts
    return replace(result, found=replace(made, starts=starts))


async def _name_of(slug: str) -> str:
    """The signal's name, from whatever is at hand; else from its detail, which SIGNAL cells share."""
    detail = await have(SignalResource(slug), max_age_s=EVER)
    if detail is None:
        catalogue = await have(CATALOGUE, max_age_s=EVER)
        listed = catalogue.value.find(slug) if catalogue else None
        if listed is not None:
            return listed.name or slug
        detail = await need_of(slug, SignalResource(slug))
    return detail.value.signal.name or slug


def _labelled(name: str, result: Labelled | Exception) -> Labelled:
    return Labelled(name, error_cell(result, "SIGNAL_HISTORY")) if isinstance(result, Exception) else result
