"""Large answers travel compressed to callers elsewhere; next door that would take longer than sending them plain."""

from __future__ import annotations

import gzip

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import is_on_this_machine
from addin.excel.assets import accepts_gzip

LEAST_BYTES = 8 * 2**10
"""Below that an answer takes one or two packets anyway."""

LEVEL = 3
"""Ten thousand answers shrink to a tenth in 5 ms; higher levels take several times as long for little more."""

ON_LOOP_BYTES = 128 * 2**10
"""More is compressed by another thread, so that the loop goes on."""


class CompressAnswers:
    """Compresses JSON of some size with gzip, where the caller accepts it and is not on this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not accepts_gzip(Headers(scope=scope)) or is_on_this_machine(Request(scope)):
            await self._app(scope, receive, send)
            return
        start: Message | None = None

        async def compressing(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_compressible(Headers(raw=message["headers"])):
                start = message
            elif start is None:
                await send(message)
            else:
                head, start = start, None
                await send_compressed(head, message)

        async def send_compressed(head: Message, message: Message) -> None:
            body = message.get("body", b"")
            if not message.get("more_body", False):  # else it is streamed, and its size is told in the head
                body = await compressed(body, LEVEL)
                headers = MutableHeaders(raw=head["headers"])
                headers["content-encoding"], headers["content-length"] = "gzip", str(len(body))
                headers.add_vary_header("accept-encoding")
            await send(head)
            await send({**message, "body": body})

        await self._app(scope, receive, compressing)


async def compressed(body: bytes, level: int) -> bytes:
    """The body in gzip, the same at any time."""
    if len(body) > ON_LOOP_BYTES:
        return await to_thread.run_sync(lambda: gzip.compress(body, level, mtime=0))
    return gzip.compress(body, level, mtime=0)


def _is_compressible(headers: Headers) -> bool:
    size = headers.get("content-length", "0")
    return (
        headers.get("content-type", "").startswith("application/json")
        and "content-encoding" not in headers
        and size.isdecimal()
        and int(size) >= LEAST_BYTES
    )
