"""Which observations a question needs, whether those at hand are enough, and which resource to ask if not."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client import HistoryResource, SignalDetail
from dataservice.models import Observation, Signal
from tests.udfs.parts.series import observations, series
from udfs.timeseries.compute import Ending, series_of_table
from udfs.timeseries.coverage import Known, Window, recent, which_resource
from udfs.timeseries.frequency import Freq, Unit, period_start
from udfs.timeseries.options import TableOptions
from udfs.timeseries.resample import Partial
from udfs.timeseries.spans import Lead

TODAY = date(2026, 8, 31)


def daily(count, last=TODAY):
    return observations([last - timedelta(days=count - 1 - place) for place in range(count)], list(range(count)))


def monthly(count, last=TODAY):
    months = range(last.year * 12 + last.month - count, last.year * 12 + last.month)
    return observations([date(month // 12, month % 12 + 1, 1) for month in months], list(range(count)))


def detail(history, latest=None):
    return SignalDetail(Signal(slug="x"), latest, history)


def test_a_full_recent_history_is_whole_from_its_first_day_on():
    assert recent(detail(daily(365))).since == TODAY - timedelta(days=364)


def test_a_short_history_within_a_year_proves_nothing_about_what_came_before():
    assert recent(detail(monthly(11))).since == date(2025, 10, 1)
    assert recent(detail(daily(300))).since == TODAY - timedelta(days=299)


def test_a_short_history_that_reaches_beyond_a_year_is_all_there_is():
    assert recent(detail(monthly(33))).since == date.min


@pytest.mark.parametrize("count", [11, 30, 100, 360])
def test_a_history_that_a_service_may_have_cut_is_not_all_there_is(count):
    assert recent(detail(monthly(count))).since > date.min


def test_a_series_that_ended_long_ago_is_judged_from_its_own_end():
    assert recent(detail(daily(300, last=date(2001, 1, 1)))).since != date.min


def test_the_first_day_of_a_series_with_several_observations_a_day_may_be_cut():
    hours = observations([f"2026-08-{day:02}T{hour:02}:00" for day in (30, 31) for hour in (6, 12)], [1, 2, 3, 4])
    assert recent(detail(hours)).since == date(2026, 8, 31)


def test_a_latest_observation_behind_the_history_counts():
    newest = Observation(observed_at="2026-08-31T16:00:00Z", value=5.0)
    assert recent(detail(daily(3, last=date(2026, 8, 30)), newest)).observations.values.tolist() == [0, 1, 2, 5]
    assert recent(detail(daily(3), Observation(observed_at="2026-08-31T00:00:00Z", value=2.0))).observations == daily(3)


def test_without_a_history_nothing_before_the_latest_is_known():
    only = recent(detail(observations({}), Observation(observed_at="2026-08-31", value=5.0)))
    assert not Window(date(2026, 8, 1)).is_known(only)


def known(count=365, make=daily):
    return recent(detail(make(count)))


@pytest.mark.parametrize(
    ("window", "is_known"),
    [
        (Window(TODAY - timedelta(days=364)), True),
        (Window(TODAY - timedelta(days=365)), False),
        (Window(), False),
        (Window(count=365), True),
        (Window(count=366), False),
        (Window(count=300, last=TODAY - timedelta(days=65)), True),
        (Window(count=301, last=TODAY - timedelta(days=65)), False),
        (Window(TODAY - timedelta(days=364), lead=Lead(periods=1)), False),
        (Window(TODAY - timedelta(days=345), lead=Lead(periods=19)), True),
        (Window(TODAY - timedelta(days=344), lead=Lead(days=21)), False),
        (Window(TODAY - timedelta(days=344), lead=Lead(days=20)), True),
        (Window(date(2025, 10, 15), freq=Freq.M), True),
        (Window(date(2025, 9, 15), freq=Freq.M), True),
        (Window(date(2025, 9, 15), freq=Freq.Q), False),
        (Window(date(2025, 9, 15), freq=Freq.M, lead=Lead(periods=1)), False),
        (Window(date(2025, 10, 15), freq=Freq.M, lead=Lead(periods=1)), True),
        (Window(count=340, lead=Lead(periods=19)), True),
        (Window(count=340, lead=Lead(periods=26)), False),
    ],
)
def test_a_window_is_known_only_if_nothing_it_needs_lies_before_what_is_at_hand(window, is_known):
    assert window.is_known(known()) is is_known


def test_what_is_whole_holds_every_window():
    assert Window(lead=Lead(500, 500, 500)).is_known(Known(daily(1)))
    assert Window(count=9).is_known(Known(daily(1)))


leads = st.builds(Lead, st.integers(0, 40), st.integers(0, 12), st.integers(0, 30))
FREQS = [Freq.RAW, Freq.D, Freq.B, Freq.W, Freq(Unit.W, 4), Freq.M, Freq.Q, Freq.Y, Freq(Unit.Y, 2)]
starts = st.integers(0, 800).map(lambda days: TODAY - timedelta(days=days))
windows = st.builds(Window, starts, st.none(), st.none(), st.sampled_from(FREQS), leads) | st.builds(
    Window, st.none(), st.none(), st.integers(1, 60), st.sampled_from(FREQS), leads
)


@given(windows, series(), st.integers(0, 59))
def test_a_part_that_is_enough_gives_the_same_rows_as_the_whole(window, whole, cut):
    whole = Known(whole[:])
    if not len(whole.observations):
        return
    part = Known(whole.observations[cut:], whole.observations[min(cut, len(whole.observations) - 1) :].first_day)
    if window.is_known(part):
        options = TableOptions(freq=window.freq, partial=Partial.KEEP)
        found = [series_of_table("x", known, window, (), options, Ending(TODAY)) for known in (part, whole)]
        assert found[0].rows == found[1].rows


@given(windows, st.floats(0.5, 100))
def test_what_is_asked_of_the_history_reaches_back_far_enough(window, step_days):
    asked = window.resource("x", step_days, TODAY)
    assert asked.end is None
    if window.first is not None:
        assert asked.start <= period_start(window.first, window.freq) - timedelta(days=window.lead.days)


def test_an_end_of_today_or_later_is_asked_as_an_open_one():
    assert Window(date(2020, 1, 1), TODAY).resource("x", 1, TODAY) == HistoryResource("x", date(2020, 1, 1))
    assert Window(date(2020, 1, 1), date(2024, 1, 1)).resource("x", 1, TODAY).end == date(2024, 1, 1)


def test_everything_is_asked_from_the_beginning():
    assert Window().resource("x", 1, TODAY) == HistoryResource("x")
    assert Window(date.min, lead=Lead(500, 500, 500)).resource("x", 1, TODAY) == HistoryResource("x")


@pytest.mark.parametrize(
    ("window", "resource"),
    [
        (Window(date(2025, 8, 31)), "detail"),
        (Window(date(2025, 8, 31), lead=Lead(days=41)), "detail"),
        (Window(date(2025, 8, 31), lead=Lead(months=12)), "history"),
        (Window(date(2024, 8, 31)), "history"),
        (Window(date(2010, 1, 1), date(2010, 3, 1)), "history"),
        (Window(), "history"),
        (Window(lead=Lead(periods=20)), "history"),
        (Window(count=60), "detail"),
        (Window(count=5_000), "history"),
        (Window(count=12, freq=Freq.M), "detail"),
        (Window(count=60, freq=Freq.M), "history"),
        (Window(date(2026, 3, 1), lead=Lead(periods=200)), "detail"),
        (Window(date(2026, 3, 1), lead=Lead(periods=360)), "history"),
        (Window(date(2010, 1, 1), lead=Lead(periods=20)), "history"),
    ],
)
def test_the_detail_is_asked_first_where_it_likely_holds_the_window(window, resource):
    assert which_resource(window, TODAY) == resource
