"""One request to the service and its outcome: the only place where HTTP happens and where the key is used."""

from __future__ import annotations

import logging
import re
import time
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import httpx

from dataservice.client.contract.body import Body
from dataservice.client.contract.quota import Quota, quota_in
from dataservice.client.contract.requests import Request
from dataservice.client.network.connection_errors import NoAnswerError
from dataservice.client.network.connections import Arrival, Connections, SendWatch, plain_headers
from dataservice.client.network.credentials import ApiKey
from dataservice.client.network.error_mapping import (
    Failure,
    failed_answer,
    failed_exchange,
    failure_in_place,
)
from dataservice.client.pacing.pacer import told_wait_s
from dataservice.errors import MalformedAnswerError
from dataservice.fair_timeout import FairTimeout
from dataservice.key_text import quoted

if TYPE_CHECKING:
    from zlib import _Decompress as _Stream

ACCEPTED = "gzip, deflate"
"""The packings that can be unpacked step by step with nothing but the standard library."""

MAX_ANSWER_BYTES = 16 * 2**20
"""Ten times the largest answer in common use, 200 posts with their text; small enough to hold sixteen at once."""

_CHARSET = re.compile(r";\s*charset=\"?([\w.:-]+)", re.IGNORECASE | re.ASCII)
_WBITS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def read_body(arrival: Arrival, max_bytes: int) -> bytes:
    """The unpacked body of an answer; raises `MalformedAnswerError` where it is longer than `max_bytes` or damaged."""
    packing = arrival.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if packing not in {"identity", *_WBITS}:
        raise MalformedAnswerError("an answer that cannot be unpacked")
    stream = None if packing == "identity" else zlib.decompressobj(_WBITS[packing])
    parts: list[bytes] = []
    left = max_bytes
    while part := await arrival.more():
        if stream is not None:
            stream, part = _unpacked(stream, part, left + 1, may_lack_header=packing == "deflate" and not parts)
        left -= len(part)
        if left < 0:
            raise MalformedAnswerError(f"an answer of more than {max_bytes:,} bytes, the limit max_answer_bytes")
        parts.append(part)
    if stream is not None and parts and not stream.eof:
        raise MalformedAnswerError("an answer that ends too early")
    return b"".join(parts).removeprefix(BOM_UTF8)  # JSON has none, but some servers write one


def _unpacked(stream: _Stream, raw: bytes, most: int, *, may_lack_header: bool) -> tuple[_Stream, bytes]:
    """What the next packed bytes unpack to, `most` of it at most, and the stream that the next ones belong to."""
    if stream.eof:
        return stream, b""  # what follows the end is no part of the answer
    for each in (stream, zlib.decompressobj(-zlib.MAX_WBITS)) if may_lack_header else (stream,):
        with suppress(zlib.error):
            return each, each.decompress(raw, most)
    raise MalformedAnswerError("an answer that cannot be unpacked")


def in_utf8(body: bytes, headers: Mapping[str, str]) -> bytes:
    """The body of an answer in UTF-8: from the character set that its Content-Type names, else as it is.

    Of a text that is none, the letters that cannot be read show as U+FFFD, and no more than these. JSON in UTF-16 has a
    byte of nought at its beginning, or a mark, and tells its character set by that.
    """
    if body.isascii():
        return body
    named = _CHARSET.search(headers.get("content-type", ""))
    try:
        return body.decode(named[1] if named else "utf-8").encode()
    except (LookupError, UnicodeError):
        tells_itself = 0 in body[:4] or body.startswith((BOM_UTF16_BE, BOM_UTF16_LE))
        return body if tells_itself else body.decode(errors="replace").encode()


MAX_CONNECTIONS = 64
"""Requests under way at a time: 500 series from 100 ms away take one second."""

CONNECT_S = 4.0  # a host that is there accepts within one second even from the other side of the world

NOT_COUNTED = frozenset({httpx.codes.UNAUTHORIZED, httpx.codes.TOO_MANY_REQUESTS})

NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.InvalidURL)

PRODUCT = "dataservice-addin"

_logger = logging.getLogger("dataservice.client")


@dataclass(slots=True)
class Exchange:
    """What one request led to: the body of a 200, or a failure; and the quota, where the answer told it."""

    outcome: bytes | Failure
    quota: Quota | None = None
    _: KW_ONLY
    spent: bool
    """Whether it counts against the month: every answer does, but not to a refused key or when all is spent.

    So does a request that left and whose answer was lost: the service most likely counted it.
    """
    wait_s: float | None = None
    """How long nothing more may be sent, where an answer says so."""
    answer: Body | None = None
    """What was received, whatever its status, if that was received whole."""
    is_unanswered: bool = False
    """Whether the connection ended before the first byte of an answer."""
    is_doubtful: bool = False
    """Whether that was one that had served others: then it had most likely been closed before."""
    latency_s: float | None = None
    """From the request to the first of the answer, where the transport tells."""
    were_all_taken: bool = False
    """Whether all places were taken then."""


GOOD = frozenset({httpx.codes.OK, httpx.codes.NO_CONTENT, httpx.codes.PARTIAL_CONTENT})
"""Statuses of an answer: whole, empty, or a page of it; 200 is the contract's."""

EMPTY = b'{"data":[]}'
"""What an answer without content says."""


