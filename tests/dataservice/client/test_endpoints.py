"""The contract's endpoints through both clients, against the embedded service: one suite over async and sync."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import pytest

from dataservice.client import AsyncClient, Client, IndicesResource, SignalResource, Source
from dataservice.errors import NotFoundError, TierError


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
