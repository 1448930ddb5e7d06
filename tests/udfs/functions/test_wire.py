"""WIRE: newest first, filtered by the service and then on the spot."""

from dataservice.client import AsyncClient
from tests.udfs.parts.asking import Canned, cells, session_on
from udfs.cells import CellError, ErrorCode
from udfs.engine.session import Session

SEPTEMBER = 1_788_220_800.0
"""2026-09-01T00:00:00Z, the day after the made-up data set ends."""

HOSTILE = [
    {"id": "a", "headline": "=HYPERLINK(1)", "published_at": "2026-08-01T00:00:00Z", "kind": "podcast", "tickers": []},
    {"id": "b", "headline": "x" * 40_000, "published_at": "2026-08-03T00:00:00+02:00", "payload": None},
    {"id": "c", "headline": "@now", "published_at": "2026-08-02T23:00:00Z", "payload": {"value": 1.5}, "region": "EU"},
]


async def test_the_newest_items_come_first_with_the_columns_of_a_reader(sample_service):
    async with session_on(sample_service) as session:
        shown = await cells(session, "WIRE")
    assert shown[0] == ("published_at", "importance_score", "kind", "headline", "source", "primary_url")
    times = [row[0] for row in shown[1:]]
    assert times == sorted(times, reverse=True)
    assert len(times) == 20


async def test_items_that_do_not_repeat_what_they_were_filtered_by_are_shown():
    service = Canned(
        {"/v1/wire": [{"id": "a", "headline": "As asked"}, {"id": "b", "kind": "podcast", "headline": "Not"}]}
    )
    shown = await service("WIRE", "CPI", "filing", None, 50, None, None, None, "headline")
    assert shown == [("headline",), ("As asked",)]


async def test_limit_fields_and_options_choose_from_one_answer(service):
    async with session_on(service) as session:
        five = await cells(session, "WIRE", None, None, None, None, 5, None, None, "id")
        ten = await cells(session, "WIRE", None, None, None, None, 10, None, None, "id")
        columns = "headline, summary, current_slugs"
        about = await cells(session, "WIRE", *[None] * 7, columns, "current=Digital-Tide; text=within BITCOIN")
    assert ten[:6] == five
    assert {currents for _, _, currents in about[1:]} == {"digital-tide"}
    assert all("within" in headline and "Bitcoin" in summary for headline, summary, _ in about[1:])
    assert service.running.requests == ["/v1/wire?limit=200"]


async def test_filters_of_the_service_are_sent_to_it_in_one_spelling(service):
    async with AsyncClient(service.url, service.key, clock=lambda: SEPTEMBER) as client:
        session = Session(client, clock=lambda: SEPTEMBER)
        await cells(session, "WIRE", "btc", "BREAKING", 60, "-2W", 5, "crypto", "Made-up Gazette")
        await cells(session, "WIRE", "BTC", "breaking", "60", "2026-08-18T09:30:00Z", 9, "crypto", "Made-up Gazette")
    (request,) = service.running.requests
    assert request == (
        "/v1/wire?limit=200&since=2026-08-18T00%3A00%3A00Z&min_importance=60"
        "&kind=breaking&beat=crypto&ticker=BTC&source=Made-up+Gazette"
    )


async def test_a_narrower_question_is_answered_from_a_complete_answer(service):
    async with session_on(service) as session:
        await cells(session, "WIRE")
        shown = await cells(session, "WIRE", "BTC", None, 50, None, None, None, None, "tickers, importance_score")
    assert service.running.request_count == 1
    assert len(shown) > 1
    assert all("BTC" in tickers and importance >= 50 for tickers, importance in shown[1:])


