"""What economists do with series of other rhythms, against pandas over the same values, written down by hand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.udfs.parts.given_series import canned
from udfs.cells import CellError

TODAY = pd.Timestamp(2026, 8, 19)


def _walk(count: int, seed: int, level: float = 100.0, swing: float = 0.02) -> np.ndarray:
    return np.round(level * np.cumprod(1 + np.random.default_rng(seed).normal(0.001, swing, count)), 4)


def _made(days: pd.DatetimeIndex, seed: int, **walk: float) -> pd.Series:
    return pd.Series(_walk(len(days), seed, **walk), days)


def _fiscal_months() -> pd.DatetimeIndex:
    """Retail's months of four, four and five weeks, dated by their last Saturday."""
    weeks = np.cumsum([4, 4, 5] * 12)
    return pd.DatetimeIndex([pd.Timestamp(2023, 1, 28) + pd.Timedelta(weeks=int(each)) for each in weeks])


def _new_york() -> tuple[dict[str, float], pd.Series]:
    """Hours by New York's clock over the day that has 25 of them: as the service writes them, and by the clock."""
    moments = pd.date_range("2025-10-30 00:00", "2025-11-04 23:00", freq="h", tz="America/New_York")
    values = _walk(len(moments), 9)
    named = {moment.isoformat(): float(value) for moment, value in zip(moments, values, strict=True)}
    return named, pd.Series(values, moments.tz_localize(None).normalize())


PAYROLL = _made(pd.date_range("2024-01-12", "2026-08-14", freq="14D"), 1)
HALF = _made(pd.date_range("2014-01-01", "2026-07-01", freq="6MS"), 2)
RETAIL = _made(_fiscal_months(), 3)
HOURS = _made(pd.date_range("2026-07-01 00:00", "2026-08-18 23:00", freq="h"), 4)
QUARTERS_OF_HOURS = _made(pd.date_range("2026-08-17 09:00", "2026-08-18 17:30", freq="15min"), 5)
MONTHS = _made(pd.date_range("2019-01-01", "2026-07-01", freq="MS"), 6)
GAPS = MONTHS.drop(pd.to_datetime(["2025-03-01", "2025-10-01", "2025-11-01"]))
BALANCE = pd.Series(np.round(np.sin(np.arange(40) / 3) * 50, 2), pd.date_range("2023-04-01", "2026-07-01", freq="MS"))
DAYS = _made(pd.bdate_range("2022-01-03", "2026-08-19"), 7)
CRYPTO = _made(pd.date_range("2023-01-01", "2026-08-19"), 8, level=30_000.0)
YEARS = _made(pd.date_range("2000-12-31", "2025-12-31", freq="YE"), 10)
QUARTERS = _made(pd.date_range("2015-01-01", "2026-04-01", freq="QS"), 11)
WEDNESDAYS = _made(pd.date_range("2022-01-05", "2026-08-19", freq="W-WED"), 12)
CLAIMS = WEDNESDAYS.rename(index={pd.Timestamp(2025, 12, 24): pd.Timestamp(2025, 12, 23)})
POLICY = pd.Series(
    [1.0, 1.25, 1.5, 1.75, 1.5], pd.to_datetime(["2022-02-03", "2022-09-22", "2023-05-11", "2024-11-07", "2026-03-19"])
)
LONDON = DAYS[~DAYS.index.isin(pd.to_datetime(["2026-04-06", "2026-05-04", "2026-05-25"]))] * 1.01
STOCKS = _made(pd.bdate_range("2022-01-03", "2026-08-19"), 13)
STOCKS = STOCKS[~STOCKS.index.isin(pd.to_datetime(["2026-05-25", "2026-06-19", "2026-07-03"]))]
FLOWS = pd.Series(np.random.default_rng(14).normal(0, 10, len(DAYS)).round(2), DAYS.index)
NEW_YORK, BY_CLOCK = _new_york()

