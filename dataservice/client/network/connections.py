"""The connections to one service, by http, https or through a proxy: aiohttp's, behind httpx's interface.

aiohttp's pool stays cheap with many connections, and HTTP/1.1 knows no GOAWAY, at which requests under way are lost.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from select import select
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
import httpx
from yarl import URL

from dataservice.client.network.connection_errors import FAILURES, as_httpx, sent_once
from dataservice.errors import ConnectionFailedError

IDLE_S = 30.0
"""An idle connection is closed after half a minute: within a workbook's recalculations it is used again."""

MAX_HEADER_BYTES = 32 * 1024
"""Of one line of an answer's head: four times what servers allow a request; endless ones end here."""


PREPARED_WITHIN_S = 4.0
"""A connection that takes longer is left to the request that needs one."""


_AS_SENT = re.compile("[A-Za-z0-9/?&=%+._~:,-]*").fullmatch
"""Targets that need no further escapes."""


@dataclass(slots=True)
class SendWatch:
    """A watch on a request: whether it was sent, as far as is known, and over which kind of connection."""

    was_sent: bool = False
    """Whether the service may have taken it."""
    sent_at: float = 0.0
    latency_s: float | None = None
    """From when it was sent to the first of the answer."""
    is_reused: bool = False
    """Whether it goes over a connection that was idle before, which the service may just have closed."""


_watch: ContextVar[SendWatch | None] = ContextVar("_watch", default=None)
"""That of the request which is being sent: the pool tells it."""


@dataclass(slots=True)
class Arrival:
    """An answer whose body is still to be read: its headers by their names in lower case, and what ends it.

    `more` gives the next of the body; nothing is its end.
    """

    status: int
    headers: dict[str, str]
    more: Callable[[], Awaitable[bytes]]
    close: Callable[[], Awaitable[None]]


def plain_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by their names in lower case; what is told twice stands in one, as a list."""
    plain: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        plain[name] = f"{plain[name]}, {value}" if name in plain else value
    return plain


class Connections(httpx.AsyncBaseTransport):
    """A transport over at most `at_most` connections to the service at `base_url`, found through the system's proxies.

    `verify` is whom https trusts, as httpx takes it. A request may bring `timeout` and a `watch`, a `SendWatch`, in its
    extensions. Only connecting is timed: callers time whole exchanges. It belongs to one event loop.
    """

    def __init__(self, base_url: str, at_most: int, *, verify: ssl.SSLContext | bool = True) -> None:
        self._base_url = base_url
        self._base = str(httpx.URL(base_url)).rstrip("/")
        self._at_most = at_most
        self._verify = verify
        self._session: aiohttp.ClientSession | None = None
        self._proxy: Proxy | None = None
        self._preparing: set[asyncio.Task[None]] = set()

    def prepare(self) -> asyncio.Task[None]:
        """Begin to open one more connection, idle until a request needs it: far away a handshake takes long."""
        task = asyncio.ensure_future(self._prepare())
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)
        return task

    async def get(
        self, target: str, headers: Sequence[tuple[str, str]], *, watch: SendWatch | None, connect_s: float
    ) -> Arrival:
        """The answer of the service to a GET, its body still to be read; it holds a connection until it is closed.

        Raises the errors of `connection_errors`.
        """
        url = self._base + target
        if _AS_SENT(target) is None:
            url = str(httpx.URL(url))
        answer = await self._answered("GET", url, headers, watch, connect_s)
        body = _Body(answer)
        return Arrival(answer.status, plain_headers(answer.raw_headers), body.more, body.aclose)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The same for whoever speaks httpx."""
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
        connect_s = request.extensions.get("timeout", {}).get("connect")
        watch = request.extensions.get("watch")
        answer = await self._answered(request.method, str(request.url), headers, watch, connect_s)
        return httpx.Response(answer.status, headers=answer.raw_headers, stream=_Body(answer))

    async def _answered(
        self,
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]],
        watch: SendWatch | None,
        connect_s: float | None,
    ) -> aiohttp.ClientResponse:
        session, proxy = self._session or self._open(), self._proxy
        _watch.set(watch)
        try:
            return await session.request(
                method,
                URL(url, encoded=True),
                headers=headers if proxy is None else [*headers, *proxy.headers],
                allow_redirects=False,
                timeout=_connecting_within(connect_s),
                **(proxy.for_aiohttp if proxy else {}),
            )
        except FAILURES as error:
            failed = as_httpx(error, proxy.host if proxy else "")
        raise failed

    async def _prepare(self) -> None:
        _watch.set(None)
        with suppress(aiohttp.ClientError, OSError, ValueError, ConnectionFailedError):
            session, proxy = self._session or self._open(), self._proxy
            options = proxy.for_aiohttp if proxy else {}
            request = aiohttp.ClientRequest("GET", URL(self._base, encoded=True), session=session, **options)
            timeout = aiohttp.ClientTimeout(sock_connect=PREPARED_WITHIN_S)
            if session.connector is not None:  # it was not closed meanwhile
                (await session.connector.connect(request, [], timeout)).release()

    async def aclose(self) -> None:
        """Close every connection; a later request opens new ones."""
        session, self._session = self._session, None
        for task in self._preparing:
            task.cancel()
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        self._proxy = proxy_to(self._base_url)
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=self._at_most, keepalive_timeout=IDLE_S, ssl=self._context()),
            cookie_jar=aiohttp.DummyCookieJar(),  # nothing of one user's answer is kept for another
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            middlewares=[sent_once],
        )
        return self._session

    def _context(self) -> ssl.SSLContext | bool:
        if not self._base_url.startswith("https:"):
            return True
        context = httpx.create_ssl_context(verify=self._verify)
        context.set_alpn_protocols(["http/1.1"])
        return context


