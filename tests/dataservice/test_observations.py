"""Columns of texts become observations, whatever was read before."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.moments import MAX_KNOWN_TIMES, _known
from dataservice.observations import Observations

BEGIN = datetime(1999, 12, 31, tzinfo=UTC)


def text(minutes):
    return f"{BEGIN + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


def read(times):
    return Observations.from_columns(times, [float(place) for place in range(len(times))])


columns = st.lists(st.lists(st.integers(0, 500_000), max_size=50), min_size=1, max_size=10)


@given(columns)
def test_times_mean_the_same_however_often_they_were_read_before(columns):
    for minutes in columns:
        told = dict(zip(minutes, map(float, range(len(minutes))), strict=True))  # of a time given twice the later one
        expected = [(BEGIN + timedelta(minutes=each), told[each]) for each in sorted(told)]
        assert list(read([text(each) for each in minutes])) == expected


def test_no_more_times_are_remembered_than_are_said():
    for first in range(0, 4 * MAX_KNOWN_TIMES, 1_000):
        read([text(minute) for minute in range(first, first + 1_500)])
        assert len(_known) <= MAX_KNOWN_TIMES
    read([text(minute) for minute in range(2 * MAX_KNOWN_TIMES)])
    assert len(_known) <= MAX_KNOWN_TIMES


@pytest.mark.parametrize("wrong", ["2025-02-30T00:00:00Z", "2025-13-01T00:00:00Z", "2025-01-01T25:00:00Z"])
def test_a_time_that_is_none_is_refused_every_time(wrong):
    for _ in range(2):
        with pytest.raises(ValueError, match=r"."):
            read([text(0), wrong])
