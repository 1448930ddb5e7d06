"""What histories cost where a series begins inside the window: what lies before it is not asked for twice."""

import pandas as pd
import pytest

from tests.udfs.parts.given_series import canned

SERIES = {
    "daily": pd.bdate_range("2020-01-20", "2026-08-19"),
    "every-day": pd.date_range("2020-01-01", "2026-08-19"),
    "weekly": pd.date_range("2020-01-03", "2026-08-14", freq="W-FRI"),
    "monthly": pd.date_range("2020-01-01", "2026-08-01", freq="MS"),
    "quarterly": pd.date_range("2018-01-01", "2026-07-01", freq="QS"),
}
OPTIONS = [
    "",
    "fill=prev",
    "transform=pct",
    "transform=yoy",
    "transform=ma(12M)",
    "transform=ma(20)",
    "transform=none, yoy, ann(3)",
    "freq=M; transform=pct",
    "freq=M; partial=mark",
    "freq=Q; agg=mean; transform=yoy",
    "freq=D; fill=prev; transform=pct",
]


def _looks(requests: list[str]) -> list[str]:
    """What was asked of the series; further pages begin where the one before ended."""
    asked = [each for each in requests if "/v1/signals/" in each]
    return [each for each in asked if "start=2026" not in each]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", SERIES)
async def test_a_series_that_begins_inside_the_window_is_looked_up_once(name, options):
    given = {day.isoformat(): 100.0 + place for place, day in enumerate(SERIES[name])}
    session = canned(**{name.replace("-", "_"): given})
    shown = await session("SIGNAL_HISTORY", name, "-10Y", None, options)
    assert len(shown) > 10
    assert len(_looks(session.requests)) == 1


async def test_the_value_before_the_window_of_a_series_without_a_rhythm_is_looked_for_however_long_ago():
    steps = {"2011-03-10": 1.0, "2016-02-04": 1.5, "2019-05-09": 2.0, "2022-09-22": 2.5, "2025-11-06": 2.25}
    session = canned(policy=steps)
    shown = await session("SIGNAL_HISTORY", "policy", "2018-01-01", None, "freq=Y; fill=prev; fillto=end")
    assert [value for _, value in shown[1:]] == [1.5, 2.0, 2.0, 2.0, 2.5, 2.5, 2.5, 2.25, 2.25]


SHARED = [
    ("-5Y", "align=intersect; transform=log|diff"),
    ("-5Y", "align=intersect; transform=ma(20)"),
    ("-5Y", "align=intersect; freq=M; transform=yoy"),
    ("-5Y", "transform=none, pct|corr(60)"),
    ("N2000", "align=intersect"),
    ("N2000", "align=intersect; transform=pct"),
    ("N60", "align=intersect; freq=M; agg=mean"),
]


@pytest.mark.parametrize(("start", "options"), SHARED)
async def test_where_one_of_two_signals_begins_inside_the_window_the_other_is_not_looked_for_before(start, options):
    young = {day.isoformat(): 100.0 + day.day for day in pd.bdate_range("2024-01-02", "2026-08-19")}
    old = {day.isoformat(): 100.0 + day.day for day in pd.bdate_range("1986-01-02", "2026-08-19")}
    session = canned(young=young, old=old)
    shown = await session("SIGNAL_HISTORY", "young, old", start, None, options)
    assert len(shown) > 20
    looked_for = [each for each in _looks(session.requests) if "/v1/signals/old" in each]
    assert len(looked_for) == 1, looked_for
    whole = canned(young=young, old=old)
    for name in ("young", "old"):
        await whole("SIGNAL_HISTORY", name, "MAX")
    assert await whole("SIGNAL_HISTORY", "young, old", start, None, options) == shown
