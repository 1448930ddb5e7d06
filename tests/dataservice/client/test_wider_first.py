"""Narrow lists that are stale are answered out of the complete wide one, which is asked for again instead."""

import asyncio
from datetime import date

from dataservice.client import PostsResource, WireResource
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer

TICKERS = [f"T{number}" for number in range(30)]
SINCE = date(2026, 8, 10)
WIDE = WireResource(since=SINCE)


def item(number):
    return {
        "id": f"00000000-0000-4000-8000-{number:012}",
        "source": "feed",
        "kind": "news",
        "headline": f"Item {number}",
        "summary": "…",
        "published_at": f"2026-08-{11 + number % 5}T00:00:00Z",
        "tickers": [TICKERS[number % 30]],
        "signal_slugs": [],
        "current_slugs": [],
        "importance_score": number,
    }


class Wire:
    """A wire of so many items, which it filters by ticker."""

    def __init__(self, items):
        self.items = items

    def __call__(self, request):
        ticker = request.url.params.get("ticker")
        found = [item(number) for number in range(self.items)]
        return answer([each for each in found if ticker in (None, each["tickers"][0])][:200])


async def of_all_tickers(client):
    return await asyncio.gather(*(client.read(WireResource(since=SINCE, ticker=name)) for name in TICKERS))


async def test_thirty_stale_tickers_cost_one_request():
    service, clock = Scripted(wire := Wire(93)), Clock()
    async with service.client(clock) as client:
        await client.read(WIDE)
        await of_all_tickers(client)
        assert len(service.requests) == 1
        clock.advance(1_000)
        wire.items = 123
        answers = await of_all_tickers(client)
    assert [len(found.value) for found in answers] == [5] * 3 + [4] * 27
    assert len(service.requests) == 2 == 1 + sum(found.requests for found in answers)


async def test_where_the_wide_list_is_not_complete_any_more_each_is_asked_for_and_it_is_not_asked_again():
    service, clock = Scripted(wire := Wire(93)), Clock()
    async with service.client(clock) as client:
        await client.read(WIDE)
        wire.items = 630
        clock.advance(1_000)
        answers = await of_all_tickers(client)
        assert [len(found.value) for found in answers] == [21] * 30
        assert len(service.requests) == 1 + 1 + 30
        clock.advance(1_000)
        await of_all_tickers(client)
        assert len(service.requests) == 32 + 30


async def test_while_the_service_is_away_the_last_known_items_are_shown():
    service, clock = Scripted(Wire(93)), Clock()
    async with service.client(clock) as client:
        await client.read(WIDE)
        clock.advance(1_000)
        service.handler = lambda _: answer([], status=503)
        answers = await of_all_tickers(client)
    assert [len(found.value) for found in answers] == [4] * 3 + [3] * 27
    assert all(found.stale_because is not None for found in answers)


async def test_posts_by_kind_come_out_of_all_posts():
    post = {
        "slug": "p", "url": "https://x.example/p", "title": "P", "body_md": "", "published_at": "2026-08-12T00:00:00Z",
        "story_type": "brief", "view_count": 1, "byline": {"handle": "h", "display_name": "H"}, "citations": [],
    }  # fmt: skip
    service, clock = Scripted(lambda _: answer([post])), Clock()
    async with service.client(clock) as client:
        await client.read(PostsResource())
        clock.advance(1_000)
        for kind in ("brief", "report", "alert"):
            await client.read(PostsResource(story_type=kind))
    assert service.targets == ["/v1/codex?limit=200"] * 2
