"""What a caller gets while the database is away, or does not move: 503 soon, and no thread of theirs is waited for."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Response
from sqlalchemy.exc import DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from dataservice.server.http.responses import error_answer

AWAY = (DisconnectionError, InterfaceError, OperationalError, NoConnectionError, TimeoutError)
"""What is raised where the database cannot be reached, refuses, or breaks off."""

ANSWERS_WITHIN_S = 10.0
"""A query takes milliseconds; a database that has not answered by then stands still."""

RETRY_AFTER_S = 2


def away_answer() -> Response:
    """Return the refusal: the same request may be sent again."""
    reason = "the service's database does not answer at the moment; try again in a few seconds"
    return error_answer(503, reason, {"Retry-After": str(RETRY_AFTER_S)})


async def until(begun: Callable[[], bool], work: Coroutine[Any, Any, None], within_s: float = ANSWERS_WITHIN_S) -> None:
    """Do `work`; raises `TimeoutError` where it has not begun its answer in time, and waits for it no longer.

    A thread that stands in the database cannot be ended; it goes on by itself when the database does.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=within_s)
        if not task.done() and begun():
            await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not task.done():
        task.cancel()
        raise TimeoutError
    task.result()
