"""The connections to one service, by http, https or through a proxy: aiohttp's, behind httpx's interface.

aiohttp's pool stays cheap with many connections, and HTTP/1.1 knows no GOAWAY, at which requests under way are lost.
Its sessions are not used: they send a request again whose connection ended, which the service may have counted, and
take as much of the processor as the rest of the way together.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from select import select
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
import httpx
from aiohttp.http import HttpProcessingError
from yarl import URL

from dataservice.client.network.connection_errors import FAILURES, NoAnswerError, as_httpx
from dataservice.errors import ConnectionFailedError

if TYPE_CHECKING:
    from aiohttp.http_parser import RawResponseMessage

IDLE_S = 30.0
"""An idle connection is closed after half a minute: within a workbook's recalculations it is used again."""

MAX_HEADER_BYTES = 32 * 1024
"""Of one line of an answer's head: four times what servers allow a request; endless ones end here."""


_ON_THE_WAY = frozenset({100, 102, 103})
"""Statuses that say that the answer comes."""

PREPARED_WITHIN_S = 4.0
"""A connection that takes longer is left to the request that needs one."""


_AS_SENT = re.compile("[A-Za-z0-9/?&=%+._~:,-]*").fullmatch
"""Targets that need no further escapes."""

_ENDS_LINE = re.compile("[\r\n\0]").search
"""What no line of a request's head may hold."""


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
        self._path = httpx.URL(self._base).raw_path.decode("ascii").rstrip("/")
        self._at_most = at_most
        self._verify = verify
        self._connector: aiohttp.TCPConnector | None = None
        self._route: aiohttp.ClientRequest | None = None
        """The way to the service, as the pool knows it: all requests share it."""
        self._proxy: Proxy | None = None
        self._served: WeakSet[object] = WeakSet()
        """Connections that were idle before."""
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
        if _AS_SENT(target) is None:
            target = httpx.URL(self._base + target).raw_path.decode("ascii").removeprefix(self._path)
        route = self._route or self._open()
        answer, body = await self._answered(route, "GET", self._path + target, headers, watch, connect_s)
        return Arrival(answer.code, plain_headers(answer.raw_headers), body.more, body.aclose)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The same for whoever speaks httpx, of any address; a request's body is not sent."""
        if self._route is None:
            self._open()
        route, place = self._route_to(str(request.url)), request.url.raw_path.decode("ascii")
        headers = [(name, value) for name, value in request.headers.items() if name != "host"]
        connect_s = request.extensions.get("timeout", {}).get("connect")
        watch = request.extensions.get("watch")
        answer, body = await self._answered(route, request.method, place, headers, watch, connect_s)
        return httpx.Response(answer.code, headers=answer.raw_headers, stream=body)

    async def _answered(
        self,
        route: aiohttp.ClientRequest,
        method: str,
        place: str,
        headers: Sequence[tuple[str, str]],
        watch: SendWatch | None,
        connect_s: float | None,
    ) -> tuple[RawResponseMessage, _Body]:
        """The head of the answer, and its body to come."""
        if self._proxy is not None and not route.is_ssl():  # it is handed the whole address
            place, headers = f"{route.url.origin()}{place}", [*headers, *self._proxy.headers]
        lines = [f"{method} {place} HTTP/1.1", f"Host: {route.headers['Host']}"]
        lines += [f"{name}: {value}" for name, value in headers]
        if _ENDS_LINE("".join(lines)):
            raise httpx.LocalProtocolError("a request that cannot be sent")
        connection, is_reused = await self._connection(route, connect_s)
        if watch is not None:
            watch.is_reused, watch.was_sent, watch.sent_at = is_reused, True, time.monotonic()
        try:
            return await _exchanged(connection, "\r\n".join([*lines, "\r\n"]).encode(), is_head=method == "HEAD")
        except (aiohttp.ClientError, OSError):
            failed: Exception = NoAnswerError("the connection ended without an answer")
        except HttpProcessingError:
            failed = httpx.RemoteProtocolError("what came is no answer of HTTP")
        raise failed  # behind the handler: aiohttp's own error may hold the key

    async def _connection(
        self, route: aiohttp.ClientRequest, connect_s: float | None
    ) -> tuple[aiohttp.connector.Connection, bool]:
        """A connection, and whether it was idle before.

        It is none that the other side has closed, or over which it said more than was asked for.
        """
        timeout, connector = _connecting_within(connect_s), self._connector
        while connector is not None:
            try:
                connection = await connector.connect(route, [], timeout)
            except FAILURES as error:
                failed = as_httpx(error, self._proxy.host if self._proxy else "")
                break
            is_reused = connection.protocol in self._served
            if not is_reused:
                self._served.add(connection.protocol)
            if not (is_reused and _is_over(connection)):
                return connection, is_reused
            connection.close()
        else:
            failed = httpx.ConnectError("the connections were closed")
        raise failed

    async def _prepare(self) -> None:
        with suppress(httpx.HTTPError, ConnectionFailedError):
            connection, _ = await self._connection(self._route or self._open(), PREPARED_WITHIN_S)
            connection.release()

    async def aclose(self) -> None:
        """Close every connection; a later request opens new ones."""
        connector, self._connector, self._route = self._connector, None, None
        for task in self._preparing:
            task.cancel()
        if connector is not None:
            await connector.close()

    def _open(self) -> aiohttp.ClientRequest:
        self._proxy = proxy_to(self._base_url)
        self._connector = aiohttp.TCPConnector(limit=self._at_most, keepalive_timeout=IDLE_S, ssl=self._context())
        self._route = route = self._route_to(self._base)
        return route

    def _route_to(self, address: str) -> aiohttp.ClientRequest:
        url = URL(address, encoded=True)
        if url.scheme not in {"http", "https"} or not url.raw_host:
            raise httpx.UnsupportedProtocol("not an address of http or https")
        return aiohttp.ClientRequest("GET", url, **(self._proxy.for_aiohttp if self._proxy else {}))

    def _context(self) -> ssl.SSLContext | bool:
        if not self._base_url.startswith("https:"):
            return True
        context = httpx.create_ssl_context(verify=self._verify)
        context.set_alpn_protocols(["http/1.1"])
        return context


async def _exchanged(
    connection: aiohttp.connector.Connection, head: bytes, *, is_head: bool
) -> tuple[RawResponseMessage, _Body]:
    """Send a request over a connection of its own, and await the head of the answer."""
    protocol, transport = connection.protocol, connection.transport
    try:
        if protocol is None or transport is None:
            raise aiohttp.ClientConnectionError
        protocol.set_response_params(
            skip_payload=is_head,
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        transport.write(head)
        answer, content = await protocol.read()
        while answer.code in _ON_THE_WAY:
            answer, content = await protocol.read()
    except BaseException:
        connection.close()
        raise
    return answer, _Body(content, connection)


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


@dataclass(slots=True, eq=False)
class _Body(httpx.AsyncByteStream):
    """The body of an answer as it arrives."""

    _content: aiohttp.StreamReader
    _connection: aiohttp.connector.Connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while part := await self.more():
            yield part

    async def more(self) -> bytes:
        """The next bytes that arrive; none at the end."""
        try:
            return await self._content.readany()
        except FAILURES as error:
            failed = httpx.ReadError(type(error).__name__)
        raise failed

    async def aclose(self) -> None:
        """Give the connection back; one over which more would come is closed."""
        self._connection.release()


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
