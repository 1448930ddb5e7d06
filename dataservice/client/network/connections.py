"""The connections to one service: kept between requests, found through the system's proxies, bounded in number."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.request import getproxies

import httpcore
import httpx

from dataservice.client.network.tcp import Tcp
from dataservice.errors import ConnectionFailedError

IDLE_S = 30.0
"""An idle connection is closed after half a minute: within a workbook's recalculations it is used again."""

TCP = Tcp()


class Connections(httpx.AsyncBaseTransport):
    """A transport over at most `at_most` connections to the service at `base_url`.

    `verify` is whom https trusts, as httpx takes it. HTTP/2 and proxies are httpx's own business. Plain HTTP uses the
    connections of httpcore, on which httpx rests, one by one: the bookkeeping of a pool grows with the square of its
    connections, and with the layers around it takes several times as long as all the rest of a request.
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
        if self._is_https or self._is_proxied:
            response = await self._pool.send(request, stream=True)
            self._pool.cookies.clear()  # nothing of one user's answer is kept for another
            return response
        await self._places.acquire()
        asked = _asked(request)
        try:
            connection = await self._connection_to(asked.url.origin)
            try:
                with _errors_of_httpx():
                    answered = await connection.handle_async_request(asked)
            except BaseException:
                await connection.aclose()
                raise
        except BaseException:
            self._places.release()
            raise
        body = _Held(answered, connection, self._given_back)
        return httpx.Response(answered.status, headers=answered.headers, stream=body, extensions=answered.extensions)

    async def aclose(self) -> None:
        """Close every connection that is idle; one in use is closed by whoever uses it."""
        while self._idle:
            await self._idle.pop().connection.aclose()
        if "_pool" in self.__dict__:
            await self._pool.aclose()
            del self._pool

    async def _connection_to(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        """The idle connection that was used last, if the service has not closed it; else a new one."""
        while self._idle:
            connection = self._idle.pop().connection
            if connection.can_handle_request(origin) and connection.is_idle() and not connection.has_expired():
                return connection
            await connection.aclose()
        return httpcore.AsyncHTTPConnection(origin, keepalive_expiry=IDLE_S, network_backend=TCP)

    async def _given_back(self, connection: httpcore.AsyncHTTPConnection, *, is_usable: bool) -> None:
        self._places.release()
        now = self._clock()
        if is_usable:
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
        try:
            return httpx.AsyncClient(
                http2=self._is_https,
                limits=limits,
                timeout=None,  # noqa: S113 - each request brings its own
                follow_redirects=False,
                verify=self._verify,
            )
        except (ImportError, ValueError, httpx.InvalidURL):  # SOCKS needs a package; the address may hold a password
            problem = "the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY cannot be used: give it as http://host:port"
        raise ConnectionFailedError(problem)


@dataclass(frozen=True, slots=True)
class _Idle:
    connection: httpcore.AsyncHTTPConnection
    since: float


class _Held(httpx.AsyncByteStream):
    """The body of a response; when it is closed, the connection is given back, to be used again if all was read."""

    def __init__(
        self,
        response: httpcore.Response,
        connection: httpcore.AsyncHTTPConnection,
        give_back: Callable[..., Awaitable[None]],
    ) -> None:
        self._response = response
        self._connection = connection
        self._give_back = give_back
        self._is_read = False
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for part in self._response.aiter_stream():
                yield part
        self._is_read = True

    async def aclose(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._response.aclose()
        finally:
            await self._give_back(self._connection, is_usable=self._is_read)


def _asked(request: httpx.Request) -> httpcore.Request:
    """The request as httpcore takes it."""
    url = request.url
    target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    return httpcore.Request(
        request.method, target, headers=request.headers.raw, content=request.stream, extensions=request.extensions
    )


@contextlib.contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Raise what httpcore raises as httpx does, which names the same things alike."""
    try:
        yield
    except Exception as error:
        named = getattr(httpx, type(error).__name__, None) if type(error).__module__.startswith("httpcore") else None
        if named is None:
            raise
        raise named(str(error)) from error
