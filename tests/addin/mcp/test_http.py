"""The real command over HTTP on this machine: the same tools, for its own names and origins only."""

import httpx
import pytest
from mcp import Client

from tests.addin.commands import environment
from tests.addin.mcp.agents import refusal_of, result_of
from tests.addin.serving import address_in, started

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}
HEADERS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def address(real_service, tmp_path):
    """Start `addin mcp --http` on a free port and return its address."""
    with started("mcp", "--http", "--port", "0", environ=environment(tmp_path, real_service)) as process:
        yield address_in(process)


async def test_the_same_tools_answer_over_http_and_share_what_was_asked(address, real_service):
    async with Client(address) as client:
        assert len((await client.list_tools()).tools) == 7
        first = await result_of(client, "get_observations", slug="CPI", limit=3)
        assert "did you mean kind?" in await refusal_of(client, "list_wire", kin="news")
    async with Client(address.replace("localhost", "127.0.0.1")) as other:
        again = await result_of(other, "get_observations", slug="CPI", limit=3)
    assert first["rows"] == again["rows"] == [["2026-03-01", 330.213], ["2026-04-01", 333.02], ["2026-05-01", 335.123]]
    assert again["requests"] == 0


def test_only_its_own_names_and_origins_are_served(address):
    served = httpx.post(address, json=HELLO, headers=HEADERS)
    assert served.json()["result"]["serverInfo"]["name"] == "dataservice"
    own_page = httpx.post(address, json=HELLO, headers={**HEADERS, "Origin": address.removesuffix("/mcp")})
    assert own_page.status_code == 200
    rebound = httpx.post(address, json=HELLO, headers={**HEADERS, "Host": "evil.example"})
    assert rebound.status_code == 421
    elsewhere = httpx.post(address, json=HELLO, headers={**HEADERS, "Origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    form = httpx.post(address, content=b"{}", headers={**HEADERS, "Content-Type": "text/plain"})
    assert form.status_code == 400
