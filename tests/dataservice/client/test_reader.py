"""Reading: from memory, from a store, from one flight; and what each of them costs."""

import asyncio
from datetime import date, datetime, timedelta, timezone
from math import inf

import pytest

from dataservice.client import (
    AsyncClient,
    CatalogueResource,
    CurrentsResource,
    HistoryResource,
    IndicesResource,
    PostsResource,
    SignalResource,
    Source,
    WireResource,
)
from dataservice.errors import NotFoundError
from dataservice.stores import Entry, MemoryStore, SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, refusal, signal

SIGNAL = SignalResource("us-cpi")


def signals() -> Scripted:
    """A service that knows every signal."""
    return Scripted(lambda request: answer(signal(request.url.path.rpartition("/")[2])))


async def test_a_second_cell_on_the_same_slug_costs_no_request():
    service = signals()
    async with service.client() as client:
        first, second = await client.read(SIGNAL), await client.read(SIGNAL)
    assert (first.source, first.requests) == (Source.NETWORK, 1)
    assert (second.source, second.requests) == (Source.MEMORY, 0)
    assert second.value == first.value
    assert len(service.requests) == 1


async def test_cells_that_ask_at_the_same_time_share_one_request_and_only_one_of_them_is_charged():
    service = signals()
    async with service.client() as client:
        answers = await asyncio.gather(*(client.read(SIGNAL) for _ in range(50)))
    assert len(service.requests) == 1
    assert sum(found.requests for found in answers) == 1


async def test_an_answer_is_fresh_for_a_quarter_of_an_hour_from_its_arrival():
    clock, service = Clock(), signals()
    async with service.client(clock) as client:
        found = await client.read(SIGNAL)
        assert (found.fetched_at, found.fresh_until) == (clock.now, clock.now + 900)
        clock.advance(899)
        assert client.peek(SIGNAL) is not None
        clock.advance(1)
        assert client.peek(SIGNAL) is None
        assert (await client.read(SIGNAL)).source is Source.NETWORK
    assert len(service.requests) == 2


async def test_freshness_is_a_setting():
    service = Scripted(lambda request: answer([] if "observations" in request.url.path else signal()))
    async with service.client(ttl_s=0) as client:
        await client.read(SIGNAL)
        await client.read(SIGNAL)
        await client.read(HistoryResource("us-cpi"))
    assert len(service.requests) == 3


async def test_peeking_never_asks_and_tells_how_old_an_answer_may_be():
    clock, service = Clock(), signals()
    async with service.client(clock) as client:
        assert client.peek(SIGNAL) is None
        await client.read(SIGNAL)
        clock.advance(1_000)
        assert client.peek(SIGNAL) is None
        assert client.peek(SIGNAL, max_age_s=999) is None
        assert client.peek(SIGNAL, max_age_s=1_000).value.latest.value == 1.0
    assert len(service.requests) == 1


async def test_having_looks_into_the_store_but_never_asks():
    clock, service, store = Clock(), signals(), MemoryStore()
    async with service.client(clock, store=store) as client:
        assert await client.have(SIGNAL, max_age_s=1e9) is None
        await client.read(SIGNAL)
    clock.advance(5_000)
    async with service.client(clock, store=store) as client:
        assert await client.have(SIGNAL, max_age_s=4_999) is None
        assert (await client.have(SIGNAL, max_age_s=5_000)).age_s(clock.now) == 5_000
    assert len(service.requests) == 1


async def test_a_workbook_opened_again_costs_nothing(tmp_path, service):
    resources = [
        SignalResource("us-cpi"),
        CatalogueResource(),
        IndicesResource(),
        CurrentsResource(),
        PostsResource(),
        WireResource(),
        HistoryResource("us-cpi"),
    ]
    values = []
    for _ in range(2):
        shelf = SqliteStore(tmp_path / "shelf.sqlite")
        async with AsyncClient(service.url, service.key, store=shelf) as client:
            values.append([(await client.read(resource)).value for resource in resources])
            sources = {(await client.have(resource, max_age_s=60)).source for resource in resources}
        await shelf.aclose()
        assert sources == {Source.MEMORY}
    assert values[0] == values[1]
    assert service.running.request_count == len(resources)


