"""What a batch tells is what it spent; what a preview tells is never below; doubtful names are looked up together."""

import asyncio

import httpx
import numpy as np
import pytest

from dataservice.client import AsyncClient, Refresh
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page, refusal, signal
from tests.udfs.parts.asking import session_on
from udfs.cells import cells_of
from udfs.engine.session import Call, Session

POST = {
    "slug": "p",
    "url": "https://x.example/p",
    "title": "P",
    "body_md": "",
    "published_at": "2026-08-01T00:00:00Z",
    "story_type": "brief",
    "view_count": 1,
    "byline": {"handle": "h", "display_name": "H"},
    "citations": [{"wire_item_id": "w", "citation_number": 1, "quoted_text": None}],
}

COLD = [
    ("SIGNAL", "us-cpi"),
    ("SIGNAL", "us-cpi", "value", "1960-05-01"),
    ("SIGNAL", "us-10y", "change", "2001-01-01"),
    ("SIGNAL", "WTI"),
    ("SIGNAL", "no-such"),
    ("SIGNAL_HISTORY", "eia.wti.spot", "N2500"),
    ("SIGNAL_HISTORY", "eth-usd", "-3Y"),
    ("SIGNAL_HISTORY", "us-cpi, wb.gold, btc-usd", "-5Y", None, "header=name"),
    ("SIGNAL_HISTORY", "cboe.vix", "MAX"),
    ("SPARK", "cboe.vix", "-10Y"),
    ("WIRE", "CPI, WTI", None, None, "-30D"),
    ("CODEX_POST", "what-moved-001", "citations"),
    ("EXPLAIN", "us-cpi"),
    ("QUOTA",),
]


@pytest.mark.parametrize("parts", COLD, ids=str)
async def test_a_preview_is_never_below_what_is_spent(service, parts):
    call = Call(parts[0], parts[1:])
    async with session_on(service) as session:
        preview = await session.cost([call])
        assert service.running.request_count == 0
        (outcome,) = await session.answer([call])
    assert preview.cost.at_least <= service.running.request_count == outcome.requests
    assert preview.cost.at_most is None or outcome.requests <= preview.cost.at_most


@pytest.mark.parametrize(
    ("said", "spent"),
    [
        (refusal(404), 2),  # the catalogue is asked before the name is said not to exist
        (refusal(402), 1),
        (refusal(400), 1),
        (refusal(503), 5),
        (httpx.ReadError("lost"), 2),
        (httpx.ConnectError("refused"), 0),
        (refusal(401), 0),
    ],
)
async def test_a_batch_tells_the_requests_that_failed(said, spent):
    async with Scripted.saying([said]).client() as client:
        (outcome,) = await Session(client).answer([Call("SIGNAL", ("x.y",))])
    assert outcome.requests == client.requests_sent == spent


async def test_many_unknown_names_in_two_processes_cost_a_look_into_the_catalogue(service, tmp_path):
    calls = [Call("SIGNAL", (f"nope-{number}",)) for number in range(240)]

    async def told():
        async with AsyncClient(service.url, service.key, store=SqliteStore(tmp_path / "cache.sqlite")) as client:
            return sum(outcome.requests for outcome in await Session(client).answer(calls))

    first = sum(await asyncio.gather(told(), told()))
    assert first == service.running.request_count <= 4
    assert await told() == 0


@pytest.mark.parametrize("name", ["spx", "SPX", "cpi"])
async def test_a_shortcode_in_any_case_is_looked_up_before_it_is_asked_for_in_vain(service, name):
    async with session_on(service) as session:
        await session.answer([Call("SIGNAL", (name,))])
    assert next(request.partition("?")[0] for request in service.running.requests) == "/v1/signals"
    assert service.running.request_count == 2


async def test_names_that_exist_cost_no_look_into_the_catalogue(service):
    slugs = ("us-cpi", "us-10y", "sp-500", "wb.gold", "btc-usd", "cboe.vix")
    async with session_on(service) as session:
        await session.answer([Call("SIGNAL", (slug,)) for slug in slugs])
    assert service.running.request_count == len(slugs)


async def test_a_slow_answer_holds_up_no_other_name():
    others = asyncio.Event()

    async def handle(request):
        slug = request.url.path.rpartition("/")[2]
        if slug == "s.70":
            others.set()
        if slug == "s.20":
            await others.wait()
        return answer(signal(slug))

    async with Scripted(handle).client() as client:
        outcomes = await Session(client).answer([Call("SIGNAL", (f"s.{number}",)) for number in range(80)])
    assert [outcome.result for outcome in outcomes] == [1.0] * 80


