"""Whole real series, from the service to the table, against what pandas works out by itself."""

import numpy as np
import pandas as pd
import pytest

from tests.udfs.parts.asking import session_on
from tests.udfs.parts.series import real
from udfs.engine.session import Call
from udfs.timeseries.resample import Agg

SLUGS = ["eia.wti.spot", "us-cpi", "wb.gold"]
EXACT = 1e-12

NEXT_YEAR = pd.Timestamp(2027, 1, 15, tz="UTC").timestamp()
"""When no period of the data is under way, which would be dated by today."""

PERIODS = {"D": "D", "W": "W-SUN", "M": "M", "Q": "Q", "Y": "Y"}


def positive(series):
    return series.where(series > 0)


def change_since(months):
    """Against the last value on or before the day months earlier, not more than ten days older than that day."""

    def change(series):
        anchors = series.index - pd.DateOffset(months=months)
        anchors = anchors.where(~series.index.is_month_end, anchors + pd.offsets.MonthEnd(0))
        asked = pd.DataFrame({"anchor": anchors}).sort_values("anchor", kind="stable")
        known = pd.DataFrame({"day": series.index, "base": series.to_numpy()})
        days = pd.Timedelta(days=10)
        found = pd.merge_asof(asked, known, left_on="anchor", right_on="day", tolerance=days)
        bases = found.set_index(asked.index)["base"].sort_index().set_axis(series.index)
        return series / positive(bases) - 1

    return change


def score(window):
    """Of one window by itself, seen from its first value: running sums, and means of large values, round too much."""
    away = pd.Series(window - window[0])
    return (away.iloc[-1] - away.mean()) / away.std() if away.any() else np.nan


TRANSFORMS = {
    "pct": lambda s: s / positive(s.shift()) - 1,
    "diff": lambda s: s.diff(),
    "log": lambda s: np.log(positive(s)),
    "yoy": change_since(12),
    "mom": change_since(1),
    "ma(20)": lambda s: s.rolling(20).mean(),
    "ewm(20)": lambda s: s.ewm(span=20, adjust=False).mean(),
    "zscore(60)": lambda s: s.rolling(60).apply(score, raw=True),
    "index(100)": lambda s: s / s.iloc[0] * 100,
    "cum": lambda s: s.cumsum(),
    "drawdown": lambda s: s / positive(s.cummax()) - 1,
    "lag(3)": lambda s: s.shift(3),
    "yoy|ma(3)": lambda s: change_since(12)(s).rolling(3).mean(),
}


def with_gaps(series):
    """The series with a blank for each month without an observation; a daily one as it is."""
    if (series.index.day == 1).all():
        return series.asfreq("MS")
    return series


def aggregated(series, period, agg):
    found = series.groupby(pd.PeriodIndex(series.index, freq=PERIODS[period])).agg(agg)
    return found.set_axis(found.index.end_time.normalize())


async def shown(session, slug, options):
    """The rows of the whole series, as a series by day."""
    (outcome,) = await session.answer([Call("SIGNAL_HISTORY", (slug, "MAX", None, options))])
    dates, values = outcome.result.columns
    return pd.Series(values, index=pd.DatetimeIndex(dates))


def difference(found, expected):
    """The largest difference relative to the size of the value; infinite where blanks are not the same."""
    if list(found.index) != list(expected.index) or list(found.isna()) != list(expected.isna()):
        return np.inf
    return float(((found - expected).abs() / expected.abs().clip(lower=1)).max())


@pytest.mark.parametrize("slug", SLUGS)
async def test_every_transform_of_a_whole_real_series_is_what_pandas_makes_of_it(shared_service, shared_data, slug):
    days, values = real(shared_data, slug)
    series = pd.Series(values, index=pd.DatetimeIndex(days))
    async with session_on(shared_service) as session:
        found = {text: await shown(session, slug, f"transform={text}") for text in TRANSFORMS}
    whole = with_gaps(series)
    differences = {text: difference(found[text], rule(whole)[series.index]) for text, rule in TRANSFORMS.items()}
    assert {text: size for text, size in differences.items() if not size <= EXACT} == {}


@pytest.mark.parametrize("slug", SLUGS)
async def test_every_period_of_a_whole_real_series_is_what_pandas_makes_of_it(shared_service, shared_data, slug):
    days, values = real(shared_data, slug)
    series = pd.Series(values, index=pd.DatetimeIndex(days))
    rules = [(period, str(agg)) for period in PERIODS for agg in Agg]
    async with session_on(shared_service, clock=lambda: NEXT_YEAR) as session:
        found = {rule: await shown(session, slug, "freq={}; agg={}".format(*rule)) for rule in rules}
    differences = {rule: difference(found[rule], aggregated(series, *rule)) for rule in rules}
    assert {rule: size for rule, size in differences.items() if not size <= EXACT} == {}
