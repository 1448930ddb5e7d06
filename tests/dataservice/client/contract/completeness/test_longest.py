"""Windows that are refused for their length, or cut: what to ask for instead, and when to doubt."""

from datetime import date, timedelta

import numpy as np
import pytest

from dataservice.client.contract.completeness.longest import left_out, lengths_to_try, looks_cut, part_before
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations

TODAY = date(2026, 9, 15)


def every(step, first, last=TODAY):
    count = (last - first).days // step + 1
    days = np.datetime64(last) - np.arange(count)[::-1] * step
    return Observations(days.astype("datetime64[us]"), np.arange(count, dtype=float))


@pytest.mark.parametrize(
    ("refusal", "first"),
    [
        ("a window may span at most 366 days", 362),
        ("range exceeds 5 years", 1_821),
        ("max 1,000 days", 996),
        ("only 12 months", 356),
        ("bad request", 3_649),
    ],
)
def test_the_length_that_a_refusal_names_is_tried_first(refusal, first):
    assert lengths_to_try(100_000, refusal)[0] == first
    assert all(days < 300 for days in lengths_to_try(300, refusal))


@pytest.mark.parametrize("years", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("step", [1, 3, 7])
def test_just_so_many_years_look_cut_and_others_do_not(years, step):
    first = TODAY.replace(year=TODAY.year - years)
    assert looks_cut(every(step, first))
    assert not looks_cut(every(step, first - timedelta(days=71)))


@pytest.mark.parametrize(("rows", "cut"), [(500, True), (1_000, True), (999, False), (1_001, False), (2_190, False)])
def test_just_so_many_rows_look_cut(rows, cut):
    assert looks_cut(every(1, TODAY - timedelta(days=rows - 1))) is cut


def test_what_is_left_out_lies_before_and_behind_more_than_a_pause():
    found = every(1, date(2025, 9, 16), date(2026, 3, 1))
    assert left_out(Window(date(2020, 1, 1), date.max), found, found, TODAY) == [
        Window(date(2020, 1, 1), date(2025, 9, 15)),
        Window(date(2026, 3, 2), date.max),
    ]
    assert left_out(Window(date(2025, 9, 13), date(2026, 3, 5)), found, found, TODAY) == []


def test_a_hole_in_what_is_known_is_no_pause_of_the_series():
    found = every(1, date(2025, 9, 16), date(2026, 9, 15))
    told = every(1, date(2022, 1, 3), date(2025, 4, 7)).merged(found)
    assert left_out(Window(date(2025, 4, 8), date.max), found, told, TODAY) == [
        Window(date(2025, 4, 8), date(2025, 9, 15))
    ]


def test_parts_are_the_last_days_of_what_is_left_and_keep_its_open_end():
    assert part_before(Window(), 100, TODAY) == Window(TODAY - timedelta(days=99), date.max)
    assert part_before(Window(date(2026, 9, 1), TODAY), 100, TODAY) == Window(date(2026, 9, 1), TODAY)