GIVEN: dict[str, Mapping[Any, float]] = {
    "payroll": PAYROLL,
    "half": HALF,
    "retail": RETAIL,
    "hours": HOURS,
    "quarter-hours": QUARTERS_OF_HOURS,
    "months": MONTHS,
    "gaps": GAPS,
    "balance": BALANCE,
    "days": DAYS,
    "crypto": CRYPTO,
    "years": YEARS,
    "quarters": QUARTERS,
    "claims": CLAIMS,
    "policy": POLICY,
    "london": LONDON,
    "stocks": STOCKS,
    "flows": FLOWS,
    "new-york": NEW_YORK,
}


def _beside(*series: pd.Series) -> pd.DataFrame:
    return pd.concat(series, axis=1)


def _to_today(found: pd.Series) -> pd.Series:
    return found.set_axis(found.index.where(found.index < TODAY, TODAY))


def _year_before(days: pd.Series) -> pd.Series:
    """The last value up to the same day of the year before; a month's last day to a month's last day."""
    before = days.index - pd.DateOffset(years=1)
    is_last = days.index.day == days.index.days_in_month
    ends = before.where(~is_last, before + pd.offsets.MonthEnd(0))
    return pd.Series(days.asof(ends).to_numpy(), days.index)


def _positive(series: pd.Series) -> pd.Series:
    return series.where(series > 0)


@dataclass(frozen=True)
class Task:
    """What is asked, and what pandas says."""

    slugs: str
    start: str
    options: str
    truth: Callable[[], pd.Series | pd.DataFrame]
    end: str | None = None


def _two_markets() -> pd.DataFrame:
    return pd.concat([DAYS, STOCKS], axis=1, join="inner", keys=["days", "stocks"])


def _three_markets() -> pd.DataFrame:
    return pd.concat([DAYS, STOCKS, LONDON], axis=1, join="inner")


