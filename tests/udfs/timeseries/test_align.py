"""Several series on common rows, and what stands in the holes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.parts.series import observations, series
from udfs.timeseries.alignment import by_day, filled, row_times
from udfs.timeseries.frequency import Freq
from udfs.timeseries.options import Align, Fill

DAILY = observations({"2024-01-01": 1, "2024-01-02": 2, "2024-01-04": 4, "2024-01-05": None})
OTHER = observations({"2024-01-02": 20, "2024-01-03": 30, "2024-01-05": 50})


def rows(*given_series, align=Align.UNION, fill=Fill.NONE, freq=Freq.RAW):
    return row_times(given_series, align, fill, freq)


def values(given_series, times, fill):
    return [None if np.isnan(value) else value for value in filled(given_series, times, fill)]


def days(times):
    return [str(time)[:10] for time in times]


def test_union_has_every_date_and_intersect_those_on_which_all_have_a_value():
    assert days(rows(DAILY, OTHER)) == [f"2024-01-0{day}" for day in (1, 2, 3, 4, 5)]
    assert days(rows(DAILY, OTHER, align=Align.INTERSECT)) == ["2024-01-02"]


def test_no_series_have_no_rows():
    assert len(rows()) == len(rows(align=Align.INTERSECT)) == 0


def test_each_fill_takes_the_series_own_values():
    times = rows(DAILY, OTHER)
    assert values(DAILY, times, Fill.NONE) == [1, 2, None, 4, None]
    assert values(DAILY, times, Fill.PREV) == [1, 2, 2, 4, 4]
    assert values(DAILY, times, Fill.NEXT) == [1, 2, 4, 4, None]
    assert values(DAILY, times, Fill.LINEAR) == [1, 2, 3, 4, None]
    assert values(DAILY, times, Fill.ZERO) == [1, 2, 0, 4, 0]


def test_the_value_before_the_first_row_is_carried_in():
    times = rows(OTHER)[1:]
    assert values(observations({"2023-12-01": 7}), times, Fill.PREV) == [7, 7]


def test_with_a_frequency_and_a_fill_every_period_has_a_row():
    months = observations({"2024-01-31": 1, "2024-04-30": 4})
    assert days(rows(months, freq=Freq.M)) == ["2024-01-31", "2024-04-30"]
    assert days(rows(months, freq=Freq.M, fill=Fill.PREV)) == ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]


def test_series_without_values_fill_with_nothing_or_zero():
    nothing = observations({"2024-01-01": None})
    for fill in (Fill.NONE, Fill.PREV, Fill.NEXT, Fill.LINEAR):
        assert values(nothing, rows(OTHER), fill) == [None, None, None]
    assert values(nothing, rows(OTHER), Fill.ZERO) == [0, 0, 0]


def test_daily_series_stamped_at_different_hours_share_their_rows():
    close = observations(["2024-01-01T16:00", "2024-01-02T16:00"], [1, 2])
    midnight = observations(["2024-01-01", "2024-01-02"], [3, 4])
    assert days(rows(*by_day([close, midnight]))) == ["2024-01-01", "2024-01-02"]


def test_a_series_with_two_observations_on_a_day_keeps_its_times():
    twice = observations(["2024-01-01T10:00", "2024-01-01T16:00"], [1, 2])
    assert by_day([twice, OTHER]) == [twice, OTHER]


def test_beside_daily_series_one_with_several_a_day_has_its_last_of_each_day_in_common():
    twice = observations(["2024-01-02T10:00", "2024-01-02T16:00", "2024-01-04T09:00", "2024-01-04T10:00"], [1, 2, 3, 4])
    aligned = by_day([DAILY, twice], Align.INTERSECT)
    times = rows(*aligned, align=Align.INTERSECT)
    assert days(times) == ["2024-01-02", "2024-01-04"]
    assert values(aligned[1], times, Fill.NONE) == [2, 4]


@given(st.lists(series(), max_size=3))
def test_union_rows_are_sorted_once_each_and_lose_no_value(many):
    times = rows(*many)
    assert (times[1:] > times[:-1]).all()
    for one in many:
        kept = filled(one, times, Fill.NONE)
        assert np.array_equal(kept[np.isin(times, one.times)], one.values)
        assert np.isnan(kept[~np.isin(times, one.times)]).all()


@given(series(least=1), series(), st.sampled_from([Fill.PREV, Fill.NEXT, Fill.LINEAR]))
def test_a_filled_value_lies_among_the_series_own(one, other, fill):
    found = filled(one, rows(one, other), fill)
    found = found[~np.isnan(found)]
    slack = 1e-9 * np.abs(one.values).max()
    assert (found >= one.values.min() - slack).all()
    assert (found <= one.values.max() + slack).all()
