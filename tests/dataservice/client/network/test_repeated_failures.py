"""Answers that end alike, one resource after another: each costs a request, so the rest is not asked."""

import asyncio

import httpx
import pytest

from dataservice.client import HistoryResource, SignalResource
from dataservice.client.contract.requests import Endpoint
from dataservice.client.network.breaker import (
    PATIENCE,
    PATIENCE_WHERE_ANSWERED,
    TRY_AGAIN_S,
    RepeatedFailureGuard,
)
from dataservice.errors import DataServiceError, MalformedAnswerError, RejectedError, TierError, UnavailableError
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, quota, refusal, signal

UNDER_WAY = 32  # asked for before the first answers are read
SIGNALS = [f"s{number}" for number in range(100)]


def asked_for(request):
    return request.url.path.split("/")[3]


async def read_each(client, slugs=SIGNALS, kind=SignalResource):
    return await asyncio.gather(*(client.read(kind(slug)) for slug in slugs), return_exceptions=True)


def not_json(_):
    return httpx.Response(200, content=b"<data/>", headers=quota())


@pytest.mark.parametrize("kind", [SignalResource, HistoryResource])
@pytest.mark.parametrize("said", [lambda _: refusal(403), lambda _: refusal(402), lambda _: refusal(501), not_json])
async def test_a_service_that_answers_all_signals_alike_is_asked_for_a_few(kind, said):
    service = Scripted(said)
    async with service.client(max_connections=UNDER_WAY // 2) as client:
        found = await read_each(client, kind=kind)
        assert len(service.requests) <= PATIENCE + UNDER_WAY
        assert all(isinstance(one, DataServiceError) for one in found)
        assert "others in a row failed" in str(found[-1])
        for _ in range(2):
            await read_each(client, kind=kind)
    assert len(service.requests) <= PATIENCE + UNDER_WAY + 10


@pytest.mark.parametrize("status", [402, 403])
async def test_signals_that_the_key_may_read_come_in_the_end_behind_many_that_it_may_not(status):
    refused = set(SIGNALS[:45])
    service = Scripted(
        lambda asked: refusal(status) if asked_for(asked) in refused else answer(signal(asked_for(asked)))
    )
    async with service.client() as client:
        for _ in range(5):
            found = await read_each(client)
    assert [isinstance(one, DataServiceError) for one in found] == [slug in refused for slug in SIGNALS]
    assert len(service.requests) == len(SIGNALS)


async def test_a_signal_that_needs_another_tier_closes_no_other():
    service = Scripted(
        lambda asked: refusal(402) if asked_for(asked) == "premium" else answer(signal(asked_for(asked)))
    )
    async with service.client() as client:
        for _ in range(2):
            found = await read_each(client, ["premium", "open"])
            assert isinstance(found[0], TierError)
            assert not isinstance(found[1], DataServiceError)
    assert len(service.requests) == 2


async def test_a_refusal_is_told_as_one_and_not_asked_again_soon():
    service, clock = Scripted(lambda _: refusal(403)), Clock()
    async with service.client(clock) as client:
        for _ in range(3):
            with pytest.raises(RejectedError, match="HTTP 403: no"):
                await client.read(SignalResource("a"))
            clock.advance(60)
    assert len(service.requests) == 1


async def test_after_a_refresh_a_service_that_is_well_again_answers_everything():
    service = Scripted(not_json)
    async with service.client() as client:
        await read_each(client)
        service.handler = lambda asked: answer(signal(asked_for(asked)))
        await client.refresh()
        assert not any(isinstance(one, Exception) for one in await read_each(client))


async def test_an_answer_that_breaks_off_each_time_is_asked_for_twice():
    async def broken():
        yield b'{"data":'
        raise httpx.ReadError("broke")

    service = Scripted(lambda _: httpx.Response(200, content=broken(), headers=quota()))
    async with service.client() as client:
        with pytest.raises(UnavailableError):
            await client.read(SignalResource("a"))
        assert client.requests_sent == len(service.requests) == 2


def ended(*slugs, alike=None):
    alike = alike or RepeatedFailureGuard()
    for slug in slugs:
        alike.note(MalformedAnswerError("not JSON"), SignalResource(slug), Endpoint.SIGNAL, 0.0)
    return alike


def sent(alike, now=1.0, tries=100):
    return sum(alike.turn_away(Endpoint.SIGNAL, now) is None for _ in range(tries))


def test_the_same_resource_again_and_again_stands_for_itself_alone():
    assert sent(ended(*["a"] * 50)) == 100


def test_other_endpoints_go_on():
    assert ended(*SIGNALS).turn_away(Endpoint.INDICES, 1.0) is None


def test_a_few_are_tried_in_between_and_one_after_a_while():
    alike = ended(*SIGNALS[:PATIENCE])
    assert sent(alike) == 7  # the 1st, 2nd, 4th … 64th
    assert sent(alike, TRY_AGAIN_S, tries=10) == 1


def test_where_something_was_answered_more_may_fail():
    alike = RepeatedFailureGuard()
    alike.answered(Endpoint.SIGNAL)
    assert sent(ended(*SIGNALS[: PATIENCE_WHERE_ANSWERED - 1], alike=alike)) == 100
    assert sent(ended(*SIGNALS[:PATIENCE_WHERE_ANSWERED], alike=alike)) == 7
    alike.answered(Endpoint.SIGNAL)
    assert sent(alike) == 100
