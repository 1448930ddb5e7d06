"""Columns of texts become observations, whatever was read before."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.moments import MAX_AXES, MAX_KNOWN_TIMES, _axes, _known, _worked_out, of_axis
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


def test_series_of_one_calendar_share_a_column_of_times_that_nobody_can_change():
    times = [text(minute) for minute in (3, 1, 2, 1)]
    one, other = read(times), read(times)
    assert one.times is other.times
    assert one.values.tolist() == other.values.tolist() == [3.0, 2.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        one.times[0] = one.times[1]


def test_what_is_worked_out_of_shared_times_is_so_once_and_of_a_part_of_them_each_time():
    asked = []

    def first_of(times):
        asked.append(len(times))
        return times[0]

    for _ in range(2):
        found = read([text(minute) for minute in range(7_000, 7_005)])
        assert of_axis(first_of, found.times) == found.times[0]
        assert of_axis(first_of, found[1:].times) == found.times[1]
    assert asked == [5, 4, 4]


def test_a_line_break_inside_of_a_text_makes_it_no_two_times():
    read([text(minute) for minute in range(3)])
    with pytest.raises(ValueError, match="no date or time"):
        read([f"{text(0)}\n{text(1)}", text(2)])


def test_no_more_columns_are_remembered_than_are_said():
    for first in range(2 * MAX_AXES):
        read([text(minute) for minute in range(first, first + 3)])
        assert len(_axes) <= MAX_AXES
        assert len(_worked_out) <= MAX_AXES


@pytest.mark.parametrize(
    ("time", "value", "last_day", "is_it"),
    [
        (text(2), 2.0, BEGIN.date(), True),
        (text(2), 1.0, BEGIN.date(), False),
        (text(2), None, BEGIN.date(), False),
        (text(1), 2.0, BEGIN.date(), False),
        (text(2), 2.0, BEGIN.date() - timedelta(days=1), False),
    ],
)
def test_observations_end_with_one_of_the_same_time_and_value_up_to_a_day(time, value, last_day, is_it):
    assert read([text(minute) for minute in range(3)]).ends_with(time, value, last_day) is is_it


def test_an_observation_without_a_value_ends_with_none_and_lacks_it():
    found = Observations.from_columns([text(0), text(1)], [1.0, None])
    assert found.ends_with(text(1), None, BEGIN.date())
    assert (found.lacks_values, found[:1].lacks_values, Observations.empty().lacks_values) == (True, False, False)


def test_one_of_them_is_its_time_and_value_and_a_part_of_them_is_such_columns():
    found = Observations.from_columns([text(0), text(1), text(2)], [1.0, 2.0, 3.0])
    assert found[-1] == (BEGIN + timedelta(minutes=2), 3.0)
    assert [found[place] for place in range(3)] == list(found)
    assert list(found[1:]) == list(found)[1:]
    with pytest.raises(IndexError):
        found[3]
