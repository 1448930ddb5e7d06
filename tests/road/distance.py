"""A service moved away: everything passes a process in between, which holds it back for half a round trip each way."""

from __future__ import annotations

import asyncio
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

SELF = (sys.executable, "-m", "tests.road.distance")


@contextmanager
def far_away(port: int, round_trip_s: float, *, dropped: float = 0.0) -> Iterator[int]:
    """The port of this machine at which what listens at `port` seems to be `round_trip_s` away.

    A share `dropped` of what comes back is lost together with its connection.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        arguments = [str(listener.fileno()), str(port), str(round_trip_s), str(dropped)]
        process = subprocess.Popen([*SELF, *arguments], pass_fds=[listener.fileno()])
        try:
            yield listener.getsockname()[1]
        finally:
            process.terminate()
            process.wait()


class _End(asyncio.Protocol):
    """One end of a connection; what it receives is sent by the other end a while later."""

    def __init__(self, one_way_s: float, is_lost: Callable[[], bool]) -> None:
        self._one_way_s = one_way_s
        self._is_lost = is_lost
        self._loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.other: _End | None = None
        self._waiting: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self.transport = transport  # type: ignore[assignment]  # of a connection it is a whole transport
        for data in self._waiting:
            self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        if self._is_lost():
            self._abort()
        else:
            self._later(partial(self._send, data))

    def eof_received(self) -> None:
        """Called by the event loop."""
        self._later(self._close)

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the event loop."""
        self._later(self._close)

    def _later(self, step: Callable[[], None]) -> None:
        if self._one_way_s:
            self._loop.call_later(self._one_way_s, step)
        else:
            step()

    def _send(self, data: bytes) -> None:
        if self.other is None:
            return
        if self.other.transport is None:
            self.other._waiting.append(data)
        elif not self.other.transport.is_closing():
            self.other.transport.write(data)

    def _close(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()

    def _abort(self) -> None:
        for end in (self, self.other):
            if end is not None and end.transport is not None:
                end.transport.abort()


class _Caller(_End):
    """The end at the client: the service is reached a round trip later, as long as a handshake of TCP takes."""

    def __init__(self, port: int, one_way_s: float, is_lost: Callable[[], bool]) -> None:
        super().__init__(one_way_s, lambda: False)
        self._port = port
        self._connecting: asyncio.Task[None] | None = None
        self.other = _End(one_way_s, is_lost)
        self.other.other = self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        super().connection_made(transport)
        self._loop.call_later(2 * self._one_way_s, self._begin)

    def _begin(self) -> None:
        self._connecting = asyncio.ensure_future(self._connect())

    async def _connect(self) -> None:
        try:
            await self._loop.create_connection(lambda: self.other, "127.0.0.1", self._port)  # type: ignore[arg-type, return-value]
        except OSError:
            self._abort()


async def _serve(listener: socket.socket, port: int, round_trip_s: float, dropped: float) -> None:
    chance = random.Random(5)
    make = partial(_Caller, port, round_trip_s / 2, lambda: chance.random() < dropped)
    server = await asyncio.get_running_loop().create_server(make, sock=listener)
    await server.serve_forever()


if __name__ == "__main__":
    handle, port_, away_s, lost = sys.argv[1:]
    asyncio.run(_serve(socket.socket(fileno=int(handle)), int(port_), float(away_s), float(lost)))
