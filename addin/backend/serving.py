"""The backend on a port: until the process is told to stop, or in a thread of its own."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from addin.autostart.watching import maintained
from addin.backend.connections import LimitedSocket, handles_allowed
from addin.backend.limits.reading import protocol_with_timeout
from addin.backend.operation.allocator import share_arenas
from addin.backend.operation.request_log import SparingFilter
from addin.errors import AddinError

if TYPE_CHECKING:
    from addin.tls.certificates import Certificate  # cryptography takes long to load: only with a certificate

GRACE_S = 2.0
"""How long requests under way may take after the signal to stop, in seconds."""

MAX_CONNECTIONS = 500
RECEIVE_TIMEOUT_S = 30.0

PORTS_TRIED = 10
"""So many pages of one kind may be open on a machine before one gets a port that it may never have again."""

ACCEPTED_TOGETHER = 8
"""Connections accepted in one go: few, so that the limit is met in time and several workers get their share."""

GC_THRESHOLDS = (10_000, 2, 1_000)
"""Objects before a collection of the youngest; how many of these before the next older ones are collected, and how many
of those before all are. The second takes a few hundredths of a second, and nobody may have to wait for longer."""

SAME_WARNINGS = 10
"""Of equal warnings only so many a minute are logged: whoever sends nonsense must not fill the disk."""

_SPARING = SparingFilter(SAME_WARNINGS)


TICK_S = 0.05


@dataclass(frozen=True, slots=True)
class Stopping:
    """The end of a backend: what it does first, and what it grants to callers, in seconds.

    For `drain_s` it answers as before, so that a proxy can send new callers elsewhere; requests that are under way then
    may take `grace_s` more.
    """

    begin: Callable[[], object] = lambda: None
    drain_s: float = 0.0
    grace_s: float = GRACE_S


AT_ONCE = Stopping()


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound port, the certificate to use on it, and how long a request may take to arrive."""

    socket: socket.socket
    certificate: Certificate | None = None
    receive_timeout_s: float = RECEIVE_TIMEOUT_S

    @property
    def url(self) -> str:
        """The address for users: localhost in place of the loopback address, because certificates are made for it."""
        host, port = self.socket.getsockname()[:2]
        name = "localhost" if host in ("127.0.0.1", "::1") else f"[{host}]" if ":" in host else host
        return f"{'https' if self.certificate else 'http'}://{name}:{port}"


def listen(
    host: str,
    port: int,
    certificate: Certificate | None = None,
    *,
    max_connections: int = MAX_CONNECTIONS,
    receive_timeout_s: float = RECEIVE_TIMEOUT_S,
    is_private: bool = False,
) -> Listener:
    """Bind a port, 0 for a free one; raises `AddinError` if it is in use or may not be used.

    It holds `max_connections`, but at most half of the handles that the process may have: the others are for the
    service and the store. A request has to arrive within `receive_timeout_s` seconds. With `is_private` other accounts
    of this machine are refused, where the system tells them apart.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        family, kind, protocol, _, address = found[0]
        bound = socket.create_server(address, family=family, dualstack_ipv6=family == socket.AF_INET6)
    except OSError as error:
        # Python adds the address as it writes it; what the name server says has no number of the system.
        reason = os.strerror(error.errno) if error.errno is not None and error.errno > 0 else error.strerror
        raise AddinError(
            f"cannot listen on {host} port {port}: {reason}. "
            "Is the backend running already? Choose another port with --port."
        ) from None
    # The protocol is named because asyncio turns off Nagle's algorithm only then; with it some answers wait 40 ms.
    named = socket.socket(family, kind, protocol, fileno=bound.detach())
    limited = LimitedSocket(named, min(max_connections, handles_allowed() // 2), is_private=is_private)
    return Listener(limited, certificate, receive_timeout_s)


def listen_at_home(
    port: int | None, home: int, certificate: Certificate | None = None, *, is_private: bool = False
) -> Listener:
    """Bind this port of this machine, or the first free one from `home` on; raises `AddinError` if it is in use.

    A browser keeps what it stores for a page by its address with the port, so a page should have the same each time.
    """
    ways = range(home, home + PORTS_TRIED) if port is None else (port,)
    for each in ways:
        try:
            return listen("127.0.0.1", each, certificate, is_private=is_private)
        except AddinError:
            if port is not None:
                raise
    return listen("127.0.0.1", 0, certificate, is_private=is_private)


def serve(
    app: ASGIApp,
    listener: Listener,
    *,
    goes_on: Callable[[], bool] = lambda: True,
    stopping: Stopping = AT_ONCE,
) -> None:
    """Answer requests until Ctrl-C or SIGTERM, or until `goes_on` says no; then finish those under way and close.

    `goes_on` is called every few seconds in a thread. It may renew the certificate: new connections get the new one.
    """
    prepare_process()
    server = BackendServer(app, listener, stopping)
    with maintained(server, listener.certificate, goes_on), suppress(KeyboardInterrupt):
        server.run(sockets=[listener.socket])


def prepare_process() -> None:
    """Load in the background what the first table needs, and keep the log and the memory small."""
    share_arenas()
    # This takes half a second, for which the first table would have to wait.
    threading.Thread(target=_load_and_freeze, name="load pandas", daemon=True).start()
    _keep_log_small()


def _keep_log_small() -> None:
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(_SPARING)


def _load_and_freeze() -> None:
    """Load what the first table needs. What is loaded never becomes garbage, so no collection looks at it again."""
    import_module("pandas")
    collect_rarely()


def collect_rarely() -> None:
    """Let collections leave out what is loaded by now, and come less often.

    A batch of a hundred thousand cells makes millions of objects: looking at all of them again and again, as the
    defaults do, would keep everybody waiting for tenths of a second each time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


