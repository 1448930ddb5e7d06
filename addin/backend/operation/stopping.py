"""What callers get whose request is broken off because the process stops: to ask again, and not a broken connection."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import JsonResponse

RESTARTING = "restarting"
"""The kind of refusal that callers answer by sending the same request again."""

RETRY_AFTER_S = 1


class AnswerWhenStopped:
    """Turns a request that the server cancels into 503 with `Retry-After`, unless its response has begun.

    A server cancels requests only when it stops, and only those that took longer than it waits for them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def noting(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except asyncio.CancelledError:
            if has_begun:
                raise
            response = JsonResponse(
                {"error": "the backend is restarting; this is asked again by itself", "kind": RESTARTING}, 503
            )
            response.headers["retry-after"] = str(RETRY_AFTER_S)
            await response(scope, receive, send)
