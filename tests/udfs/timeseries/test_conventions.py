"""The conventions of series by number, each on a case in which another reading gives a plausible wrong number."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from tests.udfs.parts.given_series import canned
from udfs.cells import CellError

TODAY = date(2026, 8, 19)


async def shown(session, slugs, start="MAX", end=None, options=""):
    """The header of a table, and its values by day."""
    rows = await session("SIGNAL_HISTORY", slugs, start, end, options)
    assert not isinstance(rows, CellError), rows
    return rows[0], {row[0]: row[1] if len(row) == 2 else row[1:] for row in rows[1:]}


def monthly(first, values, day=1):
    months = [first.year * 12 + first.month - 1 + place for place in range(len(values))]
    return {date(month // 12, month % 12 + 1, day): value for month, value in zip(months, values, strict=True)}


def weekdays(first, values):
    days = [day for place in range(2 * len(values)) if (day := first + timedelta(days=place)).weekday() < 5]
    return dict(zip(days, values, strict=False))


async def test_8_a_year_of_a_weekly_series_is_52_weeks():
    fridays = {date(2024, 8, 16) + timedelta(weeks=place): 100.0 + place for place in range(105)}
    _, found = await shown(canned(x=fridays), "x", "-1M", options="transform=yoy")
    assert found[date(2026, 8, 14)] == pytest.approx(204 / 152 - 1)


async def test_2_a_series_of_release_days_is_compared_by_month_without_a_blank():
    days = [13, 12, 12, 10, 13, 11, 15, 12, 11, 15, 12, 12, 14]
    cpi = {date(2025 + (7 + n) // 12, (7 + n) % 12 + 1, day): 100.0 + n for n, day in enumerate(days)}
    _, found = await shown(canned(x=cpi), "x", options="transform=mom")
    assert [value is None for value in found.values()] == [True] + [False] * 12
    _, found = await shown(canned(x=cpi), "x", options="transform=yoy")
    assert list(found.values())[-1] == pytest.approx(112 / 100 - 1)


async def test_5_a_missing_month_shifts_nothing_and_n_counts_rows_only_where_that_is_asked_for():
    cpi = monthly(date(2024, 1, 1), [100.0 + place for place in range(31)])
    del cpi[date(2025, 3, 1)]
    session = canned(x=cpi)
    _, periods = await shown(session, "x", options="transform=lag(12)")
    _, rows = await shown(session, "x", options="transform=lag(12); count=rows")
    assert (periods[date(2026, 2, 1)], periods[date(2026, 3, 1)], periods[date(2026, 4, 1)]) == (113, None, 115)
    assert rows[date(2026, 2, 1)] == 112
    _, means = await shown(session, "x", options="transform=ma(12)")
    assert means[date(2026, 2, 1)] is None
    _, filled = await shown(session, "x", options="freq=M; fill=linear; transform=ma(12)")
    assert filled[date(2026, 2, 28)] == pytest.approx(np.mean([114 - 0, *range(115, 126)]) - 0.5, abs=0.51)


async def test_17_returns_are_zero_on_filled_weekends_and_run_between_common_days():
    prices = weekdays(date(2026, 8, 3), [100.0, 101.0, 102.0, 103.0, 104.0, 106.0, 107.0, 108.0])
    header, found = await shown(canned(x=prices), "x", options="freq=D; fill=prev; transform=pct")
    assert header[1] == "x (last, pct of filled)"
    assert (found[date(2026, 8, 8)], found[date(2026, 8, 9)]) == (0, 0)
    assert found[date(2026, 8, 10)] == pytest.approx(106 / 104 - 1)
    _, own = await shown(canned(x=prices), "x", options="freq=D; fill=prev; transform=pct; calc=own")
    assert own[date(2026, 8, 9)] == own[date(2026, 8, 7)] == pytest.approx(104 / 103 - 1)
    other = {day: value for day, value in prices.items() if day != date(2026, 8, 5)}
    _, both = await shown(canned(x=prices, y=other), "x, y", options="align=intersect; transform=pct")
    assert both[date(2026, 8, 6)] == (pytest.approx(103 / 101 - 1), pytest.approx(103 / 101 - 1))


async def test_22_to_24_a_part_of_a_period_is_never_compared_with_a_whole():
    sales = monthly(date(2024, 1, 1), [1.0] * 31)
    session = canned(x=sales)
    header, found = await shown(session, "x", options="freq=Y; agg=sum; transform=yoy")
    assert (header[1], list(found.values())) == ("x (sum, yoy)", [None, 0])
    header, found = await shown(session, "x", options="freq=Y; agg=sum")
    assert (header[1], found[TODAY]) == ("x (sum; partial 2026-08-19)", 7)
    _, kept = await shown(session, "x", options="freq=Y; agg=sum; transform=yoy; partial=keep")
    assert kept[TODAY] == pytest.approx(7 / 12 - 1)
    quarter = {day: value for day, value in sales.items() if day < date(2026, 7, 1)}
    header, _ = await shown(canned(x=quarter), "x", options="freq=Q; agg=sum")
    assert header[1] == "x (sum)"


async def test_30_an_observation_belongs_to_the_day_that_its_source_gave():
    tokyo = {f"2026-{month:02}-01T00:00:00+09:00": float(month) for month in range(1, 8)}
    _, found = await shown(canned(x=tokyo), "x", options="freq=M")
    assert found[date(2026, 7, 31)] == 7
    session = canned(x=tokyo)
    assert await session("SIGNAL", "x", "observed_at") == date(2026, 7, 1)
    assert await session("SIGNAL", "x", "value", "2026-06-30") == 6


async def test_14_an_index_has_one_base_for_all_signals_also_below_a_limit():
    first = monthly(date(2026, 1, 1), [50.0, 55.0, 60.0, 66.0, 70.0])
    second = monthly(date(2026, 3, 1), [10.0, 11.0, 12.0])
    session = canned(x=first, y=second)
    _, found = await shown(session, "x, y", options="transform=index(100)")
    assert found[date(2026, 3, 1)] == (100, 100)
    assert found[date(2026, 1, 1)] == (pytest.approx(50 / 60 * 100), None)
    _, limited = await shown(session, "x, y", options="transform=index(100); limit=2")
    assert limited[date(2026, 4, 1)] == (100, 100)
    _, dated = await shown(session, "x, y", "2026-04-01", options="transform=index(100, 2026-03-15)")
    assert dated[date(2026, 4, 1)] == (pytest.approx(110), pytest.approx(110))


async def test_33_the_change_of_the_year_begins_with_the_last_close_before_it():
    prices = weekdays(date(2025, 12, 29), [100.0 + place for place in range(170)])
    session = canned(x=prices)
    before = await session("SIGNAL", "x", "value", "PYE")
    assert (before, await session("SIGNAL", "x", "value", "YTD")) == (102, 103)


async def test_26_and_27_a_step_series_goes_to_the_end_and_a_series_that_ended_is_marked():
    rate = {date(2025, 9, 18): 4.0, date(2025, 10, 30): 3.75, date(2026, 1, 29): 3.5, date(2026, 6, 18): 3.25}
    prices = weekdays(date(2026, 6, 1), [100.0 + place for place in range(58)])
    session = canned(rate=rate, x=prices, dead=monthly(date(2025, 1, 1), [1.0] * 12))
    _, found = await shown(session, "rate", "2026-07-01", options="freq=D; fill=prev; fillto=end")
    assert (found[date(2026, 7, 1)], found[TODAY], len(found)) == (3.25, 3.25, 50)
    header, _ = await shown(session, "x, dead", "2026-08-01", options="fill=prev")
    assert header[1:] == ("x", "dead (carried from 2025-12-01)")


async def test_13_an_exponential_mean_does_not_depend_on_the_window():
    prices = weekdays(date(2025, 6, 2), [100.0 + place % 7 for place in range(310)])
    session = canned(x=prices)
    _, whole = await shown(session, "x", options="transform=ewm(10)")
    _, part = await shown(session, "x", "-1M", options="transform=ewm(10)")
    assert {day: pytest.approx(whole[day], rel=1e-14) for day in part} == part


async def test_34_a_series_that_begins_inside_the_window_is_not_looked_for_before_it(service):
    from tests.udfs.parts.asking import session_on

    noon = datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp()
    async with session_on(service, clock=lambda: noon) as session:
        await session.value("SIGNAL_HISTORY", ["eia.wti.spot", "-10Y", None, "freq=M; transform=pct"])
    assert service.running.request_count == 2


async def test_32_n_counts_periods_where_there_is_a_frequency_and_observations_of_a_day_else():
    prices = weekdays(date(2025, 3, 3), [100.0 + place for place in range(364)])
    _, found = await shown(canned(x=prices), "x", "N12", options="freq=M")
    assert len(found) == 12
    hours = {f"2026-08-{day:02}T{hour:02}:00:00Z": 1.0 * hour for day in range(1, 19) for hour in range(20)}
    _, found = await shown(canned(x=hours), "x", "N5")
    assert [when.hour for when in found] == [15, 16, 17, 18, 19]


async def test_32_n_counts_the_rows_that_all_signals_have_in_common_however_early_one_ended():
    days = list(weekdays(date(2026, 1, 5), [1.0] * 150))
    live = {day: 100.0 + place for place, day in enumerate(days)}
    ended = {day: 200.0 + place for place, day in enumerate(days[:110])}
    months = monthly(date(2025, 9, 1), [1.0] * 12)
    session = canned(x=live, y=ended, m=months)
    _, found = await shown(session, "x, y", "N3", options="align=intersect")
    assert list(found) == days[107:110]
    _, found = await shown(session, "x, y", "N3", options="align=intersect; transform=index(100)")
    assert found[days[107]] == (100, 100)
    assert session.requests.count("/v1/signals/x?history=365") == 1
    assert len(session.requests) == 2
    for wanted, there in ((3, [5, 6, 7]), (9, [4, 5, 6, 7])):  # no other month of those days began on a weekday
        _, found = await shown(session, "m, x", f"N{wanted}", options="align=intersect")
        assert list(found) == [date(2026, month, 1) for month in there]


async def test_32_all_columns_of_a_signal_begin_together_though_the_running_period_counts_only_in_some():
    prices = weekdays(date(2025, 3, 3), [100.0 + place for place in range(383)])
    header, found = await shown(canned(x=prices), "x", "N3", options="freq=M; transform=none, pct")
    assert header[1:] == ("x (last; partial 2026-08-19)", "x (last, pct)")
    assert [day.month for day in found] == [5, 6, 7, 8]
    assert [[value is None for value in row] for row in found.values()] == [[False, False]] * 3 + [[False, True]]


async def test_27_the_pauses_of_a_step_series_are_known_whatever_the_window_is():
    rates = {date(2020, 3, 16): 0.25, date(2022, 3, 17): 0.5, date(2023, 7, 27): 5.5, date(2025, 12, 11): 3.75}
    for start in ("2026-06-01", "-10Y"):
        header, _ = await shown(canned(x=rates), "x", start, options="freq=W-FRI; fill=prev; fillto=end")
        assert header[1] == "x (last)"


async def test_31_a_time_of_day_is_honoured_in_start_end_and_at():
    hours = {f"2026-08-{day:02}T{hour:02}:00:00Z": 1.0 * hour for day in range(1, 19) for hour in range(20)}
    session = canned(now=datetime(2026, 8, 18, 21, tzinfo=UTC).timestamp(), x=hours)
    _, found = await shown(session, "x", "2026-08-17T03:00Z", "2026-08-17T05:30Z")
    assert [when.hour for when in found] == [3, 4, 5]
    _, found = await shown(session, "x", "-6H")
    assert [when.hour for when in found] == [15, 16, 17, 18, 19]
    assert await session("SIGNAL", "x", "value", "2026-08-17T05:30Z") == 5
    assert (await session("SIGNAL", "x", "value", None, "asof=2026-08-17T05:30Z")).message.startswith(
        "option asof takes"
    )


async def test_29_a_series_of_hours_does_not_empty_the_rows_that_daily_ones_share():
    hours = {f"2026-08-{day:02}T{hour:02}:00:00Z": 1.0 * hour for day in range(3, 8) for hour in range(8, 16)}
    prices = weekdays(date(2026, 8, 3), [100.0] * 5)
    _, found = await shown(canned(x=prices, y=prices, h=hours), "x, y, h", options="align=intersect")
    assert len(found) == 5
    assert found[date(2026, 8, 5)] == (100, 100, 15)


async def test_8_a_change_over_a_month_of_quarters_says_why_there_is_none():
    quarters = {date(2024 + n // 4, n % 4 * 3 + 1, 1): 1.0 + n for n in range(9)}
    refused = await canned(x=quarters)("SIGNAL_HISTORY", "x", "MAX", None, "transform=mom")
    assert refused.message == "mom: 1M is no whole number of periods of a series that is quarterly"


async def test_several_transforms_of_one_signal_are_columns_with_their_own_headers():
    session = canned(x=monthly(date(2024, 1, 1), [100.0 + place for place in range(31)]))
    header, found = await shown(session, "x", "N1", options="transform=none, yoy, ann(3)")
    assert header == ("date", "x", "x (yoy)", "x (ann(3))")
    assert found[date(2026, 7, 1)] == (130, pytest.approx(130 / 118 - 1), pytest.approx((130 / 127) ** 4 - 1))
    assert len(session.requests) == 1


@pytest.mark.parametrize(
    ("options", "ours"),
    [
        ("Per=M", "; per of Bloomberg is freq=M (D, W, M, Q or Y) here"),
        ("fill=P", "; P of Bloomberg is prev here"),
        ("transform=pc1", "; pc1 of FRED is yoy (a fraction: 0.02 is 2 %) here"),
        ("freq=wef", "; wef of FRED is W-FRI here"),
        ("agg=eop", "; eop of FRED is last here"),
        ("transform=YRYR%", "; YRYR% of Haver is yoy (a fraction: 0.02 is 2 %) here"),
        ("toHigherFrequencyMethod=linear", "of Macrobond is fill=prev or fill=linear here"),
    ],
)
async def test_a_word_of_another_tool_is_refused_with_ours(options, ours):
    session = canned(x=monthly(date(2024, 1, 1), [1.0] * 20))
    refused = await session("SIGNAL_HISTORY", "x", "MAX", None, options)
    assert refused.message.endswith(ours)
    assert session.requests == []


async def test_a_transform_where_a_field_is_wanted_is_told_as_a_formula():
    session = canned(x=monthly(date(2024, 1, 1), [1.0] * 20))
    assert '=DS.SIGNAL_HISTORY("us-cpi", "N1", , "transform=yoy; ' in (await session("SIGNAL", "x", "yoy")).message


async def test_a_field_of_bloomberg_is_refused_with_ours():
    session = canned(x=monthly(date(2024, 1, 1), [1.0] * 20))
    assert (
        await session("SIGNAL", "x", "PX_LAST")
    ).message == "there is no field 'PX_LAST'; PX_LAST of Bloomberg is value here"


@pytest.mark.parametrize(
    ("series", "rhythm"),
    [
        (weekdays(date(2026, 5, 4), [1.0] * 70), "business daily"),
        ({date(2025, 1, 3) + timedelta(weeks=n): 1.0 for n in range(80)}, "weekly on Friday"),
        (monthly(date(2024, 1, 1), [1.0] * 30), "monthly"),
        ({date(2026, 1, 5) + timedelta(days=n * n): 1.0 for n in range(14)}, "irregular"),
    ],
)
async def test_1_the_rhythm_of_a_series_is_shown(series, rhythm):
    assert await canned(x=series)("SIGNAL", "x", "rhythm") == rhythm
