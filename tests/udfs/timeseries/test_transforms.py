"""Transforms: each rule against its definition, worked out here by hand, on real series and on odd ones."""

import calendar
import math
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.parts.series import observations, real, series, shown
from udfs.errors import ArgumentError
from udfs.timeseries.pipeline import Chain
from udfs.timeseries.rhythm import Rhythm, rhythm_of
from udfs.timeseries.slots import Slots
from udfs.timeseries.transforms import TRANSFORMS, transformed

TODAY = date(2026, 8, 31)

CHAINS = [
    *("pct", "diff", "log", "yoy", "mom", "ma(3)", "ewm(5)", "zscore(4)", "index(100)", "cum", "drawdown", "lag(2)"),
    *("yoy|ma(3)", "log|diff", "pct|cum", "ma(2)|index(1)|drawdown"),
]


def chain(text):
    return Chain(help="").read(text, "transform", TODAY)


def computed(given_series, text, first=None, *, rhythm=None):
    """The series after a chain, in its own rhythm or in a given one."""
    rhythm = rhythm_of(given_series.times) if rhythm is None else rhythm
    slots = Slots.of(given_series.times, rhythm, first)
    return transformed(given_series, chain(text), slots).between(first)


def after(text, given_series, first=None):
    return shown(computed(given_series, text, first))


