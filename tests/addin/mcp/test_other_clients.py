"""Other makers' clients: the TypeScript SDK, which checks every answer against its schema, and fastmcp."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.addin.commands import command, environment
from tests.addin.serving import address_in, started

CALLS = [
    {"name": "get_signal", "arguments": {"slugs": ["us-cpi", "WTI", "no-such.signal"]}},
    {"name": "get_signal", "arguments": {"slug": "us-cpi", "history": 2}},
    {
        "name": "get_observations",
        "arguments": {"slugs": ["us-cpi", "WTI"], "start": "-2Y", "statistics": True, "limit": 3},
    },
    {"name": "get_observations", "arguments": {"slug": "us-cpi", "start": "2030-01-01"}},
    {"name": "list_signals", "arguments": {"search": "oil", "fields": ["*"]}},
    {"name": "list_signals", "arguments": {"search": "zzzz"}},
    {"name": "list_indices", "arguments": {"fields": ["*"]}},
    {"name": "list_currents", "arguments": {"fields": ["*"]}},
    {"name": "list_posts", "arguments": {"slug": "what-moved-060"}},
    {"name": "list_posts", "arguments": {"fields": ["*"], "limit": 60}},
    {"name": "list_wire", "arguments": {"fields": ["*"], "limit": 200, "kind": ["breaking", "news"]}},
    {"name": "get_status", "arguments": {"slugs": ["us-cpi"], "calls": [{"tool": "list_currents"}]}},
    {"name": "list_wire", "arguments": {"kind": ["gossip"]}},
]


@pytest.fixture
def ways(real_service, tmp_path):
    """Start the command over HTTP, and return both ways to reach it, as the clients of the tests take them."""
    environ = environment(tmp_path, real_service)
    with started("mcp", "--http", "--port", "0", environ=environ) as process:
        address = address_in(process)
        (file,) = tmp_path.rglob("mcp.token")
        over_http = {"url": address, "token": file.read_text()}
        yield [{"command": command(["mcp"]), "env": environ}, over_http]


def test_the_typescript_sdk_lists_calls_and_checks_every_answer(ways, project):
    node = project / "tests" / "node"
    if shutil.which("node") is None or not (node / "node_modules/@modelcontextprotocol/sdk").is_dir():
        pytest.skip("the TypeScript SDK is not here: make node-tools")
    for way in ways:
        line = ["node", "mcp_agent.mjs", json.dumps({**way, "calls": CALLS})]
        done = subprocess.run(line, cwd=node, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        assert (len(seen["tools"]), len(seen["prompts"])) == (8, 4)
        assert [call.get("isError", False) for call in seen["calls"]] == [False] * (len(CALLS) - 1) + [True]
        assert all("requests" in call["structuredContent"] for call in seen["calls"][:-1])
        assert seen["catalogue"].startswith("slug,shortcode,name")
        assert "us-cpi" in seen["prompt"]["messages"][0]["content"]["text"]


FASTMCP = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

async def main(given):
    if "url" in given:
        transport = StreamableHttpTransport(given["url"], headers={"Authorization": "Bearer " + given["token"]})
    else:
        transport = StdioTransport(given["command"][0], given["command"][1:], env=given["env"])
    async with Client(transport) as client:
        called = [await client.call_tool(**call, raise_on_error=False) for call in given["calls"]]
        prompt = await client.get_prompt("compare_signals", {"signals": "us-cpi, WTI"})
        print(json.dumps({
            "tools": len(await client.list_tools()),
            "errors": [each.is_error for each in called],
            "parsed": [each.data is not None for each in called],
            "prompt": prompt.messages[0].content.text,
        }))

asyncio.run(main({**json.loads(sys.argv[1]), "calls": [
    {"name": call["name"], "arguments": call["arguments"]} for call in json.loads(sys.argv[1])["calls"]
]}))
"""


def test_fastmcp_calls_the_tools_and_parses_their_answers(ways):
    pytest.importorskip("fastmcp", reason="fastmcp is not here: pip install fastmcp; seen with 4.1.2")
    for way in ways:
        line = [sys.executable, "-c", FASTMCP, json.dumps({**way, "calls": CALLS})]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        assert seen["tools"] == 8
        assert seen["errors"] == [False] * (len(CALLS) - 1) + [True]
        assert all(seen["parsed"][:-1])
        assert "us-cpi, WTI" in seen["prompt"]
