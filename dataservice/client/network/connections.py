"""The connections to one service: kept between requests, found through the system's proxies, bounded in number."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.request import getproxies

import h11
import httpx

from dataservice.client.network.plain_connection import Asked, PlainConnection, Service

IDLE_S = 30.0
"""An idle connection is closed after half a minute: within a workbook's recalculations it is used again."""

HTTP_PORT = 80


class Connections(httpx.AsyncBaseTransport):
    """A transport over at most `at_most` connections to the service at `base_url`.

    `verify` is whom https trusts, as httpx takes it. HTTPS, HTTP/2 and proxies are httpx's own business. Plain HTTP
    goes over connections of our own, one by one: the bookkeeping of a pool grows with the square of its connections,
    and with the layers around it takes several times as long as all the rest of a request.
    """

    def __init__(
        self,
        base_url: str,
        at_most: int,
        *,
        verify: ssl.SSLContext | bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_https = base_url.startswith("https:")
        self._at_most = at_most
        self._verify = verify
        self._clock = clock
        self._places = asyncio.Semaphore(at_most)
        self._idle: deque[_Idle] = deque()
        """Those in use are not here; the one used last is used next."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the service, its body still to be read; it holds a connection until it is closed."""
        if not self.is_plain:
            response = await self._pool.send(request, stream=True)
            self._pool.cookies.clear()  # nothing of one user's answer is kept for another
            return response
        asked = Asked(request.method, request.url.raw_path, request.headers.raw)
        connect_s = request.extensions.get("timeout", {}).get("connect")
        plain = await self.ask(asked, service_at(request.url), within_s=connect_s)
        return httpx.Response(plain.status_code, headers=plain.headers, stream=plain)

    @property
    def is_plain(self) -> bool:
        """Whether `ask` may be used: neither https nor a proxy is in the way."""
        return not self._is_https and not self._is_proxied

    async def ask(
        self, asked: Asked, service: Service, *, within_s: float | None, left: Callable[[], None] = lambda: None
    ) -> PlainResponse:
        """The response to a request over plain HTTP, without the objects of httpx around it.

        `within_s` is how long connecting may take; `left` is called as soon as the request has left.
        """
        await self._places.acquire()
        connection: PlainConnection | None = None
        try:
            connection = await self._connection_to(service, within_s)
            connection.ask(asked)
            left()
            head = await connection.head()
        except BaseException:
            self._places.release()
            if connection is not None:
                await connection.aclose()
            raise
        return PlainResponse(head, connection, self._given_back)

    async def aclose(self) -> None:
        """Close every connection that is idle; one in use is closed by whoever uses it."""
        while self._idle:
            await self._idle.pop().connection.aclose()
        if "_pool" in self.__dict__:
            await self._pool.aclose()
            del self._pool

    async def _connection_to(self, service: Service, within_s: float | None) -> PlainConnection:
        """The idle connection that was used last, if the service has not closed it; else a new one."""
        while self._idle:
            connection = self._idle.pop().connection
            if connection.service == service and not connection.is_over():
                return connection
            await connection.aclose()
        return await PlainConnection.to(service, within_s=within_s)

    async def _given_back(self, connection: PlainConnection) -> None:
        self._places.release()
        now = self._clock()
        if connection.is_ready_again():
            self._idle.append(_Idle(connection, now))
        else:
            await connection.aclose()
        while self._idle and now - self._idle[0].since > IDLE_S:
            await self._idle.popleft().connection.aclose()

    @cached_property
    def _is_proxied(self) -> bool:
        return bool({"http", "all"} & getproxies().keys())

    @cached_property
    def _pool(self) -> httpx.AsyncClient:
        # A client and not a transport, because only a client finds the system's proxies.
        limits = httpx.Limits(
            max_connections=self._at_most, max_keepalive_connections=self._at_most, keepalive_expiry=IDLE_S
        )
        return httpx.AsyncClient(
            http2=self._is_https,
            limits=limits,
            timeout=None,  # noqa: S113 - each request brings its own
            follow_redirects=False,
            verify=self._verify,
        )


@dataclass(frozen=True, slots=True)
class _Idle:
    connection: PlainConnection
    since: float


class PlainResponse(httpx.AsyncByteStream):
    """A status, headers by their names in lower case, and the body as it arrives.

    When it is closed, the connection is given back, to be used again if all was read.
    """

    def __init__(
        self,
        head: h11.Response,
        connection: PlainConnection,
        give_back: Callable[[PlainConnection], Awaitable[None]],
    ) -> None:
        self.status_code = head.status_code
        self.headers: dict[str, str] = {}
        for raw_name, raw_value in head.headers:
            name, value = raw_name.decode("ascii"), raw_value.decode("latin-1")
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value
        self._connection = connection
        self._give_back = give_back
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._connection.part()) is not None:
            yield part

    async def aclose(self) -> None:
        """Give the connection back."""
        if not self._is_closed:
            self._is_closed = True
            await self._give_back(self._connection)


def service_at(url: httpx.URL) -> Service:
    """Host and port of a service whose address is plain HTTP."""
    return url.raw_host.decode(), url.port or HTTP_PORT
