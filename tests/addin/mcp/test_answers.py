"""The server's answers, refusals and resources, through the SDK's client in this process."""

import asyncio

import pytest
from mcp import MCPError

from addin.mcp.texts import seen
from tests.addin.mcp.agents import client_of, refusal_of, result_of
from tests.attack.agents.world import told_in


@pytest.fixture(autouse=True)
def key(request, monkeypatch):
    """Put the Pro key of the service that the test uses into the environment."""
    name = "real_service" if "real_service" in request.fixturenames else "shared_service"
    monkeypatch.setenv("DATA_SERVICE_API_KEY", request.getfixturevalue(name).key)


@pytest.mark.parametrize(
    ("tool", "arguments", "advice"),
    [
        ("list_wire", {"kind": "gossip"}, "kind 'gossip' is not one of news, filing, press_release"),
        ("list_wire", {"kindd": "news"}, "did you mean kind?"),
        ("list_wire", {"min_importance": 200}, "min_importance 200 is not between 0 and 100"),
        ("get_signal", {}, "give slug for one signal, or slugs for several"),
        ("get_observations", {"slug": "us-cpi", "start": "yesterday"}, "start 'yesterday' is not a date; it takes"),
        ("get_observations", {"slug": "us-cpi", "transform": "yoyo"}, "yoyo"),
        ("list_wire", {"kind": ["news", "gossip"]}, "kind 'gossip' is not one of news, filing"),
        ("list_signals", {"fields": ["nam"]}, "did you mean name?"),
    ],
)
async def test_a_wrong_argument_gets_an_error_that_says_what_is_right(
    tool, arguments, advice, shared_service, tmp_path
):
    async with client_of(shared_service, tmp_path) as client:
        assert advice in await refusal_of(client, tool, **arguments)


async def test_an_unknown_signal_is_refused_with_the_nearest_name(real_service, tmp_path):
    async with client_of(real_service, tmp_path) as client:
        await result_of(client, "list_signals")
        assert await refusal_of(client, "get_signal", slug="us-cpii") == "no signal 'us-cpii'; did you mean us-cpi?"
    assert real_service.store.usage(real_service.key) == 1


async def test_an_unknown_tool_is_an_error_of_the_protocol(shared_service, tmp_path):
    async with client_of(shared_service, tmp_path) as client:
        with pytest.raises(MCPError, match="there are list_signals"):
            await client.call_tool("drop_tables", {})


async def test_the_catalogue_is_a_resource(real_service, tmp_path):
    async with client_of(real_service, tmp_path) as client:
        (listed,) = (await client.list_resources()).resources
        (content,) = (await client.read_resource(listed.uri)).contents
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource("dataservice://elsewhere")
    lines = content.text.splitlines()
    assert (lines[0], len(lines)) == ("slug,shortcode,name,category,unit,source", 21)


async def test_an_outage_gives_the_last_known_value_with_its_age_and_the_reason(real_service, tmp_path):
    async with client_of(real_service, tmp_path, ttl_s=0.001) as client:
        before = await result_of(client, "get_signal", slug="us-cpi")
        real_service.running.stop()
        after = await result_of(client, "get_signal", slug="us-cpi")
        lost = await refusal_of(client, "list_indices")
    assert after["value"] == before["value"]
    assert after["stale"]["age_s"] >= 0
    assert after["stale"]["reason"].startswith("the service did not answer")
    assert (after["fresh_for_s"], after["requests"]) == (0, 0)
    assert lost.startswith("the service did not answer")


async def test_what_calls_of_a_session_spend_is_told_whatever_became_of_them(real_service, tmp_path):
    async with client_of(real_service, tmp_path) as client:
        told = [refusal_of(client, "get_signal", slug="no.such"), result_of(client, "get_signal", slug="us-cpi")]
        failed, done = await asyncio.gather(*told)
        real_service.running.latency_s = 0.3
        for slug in ("us-10y", "wb.gold"):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.call_tool("get_signal", {"slug": slug}), 0.1)
        real_service.running.latency_s = 0
        last = await result_of(client, "get_signal", slugs=["us-10y", "wb.gold", "eia.wti.spot"])
    counted = real_service.running.request_count
    assert told_in(failed) + done["requests"] + last["requests"] == counted


async def test_a_refused_key_is_told_and_never_shown(real_service, tmp_path, monkeypatch):
    key = "ds_" + 40 * "0"
    monkeypatch.setenv("DATA_SERVICE_API_KEY", key)
    async with client_of(real_service, tmp_path) as client:
        told = [await refusal_of(client, "list_indices") for _ in range(2)]
        said = [repr(await client.list_tools()), repr(await client.list_resources()), client.instructions, *told]
    assert all(text.startswith("the key was refused") for text in told)
    assert [text for text in said if key in text] == []


@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("get_signal", "slug"),
        ("get_signal", "slugs"),
        ("get_observations", "slug"),
        ("list_signals", "search"),
        ("list_signals", "fields"),
        ("list_currents", "family"),
        ("list_posts", "slug"),
        ("list_wire", "ticker"),
        ("list_wire", "kind"),
        ("get_status", "slugs"),
        ("get_status", "calls"),
    ],
)
async def test_a_key_in_the_place_of_an_argument_is_neither_repeated_nor_sent(tool, argument, real_service, tmp_path):
    key = "ds_" + 40 * "0"
    async with client_of(real_service, tmp_path) as client:
        said = repr(await client.call_tool(tool, {argument: key}))
    assert [text for text in (said, *real_service.running.requests) if key[3:] in text] == []


@pytest.mark.parametrize("name", ["https://example.org/i/img_{}.jpg", "chart_{}.png", "https://example.org/?h=a_{}"])
def test_addresses_and_names_of_files_of_others_stay_as_they_are(name):
    text = name.format("0123456789" * 4)
    assert seen({"image_url": text}) == {"image_url": text}


@pytest.mark.parametrize("call", ["call_tool", "get_prompt", "read_resource"])
async def test_a_key_in_the_place_of_a_name_is_not_repeated(call, shared_service, tmp_path):
    key = "ds_" + 40 * "0"
    async with client_of(shared_service, tmp_path) as client:
        with pytest.raises(MCPError) as refused:
            await getattr(client, call)(key, *([] if call == "read_resource" else [{}]))
    assert key[3:] not in str(refused.value)


async def test_without_a_key_the_model_learns_that_one_must_be_set(real_service, tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    async with client_of(real_service, tmp_path) as client:
        assert (await refusal_of(client, "list_indices")).startswith("no API key")
    assert real_service.running.requests == []
