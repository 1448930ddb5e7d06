"""A proxy, a network's sign-in page or a wrong address answers in the service's place: said so, and not asked again."""

import asyncio

import httpx
import pytest

from dataservice.client import AsyncClient, CatalogueResource, SignalResource
from dataservice.errors import InterceptedError, MalformedAnswerError, NotFoundError, QuotaExceededError, RejectedError
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL, Scripted, answer, quota, refusal, signal

PAGE = "<!DOCTYPE html><title>Sign in</title>"
ADVICE = "sign in to the network or its proxy, or correct the service's address"
SIGNAL = SignalResource("us-cpi")


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (httpx.Response(200, html=PAGE), "a web page came instead of data"),
        (httpx.Response(200, text=f"\ufeff\n<!-- portal -->\n{PAGE}"), "a web page came instead of data"),
        (httpx.Response(200, html="Please sign in"), "a web page came instead of data"),
        *[
            (httpx.Response(status, html=PAGE), f"a web page came instead of data, HTTP {status}")
            for status in (400, 401, 402, 403)
        ],
        (
            httpx.Response(302, headers={"location": "https://me:pw@login.example/?t=s"}),
            "it redirects to login.example",
        ),
        (httpx.Response(301, headers={"location": "/v1/"}), "it redirects to /v1/, HTTP 301"),
        (httpx.Response(407, html=PAGE), "a proxy asks for a name and a password, HTTP 407"),
        (httpx.Response(511, html=PAGE), "the network asks to sign in, HTTP 511"),
    ],
)
async def test_what_came_in_the_services_place_is_named_with_what_to_do(response, said):
    service = Scripted.saying([response])
    async with service.client() as client:
        with pytest.raises(InterceptedError) as raised:
            await client.read(SIGNAL)
    assert str(raised.value).startswith(said)
    assert str(raised.value).endswith(f"; {ADVICE}")
    assert "pw" not in str(raised.value)


async def test_where_the_service_itself_moved_a_signal_to_is_told():
    moved = httpx.Response(308, json={}, headers={"location": "/v1/signals/US-CPI?key=secret", **quota()})
    async with Scripted.saying([moved]).client() as client:
        with pytest.raises(MalformedAnswerError, match=r"it redirects to /v1/signals/US-CPI, HTTP 308$"):
            await client.read(SIGNAL)


async def test_a_web_page_in_the_place_of_one_signal_stops_no_other():
    def say(request):
        is_odd = b"%2F" in request.url.raw_path
        return httpx.Response(404, html=PAGE) if is_odd else answer(signal())

    service = Scripted(say)
    async with service.client() as client:
        with pytest.raises(MalformedAnswerError, match="no signal 'eur/usd': a web page came, HTTP 404"):
            await client.read(SignalResource("eur/usd"))
        assert (await client.read(SIGNAL)).stale_because is None
        with pytest.raises(NotFoundError, match="no signal 'usd/eur'"):
            await client.read(SignalResource("usd/eur"))


async def test_two_hundred_signals_behind_a_sign_in_page_cost_few_requests():
    service = Scripted.saying([httpx.Response(200, html=PAGE)])
    async with service.client() as client:
        reads = (client.read(SignalResource(f"s{n}")) for n in range(200))
        results = await asyncio.gather(*reads, return_exceptions=True)
    assert {type(result) for result in results} == {InterceptedError}
    assert len(service.requests) <= 16


async def test_an_answer_of_nothing_but_comments_holds_nobody_up():
    service = Scripted.saying([httpx.Response(200, content=b"<!-- -->" * 100_000)])
    async with service.client() as client:
        with pytest.raises(MalformedAnswerError):
            await client.read(SIGNAL)


async def test_a_sign_in_page_replaces_no_known_value_and_blocks_no_key():
    clock, service = Clock(), Scripted.saying([answer(signal()), httpx.Response(401, html=PAGE), answer(signal())])
    async with service.client(clock) as client:
        await client.read(SIGNAL)
        clock.now += 1000
        kept = await client.read(SIGNAL)
        clock.now += 100
        again = await client.read(SIGNAL)
    assert (kept.value.latest.value, "web page" in str(kept.stale_because)) == (1.0, True)
    assert (again.stale_because, len(service.requests)) == (None, 3)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (httpx.Response(404, html=PAGE, headers=quota()), NotFoundError),
        (httpx.Response(404), NotFoundError),
        (httpx.Response(200, text="[<html>", headers=quota()), MalformedAnswerError),
    ],
)
async def test_an_answer_of_the_service_itself_keeps_its_meaning(response, error):
    async with Scripted.saying([response]).client() as client:
        with pytest.raises(error) as raised:
            await client.read(SIGNAL)
    assert type(raised.value) is error


async def test_the_services_own_words_are_passed_on_with_a_status_that_nobody_expects():
    async with Scripted.saying([httpx.Response(403, json={"error": f"{KEY} is suspended"})]).client() as client:
        with pytest.raises(RejectedError, match=r"^HTTP 403: … is suspended"):
            await client.read(SIGNAL)


async def test_a_month_is_over_also_where_only_the_requests_left_are_told():
    response = httpx.Response(429, headers={"X-Service-RateLimit-Remaining": "0"})
    service = Scripted.saying([response])
    async with service.client() as client:
        with pytest.raises(QuotaExceededError, match="the month's requests are used up"):
            await client.read(SIGNAL)


@pytest.mark.parametrize("told", ["9" * 5000, "²", "-1", "1e3", ""])
async def test_a_header_that_is_no_number_costs_no_answer(told):
    headers = quota() | {"X-Service-RateLimit-Cap": told}
    body = answer(signal()).content

    def say(_: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, content=b"\xef\xbb\xbf" + body, headers=[(k, v.encode()) for k, v in headers.items()]
        )

    store = MemoryStore()
    async with AsyncClient(URL, KEY, store=store, transport=httpx.MockTransport(say)) as client:
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
        assert client.quota_now is None


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/V1", "/v1/signals", "/v1/signals/us-cpi"])
async def test_the_address_of_an_endpoint_leads_to_the_service(service, path):
    async with AsyncClient(service.url + path, service.key) as client:
        assert (await client.signal("us-cpi")).signal.slug == "us-cpi"


@pytest.mark.parametrize("resource", [SignalResource("us-cpi"), CatalogueResource()])
async def test_at_a_wrong_path_the_address_is_doubted_and_not_the_name(service, resource):
    async with AsyncClient(f"{service.url}/api", service.key) as client:
        with pytest.raises(
            MalformedAnswerError, match=r"at http://[\d.:]+/api, nor anything else so far; check the se"
        ):
            await client.read(resource)


async def test_a_name_is_doubted_where_another_was_found_behind_the_same_path():
    def behind_a_path(request):
        return answer(signal("known")) if request.url.path.startswith("/team/v1/signals/known") else refusal(404)

    transport = httpx.MockTransport(behind_a_path)
    async with AsyncClient("https://data.example/team", KEY, transport=transport) as client:
        await client.signal("known")
        with pytest.raises(NotFoundError, match="no signal 'unknown'"):
            await client.signal("unknown")
