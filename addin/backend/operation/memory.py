"""Memory that is not needed any more goes back to the system: idle users are closed, and the allocator is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from addin.backend.operation.allocator import give_back
from addin.backend.operation.metrics import memory_bytes
from addin.backend.state import BackendState

EVERY_S = 10.0
"""How often it is looked at: what an attack took is back within a minute."""

GROWN_BYTES = 16 * 2**20
"""Memory is given back once there is so much more of it: looking for it takes some thousandths of a second."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def tidying(
    backend: BackendState, *, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
) -> AsyncIterator[None]:
    """Inside the block, close idle users and give memory back every few seconds."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tidy, backend, sleep)
        yield
        tasks.cancel_scope.cancel()


async def _tidy(backend: BackendState, sleep: Callable[[float], Awaitable[Any]]) -> None:
    least = memory_bytes()
    while True:
        await sleep(EVERY_S)
        try:
            await backend.close_idle()
            if memory_bytes() - backend.memory.held > least + GROWN_BYTES:  # beyond what is needed now
                await asyncio.to_thread(give_back)
                least = memory_bytes()
        except Exception as error:  # noqa: BLE001 - whatever it is, the backend keeps answering
            _log.warning("memory could not be tidied: %s", type(error).__name__)
