"""SIGNAL: values and fields of signals, on any day, from as few requests as can be."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client import SignalDetail
from dataservice.client.contract.requests import OBSERVATIONS_LIMIT
from dataservice.models import Signal
from tests.udfs.parts.asking import Canned, cells, session_on
from tests.udfs.parts.series import observations
from udfs.cells import CellError, ErrorCode
from udfs.engine.session import Call
from udfs.timeseries.loader import block_around, latest

DETAIL = {
    "slug": "odd",
    "name": "An odd one",
    "unit": None,
    "region": "EU",
    "methodology": {"revised": True},
    "latest": {"observed_at": "2026-08-31T16:30:00Z", "value": 4.0},
    "history": [
        {"observed_at": "2026-08-31T16:30:00Z", "value": 4.0},
        {"observed_at": "2026-08-27", "value": -2.0},
        {"observed_at": "2026-08-28", "value": None},
    ],
}


@pytest.fixture
def odd():
    return Canned({"/v1/signals/odd": DETAIL})


async def test_every_field_of_a_signal_shares_one_request(service):
    fields = ["value", "unit", "name", "shortcode", "previous", "observed_at", "state", "is_premium"]
    async with session_on(service) as session:
        (shown,) = await cells(session, "SIGNAL", "us-cpi", [fields])
    name = "US consumer price index (made up)"
    assert shown[1:4] == ("index 2010=100", name, "CPI")
    assert shown[5:] == (date(2026, 8, 1), "fresh", False)
    assert 100 < shown[4] < shown[0] < 1_000
    assert service.running.requests == ["/v1/signals/us-cpi?history=365"]


async def test_names_down_and_fields_across_spill_with_errors_in_their_own_cells(service):
    async with session_on(service) as session:
        names = [["us-cpi"], ["no.such"], [None], ["wb.gold"]]
        shown = await cells(session, "SIGNAL", names, [["shortcode", "nothing"]])
    assert shown[0][0] == "CPI"
    assert shown[0][1].code is ErrorCode.VALUE
    assert shown[1][0] == CellError(ErrorCode.NA, "no signal 'no.such'; SIGNALS lists and searches those there are")
    assert shown[2] == (None, None)
    assert shown[3][0] == "GOLD"
    assert service.running.request_count == 4  # one of them the catalogue, for a suggestion


async def test_a_hundred_cells_with_an_unknown_name_cost_one_request_and_the_catalogue(service):
    async with session_on(service) as session:
        outcomes = await session.answer([Call("SIGNAL", ("us-cpii", "value"))] * 100)
    assert {outcome.result.message for outcome in outcomes} == {"no signal 'us-cpii'; did you mean us-cpi?"}
    assert service.running.requests == ["/v1/signals/us-cpii?history=365", "/v1/signals?limit=500"]


@pytest.mark.parametrize("function", ["SIGNAL", "SIGNAL_HISTORY", "SPARK"])
async def test_a_shortcode_in_any_case_is_found_in_a_new_sheet_at_no_more_than_the_catalogue(service, function):
    async with session_on(service) as session:
        outcomes = await session.answer([Call(function, (name,)) for name in ("gold", "vix", "wti", "Gold", "GOLD")])
    assert not [outcome.result for outcome in outcomes if isinstance(outcome.result, CellError)]
    assert service.running.request_count == 4


async def test_with_the_catalogue_at_hand_an_unknown_name_costs_nothing(service):
    async with session_on(service) as session:
        await cells(session, "SIGNALS")
        service.running.forget_requests()
        assert (await cells(session, "SIGNAL", "us-cpii")).message == "no signal 'us-cpii'; did you mean us-cpi?"
    assert service.running.request_count == 0


async def test_a_shortcode_costs_the_catalogue_once(service):
    async with session_on(service) as session:
        assert await cells(session, "SIGNAL", "WTI") == await cells(session, "SIGNAL", "eia.wti.spot")
        assert await cells(session, "SIGNAL", "GOLD") == await cells(session, "SIGNAL", "wb.gold")
    assert service.running.request_count == 3


async def test_a_catalogue_at_hand_tells_names_and_units_of_signals_at_no_cost(service):
    async with session_on(service) as session:
        await cells(session, "SIGNALS")
        (preview,) = [await session.cost([Call("SIGNAL", ("GOLD", "unit"))])]
        assert await cells(session, "SIGNAL", "GOLD", "unit") == "USD per troy ounce"
        assert await cells(session, "SIGNAL", [["us-cpi"], ["us-10y"]], "category")
        assert preview.cost.at_most == 0
    assert service.running.request_count == 1


async def test_a_day_in_the_recent_history_costs_nothing_more(service):
    async with session_on(service) as session:
        august = await cells(session, "SIGNAL", "us-cpi", "value", "2010-08-31")
        assert await cells(session, "SIGNAL", "us-cpi", "observed_at", 40_420) == date(2010, 8, 1)
        assert await cells(session, "SIGNAL", "us-cpi", None, datetime(2010, 8, 5, 9, tzinfo=UTC)) == august
    assert service.running.request_count == 1


async def test_days_before_the_recent_history_share_one_request_for_the_years_around_them(service):
    days = [[f"2022-{month:02}-15"] for month in range(1, 13)]
    async with session_on(service) as session:
        shown = await cells(session, "SIGNAL", "eia.wti.spot", "observed_at", days)
        assert shown[0] == (date(2022, 1, 14),)
        assert service.running.request_count == 2
        await cells(session, "SIGNAL", "eia.wti.spot", [["change", "previous"]], "2022-06-03")
    assert service.running.request_count == 2


async def test_a_history_in_store_answers_a_day_without_a_request(service):
    async with session_on(service) as session:
        await cells(session, "SIGNAL_HISTORY", "eia.wti.spot", "MAX")
        await cells(session, "SIGNAL", "eia.wti.spot")
        service.running.forget_requests()
        assert await cells(session, "SIGNAL", "eia.wti.spot", "observed_at", "2021-05-02") == date(2021, 4, 30)
    assert service.running.request_count == 0


async def test_a_day_before_the_first_observation_has_none(service):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNAL", "eia.wti.spot", "value", "1999-01-01")
    assert shown == CellError(ErrorCode.NA, "eia.wti.spot has no observation on or before 1999-01-01")


async def test_the_negative_oil_price_is_found_and_no_base_for_a_percentage(real_service):
    async with session_on(real_service) as session:
        fields = [["value", "previous", "change", "pct_change"]]
        (shown,) = await cells(session, "SIGNAL", "eia.wti.spot", fields, "2020-04-20")
        assert shown == (-36.98, 18.31, pytest.approx(-55.29), pytest.approx(-36.98 / 18.31 - 1))
        assert await cells(session, "SIGNAL", "eia.wti.spot", "pct_change", "2020-04-21") is None
    assert real_service.running.request_count == 2


async def test_the_missing_month_shows_the_month_before(real_service):
    async with session_on(real_service) as session:
        assert await cells(session, "SIGNAL", "us-cpi", "observed_at", "2025-10-31") == date(2025, 9, 1)


async def test_unknown_fields_of_a_record_are_asked_for_by_name(odd):
    assert await odd("SIGNAL", "odd", "Region") == "EU"
    assert await odd("SIGNAL", "odd", "methodology.revised") is True
    assert await odd("SIGNAL", "odd", "unit") is None


async def test_nulls_are_skipped_in_what_came_before_and_times_of_day_are_kept(odd):
    assert await odd("SIGNAL", "odd", "previous") == -2
    assert await odd("SIGNAL", "odd", "change") == 6
    assert await odd("SIGNAL", "odd", "pct_change") is None
    assert await odd("SIGNAL", "odd", "observed_at") == datetime(2026, 8, 31, 16, 30)  # noqa: DTZ001 - cells are naive UTC
    assert await odd("SIGNAL", "odd", "value", "2026-08-28") == -2


async def test_an_unknown_field_is_told_what_there_is(odd):
    shown = await odd("SIGNAL", "odd", "naem")
    assert shown.code is ErrorCode.VALUE
    assert "naem" in shown.message


@pytest.mark.parametrize(
    ("observed", "shown"),
    [
        ({"latest": None, "history": []}, CellError(ErrorCode.NA, "odd has no observations yet")),
        ({"latest": {"observed_at": "2026-08-31", "value": None}, "history": []}, None),
    ],
)
async def test_a_null_is_a_blank_cell_and_no_observation_is_an_error(observed, shown):
    assert await Canned({"/v1/signals/odd": {**DETAIL, **observed}})("SIGNAL", "odd") == shown


async def test_without_an_earlier_value_there_is_no_change():
    alone = {**DETAIL, "history": []}
    window = {"/v1/signals/odd": alone, "/v1/signals/odd/observations": [alone["latest"]]}
    shown = await Canned(window)("SIGNAL", "odd", "change")
    assert shown == CellError(ErrorCode.NA, "odd has no value before the one of 2026-08-31 16:30:00+00:00")


def test_the_latest_observation_is_a_date_at_midnight():
    detail = SignalDetail(Signal(slug="x"), None, observations({"2026-08-30": 1, "2026-08-31": None}))
    assert (latest(detail).moment, latest(detail).value, latest(detail).before) == (date(2026, 8, 31), None, 1)


@given(st.dates(date(2, 1, 1)), st.floats(1, 400))
def test_days_in_one_block_ask_the_same_and_one_page_holds_it(day, step_days):
    start, end = block_around(day, step_days)
    assert start < day <= end
    assert block_around(end, step_days) == (start, end)
    assert block_around(max(date(day.year, 1, 1), date(2, 1, 1)), step_days) == (start, end)
    assert (end - start) / timedelta(days=step_days) <= max(OBSERVATIONS_LIMIT, 2 * 366 / step_days) + 5


@pytest.mark.parametrize("day", ["2026-01-01", "-1Y", "PYE", date(2026, 1, 1).toordinal() - 693_594.0])
async def test_a_day_in_the_place_of_the_field_is_told_its_own_place_before_a_request_is_spent(service, day):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNAL", "us-cpi", day)
    assert (shown.code, shown.message.partition("; ")[2]) == (
        ErrorCode.VALUE,
        'a day is the third argument, at, after a field such as "value"',
    )
    assert service.running.requests == []
