"""Answers with a file's content: a tag by which browsers keep it, compressed where they accept that."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TypeAlias

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".txt": "text/plain",
    ".xml": "application/xml",
}

LEAST_BYTES = 1_000
"""Below that nothing is gained by compressing."""


async def static_answer(
    request: Request, text: str | bytes, suffix: str, headers: dict[str, str] | None = None, *, status: int = 200
) -> Response:
    """The content as the type that `suffix` stands for, compressed where accepted; 304 if the browser has it."""
    content = text.encode() if isinstance(text, str) else text
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding", **(headers or {})}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if suffix != ".png" and len(content) >= LEAST_BYTES and accepts_gzip(request.headers):
        content = await to_thread.run_sync(_compressed, content)
        headers["content-encoding"] = "gzip"
    return Response(content, status, media_type=MEDIA_TYPES[suffix], headers=headers)


def accepts_gzip(headers: Headers) -> bool:
    """Return whether a caller says that it reads gzip."""
    codings = headers.get("accept-encoding", "").lower().split(",")
    return any(
        coding.partition(";")[0].strip() == "gzip" and coding.partition(";")[2].strip() != "q=0" for coding in codings
    )


@lru_cache(512)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)
