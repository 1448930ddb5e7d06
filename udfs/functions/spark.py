"""SPARK: a series as a line of block characters, which fits into one cell of any host."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from dataservice.observations import Observations
from udfs.arguments.dates import Start, StartOf
from udfs.arguments.kinds import Count, Text
from udfs.arguments.options import Options
from udfs.engine.decorator import udf
from udfs.timeseries.loader import no_observations
from udfs.timeseries.options import TableOptions
from udfs.timeseries.resample import known_only
from udfs.timeseries.table import window_for
from udfs.timeseries.vintages import VINTAGE_OPTIONS, Vintage, series_of

BLOCKS = "▁▂▃▄▅▆▇█"
LEVEL = "▄"
"""A series that does not move is a line in the middle."""

MOST_POINTS = 400
"""Wider than any screen's cell."""

SLUG = Text(help="slug or shortcode of a signal, or a range of them", example="us-cpi", vectorized=True)
START = Start(help="the first day: a date, or text such as -5Y, -6H, YTD, MAX or N60", example="-5Y", vectorized=True)
POINTS = Count(help="characters at most", example="40", least=2, most=MOST_POINTS)

OPTIONS = Options(help="text such as asof=2026-06-30", example="asof=2026-06-30", options=VINTAGE_OPTIONS)


@udf(group="Signals", examples=('=DS.SPARK("us-cpi")', '=DS.SPARK("eia.wti.spot", "-5Y", 60)', "=DS.SPARK(A2:A9)"))
async def SPARK(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG],
    start: Annotated[StartOf, START] = "-1Y",  # type: ignore[assignment]  # as a formula gives it, and read like it
    points: Annotated[int, POINTS] = 40,
    options: Annotated[Mapping[str, Any] | None, OPTIONS] = None,
    *,
    today: date,
    now: float,
) -> str:
    """A signal's history as a line of block characters, from the lowest value (▁) to the highest (█).

    Observations form at most `points` groups of nearly equal size. Each group shows its last observation, so the line
    ends with the newest value. Missing values are skipped. Costs the same as SIGNAL_HISTORY for this window: nothing
    if the recent history is already cached. With the option `asof`, the line is as it was known here at the end of that
    day, at no cost.
    """
    vintage = Vintage.given(options, today)
    today = vintage.day(today)
    window = window_for(start, None, today, TableOptions(), now=now)
    series = await series_of(slug, window, today, vintage)
    starts = window.starts(series.known)
    shown = known_only(series.known.observations.between(starts))
    if not len(shown):
        raise no_observations(series, starts, None)
    return spark(_thinned(shown, points))


def spark(values: NDArray[np.float64]) -> str:
    """One block character for each value."""
    low, high = values.min(), values.max()
    if low == high:
        return LEVEL * len(values)
    places = np.rint((values / 2 - low / 2) / (high / 2 - low / 2) * (len(BLOCKS) - 1))
    return "".join(BLOCKS[int(place)] for place in places)


def _thinned(observations: Observations, points: int) -> NDArray[np.float64]:
    groups = min(points, len(observations))
    ends = np.arange(1, groups + 1) * len(observations) // groups - 1
    return observations.values[ends]
