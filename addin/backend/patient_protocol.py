"""HTTP connections that do not wait for ever: a request has to begin and to arrive within a time."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """uvicorn's connection, closed when no whole request line with headers arrives within `receive_timeout_s`.

    The body has a limit of its own (`addin.backend.http.read_body`), because only there a refusal can say why.
    """

    receive_timeout_s: ClassVar[float]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        super().data_received(data)
        self._await_request()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        """Let the time run while no request is being worked on; bytes that trickle in do not renew it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.receive_timeout_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol_with_timeout(receive_timeout_s: float) -> type[H11Protocol]:
    """The protocol for a server on which a request has to arrive within so many seconds."""
    return type("TimedProtocol", (TimedProtocol,), {"receive_timeout_s": receive_timeout_s})
