"""The real command over stdin and stdout, on real series: what it lists, gives, spends and refuses."""

import json

from tests.addin.commands import addin, environment
from tests.addin.mcp.agents import agent, refusal_of, result_of

NAMES = [
    "list_signals",
    "get_signal",
    "get_observations",
    "list_indices",
    "list_currents",
    "list_posts",
    "list_wire",
    "get_status",
]


async def test_it_lists_eight_read_only_tools_with_what_they_take_and_give(real_service, tmp_path):
    async with agent(real_service, tmp_path) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        assert all(tool.annotations.read_only_hint and tool.output_schema and tool.description for tool in tools)
        assert all(each["description"] for tool in tools for each in tool.input_schema["properties"].values())
        assert "allowance" in client.instructions
    assert real_service.running.requests == []


async def test_every_tool_answers(real_service, tmp_path):
    async with agent(real_service, tmp_path) as client:
        signals = await result_of(client, "list_signals", search="crude oil")
        assert [signal["slug"] for signal in signals["signals"]] == ["eia.wti.spot"]
        signal = await result_of(client, "get_signal", slug="WTI", history=2)
        assert (signal["value"], signal["observed_at"]) == (86.48, "2026-08-18")
        assert signal["rows"] == [["2026-08-17", 86.04], ["2026-08-18", 86.48]]
        months = await result_of(client, "get_observations", slug="us-cpi", start="2026-01-01", end="2026-03-31")
        assert [day for day, _ in months["rows"]] == ["2026-01-01", "2026-02-01", "2026-03-01"]
        indices = await result_of(client, "list_indices", slug="pressure-gauge", fields=["value", "components"])
        assert indices["indices"][0]["value"] == 108.2472
        assert indices["indices"][0]["components"][0] == {
            "signal_slug": "eia.wti.spot",
            "weight": 0.25,
            "transform": "pct_change_12",
        }
        currents = await result_of(client, "list_currents", limit=1)
        assert (currents["currents"][0]["slug"], currents["total"]) == ("energy-repricing", 4)
        posts = await result_of(client, "list_posts", slug="what-moved-001")
        assert posts["posts"][0]["body_md"].startswith("# What moved")
        wire = await result_of(client, "list_wire", ticker=["CPI"], limit=1, fields=["headline", "payload.value"])
        assert wire["items"] == [
            {"headline": "US consumer price index: 335.123 index 1982-84=100 (+2.103)", "payload.value": 335.123}
        ]


async def test_two_equal_calls_cost_one_request(real_service, tmp_path):
    async with agent(real_service, tmp_path) as client:
        first = await result_of(client, "get_signal", slug="us-cpi")
        again = await result_of(client, "get_signal", slug="us-cpi")
    assert (first["requests"], again["requests"]) == (1, 0)
    assert 0 < again["fresh_for_s"] <= 900
    assert again["quota"]["remaining"] == first["quota"]["remaining"] == 49_999
    assert real_service.store.usage(real_service.key) == 1


async def test_a_second_process_answers_from_the_cache_that_all_ways_in_share(real_service, tmp_path):
    async with agent(real_service, tmp_path) as client:
        await result_of(client, "get_signal", slug="us-cpi")
    formula = addin("eval", '=DS.SIGNAL("us-cpi")', environ=environment(tmp_path, real_service))
    assert formula.stdout.strip() == "335.123"
    assert real_service.store.usage(real_service.key) == 1


async def test_a_free_key_learns_that_the_wire_needs_the_pro_tier(real_service, tmp_path):
    async with agent(real_service, tmp_path, api_key=real_service.free_key) as client:
        told = await refusal_of(client, "list_wire")
        assert told.startswith("list_wire needs the Pro tier (this key: free)")
        assert (await result_of(client, "get_signal", slug="us-cpi"))["quota"]["tier"] == "free"


def test_without_an_address_of_the_service_the_command_says_so_and_ends(tmp_path):
    done = addin("mcp", environ=environment(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("addin: no address of the Data Service is set")


def test_nothing_but_messages_of_the_protocol_is_written_to_stdout(shared_service, tmp_path):
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }
    done = addin("--verbose", "mcp", environ=environment(tmp_path, shared_service), given=json.dumps(hello) + "\n")
    assert done.returncode == 0
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "dataservice"
