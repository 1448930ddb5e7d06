"""SIGNAL_HISTORY: windows of series as tables, from what is at hand where that is enough."""

from datetime import date

import pandas as pd
import pytest

from tests.embedded import SAMPLE_AS_OF
from tests.udfs.parts.asking import Canned, cells, session_on
from tests.udfs.parts.series import real
from udfs.cells import CellError, ErrorCode, Table
from udfs.engine.session import Call, Session

NOON = pd.Timestamp(SAMPLE_AS_OF, tz="UTC").timestamp() + 12 * 3600
WORKBOOK = [
    *("us-cpi", "us-unemployment", "us-10y", "eia.wti.spot", "wb.gold", "eia.henry-hub", "sp-500", "cboe.vix"),
    *("etf.world", "fx.eur-usd", "fx.usd-jpy", "survey.pmi"),
]


def at_noon(service):
    return session_on(service, clock=lambda: NOON)


async def table(session, *args):
    (outcome,) = await session.answer([Call("SIGNAL_HISTORY", args)])
    return outcome.result.frame() if isinstance(outcome.result, Table) else outcome.result


async def test_a_workbook_costs_as_many_requests_as_it_has_resources(service):
    fields = ["value", "observed_at", "name", "previous", "unit"]
    calls = [Call("SIGNAL", (WORKBOOK[place % 12], fields[place % 5])) for place in range(30)]
    calls += [Call("SIGNAL_HISTORY", (slug,)) for slug in WORKBOOK]
    calls += [Call("INDEX", ("pressure-gauge",))] * 10 + [Call("CURRENT", ("energy-repricing",))] * 8
    async with at_noon(service) as session:
        assert (await session.cost(calls)).requests == 14
        outcomes = await session.answer(calls)
        assert not any(isinstance(outcome.result, CellError) for outcome in outcomes)
        assert sum(outcome.requests for outcome in outcomes) == service.running.request_count == 14
        await session.answer(calls)
        assert (await session.cost(calls)).fresh_calls == len(calls)
    assert service.running.request_count == 14


async def test_a_year_is_shown_oldest_first_under_its_slug(service):
    async with at_noon(service) as session:
        rows = await cells(session, "SIGNAL_HISTORY", "us-cpi")
    assert rows[0] == ("date", "us-cpi")
    assert [row[0] for row in rows[1:]][:2] == [date(2025, 9, 1), date(2025, 10, 1)]
    assert rows[-1][0] == date(2026, 8, 1)


async def test_thirty_years_of_a_monthly_series_come_out_of_the_signal_s_own_request(service):
    async with at_noon(service) as session:
        await cells(session, "SIGNAL", "us-cpi")
        assert len(await table(session, "us-cpi", "MAX")) == 241
    assert service.running.request_count == 1


async def test_a_long_window_of_a_daily_series_is_asked_of_its_observations(service):
    async with at_noon(service) as session:
        found = await table(session, "eia.wti.spot", "-3Y")
        assert found["date"].iloc[0] == pd.Timestamp("2023-08-31", tz="UTC")
        assert service.running.requests == ["/v1/signals/eia.wti.spot/observations?start=2023-08-30&end=2199-12-31"]
        await table(session, "eia.wti.spot", "-2Y")
        await table(session, "eia.wti.spot", "N500")
        assert service.running.request_count == 1, "what is at hand holds both"


async def test_a_recent_history_that_is_too_short_never_stands_for_the_window(service):
    async with at_noon(service) as session:
        await cells(session, "SIGNAL", "eia.wti.spot")
        whole = await table(session, "eia.wti.spot", "MAX")
    assert len(whole) > 1500
    assert whole["date"].iloc[0] == pd.Timestamp("2020-09-01", tz="UTC")


async def test_rows_before_the_window_serve_its_transforms(service):
    async with at_noon(service) as session:
        whole = (await table(session, "us-cpi", "MAX", None, "transform=yoy|ma(3)")).set_index("date")
        year = (await table(session, "us-cpi", "-1Y", None, "transform=yoy|ma(3)")).set_index("date")
        assert year["us-cpi"].notna().all()
        pd.testing.assert_frame_equal(year, whole.loc[year.index])