def earlier(day, months):
    """The same day so many months earlier by the calendar; month ends go to month ends."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    length = calendar.monthrange(year, month + 1)[1]
    is_end = day.day == calendar.monthrange(day.year, day.month)[1]
    return date(year, month + 1, length if is_end else min(day.day, length))


def change_since(days, values, months):
    """Change against the last observation on or before the day months earlier, if not over ten days older."""
    found, place = [], -1
    for day, value in zip(days, values, strict=True):
        anchor = earlier(day, months)
        while place + 1 < len(days) and days[place + 1] <= anchor:
            place += 1
        is_base = place >= 0 and anchor - days[place] <= timedelta(days=10) and values[place] > 0
        found.append(value / values[place] - 1 if is_base else math.nan)
    return found


def windows(values, n):
    return [values[place - n + 1 : place + 1] if place >= n - 1 else None for place in range(len(values))]


def zscore(window):
    if window is None or min(window) == max(window):
        return math.nan
    exact = [Fraction(value) for value in window]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
    return float(exact[-1] - mean) / math.sqrt(variance)


def ewm(values, span):
    move, found = 2 / (span + 1), [values[0]]
    for value in values[1:]:
        found.append(found[-1] + move * (value - found[-1]))
    return found


def drawdown(values):
    highest, found = -math.inf, []
    for value in values:
        highest = max(highest, value)
        found.append(value / highest - 1 if highest > 0 else math.nan)
    return found


def over_previous(values, rule):
    return [math.nan, *(rule(before, value) for before, value in pairwise(values))]


DEFINITIONS = {
    "pct": lambda _, v: over_previous(v, lambda before, value: value / before - 1 if before > 0 else math.nan),
    "diff": lambda _, v: over_previous(v, lambda before, value: value - before),
    "log": lambda _, v: [math.log(value) if value > 0 else math.nan for value in v],
    "yoy": lambda days, v: change_since(days, v, 12),
    "mom": lambda days, v: change_since(days, v, 1),
    "ma(20)": lambda _, v: [math.fsum(w) / 20 if w else math.nan for w in windows(v, 20)],
    "ewm(20)": lambda _, v: ewm(v, 20),
    "zscore(60)": lambda _, v: [zscore(w) for w in windows(v, 60)],
    "index(100)": lambda _, v: [value / v[0] * 100 for value in v],
    "cum": lambda _, v: [math.fsum(v[: place + 1]) for place in range(len(v))],
    "drawdown": lambda _, v: drawdown(v),
    "lag(3)": lambda _, v: [math.nan] * 3 + v[:-3],
}
"""Of a series without a gap, every period of which has an observation."""


@pytest.mark.parametrize("slug", ["eia.wti.spot", "us-cpi", "wb.gold"])
@pytest.mark.parametrize("text", DEFINITIONS)
def test_a_real_series_transforms_as_defined(shared_data, slug, text):
    days, values = real(shared_data, slug)
    days, values = days[-1400:-100], values[-1400:-100]  # exact sums take their time; no month is missing in these
    found = computed(observations(days, values), text)
    np.testing.assert_allclose(found.values, DEFINITIONS[text](days, values), rtol=1e-12, atol=1e-12)
    assert [time.date() for time, _ in found] == days


@pytest.mark.parametrize("text", ["pct", "log|diff", "yoy", "mom|lag(2)", "ma(3)", "zscore(4)", "yoy|ma(3)"])
def test_a_real_series_transforms_the_same_from_any_start_on(shared_data, text):
    days, values = real(shared_data, "us-cpi")
    whole = computed(observations(days, values), text)
    part = computed(observations(days, values), text, days[600])
    assert part == whole[600:]


@given(series(), st.sampled_from(CHAINS))
def test_dates_stay_and_no_value_is_infinite(given_series, text):
    found = computed(given_series, text)
    assert list(found.times) == list(given_series.times)
    assert not np.isinf(found.values).any()


@given(series(values=st.floats(0.01, 1e6), least=2))
def test_a_chain_applies_its_steps_one_after_the_other(given_series):
    once = computed(given_series, "log|diff")
    twice = computed(computed(given_series, "log"), "diff")
    assert once == twice


@given(series(values=st.floats(0.01, 1e6), least=1), st.floats(1, 1000))
def test_an_index_starts_at_its_base_in_the_window(given_series, base):
    first = given_series.times[len(given_series) // 2].astype("datetime64[D]").item()
    found = computed(given_series, f"index({base!r})", first)
    assert found.first_day == first
    assert found.values[0] == pytest.approx(base, rel=1e-12)


@given(series(values=st.floats(0.01, 1e6)))
def test_a_drawdown_is_never_above_zero_and_zero_at_each_new_high(given_series):
    found = computed(given_series, "drawdown").values
    highs = given_series.values == np.maximum.accumulate(given_series.values)
    assert (found <= 0).all()
    assert (found[highs] == 0).all()


def test_a_change_from_a_base_that_is_not_positive_is_blank():
    around_zero = observations(
        {"2020-04-17": 18.31, "2020-04-20": -36.98, "2020-04-21": 8.91, "2020-04-22": 0, "2020-04-23": 1}
    )
    found = after("pct", around_zero)
    assert found["2020-04-20"] == pytest.approx(-36.98 / 18.31 - 1)
    assert found["2020-04-21"] is found["2020-04-23"] is None
    assert found["2020-04-22"] == -1
    assert after("log", around_zero)["2020-04-20"] is None
    assert after("log|diff", around_zero)["2020-04-21"] is None
    assert after("index(100)", around_zero[1:]) == dict.fromkeys(list(found)[1:])


def test_a_missing_month_is_no_base_for_the_month_after():
    cpi = observations({"2025-08-01": 100, "2025-09-01": 101, "2025-11-01": 102, "2025-12-01": 103})
    assert after("mom", cpi) == {
        "2025-08-01": None,
        "2025-09-01": pytest.approx(0.01),
        "2025-11-01": None,
        "2025-12-01": pytest.approx(103 / 102 - 1),
    }


def test_a_change_over_a_month_of_a_quarterly_series_is_refused():
    with pytest.raises(ArgumentError, match=r"^mom: 1M is no whole number of periods of a series that is quarterly$"):
        after("mom", observations({"2024-01-01": 1, "2024-04-01": 2, "2024-07-01": 3}))


def test_a_year_of_a_weekly_series_is_52_weeks():
    fridays = [date(2023, 1, 6) + timedelta(weeks=place) for place in range(60)]
    found = computed(observations(fridays, list(range(100, 160))), "yoy")
    assert found.values[52] == pytest.approx(152 / 100 - 1)
    assert np.isnan(found.values[:52]).all()


def test_a_monthly_series_on_any_day_is_compared_by_month():
    days = ["2024-01-31", "2024-02-29", "2024-03-28", "2024-04-30", "2024-05-31", "2024-06-28", "2024-07-31"]
    found = after("mom", observations(days, [1, 2, 4, 8, 16, 32, 64]))
    assert list(found.values()) == [None, 1, 1, 1, 1, 1, 1]


def test_a_missing_month_leaves_a_gap_and_shifts_nothing():
    months = [date(2023 + place // 12, place % 12 + 1, 1) for place in range(26) if place != 5]
    series_with_gap = observations(months, [100.0 + place for place in range(26) if place != 5])
    lagged = after("lag(12)", series_with_gap)
    assert lagged["2024-05-01"] == 104
    assert lagged["2024-06-01"] is None
    assert lagged["2024-07-01"] == 106
    assert after("pct", series_with_gap)["2023-07-01"] is None
    means = after("ma(3)", series_with_gap)
    assert (means["2023-08-01"], means["2023-09-01"]) == (None, pytest.approx(107))


def test_a_weekend_is_no_gap_of_a_daily_series_and_a_pause_of_weeks_is_one():
    days = ["2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-02-06", "2024-02-07"]
    found = after("pct", observations(days, [1, 2, 4, 8, 16, 32]))
    assert list(found.values()) == [None, 1, 1, 1, None, 1]


def test_rows_are_counted_where_that_is_asked_for():
    gapped = observations({"2025-08-01": 100, "2025-09-01": 101, "2025-11-01": 102, "2025-12-01": 103})
    found = shown(computed(gapped, "lag(2)", rhythm=Rhythm.NONE))
    assert list(found.values()) == [None, None, 100, 101]


def test_the_annual_rate_compounds_over_the_periods_of_a_year():
    quarters = observations({"2024-03-31": 100, "2024-06-30": 101, "2024-09-30": 102.01, "2024-12-31": 103.0301})
    assert after("ann", quarters)["2024-06-30"] == pytest.approx(1.01**4 - 1)
    assert after("ann(2)", quarters)["2024-09-30"] == pytest.approx(1.0201**2 - 1)
    with pytest.raises(ArgumentError, match=r"^ann needs a rhythm, and the series is irregular"):
        after("ann", observations({"2024-01-01": 1, "2024-01-20": 2, "2024-05-03": 3, "2024-05-09": 4}))


def test_an_index_is_based_on_the_period_of_a_day_or_the_mean_of_a_year():
    months = [date(2014 + place // 12, place % 12 + 1, 1) for place in range(36)]
    cpi = observations(months, [float(place) for place in range(1, 37)])
    assert after("index(100, 2015-03-20)", cpi)["2015-03-01"] == 100
    mean_2015 = sum(range(13, 25)) / 12
    assert after("index(100, 2015)", cpi)["2016-12-01"] == pytest.approx(36 / mean_2015 * 100)


def test_a_closed_day_is_compared_with_the_day_before_it():
    daily = observations({"2023-03-31": 50, "2024-03-30": 55, "2024-04-01": 60})
    assert after("yoy", daily)["2024-03-30"] is None
    assert after("yoy", daily)["2024-04-01"] == pytest.approx(0.2)


def test_month_ends_are_compared_with_month_ends():
    ends = observations({"2023-02-28": 1, "2023-03-31": 2, "2024-02-29": 3, "2024-03-31": 5, "2024-04-30": 6})
    found = after("yoy", ends)
    assert (found["2024-02-29"], found["2024-03-31"]) == (2, 1.5)
    assert after("mom", ends)["2024-04-30"] == pytest.approx(0.2)


def test_a_score_of_a_series_that_does_not_move_is_blank():
    assert set(after("zscore(2)", observations({"2024-01-01": 5, "2024-01-02": 5})).values()) == {None}


@pytest.mark.parametrize("text", TRANSFORMS)
def test_one_observation_and_none_are_enough(text):
    full = text if TRANSFORMS[text].takes != "n" or TRANSFORMS[text].default is not None else f"{text}(2)"
    assert after(full, observations({})) == {}
    assert list(after(full, observations({"2024-01-01": 5}))) == ["2024-01-01"]
