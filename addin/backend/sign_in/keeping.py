"""Maintenance of what is kept of people: taken over from earlier versions, and stored later if that failed before."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from addin.backend.state import BackendState
from dataservice.ledger import LedgerAwayError

EVERY_S = 2.0
"""How soon a stop is stored once it can be, and a server that was set back is noticed where nobody asks."""

_log = logging.getLogger("addin.people")


@asynccontextmanager
async def keeping_people(
    backend: BackendState, *, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
) -> AsyncIterator[None]:
    """Inside the block, keep what is known of people up to date, where they sign in."""
    if backend.people is None:
        yield
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_keep, backend, sleep)
        yield
        tasks.cancel_scope.cancel()


async def _keep(backend: BackendState, sleep: Callable[[float], Awaitable[Any]]) -> None:
    from addin.backend.sign_in.earlier_people import take_over  # cryptography takes a while to load

    people, is_taken_over = backend.people, False
    assert people is not None  # noqa: S101 - asked by the caller
    while True:
        try:
            if not is_taken_over:
                for secret in backend.session_secrets:
                    await take_over(people, backend.store, secret, time.time())
                is_taken_over = True
            await people.keep_up()
            if backend.rechecking is not None:
                await backend.rechecking.round()
        except LedgerAwayError:
            pass  # whoever asks is told
        except Exception as error:  # noqa: BLE001 - each store fails in its own way; it is tried again
            _log.debug("people of an earlier version could not be looked for: %s", type(error).__name__)
        await sleep(EVERY_S)