async def test_the_same_transform_is_the_same_from_whatever_source(service):
    async with at_noon(service) as near, at_noon(service) as far:
        await table(far, "eia.wti.spot", "MAX")
        args = ("eia.wti.spot", "-6M", None, "freq=W; agg=mean; transform=ewm(4)|pct")
        pd.testing.assert_frame_equal(await table(near, *args), await table(far, *args))


async def test_the_last_observations_are_counted_for_each_signal(service):
    async with at_noon(service) as session:
        found = await table(session, ["us-cpi", "eia.wti.spot"], "N5")
    assert found["us-cpi"].count() == found["eia.wti.spot"].count() == 5


async def test_a_relative_start_counts_back_from_the_end(service):
    async with at_noon(service) as session:
        rows = await cells(session, "SIGNAL_HISTORY", "us-cpi", "-2M", "2015-06-30")
        assert [row[0] for row in rows[1:]] == [date(2015, 5, 1), date(2015, 6, 1)]


async def test_a_frequency_starts_on_the_first_day_of_its_period_and_ends_no_later_than_today(service):
    async with at_noon(service) as session:
        rows = await cells(session, "SIGNAL_HISTORY", "eia.wti.spot", "2026-07-15", "2026-08-19", "freq=M; agg=mean")
        july = await table(session, "eia.wti.spot", "2026-07-01", "2026-07-31")
    assert rows[0] == ("date", "eia.wti.spot (mean; partial 2026-08-19)")
    assert rows[1] == (date(2026, 7, 31), pytest.approx(july["eia.wti.spot"].mean()))
    assert rows[2][0] == date(2026, 8, 19)


async def test_a_signal_that_fails_shows_its_error_above_its_column_and_the_others_still_show(service):
    async with at_noon(service) as session:
        rows = await cells(session, "SIGNAL_HISTORY", "us-cpi, no.such", "-3M")
    assert rows[0] == ("date", "us-cpi", "no.such")
    assert rows[1][2] == CellError(ErrorCode.NA, "no signal 'no.such'; SIGNALS lists and searches those there are")
    assert [row[2] for row in rows[2:]] == [None] * (len(rows) - 2)
    assert all(isinstance(row[1], float) for row in rows[1:])


async def test_errors_in_a_table_are_text_or_blank_where_the_options_say_so(service):
    async with at_noon(service) as session:
        as_text = await cells(session, "SIGNAL_HISTORY", "us-cpi, no.such", "-3M", None, "err=text")
        blank = await cells(session, "SIGNAL_HISTORY", "us-cpi, no.such", "-3M", None, "err=blank")
        alone = await cells(session, "SIGNAL_HISTORY", "no.such", "-3M", None, "err=text")
    assert as_text[1][2] == alone == "no signal 'no.such'; SIGNALS lists and searches those there are"
    assert blank[1][2] is None


async def test_where_all_fail_so_does_the_cell(service):
    async with at_noon(service) as session:
        assert (await table(session, "no.such, nor.this")).code is ErrorCode.NA


async def test_names_stand_above_the_columns_where_they_are_asked_for(service):
    async with at_noon(service) as session:
        rows = await cells(session, "SIGNAL_HISTORY", "WTI", "-1Y", None, "header=name; limit=1")
        assert rows[0] == ("date", "WTI crude oil spot price (made up)")
        await table(session, "eia.henry-hub", "-3Y", None, "header=name")
    assert service.running.request_count == 3


async def test_the_long_layout_has_a_row_for_each_value(service):
    async with at_noon(service) as session:
        rows = await cells(session, "SIGNAL_HISTORY", "us-cpi, wb.gold, no.such", "N2", None, "layout=long; order=desc")
    assert rows[0] == ("date", "signal", "value")
    assert rows[1][:2] == (None, "no.such")
    assert [(row[0], row[1]) for row in rows[2:]] == [
        (date(2026, month, 1), slug) for month in (8, 7) for slug in ("us-cpi", "wb.gold")
    ]


