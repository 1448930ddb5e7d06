"""SIGNAL_HISTORY: the observations of one or several signals as a table, computed on the spot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, TypeAlias

from dataservice.client import SignalResource
from udfs.arguments.dates import Day, Start, StartOf
from udfs.arguments.kinds import Count, Names, OneOf
from udfs.arguments.options import Option, Options
from udfs.cells import Table
from udfs.engine.decorator import udf
from udfs.engine.effects import EVER, PAUSE, ask, gather, have
from udfs.errors import ArgumentError, NoDataError, error_cell
from udfs.records.resolve import CATALOGUE, need_of
from udfs.timeseries.coverage import Window
from udfs.timeseries.loader import no_observations
from udfs.timeseries.pipeline import Chain
from udfs.timeseries.resample import Agg, Freq
from udfs.timeseries.table import (
    Align,
    Dates,
    Fill,
    Header,
    Labelled,
    Layout,
    Order,
    TableOptions,
    history_table,
    rows_of,
    window_for,
    window_to_fill,
)
from udfs.timeseries.vintages import VINTAGE_OPTIONS, Vintage, series_of

SLUGS = Names(
    help="slugs or shortcodes of signals: one, several separated by commas, or a range", example="eia.wti.spot"
)

START = Start(
    help="the first day: a date, text such as 2020-01-31, -5Y (back from end, or from today), YTD, MAX, or N60 for the "
    "last 60",
    example="-5Y",
)

END = Day(help="the last day; if omitted, the newest observation", example="2024-12-31")

OPTIONS = Options(
    help="text such as freq=M; fill=prev, or a range of two columns",
    example="freq=M; transform=yoy",
    options=(
        Option(
            "freq",
            OneOf(members=Freq, help="one row for each period that has observations, dated by its last day"),
            "raw",
        ),
        Option("agg", OneOf(members=Agg, help="how the values within a period are combined"), "last"),
        Option("fill", OneOf(members=Fill, help="how gaps are filled"), "none"),
        Option("align", OneOf(members=Align, help="which rows to show for several signals"), "union"),
        Option(
            "transform", Chain(help="one or several, separated by | and applied in this order", example="yoy|ma(3)")
        ),
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
) -> Table:
    """The observations of one or several signals: a column of dates and a column of values for each, oldest first.

    Both `start` and `end` are included; with a frequency the start moves to the first day of its period, so that no
    value stands for a part of one. A relative start counts back from `end`, or from today (UTC); `N60` begins with
    each signal's own 60th observation from the end. Columns are headed by slug, because that costs nothing; a header
    also tells the aggregate where there is a frequency: `eia.wti.spot (mean)`.

    Everything is computed on the spot, in this order: observations without a value are left out where anything is
    computed; `freq` and `agg`; `transform` with what it needs from before the start, so its first rows are not blank;
    `align`; `fill`; `limit`; `order`. A transform never sees filled values. Only `prev` and `linear` use values from
    before the first row shown. The current, incomplete period is included, dated today (or `end`). With a fill, every
    period between the first row and the last has a row; without one, only those with an observation.

    Costs no request where the recent history in hand (365 observations, shared with SIGNAL) or a stored one holds the
    window; else one for the recent history, or one for every 1,000 observations. A signal that fails shows its error
    in its column's first row, and the others still show; where all fail, so does the cell.
    """
    own = {name: value for name, value in (options or {}).items() if name in TableOptions.__slots__}
    shown, vintage = TableOptions(**own), Vintage.given(options, today)
    today = vintage.day(today)
    window = window_for(start, end, today, shown)
    if not slug:
        raise ArgumentError("slug holds no name")
    results = await gather([_column(name, window, (today, vintage), shown) for name in slug])
    wider = window_to_fill(window, [each for each in results if isinstance(each, Labelled)], shown)
    if wider is not None:
        results = await gather(
            [_looking_back(each, wider, (today, vintage), shown) for each in zip(slug, results, strict=True)]
        )
    failed = [result for result in results if isinstance(result, Exception)]
    if len(failed) == len(results):
        raise failed[0]
    columns = [_labelled(name, result) for name, result in zip(slug, results, strict=True)]
    if not any(column.shows_rows for column in columns):
        raise NoDataError(f"no observations of {', '.join(slug)} from {window.first} on")
    return history_table(columns, end or today, shown)


KnownOn: TypeAlias = tuple[date, Vintage]
"""The day that counts as today, and the vintage asked for."""


async def _column(name: str, window: Window, known_on: KnownOn, options: TableOptions) -> Labelled:
    series = await series_of(name, window, *known_on)
    if options.transform:
        await ask(PAUSE)  # each is some work, and there may be hundreds
    rows, starts = rows_of(series.known, window, options)
    column = Labelled(series.slug, rows, starts)
    if not column.shows_rows and not (len(rows) and options.fill is Fill.PREV):
        raise no_observations(series, starts, window.last)
    return replace(column, label=await _name_of(series.slug)) if options.header is Header.NAME else column


async def _looking_back(
    column: tuple[str, Labelled | Exception], wider: Window, known_on: KnownOn, options: TableOptions
) -> Labelled:
    """The column with the rows of the `wider` window to fill from; it shows the same rows of its own."""
    name, found = column
    if isinstance(found, Exception):
        raise found
    series = await series_of(name, wider, *known_on)
    return replace(found, rows=rows_of(series.known, wider, options)[0])


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
