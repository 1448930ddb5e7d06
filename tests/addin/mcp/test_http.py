"""The real command over HTTP on this machine: the same tools, for callers who prove who they are, and no others."""

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import anyio.lowlevel
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from addin.mcp.over_http import CALLS_AT_LEAST
from tests.addin.commands import environment
from tests.addin.mcp.agents import refusal_of, result_of
from tests.addin.serving import address_in, started
from tests.attack.parts.firm import until

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}
HEADERS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def home(real_service, tmp_path):
    """Return the environment of the command: its folders and its key."""
    return environment(tmp_path, real_service)


@pytest.fixture
def address(home):
    """Start `addin mcp --http` on a free port and return its address."""
    with started("mcp", "--http", "--port", "0", environ=home) as process:
        yield address_in(process)


@pytest.fixture
def token(address, tmp_path):
    """Return the token that only this account can read."""
    (file,) = tmp_path.rglob("mcp.token")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return file.read_text()


def proof(token):
    return {**HEADERS, "Authorization": f"Bearer {token}"}


@asynccontextmanager
async def client_at(address, secret):
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def test_the_same_tools_answer_over_http_and_share_what_was_asked(address, token):
    async with client_at(address, token) as client:
        assert len((await client.list_tools()).tools) == 8
        first = await result_of(client, "get_observations", slug="CPI", limit=3)
        assert "did you mean kind?" in await refusal_of(client, "list_wire", kin="news")
    async with client_at(address.replace("localhost", "127.0.0.1"), token) as other:
        again = await result_of(other, "get_observations", slug="CPI", limit=3)
        assert (await other.list_prompts()).prompts
    assert first["rows"] == again["rows"] == [["2026-03-01", 330.213], ["2026-04-01", 333.02], ["2026-05-01", 335.123]]
    assert again["requests"] == 0


def test_only_its_own_names_and_origins_are_served(address, token):
    headers = proof(token)
    served = httpx.post(address, json=HELLO, headers=headers)
    assert served.json()["result"]["serverInfo"]["name"] == "dataservice"
    own_page = httpx.post(address, json=HELLO, headers={**headers, "Origin": address.removesuffix("/mcp")})
    assert own_page.status_code == 200
    rebound = httpx.post(address, json=HELLO, headers={**headers, "Host": "evil.example"})
    assert rebound.status_code == 421
    elsewhere = httpx.post(address, json=HELLO, headers={**headers, "Origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    form = httpx.post(address, content=b"{}", headers={**headers, "Content-Type": "text/plain"})
    assert form.status_code == 415
    assert httpx.get(address, headers=headers).status_code == 405


CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "get_signal", "arguments": {"slug": "CPI"}},
}


def test_no_session_is_kept_that_nobody_ends(address, token):
    with httpx.Client(headers=proof(token)) as http:
        begun = http.post(address, json=HELLO)
        assert "mcp-session-id" not in begun.headers
        assert http.get(address).status_code == http.delete(address).status_code == 405
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert len(http.post(address, json=listing).json()["result"]["tools"]) == 8, "which needs none"


@pytest.mark.parametrize(
    "sent", ["", "Bearer", "Bearer x", "Basic dXNlcjpwYXNz", "Bearer ds_" + 40 * "0", "Bearer \xe9"]
)
def test_who_cannot_read_the_token_spends_nothing(address, real_service, sent):
    for message in (HELLO, CALL):
        refused = httpx.post(address, json=message, headers={**HEADERS, "Authorization": sent.encode("latin-1")})
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "Authorization: Bearer" in refused.json()["error"]
    assert real_service.running.requests == []


