"""What programs have their names and days in: numpy's and pandas' containers count as ranges."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from udfs.arguments.python_values import plain

SLUGS = ["us-cpi", "us-10y"]
DAYS = ["2026-06-30", "2025-06-30"]
TIMES = [dt.datetime.fromisoformat(day) for day in DAYS]


@pytest.mark.parametrize(
    "container",
    [np.array(SLUGS), np.array(SLUGS, object), pd.Series(SLUGS), pd.Index(SLUGS), pd.Categorical(SLUGS), SLUGS],
)
def test_any_container_of_names_is_a_list_of_them(container):
    assert plain(container) == SLUGS


@pytest.mark.parametrize(
    "container",
    [
        *[np.array(DAYS, f"datetime64[{unit}]") for unit in ("D", "s", "ms", "us", "ns")],
        pd.to_datetime(DAYS),
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(TIMES, dtype=object),
    ],
)
def test_times_stay_times_whatever_their_unit(container):
    assert plain(container) == TIMES


def test_a_frame_is_its_rows_and_what_is_missing_is_blank():
    frame = pd.DataFrame({"slug": ["us-cpi", None], "day": pd.to_datetime(["2026-06-30", None])})
    assert plain(frame) == [["us-cpi", TIMES[0]], [None, None]]
    assert plain(np.array([1.0, np.nan])) == [1.0, None]
    assert plain(pd.array([1, None], dtype="Int64")) == [1, None]


@pytest.mark.parametrize("value", ["us-cpi", 3, 2.5, True, None, dt.date(2026, 6, 30), {"freq": "M"}, np.str_("x")])
def test_everything_else_is_as_it_was(value):
    assert plain(value) == value


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (np.array(5), 5),
        (np.array("us-cpi"), "us-cpi"),
        (np.array(np.nan), None),
        (np.array("2026-06-30", "datetime64[ns]"), TIMES[0]),
        (np.ma.masked, None),
        (np.ma.array(5), 5),
    ],
)
def test_an_array_of_no_dimension_is_its_one_value(array, value):
    assert plain(array) == value
    assert plain({"limit": array}) == {"limit": value}
