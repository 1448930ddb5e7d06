"""SIGNALS: the catalogue, searched on the spot; one fetch a day serves every search."""

from dataservice.client import AsyncClient
from tests.udfs.parts.asking import Canned, cells, session_on
from udfs.cells import CellError, ErrorCode
from udfs.engine.session import Session

START = 1_788_000_000.0


async def test_searches_share_the_catalogue_for_a_day(service):
    now = [START]
    async with AsyncClient(service.url, service.key, clock=lambda: now[0]) as client:
        session = Session(client, clock=lambda: now[0])
        await cells(session, "SIGNALS", "oil")
        now[0] += 80_000
        await cells(session, "SIGNALS", "gold", "commodities")
        assert service.running.requests == ["/v1/signals?limit=500"]
        now[0] += 10_000
        await cells(session, "SIGNALS")
    assert service.running.request_count == 2


async def test_the_best_match_comes_first(service):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNALS", "index", None, "slug")
    assert [slug for (slug,) in shown[1:4]] == ["cboe.vix", "sp-500", "survey.pmi"]


async def test_without_a_search_signals_come_in_the_order_of_their_slugs(service):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNALS", None, "FX", ["slug", "unit"])
    assert shown == [("slug", "unit"), ("fx.eur-usd", "USD per EUR"), ("fx.usd-jpy", "JPY per USD")]


async def test_the_limit_cuts_what_was_found(service):
    async with session_on(service) as session:
        assert len(await cells(session, "SIGNALS", None, None, None, 3)) == 4


async def test_the_default_columns_name_the_signal_and_its_unit(service):
    async with session_on(service) as session:
        header, row = await cells(session, "SIGNALS", "CPI")
    assert header == ("slug", "shortcode", "name", "category", "unit", "source")
    assert row[:2] == ("us-cpi", "CPI")


async def test_a_search_that_finds_nothing_suggests_another(service):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNALS", "cruude")
    assert shown == CellError(ErrorCode.NA, "no signal matches 'cruude'; did you mean crude?")


async def test_an_unknown_category_is_told_the_nearest_one(service):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNALS", None, "equity")
    assert shown == CellError(ErrorCode.NA, "no category 'equity'; did you mean equities?")


async def test_booleans_stay_booleans_and_nulls_are_blank(service):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNALS", "eth-usd", None, "is_premium, description, shortcode")
    assert shown[1] == (True, None, "ETH")


async def test_a_service_that_lists_no_signal_is_told():
    shown = await Canned({"/v1/signals": []})("SIGNALS", None, None, "slug")
    assert "the service lists no signal at all" in shown.message


async def test_a_catalogue_of_real_series_is_searched(shared_service):
    async with session_on(shared_service) as session:
        shown = await cells(session, "SIGNALS", "oil price", None, "slug")
    assert shown[1] == ("eia.wti.spot",)


async def test_the_rhythm_is_shown_of_signals_that_were_looked_at_and_costs_nothing(service):
    async with session_on(service) as session:
        shown = await cells(session, "SIGNALS", None, None, ["slug", "rhythm"])
        assert {rhythm for _, rhythm in shown[1:]} == {None}, "nobody has looked at any signal"
        await cells(session, "SIGNAL", "us-cpi")
        await cells(session, "SIGNAL", "eia.wti.spot")
        service.running.forget_requests()
        shown = dict(await cells(session, "SIGNALS", None, None, ["slug", "rhythm"]))
    assert (shown["us-cpi"], shown["eia.wti.spot"], shown["sp-500"]) == ("monthly", "business daily", None)
    assert service.running.request_count == 0
