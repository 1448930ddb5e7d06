"""The day to compare with, months earlier, and the observation that stands for it."""

import calendar
from datetime import date, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.parts.series import series
from udfs.timeseries.rhythm import STALE_DAYS
from udfs.timeseries.spans import anchor_days, base_positions

days = st.dates(date(1700, 1, 1), date(2200, 1, 1))


def anchor(day, months):
    return anchor_days(np.array([day], "datetime64[us]"), months)[0].item()


@given(days, st.sampled_from([1, 3, 12]))
def test_an_anchor_lies_exactly_so_many_months_earlier(day, months):
    found = anchor(day, months)
    assert (day.year - found.year) * 12 + day.month - found.month == months
    assert found.day <= day.day or found.day == calendar.monthrange(found.year, found.month)[1]


@given(days)
def test_the_last_day_of_a_month_goes_to_the_last_day(day):
    last = day.replace(day=calendar.monthrange(day.year, day.month)[1])
    found = anchor(last, 1)
    assert found + timedelta(days=1) == last.replace(day=1)


def test_the_leap_day_goes_to_the_end_of_february_and_back():
    assert anchor(date(2024, 2, 29), 12) == date(2023, 2, 28)
    assert anchor(date(2025, 2, 28), 12) == date(2024, 2, 29)


@given(series(), st.sampled_from([1, 12]))
def test_a_base_is_the_newest_observation_that_is_neither_after_its_day_nor_too_old(given_series, months):
    times = given_series.times
    days = times.astype("datetime64[D]").tolist()
    anchors = anchor_days(times, months).astype("datetime64[us]")
    for day, position in zip(days, base_positions(anchors, times).tolist(), strict=True):
        target = anchor(day, months)
        fitting = [place for place, other in enumerate(days) if 0 <= (target - other).days <= STALE_DAYS]
        assert position == (fitting[-1] if fitting else -1)