async def test_what_a_call_spent_whose_caller_left_before_the_answer_is_told_with_the_next(
    address, token, real_service
):
    service = real_service.running
    service.latency_s = 0.3
    for slug in ("us-cpi", "no.such"):
        call = {**CALL, "params": {"name": "get_signal", "arguments": {"slug": slug}}}
        async with httpx.AsyncClient(headers=proof(token)) as http:
            asked = service.request_count
            leaving = asyncio.create_task(http.post(address, json=call))
            while service.request_count == asked:
                await anyio.lowlevel.checkpoint()
            leaving.cancel()
    service.latency_s = 0.0
    told = 0
    async with asyncio.timeout(30), client_at(address, token) as client:
        while told < service.request_count:  # the calls that were left go on meanwhile
            told += (await result_of(client, "get_signal", slug="us-cpi"))["requests"]
    assert told == service.request_count >= 2


async def test_where_each_user_has_a_key_callers_share_neither_quota_nor_answers(real_service, tmp_path):
    environ = environment(tmp_path, real_service, per_user_keys="true")
    with started("mcp", "--http", "--port", "0", environ=environ) as process:
        address = address_in(process)
        async with client_at(address, real_service.key) as one:
            pro = await result_of(one, "get_signal", slug="us-cpi")
        async with client_at(address, real_service.free_key) as two:
            free = await result_of(two, "get_signal", slug="us-cpi")
            assert "needs the Pro tier" in await refusal_of(two, "list_wire")
        async with client_at(address, "ds_" + 40 * "0") as nobody:
            assert (await refusal_of(nobody, "get_signal", slug="us-cpi")).startswith("the key was refused")
        async with httpx2.AsyncClient() as http:
            assert (await http.post(address, json=HELLO, headers=proof("guess"))).status_code == 401
    assert (pro["quota"]["tier"], free["quota"]["tier"]) == ("pro", "free")
    assert (pro["requests"], free["requests"]) == (1, 1)


def test_who_has_a_key_is_answered_while_calls_with_unknown_keys_fill_the_room_of_these(service, tmp_path):
    call = {**CALL, "params": {"name": "get_signal", "arguments": {"slug": "us-cpi"}}}
    environ = environment(tmp_path, service, per_user_keys="true", requests_bytes=str(2**20))
    with started("mcp", "--http", "--port", "0", environ=environ) as process, ThreadPoolExecutor(8) as threads:
        address = address_in(process)
        told = httpx.post(address, json=call, headers=proof(service.key)).json()
        assert not told["result"].get("isError")
        long, before = {**call, "padding": "x" * 30_000}, len(service.running.requests)
        service.running.latency_s = 4.0

        def post(number):
            return httpx.post(address, json=long, headers=proof(f"ds_{number:040}"), timeout=60)

        strangers = [threads.submit(post, number) for number in range(8)]
        until(lambda: len(service.running.requests) > before, "the first of them asks the service")
        again = httpx.post(address, json=long, headers=proof(service.key), timeout=60)
        assert (again.status_code, any(each.done() for each in strangers)) == (200, False)


def test_few_calls_with_unknown_keys_are_begun_at_a_time(service, tmp_path):
    call = {**CALL, "params": {"name": "get_signal", "arguments": {"slug": "us-cpi"}}}
    environ = environment(tmp_path, service, per_user_keys="true", requests_bytes=str(64 * 2**20))
    with started("mcp", "--http", "--port", "0", environ=environ) as process, ThreadPoolExecutor(24) as threads:
        address, before = address_in(process), len(service.running.requests)
        service.running.latency_s = 1.0

        def post(number):
            return httpx.post(address, json=call, headers=proof(f"ds_{number:040}"), timeout=60).status_code

        strangers = [threads.submit(post, number) for number in range(24)]
        until(lambda: any(each.done() for each in strangers), "the first of them is answered")
        assert len(service.running.requests) - before < 2 * CALLS_AT_LEAST
        assert {each.result() for each in strangers} == {200}


def test_a_call_that_is_too_large_is_refused_before_it_is_read(address, token):
    large = {**CALL, "params": {"name": "get_signal", "arguments": {"slug": "x" * 3_000_000}}}
    assert httpx.post(address, json=large, headers=proof(token)).status_code in (413, 503)
