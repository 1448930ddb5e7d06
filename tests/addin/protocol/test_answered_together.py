"""Calls that are answered together are answered as each alone, wherever their answers come from."""

import asyncio
import time
from functools import cache

import httpx
import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from addin.protocol.batch import Batches
from addin.protocol.consent import Consent
from addin.protocol.limits import BatchLimits
from addin.protocol.response_cache import ResponseCache
from dataservice.client import AsyncClient
from tests.udfs.parts.asking import KEY
from udfs.engine.session import Session

ANY_NUMBER = Consent(10**9, lambda: None, timer=time.monotonic)
"""Any number of requests is sent without a question."""

NOW = 1_788_000_000.0
TEXTS = (
    b'["SIGNAL","a.b"]',
    b'["SIGNAL", "a.b", "value"]',
    b'["signal","a.b",null,46260]',
    b'["SIGNAL","a.b","value",46260.5]',
    b'["SIGNAL","a.b","change",46261]',
    b'["SIGNAL","a.b","value",0]',
    b'["SIGNAL","a.b",null,null,"err=text"]',
    b'["SIGNAL",[["a.b"],["a.b"]]]',
    b'["SIGNAL","no.such"]',
    b'["SIGNAL",true]',
    b'["SIGNAL"]',
    b'["SIGNAL_HISTORY","a.b","MAX"]',
    b'["NOTHING"]',
    b"[]",
    b"[1]",
    b'{"a": 1}',
)
"""Equal ones, different ones, wrong ones, and such as are no calls."""


def answer(request: httpx.Request) -> httpx.Response:
    if request.url.path != "/v1/signals/a.b":
        return httpx.Response(404, json={"error": "no"})
    history = [{"observed_at": f"2026-08-{day:02d}T00:00:00Z", "value": day * 1.5} for day in range(1, 29)]
    return httpx.Response(200, json={"data": {"slug": "a.b", "name": "A", "latest": history[-1], "history": history}})


async def answered(batches_of_calls: list[list[bytes]]) -> list[list[dict[str, object]]]:
    async with AsyncClient(
        "https://data.example", KEY, transport=httpx.MockTransport(answer), clock=lambda: NOW
    ) as client:
        session = Session(client, clock=lambda: NOW)
        batches = Batches(
            session, ResponseCache(2**20), deadline_s=60, limits=BatchLimits(), consent=ANY_NUMBER, clock=lambda: NOW
        )
        await batches.answer([b'["SIGNAL","a.b"]', b'["SIGNAL","no.such"]'])
        return [orjson.loads((await batches.answer(calls)).text) for calls in batches_of_calls]


@cache
def alone(text: bytes) -> dict[str, object]:
    return asyncio.run(answered([[text]]))[0][0]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from(TEXTS), max_size=40), min_size=1, max_size=4))
def test_each_call_of_a_batch_is_answered_as_alone(posts):
    expected = [[alone(text) for text in calls] for calls in posts]
    assert asyncio.run(answered(posts)) == expected


def test_more_calls_than_are_read_together_keep_their_order():
    calls = [TEXTS[place * place % len(TEXTS)] + b" " * (place % 700) for place in range(3_000)]
    (found,) = asyncio.run(answered([calls]))
    assert found == [alone(text.rstrip()) for text in calls]
