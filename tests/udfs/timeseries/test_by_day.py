"""The last values up to a day, found by bisection, are those of a search through all observations."""

import math
from datetime import UTC, date, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client import SignalDetail
from dataservice.models import Signal
from dataservice.observations import Observations
from udfs.timeseries.by_day import by_day
from udfs.timeseries.coverage import recent
from udfs.timeseries.loader import latest

FIRST = datetime(2026, 1, 1, tzinfo=UTC)

hours = st.lists(st.integers(0, 24 * 40), unique=True, max_size=30).map(sorted)
values = st.one_of(st.just(math.nan), st.floats(-1e6, 1e6))


@st.composite
def details(draw):
    times = [FIRST + timedelta(hours=hour) for hour in draw(hours)]
    column = np.array([each.replace(tzinfo=None) for each in times], "datetime64[us]")
    numbers = draw(st.lists(values, min_size=len(times), max_size=len(times)))
    return SignalDetail(Signal(slug="made-up"), None, Observations(column, np.array(numbers, np.float64)))


def searched(detail, day):
    """Every value up to the end of the day with its time, oldest first."""
    return [(moment, value) for moment, value in detail.history if moment.date() <= day and not math.isnan(value)]


@given(details(), st.integers(-3, 45), st.booleans())
def test_the_last_value_up_to_a_day_and_the_one_before_it_are_found(detail, offset, with_previous):
    day = date(2026, 1, 1) + timedelta(days=offset)
    expected = searched(detail, day)
    near = by_day(detail)
    places = near.last(day, 2 if with_previous else 1)
    is_whole = recent(detail).since == date.min
    if len(expected) < (2 if with_previous else 1) and not (is_whole and expected):
        assert not places
        return
    found = near.observed(places[0], places[1:])
    moment, value = expected[-1]
    assert (found.value, found.before) == (value, expected[-2][1] if with_previous and len(expected) > 1 else None)
    assert found.moment == (moment.date() if moment.time() == datetime.min.time() else moment)
    assert near.value(places[0]) == value


@given(details().filter(lambda detail: len(detail.history)))
def test_the_latest_observation_may_be_null_and_the_one_before_it_is_not(detail):
    *before, (moment, value) = list(detail.history)
    known = [each for _, each in before if not math.isnan(each)]
    found = latest(detail)
    assert found.value == (None if math.isnan(value) else value)
    assert found.before == (known[-1] if known else None)
    assert found.moment in (moment, moment.date())
