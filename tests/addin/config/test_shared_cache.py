"""Processes that share a cache through Redis: what they spend together."""

import asyncio

from addin.config.connect import open_client, open_store
from addin.config.settings import Settings

NOBODY_LISTENS = "redis://127.0.0.1:1/0"


async def test_processes_that_have_never_reached_their_redis_pay_each_signal_once(service, tmp_path):
    settings = Settings(url=service.url, redis_url=NOBODY_LISTENS, cache_dir=tmp_path)
    slugs = ["us-cpi", "us-10y", "sp-500", "cboe.vix", "btc-usd"]

    async def process():
        store = open_store(settings)
        async with open_client(settings, service.key, store) as client:
            found = [(await client.signal(slug)).signal.slug for slug in slugs]
        await store.aclose()
        return found

    assert await asyncio.gather(*(process() for _ in range(4))) == [slugs] * 4
    assert service.store.usage(service.key) == len(slugs)
