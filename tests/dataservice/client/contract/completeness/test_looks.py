"""One observation told in two ways is one; a revision is told apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.contract.completeness.looks import as_known, finest
from dataservice.observations import Observations

FINE = np.array([100.162, 101.337, 99.008, 102.111, 103.519, 98.276])


def series(values, hour=0, first="2024-01-01"):
    days = np.datetime64(first, "us") + np.arange(len(values)) * np.timedelta64(1, "D")
    return Observations((days + np.timedelta64(hour, "h")).astype("datetime64[us]"), np.array(values, np.float64))


def test_four_bytes_rounding_and_another_time_of_day_are_no_change():
    known = series(FINE)
    for told in (FINE.astype(np.float32).astype(float), np.round(FINE, 1), np.round(FINE, 2)):
        assert as_known(known, series(told)) == known
        assert as_known(known, series(told, hour=21)) == known
        assert finest(known, series(told)) == known
        assert finest(series(told), known) == known


def test_a_revision_is_a_change_also_beside_rounding():
    told = np.round(FINE, 1)
    told[2] = 95.0
    changed = as_known(series(FINE), series(told))
    assert (changed.values != FINE).tolist() == [False, False, True, False, False, False]


@given(st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 2)), min_size=4, max_size=40), st.data())
def test_a_revised_value_of_one_source_is_always_a_change(values, data):
    place, by = data.draw(st.integers(0, len(values) - 1)), data.draw(st.floats(0.01, 1e3).map(lambda v: round(v, 2)))
    revised = [*values]
    revised[place] = round(values[place] + max(by, 0.01), 2)
    assert as_known(series(values), series(revised)) != series(values)


def test_rows_without_a_value_say_the_same_as_no_rows():
    known = series([1.0, np.nan, 3.0, 4.0, 5.0])
    left_out = Observations(known.times[[0, 2, 3, 4]], known.values[[0, 2, 3, 4]])
    assert as_known(known, left_out) == known
    assert as_known(left_out, known) == left_out


def test_one_value_is_told_alike_where_the_other_look_rounds_all_of_its_values():
    known = series(FINE[-1:], first="2024-01-06")
    told = as_known(known, series(np.round(FINE, 1)))
    assert told.values[-1] == FINE[-1]
    assert finest(known, series(np.round(FINE, 1))).values[-1] == FINE[-1]
    assert as_known(series(np.round(FINE, 1)), known).values.tolist() == [np.round(FINE, 1)[-1]]
    revised = np.round(FINE, 1)
    revised[-1] += 0.2
    assert as_known(known, series(revised)).values[-1] == revised[-1]
