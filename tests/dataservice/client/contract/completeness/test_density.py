"""Rows that may be a part of denser ones: what a look by itself shows of that, and which days tell more."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from dataservice.client.contract.completeness.density import (
    after_dense_window,
    after_detail,
    check_window,
    detail_may_be_thin,
    is_sparse,
    window_may_be_thin,
)
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN
from dataservice.client.contract.windows import Window, day_before
from dataservice.observations import Observations

NEWEST = date(2026, 9, 15)
NOTHING = Observations.empty()


def series(days, values=None):
    times = np.array(sorted(days), "datetime64[D]").astype("datetime64[us]")
    return Observations(times, np.arange(len(times)) * 0.25 if values is None else np.asarray(values))


def every(step, count, newest=NEWEST):
    return series(newest - timedelta(days=step * place) for place in range(count))


def month_starts(count):
    months = np.datetime64("2026-09") - np.arange(count)
    return series(months.astype("datetime64[D]").tolist())


def month_ends(count):
    months = np.datetime64("2026-09") - np.arange(count)
    return series((months.astype("datetime64[D]") - 1).tolist())


@pytest.mark.parametrize(
    "recent",
    [
        *(every(7, 53), every(7, 75), month_ends(17), month_starts(13), every(3, 122), every(5, 73)),
        every(7, 200).merged(series([NEWEST + timedelta(days=2)])),
    ],
)
def test_a_recent_history_as_long_as_365_days_or_out_of_step_may_be_thinned_out(recent):
    assert detail_may_be_thin(recent, NOTHING_SEEN)


@pytest.mark.parametrize(
    "recent",
    [
        *(every(1, 365), every(1, 20), month_starts(241), month_starts(365), every(7, 5), every(7, 1)),
        *(every(7, 20), every(7, 40), every(7, 60), every(7, 365), month_starts(9)),
    ],
)
def test_one_of_any_length_in_the_usual_steps_is_taken_as_it_is(recent):
    assert not detail_may_be_thin(recent, NOTHING_SEEN)


def test_first_days_of_months_beside_a_latest_one_of_another_day_may_be_averages():
    days = month_starts(241).times.astype("datetime64[D]").tolist()
    assert not detail_may_be_thin(series(days), NOTHING_SEEN)
    assert detail_may_be_thin(series([*days, NEWEST]), NOTHING_SEEN)


def test_after_a_full_daily_one_others_are_taken_as_they_are_until_something_was_thinned_out():
    seen = after_detail(NOTHING_SEEN, every(1, 365))
    assert not detail_may_be_thin(every(7, 53), seen)
    assert detail_may_be_thin(every(7, 40), replace(NOTHING_SEEN, thin_over=320))
    assert after_detail(NOTHING_SEEN, every(1, 300)) == NOTHING_SEEN


@pytest.mark.parametrize("found", [every(7, 300), month_ends(60), every(5, 400), every(1, 3).merged(every(7, 90))])
def test_a_window_of_weeks_or_month_ends_or_odd_steps_may_be_thinned_out(found):
    assert window_may_be_thin(found, NOTHING, NOTHING_SEEN)


def test_a_daily_window_is_not_and_clears_all_that_span_no_more_days():
    daily = every(1, 1_200)
    assert not window_may_be_thin(daily, NOTHING, NOTHING_SEEN)
    seen = after_dense_window(NOTHING_SEEN, daily)
    assert not window_may_be_thin(every(7, 150), NOTHING, seen)
    assert window_may_be_thin(every(7, 300), NOTHING, seen)


def test_month_starts_are_the_usual_days_of_monthly_series_unless_their_values_were_worked_out():
    assert not window_may_be_thin(month_starts(241), NOTHING, NOTHING_SEEN)
    averages = series(month_starts(241).times.astype("datetime64[D]").tolist(), np.sqrt(np.arange(241) + 2.0))
    assert window_may_be_thin(averages, NOTHING, NOTHING_SEEN)


def test_what_is_known_of_the_series_says_how_dense_it_is():
    weekly = every(7, 300)
    assert not window_may_be_thin(weekly, every(7, 20), NOTHING_SEEN)
    assert window_may_be_thin(month_starts(100), every(1, 365), NOTHING_SEEN)
    assert window_may_be_thin(month_starts(100), month_ends(60), NOTHING_SEEN), "as many rows, and on other days"


def test_a_short_window_is_never_taken_for_thinned_out():
    assert not window_may_be_thin(every(7, 9), NOTHING, NOTHING_SEEN)


@pytest.mark.parametrize(("found", "days"), [(every(3, 200), 14), (every(7, 300), 14), (month_ends(60), 62)])
def test_a_check_asks_for_the_days_of_two_rows_up_to_the_last_one(found, days):
    assert check_window(found) == Window(found.last_day - timedelta(days=days), found.last_day)


def test_the_days_of_which_every_row_is_told_behind_a_thinned_window_do_not_hide_it():
    averages, recent = month_starts(13), every(1, 25)
    mixed = averages.between(None, day_before(recent.first_day)).merged(recent)
    assert window_may_be_thin(mixed, NOTHING, NOTHING_SEEN)
    assert not check_window(mixed).meets(Window(recent.first_day + timedelta(days=3), recent.last_day))


def test_working_days_with_many_holidays_are_not_sparse():
    days = [day for day in every(1, 365).times.astype("datetime64[D]").tolist() if day.weekday() < 5]
    left = [day for day in days if day.day not in (3, 11)]
    assert not is_sparse(series(left, np.arange(float(len(left)))))