TASKS = {
    "growth from payday to payday": Task(
        "payroll", "2025-01-01", "transform=pct", lambda: PAYROLL.pct_change()["2025":]
    ),
    "growth of a payday over a year of 26": Task(
        "payroll", "-1Y", "transform=yoy", lambda: (PAYROLL / PAYROLL.shift(26) - 1)["2025-08-19":]
    ),
    "paydays as monthly sums, the running month marked": Task(
        "payroll", "2025-01-01", "freq=M; agg=sum", lambda: _to_today(PAYROLL["2025":].resample("ME").sum())
    ),
    "growth of quarterly payrolls, whole quarters only": Task(
        "payroll",
        "2025-01-01",
        "freq=Q; agg=sum; transform=pct",
        lambda: PAYROLL.resample("QE").sum().pct_change()["2025":"2026-06"],
    ),
    "half years over a year": Task("half", "2020-01-01", "transform=yoy", lambda: (HALF / HALF.shift(2) - 1)["2020":]),
    "half years as annual rates": Task(
        "half", "2020-01-01", "transform=ann", lambda: ((HALF / HALF.shift(1)) ** 2 - 1)["2020":]
    ),
    "half years as yearly means": Task(
        "half", "2018-01-01", "freq=Y; agg=mean; partial=drop", lambda: _to_today(HALF["2018":].resample("YE").mean())
    ),
    "retail's fiscal months over a year": Task(
        "retail", "2024-06-01", "transform=yoy", lambda: (RETAIL / RETAIL.shift(12) - 1)["2024-06":]
    ),
    "retail's quarter of 4-4-5 at an annual rate": Task(
        "retail", "2024-06-01", "transform=ann(3)", lambda: ((RETAIL / RETAIL.shift(3)) ** 4 - 1)["2024-06":]
    ),
    "daily means of hours": Task(
        "hours", "2026-08-01", "freq=D; agg=mean", lambda: HOURS["2026-08":].resample("D").mean()
    ),
    "hours against the same hour of the day before": Task(
        "hours", "2026-08-10", "transform=diff(1D)", lambda: HOURS.diff(24)["2026-08-10":]
    ),
    "the last 48 hours": Task("hours", "N48", "", lambda: HOURS.iloc[-48:]),
    "quarters of hours as hours": Task(
        "quarter-hours",
        "MAX",
        "freq=H; agg=max",
        lambda: QUARTERS_OF_HOURS.resample("h", closed="right", label="right").max().dropna(),
    ),
    "days by New York's clock, one of 25 hours": Task(
        "new-york", "MAX", "freq=D; agg=sum; partial=keep", lambda: BY_CLOCK.groupby(level=0).sum()
    ),
    "a missing month leaves its change and the next one's blank": Task(
        "gaps",
        "2025-01-01",
        "transform=pct",
        lambda: MONTHS.where(MONTHS.index.isin(GAPS.index)).pct_change(fill_method=None)[GAPS.index]["2025":],
    ),
    "a year's mean needs all of its months": Task(
        "gaps",
        "2025-01-01",
        "transform=ma(3)",
        lambda: MONTHS.where(MONTHS.index.isin(GAPS.index)).rolling(3).mean()[GAPS.index]["2025":],
    ),
    "missing months interpolated, then compared": Task(
        "gaps",
        "2025-01-01",
        "freq=M; fill=linear; transform=pct",
        lambda: (
            MONTHS.where(MONTHS.index.isin(GAPS.index)).resample("ME").last().interpolate("time").pct_change()["2025":]
        ),
    ),
    "changes of a balance that turns negative": Task(
        "balance",
        "2024-06-01",
        "transform=diff, pct, yoydiff",
        lambda: _beside(BALANCE.diff(), BALANCE / _positive(BALANCE.shift(1)) - 1, BALANCE.diff(12))["2024-06":],
    ),
    "logarithms of what is not positive": Task(
        "balance", "2024-06-01", "transform=log", lambda: np.log(_positive(BALANCE))["2024-06":]
    ),
    "an index whose base is zero or less": Task(
        "balance", "2023-04-01", "transform=index(100)", lambda: BALANCE * np.nan
    ),
    "days over a year, through a leap day": Task(
        "days",
        "2024-02-26",
        "transform=yoy",
        lambda: (DAYS / _year_before(DAYS) - 1)["2024-02-26":"2025-03-05"],
        "2025-03-05",
    ),
    "seven days a week over a year": Task(
        "crypto",
        "2024-02-27",
        "transform=yoy",
        lambda: (CRYPTO / _year_before(CRYPTO) - 1)["2024-02-27":"2025-03-03"],
        "2025-03-03",
    ),
    "a week's mean of seven days": Task(
        "crypto", "-1M", "transform=ma(7)", lambda: CRYPTO.rolling(7).mean()["2026-07-19":]
    ),
    "years dated by their last day": Task("years", "-10Y", "transform=pct", lambda: YEARS.pct_change()["2016-08-19":]),
    "fiscal years that end in June, whole ones": Task(
        "months",
        "2020-01-01",
        "freq=Y-JUN; agg=sum; transform=yoy",
        lambda: MONTHS.resample("YE-JUN").sum()["2019-07":].pct_change()["2020-06":"2026-06"],
    ),
    "claims over a year of 52 weeks, through a holiday": Task(
        "claims",
        "-1Y",
        "transform=yoy, ma(4)",
        lambda: _beside(WEDNESDAYS / WEDNESDAYS.shift(52) - 1, WEDNESDAYS.rolling(4).mean())["2025-08-19":].set_axis(
            CLAIMS["2025-08-19":].index
        ),
    ),
    "weeks as monthly means, by the month of their date": Task(
        "claims", "2025-01-01", "freq=M; agg=mean; partial=drop", lambda: CLAIMS["2025":"2026-07"].resample("ME").mean()
    ),
    "a policy rate at month ends up to today": Task(
        "policy",
        "2025-01-01",
        "freq=M; fill=prev; fillto=end",
        lambda: _to_today(
            POLICY.reindex(pd.date_range("2022-02-28", "2026-08-31", freq="ME"), method="ffill")["2025":]
        ),
    ),
    "returns on days that three markets share": Task(
        "days, stocks, london",
        "-6M",
        "align=intersect; transform=pct",
        lambda: _three_markets().pct_change()["2026-02-19":],
    ),
    "correlation of two markets' returns": Task(
        "days, stocks",
        "-3M",
        "align=intersect; transform=none, pct|corr(days, 20)",
        lambda: _beside(
            _two_markets()["days"], (returns := _two_markets().pct_change())["stocks"].rolling(20).corr(returns["days"])
        )["2026-05-19":],
    ),
    "flows since the beginning of the year": Task("flows", "YTD", "transform=cum", lambda: FLOWS["2026":].cumsum()),
    "quarters beside months as quarters, over a year": Task(
        "quarters, months",
        "2023-01-01",
        "freq=Q; agg=mean; transform=yoy",
        lambda: _beside(
            QUARTERS.resample("QE").last().pct_change(4), MONTHS.resample("QE").mean()[:"2026-06"].pct_change(4)
        )["2023":],
    ),
    "volatility of months, a year's": Task(
        "months", "-2Y", "transform=log|diff|std(12)", lambda: np.log(MONTHS).diff().rolling(12).std()["2024-08-19":]
    ),
    "z-score and percentile of weeks within a year": Task(
        "claims",
        "2026-06-01",
        "transform=zscore(52), rank(52)",
        lambda: _beside(
            (WEDNESDAYS - WEDNESDAYS.rolling(52).mean()) / WEDNESDAYS.rolling(52).std(),
            WEDNESDAYS.rolling(52).rank(pct=True),
        )["2026-06":],
    ),
    "deepest fall since the start": Task(
        "stocks", "2025-08-01", "transform=drawdown", lambda: (seen := STOCKS["2025-08":]) / seen.cummax() - 1
    ),
}


