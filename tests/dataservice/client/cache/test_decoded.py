"""The answers in memory: their bound, their families, and what they cost."""

import tracemalloc
from datetime import date, timedelta

import httpx
import msgspec

from dataservice.client import Answer, HistoryResource, IndicesResource, SignalResource, Source, WireResource
from dataservice.client.cache.answer import ANSWER_BYTES, MemoryCache
from tests.dataservice.client.parts.scripted import Scripted, quota


def found(value: object = None) -> Answer:
    return Answer(value, 0.0, 900.0, Source.NETWORK)


def test_the_answers_fetched_longest_ago_go_first():
    known = MemoryCache(3 * (ANSWER_BYTES + 100))
    for name in "abcd":
        known.put(SignalResource(name), found(), 100)
    assert [resource.slug for resource in known.resources()] == ["b", "c", "d"]


def test_an_answer_larger_than_the_memory_is_not_kept_nor_is_the_one_it_replaces():
    known = MemoryCache(ANSWER_BYTES + 100)
    known.put(IndicesResource(), found(), 100)
    known.put(IndicesResource(), found(), 101)
    assert known.resources() == []


def test_families_hold_their_members_and_nobody_else():
    known = MemoryCache(1_000_000)
    wide, narrow, other = WireResource(), WireResource(kind="news"), HistoryResource("x")
    for resource in (wide, narrow, other, IndicesResource()):
        known.put(resource, found(), 0)
    assert [member for member, _ in known.family(narrow)] == [wide, narrow]
    known.drop_family(narrow.family)
    assert set(known.resources()) == {other, IndicesResource()}
    assert known.family(narrow) == []


def test_who_goes_for_lack_of_room_leaves_the_family_as_well():
    known = MemoryCache(ANSWER_BYTES)
    known.put(WireResource(), found(), 0)
    known.put(HistoryResource("x"), found(), 0)
    assert known.family(WireResource()) == []


def test_expired_answers_stay_known():
    known = MemoryCache(1_000_000)
    known.put(IndicesResource(), found("value"), 0)
    known.expire(now=100.0)
    answer = known.get(IndicesResource())
    assert (answer.value, answer.fetched_at, answer.is_expired) == ("value", 0.0, True)
    known.clear()
    assert known.resources() == []


async def test_a_million_observations_take_at_most_24_megabytes():
    rows = [{"observed_at": f"{date(1990, 1, 1) + timedelta(days=n)}T00:00:00Z", "value": n} for n in range(10_000)]
    body = msgspec.json.encode({"data": rows, "pagination": {"limit": 20_000, "offset": 0, "total": 10_000}})
    service = Scripted(lambda _: httpx.Response(200, content=body, headers=quota()))
    async with service.client() as client:
        await client.read(HistoryResource("first"))
        service.requests.clear()
        tracemalloc.start()
        try:
            for n in range(100):
                await client.read(HistoryResource(f"x{n}"))
                service.requests.clear()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert all(client.peek(HistoryResource(f"x{n}")) is not None for n in range(100))
    assert held <= 24_000_000
