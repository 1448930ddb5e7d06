"""Memory that is not needed any more goes back to the system: idle users are closed, and the allocator is told."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from addin.backend.operation.allocator import give_back, memory_bytes, used_bytes
from addin.backend.state import BackendState

EVERY_S = 1.0
"""How often it is looked at: what large requests leave behind comes on top of what the next ones take."""

UNUSED_BYTES = 8 * 2**20
"""Memory is given back once so much more is unused: that takes up to a tenth of a second of a large process."""

COLLECTED_EVERY_S = 60.0
"""At most so often all is collected after users were closed: everybody waits for up to a tenth of a second. Clients
that are closed are taken apart, so what is left for it is little."""

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
    least, most, closed, waited_s = unused_bytes(), 0, 0, 0.0
    backend.memory.left_bytes = lambda: max(0, unused_bytes() - least)
    while True:
        await sleep(EVERY_S)
        waited_s += EVERY_S
        try:
            await backend.close_idle()
            if waited_s >= COLLECTED_EVERY_S and backend.closed_users > closed:
                closed, waited_s = backend.closed_users, 0.0
                gc.collect()
            least, most = min(least, unused_bytes()), max(most, used_bytes())
            if max(unused_bytes() - least, most - used_bytes()) > UNUSED_BYTES:
                await asyncio.to_thread(give_back)
                least, most = unused_bytes(), used_bytes()
        except Exception as error:  # noqa: BLE001 - whatever it is, the backend keeps answering
            _log.warning("memory could not be tidied: %s", type(error).__name__)


def unused_bytes() -> int:
    """Return what this process has beyond what is in use: what was given back to the C library, and Python's own."""
    return memory_bytes() - used_bytes()
