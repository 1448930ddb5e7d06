"""TCP for httpcore on asyncio itself: its own way there, through anyio, takes longer than all the rest of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from select import select
from typing import Any

import httpcore

HAPPY_EYEBALLS_S = 0.25
"""The delay of RFC 8305 before the next address of a name is tried beside the one that does not answer."""

MOST_UNREAD_BYTES = 2**20
"""More is not taken from the network before what is there was read."""


class Tcp(httpcore.AsyncNetworkBackend):
    """Opens plain TCP connections in the running event loop. Only connecting is timed: callers time whole exchanges."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002 - none are ever given
    ) -> httpcore.AsyncNetworkStream:
        """A connection to `host`; raises `httpcore.ConnectError` or `httpcore.ConnectTimeout` if there is none."""
        loop = asyncio.get_running_loop()
        local = None if local_address is None else (local_address, 0)
        try:
            async with asyncio.timeout(timeout):
                _, received = await loop.create_connection(
                    _Received, host, port, local_addr=local, happy_eyeballs_delay=HAPPY_EYEBALLS_S
                )
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        return _Stream(received)


class _Received(asyncio.Protocol):
    """What has arrived of one connection and was not read yet."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.has_ended = False
        self.error: Exception | None = None
        self.transport: asyncio.Transport
        self._is_paused = False
        self._waiting: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # of a connection it is a whole transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        if len(self.data) > MOST_UNREAD_BYTES and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.has_ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self.has_ended, self.error = True, error
        self._wake()

    async def more(self) -> None:
        """Wait until there is something to read, or the end."""
        if not self.data and not self.has_ended:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None

    def take(self, max_bytes: int) -> bytes:
        """What there is, `max_bytes` at most."""
        taken = bytes(self.data[:max_bytes])
        del self.data[:max_bytes]
        if self._is_paused and len(self.data) <= MOST_UNREAD_BYTES:
            self._is_paused = False
            self.transport.resume_reading()
        return taken

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class _Stream(httpcore.AsyncNetworkStream):
    """One connection, as httpcore uses it."""

    def __init__(self, received: _Received) -> None:
        self._received = received

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - see `Tcp`
        """What arrives next; nothing at the end."""
        await self._received.more()
        if not self._received.data and self._received.error is not None:
            raise httpcore.ReadError(str(self._received.error))
        return self._received.take(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - see `Tcp`
        """Send `buffer`: the head of a request, which is small."""
        if self._received.transport.is_closing():
            raise httpcore.WriteError("the connection is closed")
        self._received.transport.write(buffer)

    async def aclose(self) -> None:
        """Close the connection at once."""
        self._received.transport.abort()
        await asyncio.sleep(0)  # the loop closes the socket in its next turn

    def get_extra_info(self, info: str) -> Any:
        """Whether an idle connection is over (`is_readable`); all else is not known here."""
        return self._is_over() if info == "is_readable" else None

    def _is_over(self) -> bool:
        """Whether the service has closed it, or sent what nobody asked for, also if the loop has not seen that yet."""
        if self._received.data or self._received.has_ended or self._received.transport.is_closing():
            return True
        socket = self._received.transport.get_extra_info("socket")
        try:
            return bool(select([socket], [], [], 0)[0])
        except (OSError, ValueError):  # no such place for it in `select`: then the loop tells soon enough
            return False
