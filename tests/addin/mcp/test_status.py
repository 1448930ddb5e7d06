"""get_status: what is left, what is at hand and what calls would cost, at no request."""

import asyncio

import pytest

from addin.mcp.runner import ToolFailure
from tests.addin.mcp.test_tools import runner
from tests.attack.agents.world import told_in

WIDE = {"tool": "get_observations", "arguments": {"slugs": ["eia.wti.spot", "us-cpi"], "start": "MAX"}}


async def test_a_cold_cache_knows_no_quota_and_sends_nothing_to_learn_it(service):
    async with runner(service) as agent:
        found = await agent.ask("get_status", slugs=["us-cpi"])
        assert "quota" not in found
        assert found["cached"] == [{"slug": "us-cpi", "is_cached": False}]
        assert "the quota is not known yet" in found["more"]
    assert service.running.request_count == 0


async def test_quota_and_cached_signals_are_told_with_their_ages(service):
    now = 1_788_000_000.0
    async with runner(service, clock=lambda: now) as agent:
        await agent.ask("get_signal", slugs=["us-cpi", "eia.wti.spot"])
        spent = service.running.request_count
        found = await agent.ask("get_status", slugs=["us-cpi", "no-such.signal"])
        cpi, unknown = found["cached"]
        assert (cpi["slug"], cpi["is_cached"], unknown["is_cached"]) == ("us-cpi", True, False)
        assert cpi["observations"] > 0
        assert cpi["last_date"] > "2026"
        assert found["quota"]["remaining"] == 50_000 - spent
        assert found["quota"]["age_s"] >= 0
        assert (found["requests"], service.running.request_count) == (0, spent)


async def test_calls_are_priced_each_and_together_and_cost_what_was_told(service):
    async with runner(service) as agent:
        await agent.ask("list_signals")
        two = {"tool": "get_signal", "arguments": {"slugs": ["us-cpi", "eia.wti.spot"]}}
        one = {"tool": "get_signal", "arguments": {"slug": "us-cpi"}}
        before = service.running.request_count
        found = await agent.ask("get_status", calls=[two, one, WIDE, {"tool": "get_sgnal"}])
        assert service.running.request_count == before
        first, second, wide, wrong = found["calls"]
        assert (first["at_least"], second["text"]) == (2, "1 request")
        assert wide["at_least"] >= 1
        assert "did you mean get_signal?" in wrong["error"]
        assert found["cost"]["at_least"] >= 2
        for call in (two, one):
            await agent.ask(call["tool"], **call["arguments"])
        assert service.running.request_count - before == 2
        again = await agent.ask("get_status", calls=[two, one])
        assert (again["cost"]["at_most"], again["calls"][0]["text"]) == (0, "0 requests")


@pytest.mark.parametrize(
    ("calls", "advice"),
    [
        (["get_signal"], 'calls takes calls such as {"tool": "get_signal"'),
        ([{"tool": 5}], "calls takes calls such as"),
        ([{"tool": "get_signal"}] * 51, "calls takes at most 50 calls, not 51"),
    ],
)
async def test_calls_in_another_form_are_refused_with_the_form(calls, advice, shared_service):
    async with runner(shared_service) as agent:
        with pytest.raises(ToolFailure, match=advice.replace("{", r"\{")):
            await agent.ask_unchecked("get_status", calls=calls)


async def test_what_is_wrong_with_one_call_is_told_in_its_place(shared_service):
    async with runner(shared_service) as agent:
        wrong = {"tool": "get_observations", "arguments": {"slug": "us-cpi", "start": "yesterday"}}
        found = await agent.ask("get_status", calls=[wrong])
        assert "start 'yesterday' is not a date" in found["calls"][0]["error"]


async def test_every_tool_that_reads_can_be_kept_to_the_cache(service):
    async with runner(service) as agent:
        for tool in ("list_signals", "list_indices", "list_currents", "list_posts", "list_wire"):
            with pytest.raises(ToolFailure, match="raise max_requests"):
                await agent.ask(tool, max_requests=0)
        assert service.running.request_count == 0
        await agent.ask("list_indices", max_requests=1)
        assert (await agent.ask("list_indices", max_requests=0))["requests"] == 0
        with pytest.raises(ToolFailure, match="max_requests takes a number, not 'few'"):
            await agent.ask_unchecked("list_wire", max_requests="few")


CALLS = [
    ("get_observations", {"slug": "eia.wti.spot", "start": "MAX"}),
    ("get_observations", {"slugs": ["WTI", "us-cpi", "cboe.vix"], "start": "-20Y", "statistics": True}),
    ("get_signal", {"slugs": ["us-cpi", "us-10y", "no-such.signal"]}),
    ("list_posts", {"handle": "nobody", "story_type": ["brief", "report"]}),
    ("list_wire", {"kind": ["news", "breaking"], "ticker": ["x", "y"]}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
@pytest.mark.parametrize("most", [0, 1, 2, 5])
async def test_no_call_spends_more_than_its_caller_allows(tool, arguments, most, shared_service):
    async with runner(shared_service) as agent:
        before, refusal = shared_service.running.request_count, "raise max_requests"
        try:
            told = (await agent.ask(tool, **arguments, max_requests=most))["requests"]
        except ToolFailure as failure:
            told, refusal = told_in(str(failure)), str(failure)
        assert "raise max_requests" in refusal
        assert told == shared_service.running.request_count - before <= most


async def test_the_bound_of_one_call_keeps_no_answer_from_another(service):
    async with runner(service) as agent:
        service.running.latency_s = 0.05
        wide = {"slug": "eia.wti.spot", "start": "MAX", "limit": 1}
        calls = [agent.ask("get_observations", **wide, max_requests=most) for most in (1, 2, 100)]
        first, second, third = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(first, ToolFailure)
        assert isinstance(second, (ToolFailure, dict))
        assert third["total"] > 1_000