async def test_citations_without_the_wire_say_so_and_are_not_kept():
    def handle(request):
        return answer([POST]) if request.url.path.endswith("codex") else refusal(503)

    async with Scripted(handle).client() as client:
        (outcome,) = await Session(client).answer([Call("CODEX_POST", ("p", "citations"))])
    (row,) = list(cells_of(outcome.result).rows())[1:]
    assert row[3].message.startswith("the service did not answer")
    assert outcome.stale is not None
    assert outcome.fresh_for_s == 0


async def test_a_range_of_which_one_cell_failed_for_now_is_asked_again():
    def handle(request):
        return refusal(500) if request.url.path.endswith("x.b") else answer(signal("x.a"))

    async with Scripted(handle).client() as client:
        (outcome,) = await Session(client).answer([Call("SIGNAL", ([["x.a"], ["x.b"]],))])
    assert outcome.fresh_for_s == 0


async def test_a_month_after_they_were_pulled_three_histories_cost_what_is_told(service):
    clock = Clock(1_788_200_000.0)
    calls = [Call("SIGNAL_HISTORY", (slug, "MAX")) for slug in ("us-cpi", "us-10y", "eia.wti.spot")]
    async with session_on(service, clock=clock) as session:
        await session.answer(calls)
        clock.advance(31 * 86_400)
        before = service.running.request_count
        preview = await session.cost(calls)
        outcomes = await session.answer(calls)
        spent = service.running.request_count - before
    assert sum(outcome.requests for outcome in outcomes) == spent > 3
    assert 0 < preview.cost.at_least <= spent
    assert preview.cost.at_most is None or spent <= preview.cost.at_most


@pytest.mark.parametrize("report", ["REVISIONS", "EXPLAIN", "STATUS"])
@pytest.mark.parametrize("beside", ["SIGNAL", "SIGNAL_HISTORY", "SPARK"])
async def test_what_reports_on_a_signal_by_its_shortcode_may_cost_nothing_beside_one_by_its_slug(
    service, report, beside
):
    calls = [Call(report, ("CPI",)), Call(beside, ("us-cpi",))]
    async with session_on(service) as session:
        cost = (await session.cost(calls)).cost
        await session.answer(calls)
    assert cost.at_least <= service.running.request_count
    assert cost.at_most is None or service.running.request_count <= cost.at_most


@pytest.mark.parametrize(
    ("start", "text"), [("-5Y", "at least 20 requests, likely 40"), ("-1Y", "at least 20 requests")]
)
async def test_histories_of_which_nothing_is_known_are_told_with_what_they_likely_cost(service, start, text):
    calls = [Call("SIGNAL_HISTORY", (f"s.{number}", start)) for number in range(20)]
    async with session_on(service) as session:
        assert str((await session.cost(calls)).cost) == text


async def test_a_cost_that_cannot_be_estimated_is_unknown_and_never_nothing(service):
    async with session_on(service) as session:

        async def cost_of(*_, **__):
            raise OverflowError("date value out of range")

        session.client.cost_of = cost_of
        preview = await session.cost([Call("SIGNAL", ("us-cpi",))])
    assert (preview.cost.at_most, preview.fresh_calls, str(preview.cost)) == (None, 0, "0 or more requests")


async def test_what_a_call_would_ask_after_it_failed_for_no_reason_of_its_own_is_unknown_and_never_nothing(service):
    async with session_on(service) as session:

        def states():
            raise RuntimeError("odd")

        session.client.states = states
        preview = await session.cost([Call("STATUS")])
    assert (preview.cost.at_most, str(preview.cost)) == (None, "0 or more requests")


@pytest.mark.parametrize("calls", [["new.one"], ["NEW1"], ["new.one", "NEW1", "us-cpi"]])
async def test_a_signal_that_is_new_today_is_found_after_everything_was_refreshed_at_the_cost_told(calls):
    listed = ["us-cpi"]

    def say(request):
        slug = request.url.path.split("/")[-1]
        rows = [{"slug": each, "name": each, "shortcode": "NEW1" if each == "new.one" else None} for each in listed]
        if slug == "signals":
            return answer(rows, pagination={"limit": 500, "offset": 0, "total": len(rows)})
        return answer(signal(slug)) if slug in listed else refusal(404)

    clock, service = Clock(), Scripted(say)
    async with service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer([Call("SIGNALS"), Call("SIGNAL", ("new.one",))])
        listed.append("new.one")
        clock.advance(3_600)
        asked = [Call("SIGNALS"), *(Call("SIGNAL", (name,)) for name in calls)]
        cost, sent = (await session.cost(asked, after=Refresh.FORCE)).cost, len(service.requests)
        await client.refresh(force=True)
        outcomes = await session.answer(asked)
        spent = len(service.requests) - sent
    assert all(isinstance(outcome.result, float) for outcome in outcomes[1:])
    assert cost.at_least <= spent <= (cost.at_most or 0)