async def test_hidden_dates_and_no_header_leave_the_values(service):
    async with at_noon(service) as session:
        rows = await cells(session, "SIGNAL_HISTORY", "us-cpi", "N3", None, "dates=hide; header=none; limit=2")
    assert [len(row) for row in rows] == [1, 1]
    assert all(isinstance(row[0], float) for row in rows)


async def test_a_monthly_series_filled_among_daily_ones_begins_with_the_value_before(service):
    async with at_noon(service) as session:
        found = await table(session, "us-cpi, eia.wti.spot", "2026-08-10", None, "fill=prev")
        assert found["us-cpi"].notna().all()
        only = await table(session, "us-cpi", "2026-08-10", None, "fill=prev")
    assert only.code is ErrorCode.NA


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("us-cpi", "2024-01-02", "2024-01-01"), "start 2024-01-02 lies after end 2024-01-01"),
        ((",",), "slug holds no name"),
        (("",), "slug is missing: "),
        (("us-cpi", "-1Y", None, "transform=yo"), "option transform: there is no transform 'yo'; there are none, "),
        (("us-cpi", "-1Y", None, "agg=median"), "option agg 'median' is not one of last, first, mean, sum, min, max"),
        (("us-cpi", "-1Y", None, "limit=0"), "option limit "),
        (("us-cpi", "-1Y", None, "freq=M", 5), "SIGNAL_HISTORY takes at most 4 arguments, not 5"),
        (("us-cpi", "-1Y", None, "freq=Q; transform=mom"), "mom: 1M is no whole number of periods of a series that is"),
        (("us-cpi", "-1Y", None, "freq=Y; transform=yoy|ma(6M)"), "ma(6M): 6M is no whole number of periods of a"),
        (
            ("us-cpi, us-10y", "-1Y", None, "freq=W; transform=yoy, pct(5D)"),
            "pct(5D): 5D is no whole number of periods",
        ),
        (("us-cpi", "-1Y", None, "transform=pct|corr(60)"), "corr needs several signals, such as "),
        (("us-cpi, US-CPI", "-1Y", None, "transform=corr(60)"), "corr needs several signals, such as "),
        (("us-cpi, us-10y", "-1Y", None, "transform=corr(12M)"), "option transform: corr counts rows: corr(60) or "),
        (("us-cpi", "-1Y", None, "transform=index(-5)"), "option transform: index(x) needs a number from 0 to 1e+15, "),
    ],
)
async def test_a_wrong_formula_costs_nothing_and_is_told_what_is_wrong(args, message):
    canned = Canned({})
    shown = await canned("SIGNAL_HISTORY", *args)
    assert shown.code is ErrorCode.VALUE
    assert shown.message.startswith(message)
    assert canned.requests == []


async def test_an_empty_window_says_where_the_series_ends(real_service):
    async with session_on(real_service) as session:
        shown = await table(session, "shiller.cape", "2025-01-01")
        assert shown.message == "shiller.cape has no observations from 2025-01-01; its last one is of 2023-09-01"


async def test_a_whole_real_series_costs_a_request_for_each_thousand_and_none_again(real_service, shared_data):
    days, values = real(shared_data, "eia.wti.spot")
    async with session_on(real_service) as session:
        found = await table(session, "eia.wti.spot", "MAX")
        assert real_service.running.request_count == 11
        await table(session, "eia.wti.spot", "1990-01-01", "1999-12-31", "freq=Q")
    assert [day.date() for day in found["date"]] == days
    assert found["eia.wti.spot"].tolist() == values
    assert real_service.running.request_count == 11


async def test_periods_after_today_keep_their_own_dates():
    months = [
        {"observed_at": f"{year}-{month:02}-01", "value": month} for year in (2025, 2026) for month in range(1, 13)
    ]
    detail = {"slug": "forecast.x", "latest": months[-1], "history": months}
    canned = Canned({"/v1/signals/forecast.x": detail})
    canned.session = Session(canned.session.client, clock=lambda: NOON - 13 * 86_400)
    rows = await canned("SIGNAL_HISTORY", "forecast.x", "2026-07-01", None, "freq=M")
    assert [row[0] for row in rows[1:4]] == [date(2026, 7, 31), date(2026, 8, 18), date(2026, 9, 30)]