async def test_several_tickers_are_answered_together_each_item_once(service):
    async with session_on(service) as session:
        tickers = [["btc"], [None], ["ETH"], ["BTC"]]
        both = await cells(session, "WIRE", tickers, *[None] * 3, 200, None, None, "id, tickers")
        one = await cells(session, "WIRE", "BTC", None, None, None, 200, None, None, "id")
        other = await cells(session, "WIRE", "ETH", None, None, None, 200, None, None, "id")
    assert sorted(row[0] for row in both[1:]) == sorted({row[0] for row in (*one[1:], *other[1:])})
    assert service.running.request_count == 2


async def test_for_a_window_of_days_one_request_may_answer_all_tickers(service):
    async with session_on(service) as session:
        shown = await cells(session, "WIRE", "BTC, ETH, CPI", None, None, "2026-08-01")
    assert len(shown) > 1
    assert service.running.requests == ["/v1/wire?limit=200&since=2026-08-01T00%3A00%3A00Z"]


async def test_a_window_that_proved_too_wide_is_not_tried_again(real_service):
    async with session_on(real_service) as session:
        await cells(session, "WIRE", "WTI, VIX", None, None, "2016-01-01")
        assert real_service.running.request_count == 3
        await cells(session, "WIRE", "CPI, WTI", None, None, "2016-01-01")
    assert real_service.running.request_count == 4


async def test_an_item_about_a_signal_is_found_by_its_shortcode_too(service):
    async with session_on(service) as session:
        by_slug = await cells(session, "WIRE", *[None] * 7, "id", "signal=btc-usd")
        by_shortcode = await cells(session, "WIRE", *[None] * 7, "id", "signal=BTC")
    assert len(by_slug) > 1
    assert by_slug == by_shortcode


async def test_a_free_key_is_told_which_tier_it_needs(service):
    async with session_on(service, tier="free") as session:
        shown = await cells(session, "WIRE")
        again = await cells(session, "WIRE", "BTC", "news")
    assert shown == again == CellError(ErrorCode.NA, "WIRE needs the Pro tier (this key: free)")
    assert service.running.request_count == 1


async def test_a_kind_that_the_contract_does_not_name_is_refused_in_a_formula_and_shown_in_an_item():
    service = Canned({"/v1/wire": HOSTILE})
    refused = await service("WIRE", None, "podcast")
    assert refused.code is ErrorCode.VALUE
    assert refused.message.startswith("kind 'podcast' is not one of news, filing, press_release")
    assert ("podcast",) in await service("WIRE", *[None] * 7, "kind")


async def test_hostile_headlines_are_text_cut_to_what_a_cell_holds():
    shown = await Canned({"/v1/wire": HOSTILE})("WIRE", *[None] * 7, "headline")
    assert [text[:13] for (text,) in shown[1:]] == ["@now", "x" * 13, "=HYPERLINK(1)"]
    assert len(shown[2][0]) == 32_767


async def test_times_of_other_zones_are_sorted_and_shown_in_utc():
    shown = await Canned({"/v1/wire": HOSTILE})("WIRE", *[None] * 7, "id, published_at")
    assert [(item, at.isoformat()) for item, at in shown[1:]] == [
        ("c", "2026-08-02T23:00:00"),
        ("b", "2026-08-02T22:00:00"),
        ("a", "2026-08-01T00:00:00"),
    ]


async def test_a_payload_s_key_and_an_unknown_field_are_columns():
    shown = await Canned({"/v1/wire": HOSTILE})("WIRE", *[None] * 7, "payload.value, region, tickers")
    assert shown == [
        ("payload.value", "region", "tickers"),
        (1.5, "EU", ""),
        (None, None, ""),
        (None, None, ""),
    ]


async def test_where_nothing_matches_the_header_is_shown():
    assert await Canned({"/v1/wire": []})("WIRE", *[None] * 7, "id, anything") == [("id", "anything")]


async def test_an_importance_beyond_the_scale_is_a_wrong_formula():
    shown = await Canned({"/v1/wire": []})("WIRE", None, None, 101)
    assert shown == CellError(ErrorCode.VALUE, "min_importance 101 is not between 0 and 100")
