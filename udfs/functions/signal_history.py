"""SIGNAL_HISTORY: the observations of one or several signals as a table, computed on the spot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Any

from dataservice.client import CatalogueResource, SignalResource
from udfs.arguments.dates import Day, Last, Start, StartOf, first_day
from udfs.arguments.kinds import Choice, Count, Names, Text
from udfs.arguments.options import Option, Options
from udfs.cells import Table
from udfs.engine.effects import EVER, gather, have
from udfs.engine.registry import udf
from udfs.errors import ArgumentError, NoDataError, error_cell
from udfs.records.resolve import need_of
from udfs.timeseries.align import Align, Fill
from udfs.timeseries.coverage import Window
from udfs.timeseries.loader import known_series, no_observations
from udfs.timeseries.pipeline import Chain
from udfs.timeseries.resample import FREQUENCIES, Agg, Freq
from udfs.timeseries.table import Header, Labelled, Layout, TableOptions, history_table, rows_of, window_for
from udfs.timeseries.transforms import TRANSFORMS

SLUGS = Names(
    help="slugs or shortcodes of signals: one, several separated by commas, or a range", example="eia.wti.spot"
)

START = Start(
    help="the first day: a date, text such as 2020-01-31, -5Y (back from the end), YTD, MAX, or N60 for the last 60",
    example="-5Y",
)

END = Day(help="the last day; if omitted, the newest observation", example="2024-12-31")

OPTIONS = Options(
    help="text such as freq=M; fill=prev, or a range of two columns",
    example="freq=M; transform=yoy",
    options=(
        Option(
            "freq",
            Text(
                help="one row for each period that has observations, dated by its last day",
                choices=FREQUENCIES,
            ),
        ),
        Option(
            "agg", Text(help="how the values within a period are combined", choices=tuple(Choice(agg) for agg in Agg))
        ),
        Option(
            "fill",
            Text(
                help="how gaps are filled",
                choices=(
                    Choice("none", "not at all"),
                    Choice("prev", "with the previous value, even from before the start"),
                    Choice("next", "with the next value"),
                    Choice("linear", "by linear interpolation in time"),
                    Choice("zero", "with 0"),
                ),
            ),
        ),
        Option(
            "align",
            Text(
                help="which rows to show for several signals",
                choices=(Choice("union", "all dates"), Choice("intersect", "dates on which all have a value")),
            ),
        ),
        Option(
            "transform",
            Chain(
                help="one or several, separated by | and applied in this order",
                example="yoy|ma(3)",
                choices=tuple(Choice(each.form, each.help) for each in TRANSFORMS.values()),
                open_choices=True,
            ),
        ),
        Option("order", Text(help="which row is first", choices=(Choice("asc", "oldest"), Choice("desc", "newest")))),
        Option(
            "header",
            Text(
                help="the header of the columns",
                choices=(Choice("slug", "slugs"), Choice("name", "names"), Choice("none", "no header row")),
            ),
        ),
        Option("dates", Text(help="show or hide the column of dates", choices=(Choice("show"), Choice("hide")))),
        Option("limit", Count(help="only the newest n rows", example="12")),
        Option(
            "layout",
            Text(
                help="the form of the table",
                choices=(Choice("wide", "a column for each signal"), Choice("long", "a row for each value")),
            ),
        ),
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

    Both `start` and `end` are included. With a frequency, the start moves to the first day of its period, so that the
    first period is complete. A relative start counts back from `end`, or from today (UTC); `N60` starts at each
    signal's own 60th observation from the end. Columns are headed by slug, because that costs no request. With a
    frequency, the header also names the aggregate: `eia.wti.spot (mean)`.

    Everything is computed locally, in this order: observations without a value are dropped if anything is computed;
    `freq` and `agg`; `transform`, which also uses values from before the start, so its first rows are not blank;
    `align`; `fill`; `limit`; `order`. Transforms never use filled values. The current, incomplete period is included,
    dated today (or `end`). With a fill, every period between the first and the last row has a row; without one, only
    periods with an observation.

    Costs no request if a cached history contains the window (the recent history of 365 observations is shared with
    SIGNAL); otherwise one for the recent history, or one for every 1,000 observations. If one signal fails, the first
    row of its column shows the error, and the others still show; if all fail, the cell shows the error.
    """
    shown = table_options(options or {})
    window = _window(start, end, today, shown)
    if not slug:
        raise ArgumentError("slug holds no name")
    results = await gather([_column(name, window, today, shown) for name in slug])
    failed = [result for result in results if isinstance(result, Exception)]
    if len(failed) == len(results):
        raise failed[0]
    columns = [_labelled(name, result) for name, result in zip(slug, results, strict=True)]
    if not any(column.shows_rows for column in columns):
        raise NoDataError(f"no observations of {', '.join(slug)} from {window.first} on")
    return history_table(columns, end or today, shown)


def table_options(given: Mapping[str, Any]) -> TableOptions:
    """The options of a formula, defaults in place of those left out."""
    return TableOptions(
        freq=Freq(given.get("freq", "raw")),
        agg=Agg(given.get("agg", "last")),
        fill=Fill(given.get("fill", "none")),
        align=Align(given.get("align", "union")),
        transform=given.get("transform", ()),
        descending=given.get("order") == "desc",
        header=Header(given.get("header", "slug")),
        dates=given.get("dates") != "hide",
        limit=given.get("limit"),
        layout=Layout(given.get("layout", "wide")),
    )


def _window(start: StartOf, end: date | None, today: date, options: TableOptions) -> Window:
    last = today if end is None else min(end, today)
    first = first_day(start, last)
    if first is not None and end is not None and first > end:
        raise ArgumentError(f"start {first} lies after end {end}")
    return window_for(first, end, start.count if isinstance(start, Last) else None, options)


async def _column(name: str, window: Window, today: date, options: TableOptions) -> Labelled:
    series = await known_series(name, window, today)
    rows, starts = rows_of(series.known, window, options)
    column = Labelled(series.slug, rows, starts)
    if not column.shows_rows and not (len(rows) and options.fill is Fill.PREV):
        raise no_observations(series, starts, window.last)
    return replace(column, label=await _name_of(series.slug)) if options.header is Header.NAME else column


async def _name_of(slug: str) -> str:
    """The signal's name, from whatever is at hand; else from its detail, which SIGNAL cells share."""
    detail = await have(SignalResource(slug), max_age_s=EVER)
    if detail is None:
        catalogue = await have(CatalogueResource(), max_age_s=EVER)
        listed = catalogue.value.find(slug) if catalogue else None
        if listed is not None:
            return listed.name or slug
        detail = await need_of(slug, SignalResource(slug))
    return detail.value.signal.name or slug


def _labelled(name: str, result: Labelled | Exception) -> Labelled:
    return Labelled(name, error_cell(result, "SIGNAL_HISTORY")) if isinstance(result, Exception) else result
