"""The contract's endpoints through both clients, against the embedded service: one suite over async and sync."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

from dataservice.client import (
    AsyncClient,
    Client,
    HistoryResource,
    IndicesResource,
    SignalResource,
    Source,
    WireResource,
)
from dataservice.client.contract.results import frame_of
from dataservice.errors import DataServiceError, NotFoundError, TierError
from dataservice.models import Index, Post, Signal, WireItem
from tests.dataservice.client.parts.scripted import Scripted, answer


class Caller:
    """Calls a method of either client by its name."""

    def __init__(self, client: AsyncClient | Client) -> None:
        self.client = client

    async def __call__(self, name: str, *args: Any, **kwargs: Any) -> Any:
        method = getattr(self.client, name)
        if inspect.iscoroutinefunction(method):
            return await method(*args, **kwargs)
        return await asyncio.to_thread(method, *args, **kwargs)


@pytest.fixture(params=[AsyncClient, Client])
async def call(request, sample_service):
    caller = Caller(request.param(sample_service.url, sample_service.key))
    yield caller
    await caller("aclose" if request.param is AsyncClient else "close")


async def test_the_catalogue_is_searched_and_filtered_without_further_requests(call):
    catalogue = await call("signals")
    sent = call.client.requests_sent
    category = next(iter(catalogue)).category
    some = await call("signals", category)
    assert 0 < len(some) <= len(catalogue)
    assert {signal.category for signal in some} == {category}
    assert call.client.requests_sent == sent == 1
    assert {"slug", "name", "unit"} <= set(catalogue.to_frame().columns)


async def test_a_signal_comes_with_its_recent_history(call):
    slug = next(iter(await call("signals"))).slug
    detail = await call("signal", slug)
    assert detail.signal.slug == slug
    assert detail.history.values[-1] == detail.latest.value
    assert detail.to_frame().columns.tolist() == [slug]


@pytest.mark.parametrize("name", ["codex", "almanac", "wire"])
async def test_what_was_published_earlier_on_the_day_of_a_time_is_left_out(name):
    records = [
        {"id": f"i{hour}", "slug": f"p{hour}", "published_at": f"2026-06-30T{hour:02}:00:00Z"} for hour in (5, 3, 1)
    ]
    async with Scripted(lambda _: answer(records)).client() as client:
        call = getattr(client, name)
        assert len(await call(since="2026-06-30")) == 3
        for since in ("2026-06-30T03:00Z", datetime(2026, 6, 30, 3, tzinfo=UTC)):
            assert [item.published_at[11:13] for item in await call(since=since)] == ["05", "03"]


async def test_dates_may_be_text_wherever_they_are_accepted(call):
    day, text = date(2026, 6, 30), "2026-06-30"
    whole = await call("observations", "us-cpi", "2020-01-01")
    assert whole == await call("observations", "us-cpi", date(2020, 1, 1))
    for given in (text, f"{text}T23:00:00Z", datetime(2026, 6, 30, 12, tzinfo=UTC), np.datetime64(day)):
        assert await call("observations", "us-cpi", "2020-01-01", given) == whole.between(None, day)
    assert await call("observations", "us-cpi", "-1Y", text) == whole.between(date(2025, 6, 30), day)
    for name in ("codex", "almanac", "wire"):
        assert await call(name, since=text) == await call(name, since=day)
        moment = datetime(2026, 6, 30, 12, tzinfo=UTC)
        assert await call(name, since="2026-06-30T12:00:00Z") == await call(name, since=moment)
    pages = call.client.observation_pages("us-cpi", "2026-01-01", text)
    found = (
        [page async for page in pages] if isinstance(call.client, AsyncClient) else await asyncio.to_thread(list, pages)
    )
    assert found[0] == whole.between(date(2026, 1, 1), day)


@pytest.mark.parametrize("given", ["soon", "2020-13-01", "", 2020, True, np.datetime64("NaT")])
async def test_what_is_no_date_is_refused_with_the_name_of_the_argument(call, given):
    with pytest.raises(ValueError, match=r"^start .* is not a date; it takes a date, text such as 2024-12-31, or"):
        await call("observations", "us-cpi", given)
    with pytest.raises(ValueError, match=r"^since .* is not a date"):
        await call("wire", since=given)
    assert call.client.requests_sent == 0


def test_a_resource_goes_by_days_however_its_dates_are_given():
    by_day = HistoryResource("us-cpi", date(2020, 1, 1), date(2020, 1, 31))
    assert HistoryResource("us-cpi", "2020-01-01", datetime(2020, 1, 31, 5, tzinfo=UTC)) == by_day
    with pytest.raises(ValueError, match="since '-1Y' is not a date; it takes a date, or text such as 2024-12-31"):
        WireResource(since="-1Y")


async def test_observations_lie_in_their_window(call):
    slug = next(iter(await call("signals"))).slug
    whole = await call("observations", slug)
    middle = whole[len(whole) // 4 : len(whole) // 2]
    assert await call("observations", slug, middle.first_day, middle.last_day) == middle
    assert len(middle.to_frame()) == len(middle)


async def test_indices_and_currents_come_with_their_readings(call):
    indices, currents = await call("indices"), await call("currents")
    assert all(index.reading()[0] is not None for index in indices)
    assert indices.to_frame()["slug"].tolist() == [index.slug for index in indices]
    assert currents.to_frame()["momentum_score"].notna().any()


async def test_posts_are_filtered_by_type_author_and_beat(call):
    posts = await call("codex")
    one = posts.items[0]
    assert one.slug in {post.slug for post in await call("codex", handle=one.byline["handle"])}
    assert {post.story_type for post in await call("codex", story_type=one.story_type)} == {one.story_type}
    beat = next(post.byline["topic_beat"] for post in posts if post.byline["topic_beat"])
    assert {post.byline["topic_beat"] for post in await call("almanac", beat=beat)} == {beat}
    assert posts.to_frame()["slug"].iloc[0] == one.slug


@pytest.mark.parametrize("kind", [WireItem, Post, Index, Signal])
async def test_frames_have_times_in_utc_and_numbers_also_where_there_is_no_record(call, kind):
    empty = frame_of((), kind)
    assert {str(empty[name].dtype) for name in empty if name.endswith("_at")} <= {"datetime64[us, UTC]"}
    assert {str(empty[name].dtype) for name in kind.number_names()} <= {"float64"}
    items = (await call("wire")).to_frame()
    history = (await call("observations", "us-cpi")).to_frame()
    assert items.published_at.dtype == history.index.dtype == "datetime64[us, UTC]"


async def test_the_wire_is_filtered_by_the_service(call):
    items = await call("wire", min_importance=50)
    assert items
    assert min(item.importance_score for item in items) >= 50
    since = date.fromisoformat(items.items[0].published_at[:10])
    assert {item.published_at[:10] for item in await call("wire", since=since)} == {since.isoformat()}


async def test_the_quota_is_read_from_the_headers_of_the_last_answer(call):
    assert call.client.quota_now is None
    quota = await call("quota")
    assert (quota.tier, quota.cap, quota.used_here) == ("pro", 50_000, 1)
    assert call.client.peek(IndicesResource()) is not None  # what the one request was spent on is of use
    assert await call("quota") == call.client.quota_now == quota


async def test_reading_peeking_having_and_costing_are_the_same_in_both(call):
    slug = next(iter(await call("signals"))).slug
    resource = SignalResource(slug)
    assert await call("cost", [resource, resource]) == 1
    assert call.client.peek(resource) is None
    assert await call("have", resource, max_age_s=60) is None
    assert (await call("read", resource)).source is Source.NETWORK
    assert await call("cost", [resource]) == 0
    assert (await call("have", resource, max_age_s=60)).value == call.client.peek(resource).value
    assert resource in {state.resource for state in call.client.states()}
    await call("refresh", force=True)
    assert call.client.peek(resource) is None


async def test_errors_are_the_same_in_both(call):
    with pytest.raises(NotFoundError, match="no signal 'nothing'"):
        await call("signal", "nothing")


async def test_the_free_tier_reads_no_wire(sample_service):
    with Client(sample_service.url, sample_service.free_key) as client, pytest.raises(TierError, match="free"):
        client.wire()


def test_both_clients_offer_the_same_methods_with_the_same_arguments():
    def offered(client: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(client, inspect.isfunction)
        return {name: list(inspect.signature(f).parameters) for name, f in methods if not name.startswith("_")}

    asynchronous, waiting = offered(AsyncClient), offered(Client)
    assert asynchronous.pop("aclose") == waiting.pop("close")
    asynchronous.pop("scope")  # for `addin cache`, beside the archive itself
    for for_backends in ("join_refresh", "look_up_quota", "complete_wider", "known_after", "purge", "take_apart"):
        asynchronous.pop(for_backends)
    asynchronous["quota"].remove("meter")  # a backend tells with the next answer what it spent
    assert asynchronous == waiting


def test_a_closed_client_answers_no_more_and_may_be_closed_again(sample_service):
    client = Client(sample_service.url, sample_service.key)
    client.indices()
    client.close()
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.indices()


def test_a_client_is_used_from_many_threads(sample_service):
    with Client(sample_service.url, sample_service.key) as client, ThreadPoolExecutor(8) as pool:
        lengths = set(pool.map(lambda _: len(client.indices()), range(50)))
        assert len(lengths) == 1
        assert client.requests_sent == 1


async def test_answers_are_short_in_a_console_and_a_short_table_in_a_notebook(call):
    whole, detail = await call("observations", "us-cpi"), await call("signal", "us-cpi")
    catalogue, page, indices = await call("signals"), await call("wire"), await call("indices")
    for value in (
        whole,
        detail,
        catalogue,
        page,
        indices,
        await call("currents"),
        await call("read", SignalResource("us-cpi")),
    ):
        assert len(repr(value)) <= 400
    for value in (whole, detail, catalogue, page, indices, await call("currents")):
        assert 1 <= value._repr_html_().count("<tr") <= 15
    assert repr(whole).startswith(f"Observations({len(whole)} from {whole.first_day} to {whole.last_day}, the last ")
    assert repr(whole[:0]) == "Observations(none)"
    assert repr(indices).startswith(f"Indices({len(indices)} indices: {indices[0].slug}, ")


async def test_an_answer_shows_its_value_as_a_short_table_and_says_when_it_arrived(service):
    async with AsyncClient(service.url, service.key, clock=lambda: 1_786_000_000.0) as client:
        answer = await client.read(SignalResource("us-cpi"))
        stale = answer.stale(DataServiceError("the <service> is down"))
    assert answer._repr_html_().startswith(answer.value._repr_html_())
    assert "arrived 2026-08-06 07:06:40 UTC, from the network" in answer._repr_html_()
    assert "the last known value: the &lt;service&gt; is down" in stale._repr_html_()


async def test_a_name_is_in_the_catalogue_if_it_finds_a_signal(shared_service):
    async with AsyncClient(shared_service.url, shared_service.key) as client:
        catalogue = await client.signals()
        assert all(name in catalogue for name in ("us-cpi", "CPI", "cpi", catalogue.find("CPI")))
        assert "nope" not in catalogue
        assert None not in catalogue


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ("signal", {"slug": ["us-cpi"]}, r"a signal's slug is text, not \['us-cpi'\]"),
        ("observations", {"slug": ["us-cpi"]}, r"a signal's slug is text, not \['us-cpi'\]"),
        ("wire", {"ticker": ["WTI", "CPI"]}, r"ticker is one text, not \['WTI', 'CPI'\]"),
        ("wire", {"min_importance": "50"}, "min_importance is a number from 0 to 100, not '50'"),
        ("codex", {"handle": 5}, "handle is one text, not 5"),
    ],
)
async def test_arguments_of_another_type_are_named_with_what_is_right_and_cost_nothing(call, method, given, said):
    with pytest.raises(TypeError, match=said):
        await call(method, **given)
    assert call.client.requests_sent == 0


@pytest.mark.parametrize("importance", [-1, 101, float("nan")])
async def test_an_importance_that_no_item_can_have_is_refused_and_costs_nothing(call, importance):
    with pytest.raises(ValueError, match="min_importance is a number from 0 to 100, not "):
        await call("wire", min_importance=importance)
    assert call.client.requests_sent == 0


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"deadline_s": "5"}, "deadline_s must be more than 0 seconds, not '5'"),
        ({"max_pages": None}, "max_pages must be 1 or more, not None"),
        ({"max_memory_bytes": -5}, "max_memory_bytes must be 1 or more, not -5"),
        ({"budget": 400}, r"budget must be a Budget such as Budget\(monthly=400\), not 400"),
        ({"store": "cache.db"}, r"store must be a store such as SqliteStore\(path\), not 'cache.db'"),
        ({"user_agent": "desk/1\n"}, r"user_agent must be ASCII text on one line, not 'desk/1\\n'"),
        ({"user_agent": "é"}, "user_agent must be ASCII text on one line, not 'é'"),
        ({"api_key": 5}, "an API key is one word"),
        ({"api_key": b"ds_0"}, "an API key is one word"),
    ],
)
@pytest.mark.parametrize("kind", [AsyncClient, Client])
def test_options_that_cannot_be_are_named_when_a_client_is_made(kind, option, said):
    with pytest.raises(ValueError, match=said):
        kind("https://data.example", **{"api_key": "ds_" + 40 * "0", **option})
