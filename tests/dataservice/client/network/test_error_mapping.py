"""Every way a request can fail: which error, how often it is tried, and what becomes of the last known value."""

import asyncio
import os
import subprocess
import sys
from datetime import UTC, datetime

import httpx
import pytest

from dataservice.client import AsyncClient, HistoryResource, IndicesResource, SignalResource, WireResource
from dataservice.client.network.call_context import ATTEMPTS
from dataservice.client.network.connection_errors import RefusedError, UnknownHostError, UntrustedError
from dataservice.errors import (
    AuthenticationError,
    ConnectionFailedError,
    DataServiceError,
    DeadlineExceededError,
    InvalidRequestError,
    MalformedAnswerError,
    MissingKeyError,
    NotFoundError,
    QuotaExceededError,
    RejectedError,
    ServerFailedError,
    TierError,
    UnavailableError,
)
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import URL, Scripted, answer, quota, refusal, signal

SIGNAL = SignalResource("us-cpi")

REFUSALS = [
    (400, InvalidRequestError),
    (401, AuthenticationError),
    (402, TierError),
    (404, NotFoundError),
    (403, RejectedError),
    (405, InvalidRequestError),
    (410, RejectedError),
    (422, InvalidRequestError),
]
BROKEN = [
    httpx.Response(200, text="<html>maintenance</html>"),
    httpx.Response(200, text='{"data": {"slug": "us-c'),
    httpx.Response(200, json={"data": [1, 2, 3]}),
    httpx.Response(302, headers={"location": "https://elsewhere.example"}),
    httpx.Response(206, json={"error": "no"}),
]


@pytest.mark.parametrize(("status", "kind"), REFUSALS)
async def test_a_refusal_is_its_own_error_and_is_asked_once(status, kind):
    service = Scripted.saying([refusal(status)])
    async with service.client() as client:
        with pytest.raises(kind) as raised:
            await client.read(SIGNAL)
    assert (raised.value.status, raised.value.path) == (status, "/v1/signals/us-cpi")
    assert len(service.requests) == 1


async def test_the_message_of_a_refused_parameter_is_the_services_own():
    service = Scripted.saying([httpx.Response(400, json={"error": "start: not a date"})])
    async with service.client() as client:
        with pytest.raises(InvalidRequestError, match="start: not a date"):
            await client.read(SIGNAL)


async def test_a_tier_that_is_too_low_is_named():
    service = Scripted.saying([refusal(402, tier="free")])
    async with service.client() as client:
        with pytest.raises(TierError, match="the wire needs a higher tier; the key's tier is free") as raised:
            await client.read(WireResource())
    assert raised.value.tier == "free"


async def test_a_spent_month_is_told_with_its_number_and_never_tried_again():
    service = Scripted.saying([refusal(429, tier="free", remaining=0, **{"Retry-After": "1"})])
    async with service.client() as client:
        with pytest.raises(QuotaExceededError, match="the month's 1,000 requests are used up"):
            await client.read(SIGNAL)
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_failure_of_the_service_is_tried_again_until_it_passes(status):
    service = Scripted.saying([refusal(status), refusal(status), answer(signal())])
    async with service.client() as client:
        found = await client.read(SIGNAL)
    assert (found.value.latest.value, found.requests) == (1.0, 3)


async def test_a_failure_that_stays_ends_in_its_error_within_the_deadline():
    clock, service = Clock(), Scripted.saying([refusal(503)])
    began = clock.now
    async with service.client(clock) as client:
        with pytest.raises(ServerFailedError, match="HTTP 503"):
            await client.read(SIGNAL)
    assert len(service.requests) == ATTEMPTS
    assert clock.now - began < 20


async def test_a_service_that_fails_on_everything_is_soon_left_alone():
    service = Scripted.saying([refusal(503)])
    async with service.client() as client:
        reads = (client.read(SignalResource(f"s{n}")) for n in range(200))
        results = await asyncio.gather(*reads, return_exceptions=True)
    assert {type(result) for result in results} == {ServerFailedError}
    assert len(service.requests) <= 20


