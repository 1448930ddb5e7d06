"""Answers that break off, stop half-way or are a page: cells and agents keep the last known value, and say why."""

import re
import time

import pytest

from tests.addin.backends import backend_of
from tests.addin.half_answers import REASONS, half_answers_of, is_told
from tests.addin.mcp.agents import client_of, refusal_of, result_of

DEADLINE_S = {"half": 1.0, "stall": 1.0, "html": 20.0}
"""How long the service may take: what ends before, ends by itself, however busy the machine is."""
AGENTS_ADVICE = "try again in a minute"
SLACK_S = 10.0
"""So much longer it may take on a busy machine; what waited for the rest of a body would take for ever."""


@pytest.mark.parametrize("fault", REASONS)
@pytest.mark.parametrize("path", ["/functions/call", "/functions/call?pending=yes"])
def test_a_cell_keeps_its_last_value_and_says_why_in_one_sentence(service, tmp_path, fault, path):
    with (
        half_answers_of(service.url) as server,
        backend_of(service, tmp_path, url=server.url, deadline_s=DEADLINE_S[fault]) as backend,
    ):
        before = {}
        while "value" not in before:  # on a busy machine the first look may take longer than the deadline
            before = backend.batch(["SIGNAL", "us-cpi"])["answers"][0]
        backend.refresh("force")
        server.fault = fault
        began, answers = time.monotonic(), []
        while not answers or any("pending" in answer for answer in answers):
            calls = [["SIGNAL", "us-cpi"], ["SIGNAL", "us-10y"]]
            answers = backend.http.post(path, json={"calls": calls}).json()["answers"]
        took_s = time.monotonic() - began
    kept, new = answers
    assert kept["value"] == before["value"]
    assert is_told(fault, kept["stale"]["reason"]), kept
    assert (new["error"], is_told(fault, new["message"])) == ("#N/A", True), new
    assert took_s < DEADLINE_S[fault] + SLACK_S


@pytest.mark.parametrize("fault", REASONS)
async def test_an_agent_gets_the_last_value_and_the_reason(service, tmp_path, monkeypatch, fault):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", service.key)
    with half_answers_of(service.url) as server:
        settings = {"ttl_s": 0.001, "deadline_s": DEADLINE_S[fault]}
        async with client_of(server, tmp_path, **settings) as client:
            before = await result_of(client, "get_signal", slug="us-cpi")
            server.fault = fault
            began = time.monotonic()
            after = await result_of(client, "get_signal", slug="us-cpi")
            lost = await refusal_of(client, "list_indices")
            took_s = time.monotonic() - began
    assert after["value"] == before["value"]
    assert is_told(fault, after["stale"]["reason"], AGENTS_ADVICE), after
    told = re.fullmatch(r"(.+?)(; 1 request spent)?; [\d,]+ requests left this month", lost)  # spent, if it got so far
    assert told, lost
    assert is_told(fault, told[1], AGENTS_ADVICE), lost
    assert took_s < 2 * (DEADLINE_S[fault] + SLACK_S)
