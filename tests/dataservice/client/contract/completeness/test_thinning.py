"""Two looks at the same days: whether one of them thins a series out, and what is asked then."""

import itertools
from datetime import date, timedelta

import numpy as np
import pytest

from dataservice.client.contract.completeness.evidence import NOTHING_SEEN
from dataservice.client.contract.completeness.thinning import (
    OVERLAP_DAYS,
    SHORTEST_PART_DAYS,
    leaves_out,
    overlapping,
    parts_of,
    shorter_parts,
    tells_alike,
)
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations

FIRST, TODAY = np.datetime64("2024-01-01"), date(2026, 8, 31)


def series(days, value=1.0):
    times = np.array([FIRST + int(day) for day in days], "datetime64[us]")
    return Observations(times, np.full(len(times), value))


DAILY = series(range(400))


@pytest.mark.parametrize("thin", [series(range(0, 400, 7)), series(range(0, 400, 30)), series(range(1, 400, 2))])
def test_a_look_that_shows_only_some_of_the_days_leaves_others_out(thin):
    assert leaves_out(thin, DAILY)
    assert not leaves_out(DAILY, thin)
    assert not tells_alike(thin, DAILY)


@pytest.mark.parametrize(
    "other",
    [
        series(range(0, 400, 7)).merged(series([401])),  # beyond the end of the other
        series(range(390, 700)),  # they share a few days
        series(day + 0 for day in range(400) if day % 10),  # some holes
    ],
)
def test_what_lies_elsewhere_or_is_nearly_all_is_not_thinned_out(other):
    assert leaves_out(other, DAILY) is (len(other) < 100)


def test_averages_on_days_of_their_own_leave_others_out_too():
    assert leaves_out(series(range(0, 800, 14)), series(range(0, 800, 4)))


def test_rows_without_a_value_are_none():
    assert not leaves_out(series(range(400)), series(range(0, 400, 3)).merged(series(range(1, 400, 3), np.nan)))


def test_a_window_in_parts_is_all_of_it_newest_first():
    whole = Window(date(2020, 5, 1), date.max)
    parts = parts_of(whole, TODAY, 366)
    assert parts[0].end == date.max
    assert parts[-1].start == whole.start
    for newer, older in itertools.pairwise(parts):
        assert older.end == newer.start - timedelta(days=1)
    assert all((min(part.end, TODAY) - part.start).days < 366 for part in parts)


def test_known_rows_are_asked_again_where_they_come_next_and_take_no_page_more():
    behind = DAILY.between(date(2024, 6, 1))
    year = Window(date(2023, 6, 1), date(2024, 5, 31))
    assert overlapping(year, behind, NOTHING_SEEN).end == date(2024, 6, 24)
    full = Window(date(2021, 9, 12), date(2024, 5, 31))  # 993 days
    for window, known in ((full, behind), (Window(date(2021, 1, 1), date(2021, 12, 31)), behind), (year, behind[:4])):
        assert overlapping(window, known, NOTHING_SEEN) == window


def test_parts_that_are_thinned_out_themselves_become_shorter_until_they_are_short_enough():
    days, thin_over = 2_000, 0
    seen = []
    while thin_over != SHORTEST_PART_DAYS:
        thin_over = shorter_parts(days, thin_over)
        seen.append(thin_over)
        days = thin_over + OVERLAP_DAYS  # the most that is asked for as a part
    assert seen == sorted(set(seen), reverse=True)
    assert shorter_parts(2_000, 100) == 100, "a longer one shows nothing new"
