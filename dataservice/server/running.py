"""The service on a real port: until Ctrl-C, or inside the calling process for tests, the demo and benchmarks."""

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from dataservice.server.db.repository import Store
from dataservice.server.http.access_log import LOG_CONFIG
from dataservice.server.http.app import create_app
from dataservice.server.http.connections import BACKLOG, BoundedProtocol
from dataservice.server.variants import Variant, VariantMiddleware
from dataservice.worker_processes import NoWorkerError, WorkerProcesses, answer

REMEMBERED_REQUESTS = 1_000_000
"""More than any test or benchmark sends; beyond it old requests are forgotten, so memory does not fill."""

SERVER_OPTIONS: dict[str, Any] = {
    "http": BoundedProtocol,
    "backlog": BACKLOG,
    "lifespan": "off",
    "ws": "none",
    # Answers in progress may finish within so long; a simulated outage must not take longer.
    "timeout_graceful_shutdown": 2,
    # Longer than clients keep idle connections (httpx: 5 s), or one is closed just as the next request is sent.
    "timeout_keep_alive": 75,
}


def listen(host: str, port: int) -> socket.socket:
    """A listening TCP socket; port 0 picks a free one. `OSError` when the address is taken or not of this machine."""
    # The protocol is named because asyncio turns Nagle off only then, and with it an answer in two writes waits 40 ms.
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def address_of(listener: socket.socket) -> str:
    """The base URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    store: Store,
    listener: socket.socket,
    *,
    workers: int = 1,
    access_log: bool = False,
    variant: Mapping[str, str] | None = None,
) -> None:
    """Answer on a bound socket until Ctrl-C or SIGTERM; several workers are processes that share the database."""
    level = "info" if access_log else "warning"
    options = {**SERVER_OPTIONS, "log_level": level, "access_log": access_log, "server_header": False}
    options["log_config"] = LOG_CONFIG
    if workers == 1:
        with suppress(KeyboardInterrupt):  # uvicorn raises it again when all is closed; here it is the way to end
            uvicorn.Server(uvicorn.Config(_app(store, variant), **options)).run(sockets=[listener])
        return
    work = _Worker(store.database.location, listener, dict(variant or {}), options)
    with suppress(NoWorkerError):  # its own lines say why
        WorkerProcesses(work, workers, stop_s=SERVER_OPTIONS["timeout_graceful_shutdown"], let_go=listener.close).run()


@dataclass(frozen=True)
class _Worker:
    """The work of a worker: it answers on the port that it gets, from a store that it opens."""

    database: str
    listener: socket.socket
    variant: Mapping[str, str]
    options: Mapping[str, Any]

    def __call__(self, beat: Callable[[], None]) -> None:
        """Answer until told to stop."""
        config = uvicorn.Config(_app(Store(self.database), self.variant), **self.options)
        answer(uvicorn.Server(config), self.listener, beat)


def _app(store: Store, variant: Mapping[str, str] | None) -> ASGIApp:
    app: ASGIApp = create_app(store)
    return VariantMiddleware(app, store, Variant(variant)) if variant else app


class RunningService:
    """An embedded service on 127.0.0.1 that can be stopped and started again on the same port.

    `latency_s` may be changed while it runs: every answer waits so long first.
    """

    def __init__(
        self, store: Store, *, port: int = 0, latency_s: float = 0.0, variant: Mapping[str, str] | None = None
    ) -> None:
        self.store = store
        self.latency_s = latency_s
        self.port = port
        self._requests: deque[str] = deque(maxlen=REMEMBERED_REQUESTS)
        self._app = _app(store, variant)
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[str]:
        """Path and query of every request that arrived, oldest first, refused ones too."""
        return list(self._requests)

    @property
    def request_count(self) -> int:
        """Return how many requests arrived."""
        return len(self._requests)

    def forget_requests(self) -> None:
        """Start counting again."""
        self._requests.clear()

    def start(self) -> None:
        """Listen and answer; returns when the first request can be sent."""
        if self._thread is not None:
            raise RuntimeError(f"the service already runs at {self.url}")
        listener = listen("127.0.0.1", self.port)
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._observed, interface="asgi3", log_level="warning", access_log=False, **SERVER_OPTIONS
        )
        self._server = _Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name=f"dataservice:{self.port}", daemon=True
        )
        self._thread.start()
        self._server.ready.wait()

    def stop(self) -> None:
        """Close the port: callers are refused until `start`. Does nothing when stopped."""
        if self._server is None or self._thread is None:
            return
        self._server.stop()
        self._thread.join()
        self._server = self._thread = None

    async def _observed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application, which notes each request and waits before it answers."""
        query = scope["query_string"].decode("ascii")
        self._requests.append(scope["path"] + (f"?{query}" if query else ""))
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        await self._app(scope, receive, send)


@contextmanager
def running(
    store: Store | str | Path, *, port: int = 0, latency_s: float = 0.0, variant: Mapping[str, str] | None = None
) -> Iterator[RunningService]:
    """An embedded service that runs inside the block, on a free port of 127.0.0.1 unless `port` names one.

    A path or URL in place of a store is opened and closed with the block. With a `variant` (switches and their values)
    it answers otherwise where the contract leaves it open.

        with running(store) as service:
            httpx.get(f"{service.url}/v1/signals", headers={"Authorization": f"Bearer {key}"})
    """
    if not isinstance(store, Store):
        with (
            closing(Store(store)) as opened,
            running(opened, port=port, latency_s=latency_s, variant=variant) as service,
        ):
            yield service
        return
    service = RunningService(store, port=port, latency_s=latency_s, variant=variant)
    service.start()
    try:
        yield service
    finally:
        service.stop()


class _Server(uvicorn.Server):
    """A uvicorn server that says when it listens, and ends as soon as it is told and nobody is there."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_told = asyncio.Event()

    def stop(self) -> None:
        """Begin to end, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._is_told.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Go on until told to stop; uvicorn looks ten times a second."""
        ticks = asyncio.create_task(super().main_loop())
        await self._is_told.wait()
        ticks.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; only where somebody is there uvicorn's pause is of use, in which answers leave."""
        await asyncio.sleep(0)  # who has gone just now is seen to
        if self.server_state.connections:
            await super().shutdown(sockets)
            return
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