async def test_what_is_being_prepared_is_asked_for_again_and_holds_up_no_other():
    prepared = httpx.Response(202, json={"status": "preparing"}, headers={"retry-after": "3", **quota()})
    clock, service = Clock(), Scripted.saying([prepared, prepared, answer(signal())])
    async with service.client(clock, sleep=clock.sleep) as client:
        before = clock.now
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
        assert 6.0 <= clock.now - before < 10.0
    assert len(service.requests) == 3


@pytest.mark.parametrize(
    "said", [{"status": "pending"}, {"status": "Processing", "data": None}, {"data": {"state": "queued", "id": "j1"}}]
)
async def test_an_answer_that_only_says_it_is_being_prepared_is_waited_for_within_the_deadline(said):
    pending = httpx.Response(200, json=said, headers={"retry-after": "3", **quota()})
    clock, service = Clock(), Scripted.saying([pending, pending, answer(signal())])
    async with service.client(clock, sleep=clock.sleep) as client:
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
    assert len(service.requests) == 3
    clock, service = Clock(), Scripted.saying([pending])
    async with service.client(clock, sleep=clock.sleep) as client:
        before = clock.now
        with pytest.raises(UnavailableError, match="it still prepares the answer"):
            await client.read(SIGNAL)
        assert clock.now - before <= 20.0


async def test_a_signal_whose_own_status_is_pending_is_an_answer():
    service = Scripted.saying([answer(signal() | {"status": "pending"})])
    async with service.client() as client:
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
    assert len(service.requests) == 1


async def test_another_server_error_is_not_tried_again():
    service = Scripted.saying([refusal(507)])
    async with service.client() as client:
        with pytest.raises(ServerFailedError):
            await client.read(SIGNAL)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("error", "spent"), [(httpx.ConnectError("x"), 1), (httpx.ConnectTimeout("x"), 1), (httpx.ReadError("x"), 2)]
)
async def test_a_connection_that_fails_is_tried_again_and_counts_if_the_request_had_left(error, spent):
    service = Scripted.saying([error, answer(signal())])
    async with service.client() as client:
        assert (await client.read(SIGNAL)).requests == spent
        assert client.quota_now.used_here == client.requests_sent == spent


async def test_without_a_connection_there_is_an_error_that_says_so():
    async with Scripted.saying([httpx.ConnectError("x")]).client() as client:
        with pytest.raises(ConnectionFailedError, match="no connection"):
            await client.read(SIGNAL)


@pytest.mark.parametrize(
    ("error", "needs_repair"),
    [
        (UntrustedError("certificate has expired"), True),
        (httpx.UnsupportedProtocol("ftp"), True),
        (UnknownHostError("no such name"), True),
        (RefusedError("refused"), False),
    ],
)
async def test_what_stays_so_until_somebody_mends_it_says_so(error, needs_repair):
    async with Scripted.saying([error]).client() as client:
        with pytest.raises(ConnectionFailedError) as raised:
            await client.read(SIGNAL)
    assert raised.value.needs_repair is needs_repair


async def test_a_service_in_a_hurry_is_given_the_time_it_asks_for():
    clock = Clock()
    service = Scripted.saying([refusal(429, **{"Retry-After": "3"}), answer(signal())])
    async with service.client(clock) as client:
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
    assert clock.slept == [3.0]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("until", "told", "waits_s"),
    [
        ("Mon, 17 Aug 2026 19:33:27 GMT", None, 7.0),
        ("Monday, 17-Aug-26 19:33:27 GMT", None, 7.0),
        ("Mon Aug 17 19:33:27 2026", None, 7.0),
        ("Sun, 16 Aug 2026 00:00:05 GMT", "Sun, 16 Aug 2026 00:00:00 GMT", 5.0),  # by the service's own clock
        ("Sun, 16 Aug 2026 00:00:05 GMT", None, 0.0),  # it has passed
        ("1.5", None, 1.5),
    ],
)
async def test_a_service_may_name_the_time_until_which_to_wait(status, until, told, waits_s):
    clock = Clock(datetime(2026, 8, 17, 19, 33, 20, tzinfo=UTC).timestamp())
    headers = {"Retry-After": until} | ({"Date": told} if told else {})
    service = Scripted.saying([refusal(status, **headers), answer(signal())])
    async with service.client(clock, jitter=lambda: 0.0) as client:
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
    assert sum(clock.slept) == waits_s


