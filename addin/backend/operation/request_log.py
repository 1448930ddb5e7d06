"""The log of requests: off by default, one line each, without keys or formulas; and a filter that keeps logs small."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import address_of
from addin.config.api_key import redacted

MINUTE_S = 60.0

MAX_KINDS = 1_000
"""Kinds of warnings that are counted apart."""

_logger = logging.getLogger("addin.requests")


class RequestLog:
    """Logs method, path, status, duration and size of every request, under the name `addin.requests`."""

    def __init__(self, app: ASGIApp, *, timer: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._timer = timer
        _logger.setLevel(logging.INFO)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, sent_bytes = self._timer(), 0, 0

        async def noting(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                sent_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            took_ms = 1000 * (self._timer() - began)
            _logger.info(
                "%s %s %s %d %.0f ms %d bytes",
                address_of(Request(scope)),
                scope["method"],
                shown_path(scope["path"]),
                status,
                took_ms,
                sent_bytes,
            )


def shown_path(path: str) -> str:
    """A path as a log may show it: on one line, short, and without anything that looks like a key.

    >>> shown_path("/status\\nforged")
    '/status\\\\nforged'
    """
    return redacted(path)[:100].encode("unicode_escape").decode("ascii")


class SparingFilter(logging.Filter):
    """Lets at most `per_minute` records of one kind (logger, level, unformatted message) pass in a minute."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._per_minute = per_minute
        self._clock = clock
        self._minute = 0
        self._seen: dict[tuple[str, int, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the record."""
        minute = int(self._clock() / MINUTE_S)
        if minute != self._minute or len(self._seen) > MAX_KINDS:
            self._minute, self._seen = minute, {}
        kind = record.name, record.levelno, str(record.msg)[:200]
        self._seen[kind] = count = self._seen.get(kind, 0) + 1
        if count == self._per_minute:
            record.msg = f"{record.msg} (more of these are not logged within this minute)"
        return count <= self._per_minute
