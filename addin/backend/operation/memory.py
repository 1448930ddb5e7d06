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

GROWN_BYTES = 4 * 2**20
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
    idle = unneeded_bytes(backend)
    while True:
        await sleep(EVERY_S)
        try:
            await backend.close_idle()
            if unneeded_bytes(backend) > idle + GROWN_BYTES:
                await asyncio.to_thread(give_back)
                idle = unneeded_bytes(backend)
        except Exception as error:  # noqa: BLE001 - whatever it is, the backend keeps answering
            _log.warning("memory could not be tidied: %s", type(error).__name__)


def unneeded_bytes(backend: BackendState) -> int:
    """Return what this process holds beyond what requests and pending calls need now."""
    return memory_bytes() - backend.memory.held - backend.loads_bytes
