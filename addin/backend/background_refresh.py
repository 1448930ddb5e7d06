"""The background refresh, off by default: what hosts asked for lately is read again as it goes stale."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

from addin.backend.quota_check import allowance_text
from addin.backend.state import Backend
from addin.backend.tenants import Tenant
from addin.config.settings import Settings
from addin.protocol.batch import read_call
from udfs.engine.session import Call

EVERY_S = 60.0
"""Between two looks for what has gone stale: a minute beside the quarter of an hour that an answer is fresh."""

_logger = logging.getLogger("addin.upkeep")


@asynccontextmanager
async def upkeep(backend: Backend, *, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep) -> AsyncIterator[None]:
    """Inside the block the backend's own account is kept fresh, where the settings want it."""
    if not backend.settings.background_refresh:
        yield
        return
    task = asyncio.create_task(_keep_on(backend, sleep))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _keep_on(backend: Backend, sleep: Callable[[float], Awaitable[Any]]) -> None:
    while True:
        await sleep(EVERY_S)
        try:
            async with backend.accounts.lent() as account:
                calls = backend.asked.lately(time.time())
                backend.requests_total += await renew_stale(account, calls, backend.settings)
        except Exception as error:  # noqa: BLE001 - whatever it is, hosts are answered without it
            _logger.warning("the background refresh failed: %s", type(error).__name__)


async def renew_stale(account: Tenant, texts: Iterable[bytes], settings: Settings) -> int:
    """Read again what `texts` show and is no longer fresh; how many requests that took.

    Nothing is read with a Free key, nothing that was never known, and nothing at all where the allowance, the reserve
    or the budget does not suffice for all of it.
    """
    client = account.client
    quota = client.quota_now
    if quota is None or quota.tier.casefold() == "free":
        return 0
    calls = [call for call in map(read_call, texts) if isinstance(call, Call)]
    asked = (await account.session.cost(calls)).resources
    stale = [each for each in asked if await client.have(each, max_age_s=math.inf) is not None]
    cost = await client.cost(stale)
    if allowance_text(cost, quota, reserve=settings.reserve, monthly_budget=settings.monthly_budget) is not None:
        return 0
    answers = await asyncio.gather(*(client.read(each) for each in stale))
    return sum(answer.requests for answer in answers)
