"""One connection over plain HTTP/1.1: h11 on asyncio, without the layers that others need around it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from select import select
from typing import Any, TypeAlias

import h11
import httpx

HAPPY_EYEBALLS_S = 0.25
"""The delay of RFC 8305 before the next address of a name is tried beside the one that does not answer."""

MOST_UNREAD_BYTES = 2**20
"""More is not taken from the network before what is there was read."""

MAX_HEAD_BYTES = 100 * 1024
"""No service sends so much before the body; httpcore takes the same."""


Service: TypeAlias = tuple[str, int]
"""Host and port."""


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """A request without a body; its headers name the host, and may hold a key: nothing shows them."""

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]


class PlainConnection(asyncio.Protocol):
    """One exchange after the other with the service at the other end.

    Only connecting is timed: callers time whole exchanges. What goes wrong is an `httpx.TransportError`.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._transport: asyncio.Transport
        self._waiting: asyncio.Future[None] | None = None
        self._error: Exception | None = None
        self._has_ended = False
        self._unread_bytes = 0
        self._is_paused = False

    @classmethod
    async def to(cls, service: Service, *, within_s: float | None) -> PlainConnection:
        """A new connection; raises `httpx.ConnectError` or `httpx.ConnectTimeout` if there is none."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(within_s):
                _, connection = await loop.create_connection(
                    lambda: cls(service), *service, happy_eyeballs_delay=HAPPY_EYEBALLS_S
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from None
        except OSError as error:
            raise httpx.ConnectError(str(error)) from None
        return connection

    def ask(self, asked: Asked) -> None:
        """Send a request; it has left when this returns."""
        if self._transport.is_closing():
            raise httpx.WriteError("the connection is closed")
        try:
            head = self._http.send(h11.Request(method=asked.method, target=asked.target, headers=asked.headers))
            self._http.send(h11.EndOfMessage())
        except h11.LocalProtocolError:
            # What h11 says of it may hold a header, and that the key.
            raise httpx.LocalProtocolError("a request that cannot be sent") from None
        self._transport.write(head)

    async def head(self) -> h11.Response:
        """The status and the headers of the answer."""
        while not isinstance(event := await self._event(), h11.Response):
            if isinstance(event, h11.ConnectionClosed):
                raise httpx.RemoteProtocolError("the service closed the connection without an answer")
        return event

    async def part(self) -> bytes | None:
        """What arrives next of the body; None at its end."""
        event = await self._event()
        return bytes(event.data) if isinstance(event, h11.Data) else None

    def is_ready_again(self) -> bool:
        """Whether the exchange came to its end, and another one can follow; it begins then."""
        http = self._http
        if not (http.our_state is http.their_state is h11.DONE) or http.trailing_data[0]:
            return False
        http.start_next_cycle()
        self._unread_bytes = 0
        return True

    def is_over(self) -> bool:
        """Whether the service has closed it, or sent what nobody asked for, also if the loop has not seen that yet."""
        if self._unread_bytes or self._has_ended or self._transport.is_closing():
            return True
        socket = self._transport.get_extra_info("socket")
        try:
            return bool(select([socket], [], [], 0)[0])
        except (OSError, ValueError):  # no such place for it in `select`: then the loop tells soon enough
            return False

    async def aclose(self) -> None:
        """Close the connection at once."""
        self._transport.abort()
        await asyncio.sleep(0)  # the loop closes the socket in its next turn

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self._transport = transport  # type: ignore[assignment]  # of a connection it is a whole transport

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        self._http.receive_data(data)
        self._unread_bytes += len(data)
        if self._unread_bytes > MOST_UNREAD_BYTES and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Called by the event loop."""
        self._end()

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the event loop."""
        self._error = error
        self._end()

    def _end(self) -> None:
        if not self._has_ended and self._error is None:
            self._http.receive_data(b"")  # only a proper end may end a body
        self._has_ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _event(self) -> Any:
        """What arrives next of the answer."""
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise httpx.RemoteProtocolError(str(error)) from None
            if event is not h11.NEED_DATA:
                return event
            await self._more()

    async def _more(self) -> None:
        """Wait until there is more to read, or the end."""
        if self._error is not None:
            raise httpx.ReadError(str(self._error))
        self._unread_bytes = 0
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None
