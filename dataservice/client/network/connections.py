"""The connections to one service: kept between requests, found through the system's proxies, bounded in number."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.request import getproxies

import httpx

IDLE_S = 30.0
"""An idle connection is closed after half a minute: within a workbook's recalculations it is used again."""


class Connections(httpx.AsyncBaseTransport):
    """A transport over at most `at_most` connections to the service at `base_url`.

    `verify` is whom https trusts, as httpx takes it. HTTP/2 and proxies are httpx's own business. Plain HTTP gets one
    transport for each connection instead: the bookkeeping of a pool grows with the square of its connections, and takes
    as long as all the rest of a request.
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
        connection = self._idle.pop().connection if self._idle else _connection()
        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            self._places.release()
            await connection.aclose()
            raise
        response.stream = _Held(response.stream, connection, self._given_back)  # type: ignore[arg-type]  # it is async
        return response

    async def aclose(self) -> None:
        """Close every connection that is idle; one in use is closed by whoever uses it."""
        while self._idle:
            await self._idle.pop().connection.aclose()
        if "_pool" in self.__dict__:
            await self._pool.aclose()
            del self._pool

    async def _given_back(self, connection: httpx.AsyncHTTPTransport, *, is_usable: bool) -> None:
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
        return httpx.AsyncClient(
            http2=self._is_https,
            limits=limits,
            timeout=None,  # noqa: S113 - each request brings its own
            follow_redirects=False,
            verify=self._verify,
        )


@dataclass(frozen=True, slots=True)
class _Idle:
    connection: httpx.AsyncHTTPTransport
    since: float


class _Held(httpx.AsyncByteStream):
    """The body of a response; when it is closed, the connection is given back, to be used again if all was read."""

    def __init__(
        self, stream: httpx.AsyncByteStream, connection: httpx.AsyncHTTPTransport, give_back: Callable[..., object]
    ) -> None:
        self._stream = stream
        self._connection = connection
        self._give_back = give_back
        self._is_read = False
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part
        self._is_read = True

    async def aclose(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._stream.aclose()
        finally:
            await self._give_back(self._connection, is_usable=self._is_read)  # type: ignore[misc]  # it is async


def _connection() -> httpx.AsyncHTTPTransport:
    # Without TLS no certificates are read, which takes longer than a request.
    return httpx.AsyncHTTPTransport(verify=False, limits=httpx.Limits(max_connections=1, keepalive_expiry=IDLE_S))