@pytest.mark.parametrize("name", ["..", ".", "-", "…", "_.-", "a\x7f"])
@pytest.mark.parametrize("function", ["SIGNAL", "SIGNAL_HISTORY", "SPARK", "REVISIONS", "EXPLAIN"])
async def test_what_no_signal_can_be_called_costs_nothing_as_told(service, function, name):
    async with session_on(service) as session:
        cost = (await session.cost([Call(function, (name,))])).cost
        (outcome,) = await session.answer([Call(function, (name,))])
    assert (cost.at_most, service.running.request_count) == (0, 0)
    assert str(outcome.result.message).startswith("no signal")


NO_NAMES = ("US CPI", "a\nb", "..", "x" * 500, " ", "us\u00a0cpi", "\ud800")


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
async def test_a_name_that_no_signal_can_have_is_told_in_its_own_cell(service, name):
    calls = [
        Call("REVISIONS", (name,)),
        Call("SIGNAL", (name, "value", None, "asof=2026-06-30")),
        Call("SIGNAL_HISTORY", (name, "-1Y", None, "asof=2026-06-30")),
        Call("SPARK", (name, None, None, "vintage=first")),
        Call("EXPLAIN", (name,)),
        Call("STATUS", (name,)),
        Call("SIGNAL", ("us-cpi",)),
    ]
    async with session_on(service) as session:
        preview = await session.cost(calls)
        outcomes = await session.answer(calls)
    assert isinstance(outcomes[-1].result, float)
    assert all("please report" not in str(outcome.result) for outcome in outcomes)
    assert preview.cost.at_least <= service.running.request_count == sum(outcome.requests for outcome in outcomes)


NO_SUCH = [f"nope-{number}" for number in range(240)]


@pytest.mark.parametrize("function", ["SIGNAL", "SIGNAL_HISTORY", "SPARK"])
async def test_a_range_of_unknown_names_costs_a_look_into_the_catalogue(service, function):
    async with session_on(service) as session:
        (outcome,) = await session.answer([Call(function, ([[name] for name in NO_SUCH],))])
    assert outcome.requests == service.running.request_count <= 4


@pytest.mark.parametrize("function", ["SIGNAL", "SIGNAL_HISTORY"])
async def test_calls_of_one_moment_in_two_processes_find_out_together_that_names_do_not_exist(
    service, tmp_path, function
):
    async def ask():
        store = SqliteStore(tmp_path / "cache.sqlite")
        async with AsyncClient(service.url, service.key, store=store) as client:
            session = Session(client)
            asked = [session.value(function, (name,)) for name in NO_SUCH]
            failed = await asyncio.gather(*asked, return_exceptions=True)
        await store.aclose()
        return {type(error).__name__ for error in failed}

    assert await asyncio.gather(ask(), ask()) == [{"NoDataError"}, {"NoDataError"}]
    assert len(service.running.requests) <= 4, service.running.requests


async def test_a_call_that_is_cancelled_harms_no_other_of_the_same_moment(service):
    async with session_on(service) as session:
        left, asked = (asyncio.ensure_future(session.value("SIGNAL", (name,))) for name in ("us-10y", "us-cpi"))
        left.cancel()
        assert isinstance(await asked, float)
    assert left.cancelled()


@pytest.mark.parametrize("before", ["SIGNAL", "SIGNAL_HISTORY"])
@pytest.mark.parametrize("start", ["2020-01-01", "2026-01-01", "N5"])
async def test_a_preview_holds_the_second_look_at_a_series_that_was_emptied(before, start):
    days = np.arange(np.datetime64("2019-01-01"), np.datetime64("2026-08-17"))
    rows = [{"observed_at": f"{day}T00:00:00Z", "value": 1.0} for day in days]

    def say(request):
        if not request.url.path.endswith("/observations"):
            return answer({**signal("x.y"), "latest": rows[-1] if rows else None, "history": rows[-365:]})
        first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
        return page([row for row in rows if first <= row["observed_at"] <= last])

    clock, calls = Clock(), [Call("SIGNAL_HISTORY", ("x.y", start))]
    service = Scripted(say)
    async with service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer([Call("SIGNAL_HISTORY", ("x.y", "2019-06-01"))])
        clock.advance(1_000)
        await session.answer([Call(before, ("x.y", "value" if before == "SIGNAL" else start))])
        clock.advance(2 * 86_400)
        rows.clear()
        preview, told_before = await session.cost(calls), len(service.requests)
        (outcome,) = await session.answer(calls)
    spent = len(service.requests) - told_before
    assert preview.cost.at_least <= spent == outcome.requests <= (preview.cost.at_most or 9)
    assert outcome.result.message.startswith("x.y has no observations")
