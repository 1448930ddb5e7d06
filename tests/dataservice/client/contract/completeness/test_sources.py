"""Whether a detail and a window tell one series: row for row, and what is no difference."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.contract.completeness.sources import Agreement, as_known, compared
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations

EVER = [Window()]
FINE = np.round(np.linspace(80.0, 120.0, 40), 3)


def series(values=FINE, *, hours=0, step_days=1, first="2026-03-02"):
    days = np.datetime64(first) + np.arange(len(values)) * step_days
    times = days.astype("datetime64[us]") + np.timedelta64(hours, "h")
    return Observations(times, np.asarray(values, float))


@pytest.mark.parametrize("window", [series(), series(hours=21), series(FINE.astype(np.float32)), series(FINE[:-3])])
@pytest.mark.parametrize("since", [0, 10, 33])
def test_equal_rows_agree_also_in_four_bytes_at_another_time_of_the_day_and_where_one_source_lags(window, since):
    assert compared(series()[since:], window, EVER) is Agreement.ALIKE


@pytest.mark.parametrize(
    "window",
    [
        *(series(FINE * 100), series(FINE + 0.5), series(np.round(FINE, 1)), series(FINE[1:], first="2026-03-03")[::2]),
        *(series(FINE, first="2026-03-04"), series(np.append(FINE[:5], FINE[6:]))),
    ],
)
def test_another_unit_rounding_days_and_rows_that_are_left_out_do_not(window):
    assert compared(series()[4:], window, EVER) is Agreement.APART


def test_the_newest_row_is_left_aside_and_few_rows_tell_nothing_unless_they_are_all():
    live = series(np.append(FINE[:-1], 1.0))
    assert compared(series(), live, EVER) is Agreement.ALIKE
    assert compared(series()[-1:], live, EVER) is Agreement.UNKNOWN
    assert compared(series(), series(), [Window(date(2026, 3, 2), date(2026, 3, 4))]) is Agreement.UNKNOWN
    assert compared(series()[:3], series(), EVER) is Agreement.ALIKE
    assert compared(series(), series(), [Window(date(2020, 1, 1), date(2020, 3, 4))]) is Agreement.UNKNOWN


def test_a_window_that_is_empty_where_the_detail_shows_rows_tells_otherwise():
    assert compared(series(), Observations.empty(), EVER) is Agreement.APART
    assert compared(series()[:1], Observations.empty(), EVER) is Agreement.UNKNOWN


@given(st.lists(st.floats(1, 1e6), min_size=4, max_size=30))
def test_a_value_in_four_bytes_and_nulls_are_told_as_they_are_known(values):
    known = series(np.array(values))
    assert as_known(known, series(np.array(values, np.float32), hours=5)) == known
    assert as_known(series(np.array(values, np.float32)), known) == series(np.array(values, np.float32))
    with_null = Observations(known.times, np.where(np.arange(len(values)) == 1, np.nan, known.values))
    left_out = Observations(np.delete(known.times, 1), np.delete(known.values, 1))
    assert as_known(with_null, left_out) == with_null
    assert as_known(left_out, with_null) == left_out