@contextmanager
def running(app: ASGIApp, listener: Listener) -> Iterator[str]:
    """Run a backend in a thread inside the block, and yield its address."""
    _keep_log_small()
    server = BackendServer(app, listener)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    thread.start()
    server.ready.wait()
    try:
        yield listener.url
    finally:
        server.should_exit = True
        thread.join()


ROUNDS_TO_CLOSE = 3
"""Turns of the loop in which the last connections are closed: one just accepted is known only in the turn after."""


class BackendServer(uvicorn.Server):
    """A server that signals when it listens, and that stops so that no caller is lost.

    Told to stop, it first says to whoever looks after it that it is going (`Stopping.begin`), and answers everybody for
    a while; then nobody can connect any more, and what is under way has its time.
    """

    def __init__(self, app: ASGIApp, listener: Listener, stopping: Stopping = AT_ONCE) -> None:
        super().__init__(_config(app, listener, stopping.grace_s))
        self.ready = threading.Event()
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Announce it, let nobody in any more, and finish what is under way."""
        self._stopping.begin()
        until = time.monotonic() + self._stopping.drain_s
        while time.monotonic() < until and not self.force_exit:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(TICK_S)
        for server in self.servers:
            server.close()
        await asyncio.sleep(TICK_S)  # what somebody sent in the last moment is taken
        closing = asyncio.create_task(self._close_late_ones())
        await super().shutdown(sockets)
        closing.cancel()
        for _ in range(ROUNDS_TO_CLOSE):
            for connection in list(self.server_state.connections):
                connection.transport.abort()
            await asyncio.sleep(0)

    async def _close_late_ones(self) -> None:
        """Close connections that uvicorn did not know yet when it closed them: it would wait for their callers."""
        known = set(self.server_state.connections)
        while True:
            await asyncio.sleep(TICK_S)
            for connection in known & self.server_state.connections:
                if not connection.transport.is_closing():  # closed twice, one of TLS could not be aborted any more
                    connection.shutdown()
            known = set(self.server_state.connections)


def _config(app: ASGIApp, listener: Listener, grace_s: float) -> uvicorn.Config:
    """Return how uvicorn serves `app`."""
    certificate = listener.certificate
    return uvicorn.Config(
        app,
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        loop="asyncio",
        http=protocol_with_timeout(listener.receive_timeout_s),
        backlog=ACCEPTED_TOGETHER,
        timeout_graceful_shutdown=ceil(grace_s),
        ssl_certfile=certificate.certificate if certificate else None,
        ssl_keyfile=certificate.private_key if certificate else None,
    )
