"""Agents read what was known on a day, and are told what was revised; neither costs a request."""

from datetime import UTC, date, datetime, time

import pytest

from addin.mcp.runner import ToolFailure, ToolRunner
from addin.mcp.tools import TOOLS
from dataservice.client import AsyncClient
from dataservice.server import DailySample
from tests.embedded import SAMPLE_AS_OF

BY_NAME = {tool.name: tool for tool in TOOLS}
LATER = date(2026, 9, 20)


async def test_an_agent_reads_what_was_known_on_a_day(service):
    day = SAMPLE_AS_OF

    def now() -> float:
        return datetime.combine(day, time(12), UTC).timestamp()

    sample = DailySample(service.store, clock=lambda: datetime.fromtimestamp(now(), UTC))
    async with AsyncClient(service.url, service.key, clock=now) as client:
        agent = ToolRunner(client, deadline_s=20, clock=now)

        async def ask(name: str, **arguments: object) -> dict:
            return await agent.answer(BY_NAME[name], {"slug": "us-cpi", **arguments})

        then = await ask("get_observations", limit=3)
        assert "revised" not in await ask("get_signal")
        day = LATER
        sample.update()
        revised = (await ask("get_signal"))["revised"]
        assert revised.endswith("seen 2026-09-20, not before 2026-08-31")
        asked = service.running.request_count
        known = await ask("get_observations", limit=3, as_of="2026-09-01")
        assert (known["rows"], known["requests"]) == (then["rows"], 0)
        assert (await ask("get_observations", limit=3))["rows"][:2] != then["rows"][1:]
        by_quarter = await ask("get_observations", limit=2, freq="Q", as_of="2026-09-01")
        assert by_quarter["rows"][-1] == ["2026-09-01", then["rows"][-1][1]]
        with pytest.raises(ToolFailure, match="the first look was on 2026-08-31"):
            await ask("get_observations", as_of="2026-08-01")
        assert service.running.request_count == asked
