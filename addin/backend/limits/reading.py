"""Reading requests: within a time, and in turns where one comes in so many pieces that reading it takes long."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

PIECE_S = 0.005
"""Reading what has arrived at one connection takes so long at a time, in processor time: on a busy machine every small
request would wait behind the bodies that are taken in turns."""

FEW_LINES = 50
"""With more lines in one go, which a request in many chunks or headers has, reading takes longer than a thousandth."""

READ_BYTES = 2**15
"""Taken from a connection in one go, and then nothing until the request wants it: asyncio takes eight times as much,
uvicorn twice, which four hundred callers that wait for room make a lot."""

READ_TOGETHER = 8
"""Connections that are read from in one round of the loop: with four hundred that send large bodies one would take a
twentieth of a second, and a small request several rounds."""

BEGUN_TOGETHER = 4
"""Connections whose first request is taken in one round of the loop: of those that exist others go on meanwhile."""

MAX_HEADERS = 200
"""Browsers and proxies send thirty; more would take a tenth of a second to read."""

MAX_HEAD_BYTES = 2**16
"""Of request line and headers."""


class ReadingQueue:
    """Connections that are to be read from, in turns: a few, then everything else of the loop."""

    def __init__(self, at_a_time: int) -> None:
        self._at_a_time = at_a_time
        self._waiting: deque[Callable[[], None]] = deque()
        self._goes_on = False

    def add(self, read_on: Callable[[], None]) -> None:
        """Read a piece when it is its turn."""
        self._waiting.append(read_on)
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and not self._goes_on:
            self._goes_on = True
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._goes_on = False
        try:
            for _ in range(min(self._at_a_time, len(self._waiting))):
                self._waiting.popleft()()
        finally:
            self._go_on()


class ReadingTurns:
    """The turns of all connections: of their first requests, of pieces that take long to read, of reading at all."""

    def __init__(self) -> None:
        self.beginning = ReadingQueue(BEGUN_TOGETHER)
        self.parsing = ReadingQueue(1)
        self.reading = ReadingQueue(READ_TOGETHER)


class FlowInTurns(FlowControl):
    """When a connection is read from: who wants more of its request waits for a turn among all of them."""

    def __init__(self, transport: asyncio.Transport, queue: ReadingQueue) -> None:
        super().__init__(transport)
        self._queue = queue
        self._is_queued = self._is_wanted = False

    def pause_reading(self) -> None:
        """Read no more, and wait for no turn."""
        self._is_wanted = False
        super().pause_reading()

    def resume_reading(self) -> None:
        """Read on when it is the turn."""
        self._is_wanted = True
        if self.read_paused and not self._is_queued:
            self._is_queued = True
            self._queue.add(self._read_on)

    def _read_on(self) -> None:
        self._is_queued = False
        if self._is_wanted and not self._transport.is_closing():
            super().resume_reading()


class PatientConnection(h11.Connection):
    """h11's reader, which stops after `PIECE_S`: a body may come in a hundred thousand chunks of a byte."""

    def __init__(self, max_incomplete_event_size: int) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size)
        self._until = 0.0
        self.is_cut_short = False
        """Whether it stopped although there may be more to read."""

    def begin(self) -> None:
        """Begin a piece."""
        self._until = time.thread_time() + PIECE_S
        self.is_cut_short = False

    def next_event(self) -> Any:
        """Return the next event, or that there is none, because the piece has been long enough."""
        if time.thread_time() > self._until:
            self.is_cut_short = True
            return h11.NEED_DATA
        return super().next_event()


class TimedProtocol(H11Protocol):
    """uvicorn's connection, closed when no whole request line with headers arrives within `receive_timeout_s`.

    What takes long to read, because of many lines, is read in turns with that of other connections; so is the rest of a
    body whose request was refused, which is taken only because else its sender would not see why. The body has a limit
    of its own (`addin.backend.http.read_body`), because only there a refusal can say why.
    """

    def __init__(self, *args: Any, receive_timeout_s: float, turns: ReadingTurns, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.receive_timeout_s = receive_timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._turns = turns
        self.conn: PatientConnection = PatientConnection(MAX_HEAD_BYTES)
        self._parts: deque[bytes] = deque()
        self._is_waiting = False
        self._head_lines = 0
        self._is_new = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES
        self.flow = FlowInTurns(transport, self._turns.reading)
        self.flow.pause_reading()
        self.flow.resume_reading()
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        if self._is_waiting or self._is_new or data.count(b"\n") > FEW_LINES:
            self._parts.append(data)
            self._wait()
        else:
            self._take(data)
            if self._is_answered_early:
                self._wait()
        self._await_request()

    def handle_events(self) -> None:
        """Work on what can be read now; if there is much, on the rest when it is its turn."""
        self.conn.begin()
        super().handle_events()
        if self.conn.is_cut_short:
            self._wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        self._parts.clear()
        super().connection_lost(exc)

    @property
    def _is_answered_early(self) -> bool:
        """Return whether the answer has left, and the body still comes."""
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

    @property
    def _is_wanted(self) -> bool:
        """Return whether the body comes for a request that may still read it."""
        return self.conn.their_state is h11.SEND_BODY and self.conn.our_state is not h11.DONE

    def _take(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE:
            self._head_lines += data.partition(b"\r\n\r\n")[0].count(b"\n")
            if self._head_lines > MAX_HEADERS:
                self.send_400_response("Too many headers.")
                return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_lines = 0
        if self._is_wanted and self.cycle is not None and len(self.cycle.body) >= READ_BYTES // 2:
            self.flow.pause_reading()

    def _wait(self) -> None:
        self.transport.pause_reading()  # each time: a request that wants its body resumes it
        if not self._is_waiting:
            self._is_waiting = True
            (self._turns.beginning if self._is_new else self._turns.parsing).add(self._read_on)
            self._is_new = False

    def _read_on(self) -> None:
        self._is_waiting = False
        if self.transport.is_closing():
            self._parts.clear()
            return
        if self._parts:
            self._take(self._parts.popleft())
        else:
            self.handle_events()
        if self._parts:
            self._wait()
        if not self._is_waiting and not self.flow.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()
        self._await_request()

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
    made = partial(TimedProtocol, receive_timeout_s=receive_timeout_s, turns=ReadingTurns())
    return cast("type[H11Protocol]", made)