async def test_a_hundred_cells_on_an_unknown_slug_cost_one_request():
    clock, service = Clock(), Scripted(lambda _: refusal(404))
    async with service.client(clock) as client:
        for _ in range(100):
            with pytest.raises(NotFoundError, match="no signal 'us-cpii'"):
                await client.read(SignalResource("us-cpii"))
        with pytest.raises(NotFoundError):
            await client.read(HistoryResource("us-cpii", date(2024, 1, 1)))
        assert len(service.requests) == 1
        clock.advance(300)
        with pytest.raises(NotFoundError):
            await client.read(SignalResource("us-cpii"))
    assert len(service.requests) == 2


@pytest.mark.parametrize("slug", ["", ".", "..", "two words", "line\nbreak", "x" * 201])
async def test_what_cannot_be_a_slug_costs_no_request(slug):
    service = signals()
    async with service.client() as client:
        with pytest.raises(NotFoundError):
            await client.read(SignalResource(slug))
        assert await client.have(HistoryResource(slug), max_age_s=60) is None
        assert await client.cost([SignalResource(slug)]) == 0
    assert service.requests == []


async def test_a_narrower_wire_is_answered_from_a_wider_complete_one_at_no_cost():
    items = [{"id": str(n), "kind": "news" if n % 2 else "filing"} for n in range(199)]
    service, store = Scripted(lambda _: answer(items)), MemoryStore()
    async with service.client(store=store) as client:
        await client.read(WireResource())
        assert len(client.peek(WireResource(kind="news")).value) == 99
        assert len((await client.read(WireResource(kind="filing"))).value) == 100
    async with service.client(store=store) as client:
        found = await client.read(WireResource(kind="news"))
        assert (len(found.value), found.value.complete, found.requests) == (99, True, 0)
    assert len(service.requests) == 1


async def test_a_wire_that_fills_the_widest_page_answers_nothing_but_itself():
    service = Scripted(lambda _: answer([{"id": str(n)} for n in range(200)]))
    async with service.client() as client:
        await client.read(WireResource())
        await client.read(WireResource(kind="news"))
    assert service.targets == ["/v1/wire?limit=200", "/v1/wire?limit=200&kind=news"]


async def test_a_shorter_history_is_cut_from_a_longer_one_in_memory(service):
    async with AsyncClient(service.url, service.key) as client:
        whole = await client.read(HistoryResource("us-cpi"))
        spent = service.running.request_count
        day = whole.value.last_day
        assert client.peek(HistoryResource("us-cpi", day)).value == whole.value[-1:]
    assert service.running.request_count == spent


async def test_the_widest_request_is_sent_for_each_resource():
    listed = answer([{"slug": "us-cpi", "name": "CPI"}], pagination={"limit": 500, "offset": 0, "total": 1})
    service = Scripted(lambda request: listed if request.url.path == "/v1/signals" else answer([]))
    since = date(2026, 8, 1)
    async with service.client() as client:
        for resource in (
            CatalogueResource(),
            PostsResource(story_type="brief", since=since),
            PostsResource(beat="macro", since=since),
            WireResource(ticker="A&B", min_importance=50, since=since),
            HistoryResource("fx.eur-usd", since),
        ):
            await client.read(resource)
    assert service.targets == [
        "/v1/signals?limit=500",
        "/v1/codex?limit=200&since=2026-08-01T00%3A00%3A00Z&story_type=brief",
        "/v1/almanac?limit=200&since=2026-08-01&beat=macro",
        "/v1/wire?limit=200&since=2026-08-01T00%3A00%3A00Z&min_importance=50&ticker=A%26B",
        "/v1/signals/fx.eur-usd/observations?start=2026-07-31&end=2199-12-31",
    ]


async def test_every_request_carries_the_key_and_says_who_asks():
    service = signals()
    async with service.client(user_agent="a program") as client:
        await client.read(SIGNAL)
    (request,) = service.requests
    assert request.headers["authorization"].startswith("Bearer ds_")
    assert request.headers["user-agent"] == "a program"
    assert request.url.params.get("history") == "365"


