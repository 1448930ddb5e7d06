"""Each request has an id and is counted; the log has one line for each if it shall, without keys or formulas.

A filter keeps the log small, whatever is sent.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import address_of
from addin.backend.limits.accounts import account_of
from addin.backend.operation.metrics import Metrics
from addin.backend.sign_in.person import person_in
from addin.config.api_key import redacted
from addin.config.json_log import FIELDS, REQUEST_ID

MINUTE_S = 60.0

MAX_KINDS = 1_000
"""Kinds of warnings that are counted apart."""

ID_HEADER = "x-request-id"

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)

_CUT_SHORT = re.compile(r"Cancel %s running task\(s\)|(?s:Traceback .*\nasyncio\.exceptions\.CancelledError\s*$)")
"""How uvicorn says that it stops and does not wait longer, for those who asked (they are told to ask again) or, after a
second Ctrl-C, for its own end."""

_logger = logging.getLogger("addin.requests")


class RequestLog:
    """Gives every request an id, which its response tells (`X-Request-ID`), and counts the responses.

    The id is the one that a proxy sent, if it has the form of one. With `is_on`, every request is logged under the name
    `addin.requests`: address, method, path, status, duration, processor time, size, and the short name of who asks.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, *, is_on: bool, timer: Callable[[], float] = time.perf_counter
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._is_on = is_on
        self._timer = timer
        if is_on:
            _logger.setLevel(logging.INFO)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_of(Headers(scope=scope))
        REQUEST_ID.set(request_id)  # each request runs in a context of its own
        began, status, sent_bytes = self._timer(), 0, 0

        async def noting(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[ID_HEADER] = request_id
            elif message["type"] == "http.response.body":
                sent_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.responses.labels(str(status)).inc()
            if self._is_on:
                _log(scope, status, 1000 * (self._timer() - began), sent_bytes)


def request_id_of(headers: Headers) -> str:
    """The id that a proxy gave the request, or a new one.

    >>> request_id_of(Headers({"x-request-id": "a1-b2"}))
    'a1-b2'
    """
    sent = headers.get(ID_HEADER, "")
    return sent if _ID.fullmatch(sent) else secrets.token_hex(8)


def _log(scope: Scope, status: int, took_ms: float, sent_bytes: int) -> None:
    request = Request(scope)
    address, method, path = address_of(request), scope["method"], shown_path(scope["path"])
    processor_ms, person = 1000 * account_of(request).turns.used_s, person_in(request)
    fields = {"address": address, "method": method, "path": path, "status": status}
    who = {} if person is None else {"person": person.id}
    _logger.info(
        "%s %s %s %d %.0f ms (processor %.0f ms) %d bytes%s",
        *fields.values(),
        took_ms,
        processor_ms,
        sent_bytes,
        "".join(f" {name}" for name in who.values()),
        extra={
            FIELDS: {
                **fields,
                **who,
                "ms": round(took_ms, 1),
                "processor_ms": round(processor_ms, 1),
                "bytes": sent_bytes,
            }
        },
    )


def shown_path(path: str) -> str:
    """A path as a log may show it: on one line, short, and without anything that looks like a key.

    >>> shown_path("/status\\nforged")
    '/status\\\\nforged'
    """
    return redacted(path)[:100].encode("unicode_escape").decode("ascii")


class SparingFilter(logging.Filter):
    """Lets at most `per_minute` records of one kind (logger, level, unformatted message) pass in a minute.

    A request that was cut short, because the program ends or the caller is gone, is no failure: nothing is logged.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._per_minute = per_minute
        self._clock = clock
        self._minute = 0
        self._seen: dict[tuple[str, int, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log the record."""
        if record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError):
            return False
        if _CUT_SHORT.match(str(record.msg)):
            return False
        minute = int(self._clock() / MINUTE_S)
        if minute != self._minute or len(self._seen) > MAX_KINDS:
            self._minute, self._seen = minute, {}
        kind = record.name, record.levelno, str(record.msg)[:200]
        self._seen[kind] = count = self._seen.get(kind, 0) + 1
        if count == self._per_minute:
            record.msg = f"{record.msg} (more of these are not logged within this minute)"
        return count <= self._per_minute
