"""Odd series and options: empty ones, huge values, the first and last days there are: a table or a refusal."""

import warnings
from datetime import date, datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dataservice.observations import Observations
from udfs.arguments.dates import Last, Max
from udfs.errors import ArgumentError
from udfs.functions.signal_history import OPTIONS
from udfs.timeseries.compute import Ending, series_of_table
from udfs.timeseries.coverage import Known
from udfs.timeseries.options import TableOptions
from udfs.timeseries.table import (
    Labelled,
    history_table,
    joined_windows,
    window_for,
    windows_of_common_rows,
    windows_to_share,
)

DAYS = [date.min, date(1, 3, 1), date(2024, 2, 29), date(2026, 8, 19), date.max]
STARTS = [Max(), Last(1), Last(7), date(2020, 1, 1), datetime(2026, 8, 18, 5), date.min]  # noqa: DTZ001 - naive UTC
VALUES = [float("nan"), 0.0, 1.0, -1.0, 1e308, 5e-324, 100.0, 101.5]
STEPS_US = [3_600_000_000, 86_400_000_000, 7 * 86_400_000_000, 30 * 86_400_000_000, 366 * 86_400_000_000]

CHAINS = [
    "none",
    "pct",
    "pct(3)",
    "diff(12M)",
    "lag(52W)",
    "lag(400)",
    "yoy",
    "mom",
    "yoydiff",
    "ann",
    "ann(3M)",
    "log|diff",
    "ma(1)",
    "ma(12M)",
    "sum(3)",
    "std(2)",
    "median(5)",
    "rank(1)",
    "zscore(2)",
    "ewm(5000)",
    "ewm(3, scaled)",
    "index",
    "index(100, 2020)",
    "index(100, 2020-02-29)",
    "cum",
    "drawdown",
    "corr(2)",
    "corr(b, 3)",
    "none, pct",
    "yoy|ma(3)|cum|index",
    "diff(5D)",
    "pct(100Y)",
    "lag(90000)",
]

options = st.fixed_dictionaries(
    {
        "freq": st.sampled_from(["raw", "H", "D", "B", "W", "W-FRI", "M", "Q", "Q-JAN", "Y", "Y-FEB"]),
        "agg": st.sampled_from(["last", "first", "mean", "sum", "min", "max"]),
        "fill": st.sampled_from(["none", "prev", "next", "linear", "zero"]),
        "align": st.sampled_from(["union", "intersect"]),
        "calc": st.sampled_from(["filled", "own"]),
        "count": st.sampled_from(["periods", "rows"]),
        "layout": st.sampled_from(["wide", "long"]),
        "transform": st.sampled_from(CHAINS),
    }
)


@st.composite
def series(draw, last: date) -> Observations:
    """A series that ends on a day, as far back as there are days."""
    step, count = draw(st.sampled_from(STEPS_US)), draw(st.sampled_from([0, 1, 2, 5, 40]))
    end, first = (int(np.datetime64(day, "us").astype(np.int64)) for day in (last, date.min))
    times = [time for place in range(count) if (time := end - step * place) >= first][::-1]
    values = draw(st.lists(st.sampled_from(VALUES), min_size=len(times), max_size=len(times)))
    return Observations(np.array(times, np.int64).view("datetime64[us]"), np.array(values, np.float64))


@settings(max_examples=120)
@given(st.data(), options, st.sampled_from(STARTS), st.sampled_from([None, *DAYS]), st.sampled_from(DAYS))
def test_whatever_is_asked_of_whatever_series_there_is_a_table_or_a_refusal(data, asked, start, end, today):
    known = {name: Known(data.draw(series(today))) for name in ("a", "b")}
    text = "; ".join(f"{name}={value}" for name, value in asked.items())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            table = _table(known, TableOptions(**OPTIONS.read(text, "options", today)), start, end, today)
        except ArgumentError:
            return
    for values in table.columns:
        assert values.dtype != np.float64 or not np.isinf(values).any()


def _table(known, shown, start, end, today):
    columns, ending = shown.columns(list(known)), Ending.of(end, today)
    windows = joined_windows([window_for(start, end, today, shown, steps) for _, steps in columns], columns, shown)
    count = windows[0].count
    for window in windows:
        window.resource("a", window.likely_step_days, today)
    while True:
        found = [
            Labelled(name, series_of_table(name, known[name], window, steps, shown, ending))
            for (name, steps), window in zip(columns, windows, strict=True)
        ]
        wider = count and windows_of_common_rows(windows, count, found, shown, ending)
        wider = wider or windows_to_share(windows, found, shown, ending)
        if wider is None:
            return history_table(found, shown, ending, windows[0].first)
        windows = wider