async def test_a_forced_refresh_asks_again_and_loses_nothing():
    clock, service = Clock(), signals()
    async with service.client(clock) as client:
        await client.read(SIGNAL)
        clock.advance(1)
        await client.refresh()
        assert client.peek(SIGNAL) is not None
        await client.refresh(force=True)
        assert client.peek(SIGNAL) is None
        assert client.peek(SIGNAL, max_age_s=1) is None
        assert client.peek(SIGNAL, max_age_s=inf) is not None
        assert (await client.read(SIGNAL)).requests == 1
        assert (await client.read(SIGNAL)).requests == 0
    assert len(service.requests) == 2


async def test_a_caller_who_leaves_does_not_spoil_it_for_the_others():
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(_):
        asked.set()
        await go_on.wait()
        return answer(signal())

    service = Scripted(slowly)
    async with service.client() as client:
        leaving, staying = (asyncio.create_task(client.read(SIGNAL)) for _ in range(2))
        await asked.wait()
        leaving.cancel()
        go_on.set()
        assert (await staying).value.latest.value == 1.0
    assert len(service.requests) == 1


async def test_a_signal_that_comes_twice_while_the_catalogue_grows_is_listed_once():
    first = [{"slug": f"s{n}"} for n in range(500)]
    second = [{"slug": f"s{n}"} for n in range(499, 600)]

    def page(request):
        found = second if request.url.params.get("offset") == "500" else first
        return answer(found, pagination={"limit": 500, "offset": 0, "total": 601})

    service = Scripted(page)
    async with service.client() as client:
        catalogue = await client.signals()
    assert (len(catalogue), catalogue.may_be_cut) == (600, True), "the one that is told and did not come may be any"
    assert service.targets == ["/v1/signals?limit=500", "/v1/signals?limit=500&offset=500"] * 2


async def test_a_time_within_a_day_asks_for_the_day_and_is_cut_here():
    items = [{"id": str(hour), "slug": str(hour), "published_at": f"2026-08-01T{hour:02}:00:00Z"} for hour in range(24)]
    service = Scripted(lambda _: answer(items))
    async with service.client() as client:
        noon = datetime(2026, 8, 1, 14, tzinfo=timezone(timedelta(hours=2)))
        assert len(await client.wire(since=noon)) == 12
        assert len(await client.wire(since=date(2026, 8, 1))) == 24
        assert len(await client.codex(since=datetime(2026, 8, 1, 23))) == 1  # noqa: DTZ001 - UTC where it names none
    assert service.targets[0] == "/v1/wire?limit=200&since=2026-08-01T00%3A00%3A00Z"


async def test_what_comes_from_a_clock_that_is_ahead_is_known_but_not_fresh():
    clock, service, store = Clock(), signals(), MemoryStore()
    clock.advance(86_400)
    async with service.client(clock, store=store) as client:
        await client.read(SIGNAL)
    clock.advance(-86_400)
    async with service.client(clock, store=store) as client:
        assert (await client.have(SIGNAL, max_age_s=inf)).value.latest.value == 1.0
        assert (await client.read(SIGNAL)).source is Source.NETWORK


async def test_an_entry_that_cannot_be_read_is_a_miss():
    service, store = signals(), MemoryStore()
    async with service.client(store=store) as client:
        await client.read(SIGNAL)
        for name in list(store._entries):
            await store.put(name, Entry(b"garbage", 1_787_000_000.0))
    async with service.client(store=store) as client:
        assert (await client.read(SIGNAL)).source is Source.NETWORK
        assert (await client.read(HistoryResource("x", date(2026, 1, 2), date(2026, 1, 1)))).requests == 0


async def test_a_store_that_fails_fails_no_cell(caplog):
    class Broken(MemoryStore):
        async def get(self, name):
            raise OSError("disk on fire")

    service = signals()
    async with service.client(store=Broken()) as client:
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
        assert (await client.read(SIGNAL)).source is Source.MEMORY
    assert len(caplog.records) == 1
