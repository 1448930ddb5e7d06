"""Periods: every observation belongs to exactly one, labelled by its last day."""

import calendar
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.parts.series import observations, real, series, shown
from udfs.timeseries.frequency import Freq, all_periods, period_start
from udfs.timeseries.resample import Agg, known_only, resampled

PERIODS = [Freq.D, Freq.W, Freq.M, Freq.Q, Freq.Y]

RULES = {
    Agg.LAST: lambda values: values[-1],
    Agg.FIRST: lambda values: values[0],
    Agg.MEAN: lambda values: sum(values) / len(values),
    Agg.SUM: sum,
    Agg.MIN: min,
    Agg.MAX: max,
}


def last_day(day, freq):
    """The last day of the period, worked out by the calendar."""
    if freq is Freq.D:
        return day
    if freq is Freq.W:
        return day + timedelta(days=6 - day.weekday())
    month = {Freq.M: day.month, Freq.Q: (day.month + 2) // 3 * 3, Freq.Y: 12}[freq]
    return date(day.year, month, calendar.monthrange(day.year, month)[1])


@given(series(), st.sampled_from(PERIODS), st.sampled_from(Agg))
def test_every_period_with_observations_gets_one_row_by_the_rule(given_series, freq, agg):
    groups = {}
    for time, value in given_series:
        groups.setdefault(last_day(time.date(), freq), []).append(value)
    found = resampled(given_series, freq, agg)
    assert [time.date() for time, _ in found] == list(groups)
    expected = [RULES[agg](values) for values in groups.values()]
    np.testing.assert_allclose(found.values, expected, rtol=1e-12, atol=1e-6)


@given(st.dates(), st.sampled_from(PERIODS))
def test_a_period_starts_on_a_day_of_its_own_and_the_day_before_is_another(day, freq):
    start = period_start(day, freq)
    assert start <= day
    if day < date(9999, 1, 1):
        assert last_day(start, freq) == last_day(day, freq)
    if start > date.min:
        assert last_day(start - timedelta(days=1), freq) < start


def test_raw_is_unchanged():
    given_series = observations({"2024-01-05": 1, "2024-01-09": 2})
    assert resampled(given_series, Freq.RAW, Agg.SUM) == given_series
    assert period_start(date(2024, 5, 6), Freq.RAW) == date(2024, 5, 6)


def test_weeks_run_from_monday_to_sunday():
    found = resampled(observations({"2024-12-29": 1, "2024-12-30": 2, "2025-01-05": 3}), Freq.W, Agg.SUM)
    assert shown(found) == {"2024-12-29": 1, "2025-01-05": 5}


def test_a_period_under_way_counts_with_what_there_is_of_it():
    found = resampled(observations({"2024-01-31": 1, "2024-02-01": 2, "2024-02-02": 4}), Freq.M, Agg.MEAN)
    assert shown(found) == {"2024-01-31": 1, "2024-02-29": 3}


def test_periods_without_observations_have_no_row():
    found = resampled(observations({"2024-01-31": 1, "2024-04-01": 2}), Freq.M, Agg.LAST)
    assert list(shown(found)) == ["2024-01-31", "2024-04-30"]


def test_all_periods_has_no_gap():
    ends = all_periods(np.datetime64("2023-12-31", "us"), np.datetime64("2024-04-30", "us"), Freq.M)
    assert [str(end)[:10] for end in ends] == ["2023-12-31", "2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]


def test_nothing_stays_nothing():
    assert len(resampled(observations({}), Freq.M, Agg.MEAN)) == 0


def test_nulls_are_left_out_of_what_is_known():
    assert shown(known_only(observations({"2024-01-01": 1, "2024-01-02": None}))) == {"2024-01-01": 1}


@pytest.mark.parametrize("slug", ["eia.wti.spot", "cboe.vix"])
@pytest.mark.parametrize(("freq", "alias"), [(Freq.W, "W-SUN"), (Freq.M, "ME"), (Freq.Q, "QE"), (Freq.Y, "YE")])
@pytest.mark.parametrize("agg", Agg)
def test_real_daily_series_aggregate_as_pandas_does(shared_data, slug, freq, alias, agg):
    import pandas as pd

    days, values = real(shared_data, slug)
    expected = pd.Series(values, index=pd.DatetimeIndex(days)).resample(alias).agg(str(agg)).dropna()
    found = resampled(observations(days, values), freq, agg)
    assert [time.date() for time, _ in found] == list(expected.index.date)
    np.testing.assert_allclose(found.values, expected.to_numpy(), rtol=1e-12)