class _Connector(aiohttp.TCPConnector):
    """Hands out no idle connection that the other side has closed, or over which it said more than was asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._served: WeakSet[object] = WeakSet()

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        """The connection for a request, which is sent over it at once."""
        watch = _watch.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            is_reused = connection.protocol in self._served
            if not is_reused or not _is_over(connection):
                if not is_reused:
                    self._served.add(connection.protocol)
                if watch is not None:
                    watch.is_reused, watch.was_sent, watch.sent_at = is_reused, True, time.monotonic()
                return connection
            connection.close()


@lru_cache
def _connecting_within(seconds: float | None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(sock_connect=seconds)


def _is_over(connection: aiohttp.connector.Connection) -> bool:
    """Return whether an idle connection has ended, also if the event loop has not seen that yet."""
    if connection.protocol is None or connection.protocol.should_close or connection.transport is None:
        return True
    try:
        return bool(select([connection.transport.get_extra_info("socket")], [], [], 0)[0])
    except (OSError, ValueError):  # no such place for it in `select`: then the loop tells soon enough
        return False


class _Body(httpx.AsyncByteStream):
    """The body of an answer as it arrives."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while part := await self.more():
            yield part

    async def more(self) -> bytes:
        """The next bytes that arrive; none at the end."""
        try:
            return await self._answer.content.readany()
        except FAILURES as error:
            failed = as_httpx(error)
        raise failed

    async def aclose(self) -> None:
        """Give the connection back; one over which more would come is closed."""
        self._answer.close()


@dataclass(frozen=True, slots=True, repr=False)
class Proxy:
    """An HTTP proxy on the way to the service; who may use it is shown nowhere."""

    host: str
    for_aiohttp: dict[str, Any]
    headers: tuple[tuple[str, str], ...] = ()
    """Of a request that it is handed whole: inside a tunnel it sees none."""


def proxy_to(base_url: str) -> Proxy | None:
    """The proxy that the system names for this address; raises `ConnectionFailedError` for one that cannot be used."""
    service = urlsplit(base_url)
    proxies: dict[str, str] = getproxies()
    address = proxies.get(service.scheme) or proxies.get("all")
    if not address or proxy_bypass(service.netloc):
        return None
    try:
        url = URL(address if "://" in address else f"http://{address}")
    except ValueError:
        url = URL()
    if not url.host or url.scheme not in {"http", "https"}:
        problem = "the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY cannot be used: give it as http://host:port"
        raise ConnectionFailedError(problem, needs_repair=True)
    options: dict[str, Any] = {"proxy": url.with_user(None)}
    headers: dict[str, str] = {}
    if url.user is not None:
        named = f"{url.user}:{url.password or ''}".encode()
        headers["Proxy-Authorization"] = f"Basic {b64encode(named).decode()}"
    if service.scheme == "https":
        return Proxy(url.host, {**options, "proxy_headers": headers})
    return Proxy(url.host, options, tuple(headers.items()))
