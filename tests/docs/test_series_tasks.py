"""The tasks of series: each formula of the page shows what pandas makes of the raw values, by as few requests."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpx
import numpy as np
import orjson
import pandas as pd
import pytest

from addin.formulas import call_text
from tests.docs.pages import pages
from tests.embedded import EmbeddedService
from tests.udfs.parts.asking import session_on
from udfs import Call
from udfs.cells import Grid, cells_of

NOON = datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp()
TODAY = pd.Timestamp(2026, 8, 31)
ROW = re.compile(r"^\| (?!task)(?P<task>[^|]+) \| (?:[^|]|\\\|)+ \| `(?P<formula>=.+)` \|$", re.MULTILINE)
CALL = re.compile(r"DS\.\w+\([^()]*(?:\([^()]*\)[^()]*)*\)")

Raw = Callable[[str], pd.Series]
"""The observations of a signal, as the service gives them."""

SP, CPI, WTI, GOLD, VIX = "sp-500", "us-cpi", "eia.wti.spot", "wb.gold", "cboe.vix"
JOBLESS, YIELD, PMI = "us-unemployment", "us-10y", "survey.pmi"


def tasks() -> dict[str, str]:
    """The formula of each task."""
    return {row["task"]: row["formula"].replace("\\|", "|") for row in ROW.finditer(pages()["docs/series-tasks.md"])}


def _to_today(periods: pd.Series) -> pd.Series:
    """Periods by their last days; the running one by today."""
    return periods.set_axis(periods.index.where(periods.index < TODAY, TODAY))


def _common(*series: pd.Series) -> pd.DataFrame:
    return pd.concat(series, axis=1, join="inner")


def _beside(*series: pd.Series) -> pd.DataFrame:
    return pd.concat(series, axis=1)


def _on_days(series: pd.Series, days: pd.DatetimeIndex) -> pd.Series:
    """The last value up to each day."""
    return pd.Series(series.asof(days).to_numpy(), days)


TRUTH: Mapping[str, Callable[[Raw], Any]] = {
    "latest value": lambda raw: raw(SP).iloc[-1],
    "change of the day in per cent": lambda raw: raw(SP).iloc[-1] / raw(SP).iloc[-2] - 1,
    "value on a day, or the last one before": lambda raw: raw(SP)[:"2026-07-04"].iloc[-1],
    "close of last year": lambda raw: raw(SP)[:"2025-12-31"].iloc[-1],
    "change since the end of last year": lambda raw: raw(SP).iloc[-1] / raw(SP)[:"2025-12-31"].iloc[-1] - 1,
    "change since the end of last month": lambda raw: raw(SP).iloc[-1] / raw(SP)[:"2026-07-31"].iloc[-1] - 1,
    "change over a year of the latest value": lambda raw: raw(SP).iloc[-1] / raw(SP)[:"2025-08-31"].iloc[-1] - 1,
    "five years of values": lambda raw: raw(SP)["2021-08-31":],
    "month ends": lambda raw: raw(SP)["2024-08-01":].resample("ME").last(),
    "every weekday, with the previous value": lambda raw: _on_days(raw(SP), pd.bdate_range("2026-06-01", TODAY)),
    "every day, with the previous value": lambda raw: _on_days(raw(SP), pd.date_range("2026-06-01", TODAY)),
    "newest first, without dates": lambda raw: raw(SP).iloc[:-11:-1],
    "several series on common days": lambda raw: _common(raw(SP), raw(GOLD), raw(WTI))["2025-08-31":],
    "change from the month before": lambda raw: (raw(CPI) / raw(CPI).shift(1) - 1)["2024-08-31":],
    "change from a year ago": lambda raw: (raw(CPI) / raw(CPI).shift(12) - 1)["2024-08-31":],
    "difference from a year ago": lambda raw: raw(JOBLESS).diff(12)["2024-08-31":],
    "compounded annual rate": lambda raw: ((raw(CPI) / raw(CPI).shift(1)) ** 12 - 1)["2024-08-31":],
    "three months, annualised": lambda raw: ((raw(CPI) / raw(CPI).shift(3)) ** 4 - 1)["2024-08-31":],
    "continuously compounded change": lambda raw: np.log(raw(CPI)).diff()["2024-08-31":],
    "monthly mean of daily values": lambda raw: raw(WTI)["2024-08-01":].resample("ME").mean(),
    "weeks that end on Friday": lambda raw: _to_today(raw(WTI)["2026-02-28":].resample("W-FRI").last()),
    "quarterly mean, whole quarters only": lambda raw: raw(YIELD)["2023-07-01":"2026-06-30"].resample("QE").mean(),
    "change over a year of quarterly means": lambda raw: (
        raw(WTI).resample("QE").mean().pct_change(4)["2023-07-01":"2026-06-30"]
    ),
    "fiscal year that ends in March": lambda raw: _to_today(raw(WTI).resample("YE-MAR").mean()),
    "index, 100 at the start of the chart": lambda raw: (
        (shown := _common(raw(SP), raw(GOLD))["2025-08-31":]) / shown.iloc[0] * 100
    ),
    "index, 100 on a day": lambda raw: _beside(
        *(raw(slug) / raw(slug).asof(pd.Timestamp(2026, 1, 2)) * 100 for slug in (SP, WTI))
    )["2025-08-31":],
    "index, mean of a year is 100": lambda raw: (raw(CPI) / raw(CPI)["2021"].mean() * 100)["2021-08-31":],
    "moving average of 200 days": lambda raw: raw(SP).rolling(200).mean()["2026-02-28":],
    "moving average of 12 months": lambda raw: raw(CPI).rolling(12).mean()["2024-08-31":],
    "exponential average": lambda raw: raw(SP).ewm(span=20, adjust=False).mean()["2026-02-28":],
    "volatility of daily log returns": lambda raw: np.log(raw(SP)).diff().rolling(30).std()["2026-02-28":],
    "z-score within a year": lambda raw: ((raw(VIX) - raw(VIX).rolling(252).mean()) / raw(VIX).rolling(252).std()).iloc[
        -20:
    ],
    "percentile within a year": lambda raw: raw(VIX).rolling(252).rank(pct=True).iloc[-20:],
    "correlation of returns over 60 days": lambda raw: _beside(
        raw(SP), raw(VIX).pct_change().rolling(60).corr(raw(SP).pct_change())
    )["2026-02-28":],
    "rolling sum of 12 months": lambda raw: raw(PMI).rolling(12).sum()["2024-08-31":],
    "largest loss so far": lambda raw: (shown := raw(SP)["2025-08-31":]) / shown.cummax() - 1,
    "a policy rate up to today": lambda raw: _on_days(raw(JOBLESS), pd.date_range("2026-05-31", TODAY)),
    "level, change and rate in one table": lambda raw: _beside(
        raw(CPI), raw(CPI).pct_change(12), (raw(CPI) / raw(CPI).shift(3)) ** 4 - 1
    )["2024-08-31":],
    "one transform for each series": lambda raw: _beside(
        raw(CPI).pct_change(12).resample("ME").last(), raw(YIELD).resample("ME").last()
    )["2024-08-01":],
    "as it was known on a day": lambda raw: raw(CPI).iloc[-3:],
    "the frequency of a series": lambda _: "monthly",
}

PAGES = {
    "five years of values": 2,
    "change over a year of quarterly means": 2,
    "fiscal year that ends in March": 2,
}
"""Pages of a thousand observations that a window takes, where it is more than one for each signal."""


@pytest.fixture(scope="module")
def raw(sample_service: EmbeddedService) -> Raw:
    """Return what reads the observations of a signal, past all of the product."""

    @cache
    def read(slug: str) -> pd.Series:
        found: list[dict[str, Any]] = []
        with httpx.Client(
            base_url=sample_service.url, headers={"Authorization": f"Bearer {sample_service.key}"}
        ) as http:
            while page := http.get(f"/v1/signals/{slug}/observations", params={"offset": len(found)}).json()["data"]:
                found += page
        index = pd.DatetimeIndex([each["observed_at"][:10] for each in found])
        return pd.Series([each["value"] for each in found], index, float)

    return read


def test_forty_tasks_are_told_and_at_least_thirty_take_one_call():
    formulas = tasks().values()
    assert tasks().keys() == TRUTH.keys()
    assert len(formulas) >= 40
    assert sum(formula.count("DS.") == 1 for formula in formulas) >= 30


@pytest.mark.parametrize("task", tasks())
async def test_each_task_shows_what_the_raw_values_give_by_as_few_requests_as_its_window_needs(
    sample_service: EmbeddedService, raw: Raw, task: str
):
    expected, formula = TRUTH[task](raw), tasks()[task]
    calls = [Call(name, tuple(arguments)) for name, *arguments in map(_parts, CALL.findall(formula))]
    before = sample_service.running.request_count
    async with session_on(sample_service, clock=lambda: NOON) as session:
        shown = [cells_of(outcome.result) for outcome in await session.answer(calls)]
    signals = {slug.strip() for call in calls for slug in str(call.args[0]).split(",")}
    assert sample_service.running.request_count - before == PAGES.get(task, len(signals))
    if isinstance(shown[0], Grid):
        _compare(shown[0], expected, is_dated="dates=hide" not in formula, has_header="header=none" not in formula)
    elif len(shown) == 2:
        assert CALL.sub("{}", formula) == "={}/{}-1"
        assert shown[0] / shown[1] - 1 == pytest.approx(expected, rel=1e-12)
    else:
        assert shown[0] == (expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-12))


def _parts(call: str) -> list[Any]:
    parts: list[Any] = orjson.loads(call_text(f"={call}"))
    return parts


def _compare(shown: Grid, expected: Any, *, is_dated: bool, has_header: bool) -> None:
    rows = list(shown.rows())[has_header:]
    if isinstance(expected, float):
        assert rows == [(pytest.approx(expected, rel=1e-12),)]
        return
    wanted = expected.to_frame() if isinstance(expected, pd.Series) else expected
    if is_dated:
        assert [row[0] for row in rows] == [day.date() for day in wanted.index]
    values = np.array([row[is_dated:] for row in rows], float)
    np.testing.assert_allclose(values, wanted.to_numpy(float), rtol=1e-9, atol=1e-12)
