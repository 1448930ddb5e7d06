"""A call that only what was left long ago speaks against finds out by one request what is left, and tells it."""

import pytest
from sqlalchemy import update

from addin.mcp.runner import ToolRunner
from addin.mcp.tools import TOOLS
from dataservice.client import AsyncClient, SignalResource
from dataservice.server.db.database import usage
from dataservice.stores import MemoryStore

SLUGS = ["us-10y", "wb.gold", "btc-usd", "sp-500", "fx.eur-usd", "cboe.vix"]


@pytest.mark.parametrize("left_by_now", [3, 900])
async def test_what_finding_out_takes_is_told(service, left_by_now):
    key, tool = service.store.create_key("pro", cap=1_000), next(tool for tool in TOOLS if tool.name == "get_signal")

    def has_left(requests):
        with service.store.database.writing() as connection:
            of_key = usage.c.key_hash == service.store.keys.find(key).key_hash
            connection.execute(update(usage).where(of_key).values(used=1_000 - requests))

    store = MemoryStore()
    async with AsyncClient(service.url, key, store=store) as before:
        await before.read(SignalResource("us-cpi"))
        has_left(4)
        await before.read(SignalResource("eth-usd"))
    has_left(left_by_now)
    async with AsyncClient(service.url, key, store=store) as client:
        await client.look_up_quota()
        runner = ToolRunner(client, deadline_s=20.0)
        told = await runner.answer(tool, {"slugs": SLUGS})
        assert told["requests"] == service.store.usage(key) - (1_000 - left_by_now), told
        assert told["requests"] == (1 if left_by_now == 3 else len(SLUGS))
