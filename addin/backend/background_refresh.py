"""The background refresh, off by default: what hosts asked for recently is requested again as it goes stale."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from addin.backend.state import BackendState, quota_shortfall
from addin.backend.tenants import Tenant
from addin.config.settings import Settings
from addin.protocol.batch import valid_calls
from dataservice.client import Cost, Meter

EVERY_S = 60.0
"""The pause between two rounds: a minute is short beside the quarter of an hour that an answer is fresh."""

_logger = logging.getLogger(__name__)


@asynccontextmanager
async def background_refresh(
    backend: BackendState, *, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
) -> AsyncIterator[None]:
    """Inside the block, keep what was asked for with the backend's own key fresh, if the settings say so."""
    if not backend.settings.background_refresh:
        yield
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_refresh_forever, backend, sleep)
        yield
        tasks.cancel_scope.cancel()


async def _refresh_forever(backend: BackendState, sleep: Callable[[float], Awaitable[Any]]) -> None:
    while True:
        await sleep(EVERY_S)
        try:
            async with backend.tenant() as tenant:
                calls = backend.recent_calls.at(time.time())
                backend.requests_total += await refresh_stale(tenant, calls, backend.settings)
        except Exception as error:  # noqa: BLE001 - whatever it is, the backend keeps answering without it
            _logger.warning("the background refresh failed: %s", type(error).__name__)


async def refresh_stale(tenant: Tenant, texts: Iterable[bytes], settings: Settings) -> int:
    """Request what the calls in `texts` show and is no longer fresh; how many requests that took.

    It requests nothing with a Free key, nothing that was never known, and nothing at all unless the quota, the reserve
    and the budget suffice for all of it.
    """
    client = tenant.client
    quota = client.quota_now
    if quota is None or quota.is_free:
        return 0
    resources = (await tenant.session.cost(await valid_calls(list(texts), settings.batch_limits))).resources
    stale = [each for each in resources if await client.have(each, max_age_s=math.inf) is not None]
    needed = await client.cost(stale)
    if quota_shortfall(Cost(needed, needed), quota, settings) is not None:
        return 0
    meter = Meter()
    await asyncio.gather(*(client.read(each, meter=meter) for each in stale), return_exceptions=True)
    return meter.requests
