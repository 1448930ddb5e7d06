"""Large answers travel compressed to callers elsewhere; next door that would take longer than sending them plain."""

from __future__ import annotations

import gzip
import zlib

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import is_on_this_machine
from addin.web import accepts_gzip

LEAST_BYTES = 8 * 2**10
"""Below that an answer takes one or two packets anyway."""

GZIP_WBITS = 31
"""How zlib is told to write gzip."""

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
        pieces = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WBITS)
        is_in_pieces = False

        async def compressing(message: Message) -> None:
            nonlocal start, is_in_pieces
            if message["type"] == "http.response.start" and _is_compressible(Headers(raw=message["headers"])):
                start = message
                return
            if start is None and not is_in_pieces:
                await send(message)
                return
            body, has_more = message.get("body", b""), message.get("more_body", False)
            is_in_pieces = is_in_pieces or has_more
            if is_in_pieces:
                body = pieces.compress(body) + (b"" if has_more else pieces.flush())
            else:
                body = await compressed(body, LEVEL)
            if start is not None:
                head, start = start, None
                await send(_compressed_head(head, None if is_in_pieces else len(body)))
            await send({**message, "body": body})

        await self._app(scope, receive, compressing)


def _compressed_head(head: Message, size: int | None) -> Message:
    """The head of a compressed answer; its size is not known where it is compressed piece by piece."""
    headers = MutableHeaders(raw=head["headers"])
    headers["content-encoding"] = "gzip"
    headers.add_vary_header("accept-encoding")
    if size is None:
        del headers["content-length"]
    else:
        headers["content-length"] = str(size)
    return head


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
