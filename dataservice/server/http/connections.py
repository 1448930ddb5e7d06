"""Connections within bounds: none may wait for ever with half a request, and not so many that no file can be opened."""

import asyncio
import sys
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

BACKLOG = 128
"""Early callers wait instead of being refused; of so many asyncio accepts in one go, before they are counted."""

KEPT_HANDLES = BACKLOG + 64
"""Left for those accepted in one go, for the database and for the program's own files."""

USUAL_HANDLES = 512
"""What Windows gives a program, which cannot be asked there."""

_FULL = b'{"error":"the service has as many connections as it can hold; try again in a minute"}'

TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 60\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_FULL), _FULL)
)


def connections_at_most() -> int:
    """Return how many connections this process can hold at once."""
    if sys.platform == "win32":
        return USUAL_HANDLES - KEPT_HANDLES
    import resource

    handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(handles // 4, min(handles, 2**20) - KEPT_HANDLES)


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # h11's or httptools', whichever is installed
    """uvicorn's protocol with a time limit for each request's head and a limit of connections."""

    head_timeout_s = 20.0
    """Longer than any network needs for a few hundred bytes."""

    max_connections: int = connections_at_most()

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request, or refuse the connection where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.write(TOO_MANY)
            transport.close()
        else:
            self._begin()

    def data_received(self, data: bytes) -> None:
        """Pass on what arrived; the time is measured while a head is incomplete."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._end()
        elif self._deadline is None:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(self.head_timeout_s, self.transport.close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
