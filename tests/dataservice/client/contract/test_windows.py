"""Days that are known, against the plain definition: sets of days."""

import itertools
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.contract.windows import Window, day_after, day_before, joined, missing, utc_day_of

DAYS = [date(2024, 1, 1) + timedelta(days=n) for n in range(40)]
days = st.sampled_from(DAYS)
windows = st.builds(Window, days, days)


def held(*parts: Window) -> set[date]:
    return {day for day in DAYS for part in parts if day in part}


@given(st.lists(windows), windows)
def test_what_is_missing_is_what_was_wanted_and_is_not_known(known, wanted):
    assert held(*missing(known, wanted)) == held(wanted) - held(*known)


@given(st.lists(windows), windows)
def test_missing_windows_are_in_order_and_apart(known, wanted):
    gaps = missing(known, wanted)
    assert all(gaps)
    assert all(day_after(earlier.end) < later.start for earlier, later in itertools.pairwise(gaps))


@given(st.lists(windows))
def test_joining_changes_no_day_and_leaves_no_neighbours(parts):
    together = joined(parts)
    assert held(*together) == held(*parts)
    assert all(day_after(a.end) < b.start for a, b in itertools.pairwise(together))


@given(windows, windows)
def test_two_windows_share_the_days_that_are_in_both(one, other):
    assert held(one.within(other)) == held(one) & held(other)
    assert one.meets(other) == bool(one.within(other))


@given(windows, windows)
def test_a_window_covers_another_when_it_holds_its_days(one, other):
    if one and other:
        assert one.covers(other) == (held(one) >= held(other))


def test_open_ends_reach_to_the_ends_of_the_calendar():
    assert missing([Window(date(2020, 1, 1), date.max)], Window()) == [Window(date.min, date(2019, 12, 31))]
    assert missing([Window()], Window()) == []
    assert missing([], Window()) == [Window()]


def test_the_calendar_has_no_day_before_its_first_and_none_behind_its_last():
    assert day_before(date.min) == date.min
    assert day_after(date.max) == date.max


@pytest.mark.parametrize("text", ["9999-12-31T23:00:00-12:00", "0001-01-01T00:00:00+14:00"])
def test_a_time_whose_utc_day_does_not_exist_is_refused(text):
    with pytest.raises(ValueError, match="outside the years 1 to 9999"):
        utc_day_of(datetime.fromisoformat(text))