@pytest.mark.parametrize(
    "text", ["", "soon", "-5", 20 * "9", "Mon, 17 Aug 2076 19:33:27 GMT", "Mon, 99 Aug 2026 99:99:99 GMT"]
)
async def test_without_a_wait_that_can_be_read_it_is_asked_again_ever_later_and_ends(text):
    clock, service = Clock(), Scripted.saying([refusal(429, **{"Retry-After": text})])
    async with service.client(clock) as client:
        with pytest.raises(UnavailableError, match="fewer requests"):
            await client.read(SIGNAL)
    assert clock.slept == [1.0, 2.0, 4.0, 8.0]
    assert client.requests_sent == 0


async def test_a_wait_beyond_the_deadline_fails_at_once_and_no_other_is_sent_meanwhile():
    clock, service = Clock(), Scripted.saying([refusal(429, **{"Retry-After": "3600"}), answer(signal("other"))])
    async with service.client(clock) as client:
        with pytest.raises(UnavailableError, match="fewer requests"):
            await client.read(SIGNAL)
        with pytest.raises(UnavailableError, match="takes no request for 3,600 s"):
            await client.read(SignalResource("other"))
        clock.advance(3_600)
        assert (await client.read(SignalResource("other"))).value.latest.value == 1.0
    assert (clock.slept, len(service.requests)) == ([], 2)


async def test_a_wait_beyond_the_deadline_is_not_begun():
    clock, service = Clock(), Scripted.saying([refusal(503, **{"Retry-After": "30"})])
    async with service.client(clock) as client:
        with pytest.raises(ServerFailedError):
            await client.read(SIGNAL)
    assert clock.slept == []


async def test_a_service_that_never_answers_ends_at_the_deadline():
    async def never(_):
        await asyncio.Event().wait()

    async with Scripted(never).client(deadline_s=0.05) as client:
        with pytest.raises(DeadlineExceededError):
            await client.read(SIGNAL)
        with pytest.raises(DeadlineExceededError):
            await client.read(HistoryResource("us-cpi"))


@pytest.mark.parametrize("response", BROKEN)
async def test_an_answer_that_is_none_is_malformed_and_costs_one_request(response):
    service = Scripted.saying([response])
    async with service.client() as client:
        for _ in range(2):
            with pytest.raises(MalformedAnswerError) as raised:
                await client.read(SIGNAL)
    assert raised.value.path == "/v1/signals/us-cpi"
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "trouble",
    [*BROKEN, *(refusal(status) for status, _ in REFUSALS), refusal(429, remaining=0), refusal(500), OSError],
    ids=lambda trouble: getattr(trouble, "status_code", "offline"),
)
async def test_the_last_known_value_stays_whatever_goes_wrong(trouble):
    clock = Clock()
    failing = httpx.ConnectError("x") if trouble is OSError else trouble
    service = Scripted.saying([answer(signal(value=7.0)), failing])
    async with service.client(clock) as client:
        await client.read(SIGNAL)
        clock.advance(1_000)
        for _ in range(2):
            found = await client.read(SIGNAL)
            assert found.value.latest.value == 7.0
            assert isinstance(found.stale_because, DataServiceError)
            assert found.fresh_for_s(clock.now) == 0
            assert found.age_s(clock.now) >= 1_000
        assert client.peek(SIGNAL) is None


