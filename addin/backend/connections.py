"""Callers' connections: no more than the process can hold, and none that waits for ever without sending a request.

A process without a file handle left can neither accept nor refuse: the event loop logs the same error for each attempt
and tries again for ever.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections import Counter
from contextlib import suppress
from typing import Any

from addin.backend.os_accounts import is_of_another_account

NO_HANDLE = frozenset({errno.EMFILE, errno.ENFILE})

MAX_WAITING = 128
"""Connections that the system holds for us until they are accepted."""

ADDRESS_PART = 2
"""One address has at most one such part of the connections."""

UNREAD_MS = 30_000
"""After so long without a sign that the caller reads what was sent, the system closes the connection."""


def _refusal(status: bytes, reason: bytes) -> bytes:
    content = b'{"error":"%b"}' % reason
    head = b"content-type: application/json\r\nconnection: close\r\nretry-after: 5\r\n"
    return b"HTTP/1.1 %b\r\n%bcontent-length: %d\r\n\r\n%b" % (status, head, len(content), content)


REFUSAL = _refusal(b"503 Service Unavailable", b"the backend has too many connections (setting max_connections)")
FOREIGN = _refusal(
    b"403 Forbidden", b"this backend belongs to another account of this machine (setting other_accounts)"
)


def handles_allowed() -> int:
    """Return how many files and sockets this process may hold open."""
    if sys.platform == "win32":
        return 8_192  # Windows has no such limit for sockets; this is enough for any backend
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


class LimitedSocket(socket.socket):
    """A listening socket with at most `max_connections` open; it takes over the descriptor of `bound`.

    With `is_private` other accounts of this machine are refused, where the system tells them apart.
    """

    def __init__(self, bound: socket.socket, max_connections: int, *, is_private: bool = False) -> None:
        super().__init__(bound.family, bound.type, bound.proto, fileno=bound.detach())
        self._most = max_connections
        self._is_private = is_private
        self._open = 0
        self._of: Counter[str] = Counter()
        # Kept for the moment when no handle is left: closing it gives the one that a refusal needs.
        self._spare = os.open(os.devnull, os.O_RDONLY)

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection; raises `ConnectionAbortedError`, as for a caller that left, for one too many."""
        try:
            connection, address = super().accept()
        except OSError as error:
            if error.errno in NO_HANDLE:
                self._refuse_without_handle()
            raise
        if self._is_private and is_of_another_account(connection):
            _refuse(connection, FOREIGN)
            raise ConnectionAbortedError
        caller = str(address[0]) if isinstance(address, tuple) else ""
        if self._open >= self._most or not self._has_room_for(caller):
            _refuse(connection)
            raise ConnectionAbortedError
        self._open += 1
        self._of[caller] += 1
        if sys.platform == "linux":  # else whoever reads nothing keeps what the system and the server hold for it
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        return _Connection(connection, self, caller), address

    def listen(self, backlog: int = MAX_WAITING, /) -> None:
        """Listen; callers wait for their turn, however few are accepted in one go."""
        super().listen(max(backlog, MAX_WAITING))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a process that is being started gets it: the same socket, with a count of its own."""
        from multiprocessing.reduction import DupFd

        return _received, (DupFd(self.fileno()), self.family, self.type, self.proto, self._most, self._is_private)

    def closed_one(self, caller: str) -> None:
        """One of a caller's connections was closed."""
        self._open -= 1
        self._of[caller] -= 1
        if not self._of[caller]:
            del self._of[caller]

    def _has_room_for(self, caller: str) -> bool:
        """Return whether an address may have one more; a proxy on this machine stands for many callers."""
        is_near = caller in ("", "::1") or caller.startswith(("127.", "::ffff:127."))
        return is_near or self._of[caller] < max(1, self._most // ADDRESS_PART)

    def close(self) -> None:
        """Stop listening."""
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1
        super().close()

    def _refuse_without_handle(self) -> None:
        if self._spare < 0:
            return
        os.close(self._spare)
        try:
            connection, _ = super().accept()
            _refuse(connection)
        finally:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        raise ConnectionAbortedError


def _received(
    handle: Any, family: int, kind: int, protocol: int, max_connections: int, is_private: bool
) -> LimitedSocket:
    bound = socket.socket(family, kind, protocol, fileno=handle.detach())
    return LimitedSocket(bound, max_connections, is_private=is_private)


class _Connection(socket.socket):
    """A connection that tells its listener when it is closed."""

    def __init__(self, accepted: socket.socket, listener: LimitedSocket, caller: str) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        self._listener: LimitedSocket | None = listener
        self._caller = caller

    def close(self) -> None:
        """Close it, once."""
        super().close()
        if self._listener is not None:
            self._listener.closed_one(self._caller)
            self._listener = None


def _refuse(connection: socket.socket, refusal: bytes = REFUSAL) -> None:
    """Say why, without waiting for anything, and close."""
    with connection, suppress(OSError):  # a caller that is gone needs no reason
        connection.settimeout(0)
        connection.send(refusal)