def _answering() -> Any:
    names = {name.replace("-", "_"): values for name, values in GIVEN.items()}
    return canned(**{name: {_text(when): value for when, value in values.items()} for name, values in names.items()})


def _text(when: Any) -> str:
    if isinstance(when, str):
        return when
    return when.isoformat() + ("Z" if when != when.normalize() else "")


@pytest.mark.parametrize("task", TASKS)
async def test_a_table_shows_what_pandas_makes_of_the_same_values(task):
    asked = TASKS[task]
    rows = await _answering()("SIGNAL_HISTORY", asked.slugs, asked.start, asked.end, asked.options)
    assert not isinstance(rows, CellError), rows
    expected = asked.truth()
    wanted = expected.to_frame() if isinstance(expected, pd.Series) else expected
    assert [pd.Timestamp(row[0]).tz_localize(None) for row in rows[1:]] == list(wanted.index)
    values = np.array([row[1:] for row in rows[1:]], float)
    np.testing.assert_allclose(values, wanted.to_numpy(float), rtol=1e-9, atol=1e-12)


async def test_a_month_of_half_years_is_refused_in_words():
    refused = await _answering()("SIGNAL_HISTORY", "half", "-5Y", None, "transform=mom")
    assert refused.message == "mom: 1M is no whole number of periods of a series that is half-yearly"


async def test_each_rhythm_is_told():
    session = _answering()
    told = {slug: await session("SIGNAL", slug, "rhythm") for slug in GIVEN}
    assert told == {
        "payroll": "biweekly on Friday",
        "half": "half-yearly",
        "retail": "monthly",
        "hours": "several a day",
        "quarter-hours": "several a day",
        "months": "monthly",
        "gaps": "monthly",
        "balance": "monthly",
        "days": "business daily",
        "crypto": "daily",
        "years": "yearly",
        "quarters": "quarterly",
        "claims": "weekly on Wednesday",
        "policy": "irregular",
        "london": "business daily",
        "stocks": "business daily",
        "flows": "business daily",
        "new-york": "several a day",
    }


def test_the_series_are_of_use():
    assert date(2026, 8, 19) == TODAY.date()
    assert datetime(2024, 2, 29) in CRYPTO.index  # noqa: DTZ001 - a day
    assert BY_CLOCK.groupby(level=0).size().max() == timedelta(hours=25) / timedelta(hours=1)