async def test_the_service_is_asked_again_when_the_trouble_has_passed():
    clock = Clock()
    service = Scripted.saying([answer(signal()), *[refusal(503)] * ATTEMPTS, answer(signal(value=2.0))])
    async with service.client(clock) as client:
        await client.read(SIGNAL)
        clock.advance(1_000)
        assert (await client.read(SIGNAL)).stale_because is not None
        clock.advance(60)
        found = await client.read(SIGNAL)
    assert (found.value.latest.value, found.stale_because) == (2.0, None)


async def test_with_a_value_at_hand_there_is_little_patience():
    clock, service = Clock(), Scripted.saying([answer(signal()), httpx.ConnectError("x")])
    async with service.client(clock) as client:
        await client.read(SIGNAL)
        clock.advance(1_000)
        await client.read(SIGNAL)
    assert sum(clock.slept) < 1.0


@pytest.mark.parametrize(
    ("set_already", "sentence"),
    [
        ({}, "MissingAddressError: no address of the service is configured; give base_url or set DATA_SERVICE_URL"),
        ({"DATA_SERVICE_URL": URL}, "MissingKeyError: no API key is configured; put it into DATA_SERVICE_API_KEY"),
    ],
)
def test_a_client_without_address_or_key_says_so_in_one_sentence(set_already, sentence):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DATA_SERVICE")}
    program = "from dataservice.client import Client\nClient().signal('us-cpi')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=kept | set_already, capture_output=True, text=True, check=False
    )
    lines = done.stderr.splitlines()
    assert sentence in lines[-1]
    assert sum(line.startswith("  File") for line in lines) <= 3


async def test_without_a_key_nothing_is_sent(monkeypatch):
    monkeypatch.delenv("DATA_SERVICE_API_KEY", raising=False)
    service = Scripted.saying([answer(signal())])
    async with AsyncClient(URL, transport=httpx.MockTransport(service.handler)) as client:
        with pytest.raises(MissingKeyError):
            await client.read(SIGNAL)
        await client.refresh()
        with pytest.raises(MissingKeyError):
            await client.read(IndicesResource())
        assert await client.cost([SIGNAL]) == 0
        assert client.key_id == ""


async def test_address_and_key_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_URL", "https://other.example/v1/")
    monkeypatch.setenv("DATA_SERVICE_API_KEY", "  a_key ")
    async with AsyncClient() as client:
        assert client.base_url == "https://other.example"
        assert client.key_id


@pytest.mark.parametrize(
    "wrong", [{"base_url": "nonsense"}, {"api_key": "two words"}, {"deadline_s": 0}, {"ttl_s": -1}]
)
def test_a_client_that_cannot_work_is_refused_when_it_is_made(wrong):
    with pytest.raises(ValueError):
        AsyncClient(**{"base_url": URL, "api_key": "key", **wrong})


def test_a_client_without_an_address_says_how_to_give_one(monkeypatch):
    monkeypatch.delenv("DATA_SERVICE_URL", raising=False)
    with pytest.raises(ValueError, match="DATA_SERVICE_URL"):
        AsyncClient()


async def test_no_error_of_another_library_leaves_the_client():
    for trouble in (
        httpx.ReadTimeout("x"),
        httpx.RemoteProtocolError("x"),
        httpx.DecodingError("x"),
        httpx.PoolTimeout("x"),
    ):
        async with Scripted.saying([trouble]).client() as client:
            with pytest.raises(UnavailableError) as raised:
                await client.read(SIGNAL)
            assert raised.value.__cause__ is raised.value.__context__ is None


async def test_a_store_that_hangs_cannot_hold_a_cell_beyond_the_deadline():
    class Hanging(MemoryStore):
        async def put(self, name, entry, *, ending=""):
            await asyncio.Event().wait()

    async with Scripted.saying([answer(signal())]).client(store=Hanging(), deadline_s=0.05) as client:
        with pytest.raises(DeadlineExceededError, match=r"within 0\.05 s"):
            await client.read(SIGNAL)
