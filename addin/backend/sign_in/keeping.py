"""Maintenance of what is kept of people: taken over from earlier versions, and stored later if that failed before."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
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
    failing = set[str]()
    while True:
        if not is_taken_over:
            with _apart("people of an earlier version could not be looked for", failing):
                for secret in backend.session_secrets:
                    await take_over(people, backend.store, secret, time.time())
                is_taken_over = True
        with _apart("what is known of people could not be stored", failing):
            await people.keep_up()
        if backend.rechecking is not None:
            with _apart("the provider could not be asked again about people", failing):
                await backend.rechecking.round()
        await sleep(EVERY_S)


@contextmanager
def _apart(problem: str, failing: set[str]) -> Iterator[None]:
    """Inside the block a failure keeps nothing else from being done; it is told once, until it works again."""
    try:
        yield
    except LedgerAwayError:
        pass  # whoever asks is told
    except Exception as error:  # noqa: BLE001 - each store fails in its own way; it is tried again
        if problem not in failing:
            _log.warning("%s, and is tried again: %s", problem, type(error).__name__)
        failing.add(problem)
    else:
        failing.discard(problem)