class Transport:
    """Sends requests with the key over at most `most` connections.

    Raises `ValueError` for a `user_agent` that no header can hold.
    """

    def __init__(
        self,
        base_url: str,
        key: ApiKey | None,
        *,
        transport: httpx.AsyncBaseTransport | None,
        most: int,
        user_agent: str | None,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        if user_agent and not (user_agent.isascii() and user_agent.isprintable()):
            raise ValueError(f"user_agent must be ASCII text on one line, not {quoted(user_agent)}")
        self._base_url = base_url
        self.redact = key.redacted if key else str
        self._key = key
        self.is_watched = transport is None or isinstance(transport, Connections)
        """Whether it is told when a request is sent."""
        self._http = transport or Connections(base_url, most)
        self._headers = [
            ("Accept", "application/json"),
            ("Accept-Encoding", ACCEPTED),
            ("User-Agent", user_agent or _product()),
        ]
        # Until something is found there.
        self._doubtful_address = base_url if httpx.URL(base_url).path.strip("/") else ""
        self._has_answered = False
        self._max_answer_bytes = max_answer_bytes
        self.path_end = ""
        """What the service's paths end with, where a probe found that they are moved."""

    def prepare(self) -> None:
        """Begin to open a connection for a request that waits for its turn."""
        if isinstance(self._http, Connections):
            self._http.prepare()

    async def send(self, request: Request, now: float, watch: SendWatch, *, within_s: float) -> Exchange:
        """The outcome of one request; never raises, except `asyncio.CancelledError`."""
        try:
            with FairTimeout(within_s):
                return await self._exchange(request, now, watch, within_s)
        except Exception as error:  # noqa: BLE001 - whatever a transport raises, the client raises only its own errors
            is_unanswered = isinstance(error, NoAnswerError)
            return Exchange(failed_exchange(request, error), spent=watch.was_sent, is_unanswered=is_unanswered)

    async def _exchange(self, request: Request, now: float, watch: SendWatch, within_s: float) -> Exchange:
        # The whole exchange is timed by its caller; only a connection that is not accepted is given up sooner.
        target = request.target_with(self.path_end) if self.path_end else request.target
        arrival = await self._arrival(target, watch, connect_s=min(CONNECT_S, within_s))
        try:
            status, headers = arrival.status, arrival.headers
            quota = quota_in(headers, now)
            _logger.debug("GET %s: HTTP %d", request.target, status)
            spent = status not in NOT_COUNTED
            try:
                body = await read_body(arrival, self._max_answer_bytes)
            except Exception as error:  # noqa: BLE001 - the answer broke off: its headers count all the same
                if status in GOOD:
                    return Exchange(failed_exchange(request, error), quota, spent=spent)
                body = b""  # the status says enough
        finally:
            await arrival.close()
        body = in_utf8(body, headers)
        answer = Body.of(body, headers, status)
        if status in GOOD:
            if status == httpx.codes.NO_CONTENT:
                answer = Body.of(EMPTY, headers, status)
            failure = failure_in_place(request, headers, body, now, has_answered=self._has_answered)
            if failure is None or failure.is_prepared:  # the service itself answered
                self._has_answered, self._doubtful_address = True, ""
            wait_s = told_wait_s(headers, now)
            return Exchange(failure or answer, quota, spent=spent, wait_s=wait_s, answer=answer)
        failure = failed_answer(
            request,
            status,
            headers,
            body,
            quota,
            self.redact,
            now,
            self._doubtful_address,
            has_answered=self._has_answered,
        )
        return Exchange(failure, quota, spent=spent, answer=answer)

    async def _arrival(self, target: str, watch: SendWatch, *, connect_s: float) -> Arrival:
        """The answer, its body still to be read; only here the request gets the key: nothing else holds it."""
        headers = self._headers
        if self._key is not None:
            headers = [*headers, ("Authorization", f"Bearer {self._key.reveal()}")]
        try:
            if isinstance(self._http, Connections):
                arrival = await self._http.get(target, headers, watch=watch, connect_s=connect_s)
            else:
                arrival = await _arrival_over(
                    self._http, httpx.Request("GET", self._base_url + target, headers=headers)
                )
        except Exception as error:
            watch.was_sent |= not self.is_watched and not isinstance(error, NEVER_SENT)
            raise
        watch.was_sent = True
        if watch.sent_at:
            watch.latency_s = time.monotonic() - watch.sent_at
        return arrival

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


async def _arrival_over(transport: httpx.AsyncBaseTransport, request: httpx.Request) -> Arrival:
    """The answer over somebody's own transport; one made for tests hands over answers that are read already."""
    response = await transport.handle_async_request(request)
    headers = plain_headers(response.headers.raw)
    if response.is_stream_consumed:
        headers.pop("content-encoding", None)  # its content is unpacked
        parts = _whole(response.content)
    else:
        parts = (part async for part in response.aiter_raw() if part)
    return Arrival(response.status_code, headers, partial(anext, parts, b""), response.aclose)


async def _whole(content: bytes) -> AsyncIterator[bytes]:
    yield content


@cache
def _product() -> str:
    """Name and version of this product; the name alone where it runs without being installed."""
    try:
        return f"{PRODUCT}/{version(PRODUCT)}"
    except PackageNotFoundError:
        return PRODUCT
