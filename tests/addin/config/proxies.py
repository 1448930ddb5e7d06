"""A service over https with a certificate of a firm's own authority, behind a proxy: both real, on this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select

from addin.backend import serving
from addin.tls.certificates import Certificates
from dataservice.server import create_app
from tests.addin.tls.test_certificates import NOW
from tests.embedded import EmbeddedService

HEAD_END = b"\r\n\r\n"


@contextmanager
def https_service(service: EmbeddedService, folder: Path) -> Iterator[tuple[str, Path]]:
    """The embedded service at an https address, and the file of the only authority that vouches for it."""
    own = Certificates(folder)
    own.ensure(NOW)
    with serving.running(create_app(service.store), serving.listen("127.0.0.1", 0, own.leaf)) as url:
        yield url, own.authority


@dataclass
class Proxy:
    """An HTTP proxy that opens tunnels; it notes where to, and what passed."""

    url: str
    asked: list[str] = field(default_factory=list)
    passed: bytearray = field(default_factory=bytearray)


@contextmanager
def proxy() -> Iterator[Proxy]:
    """A proxy that runs inside the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = Proxy(f"http://127.0.0.1:{listener.getsockname()[1]}")
        threading.Thread(target=_accept, args=(listener, running), daemon=True).start()
        yield running
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, running: Proxy) -> None:
    while True:
        try:
            caller, _ = listener.accept()
        except OSError:  # the block is over
            return
        threading.Thread(target=_tunnel, args=(caller, running), daemon=True).start()


def _tunnel(caller: socket.socket, running: Proxy) -> None:
    with caller:
        head = b""
        while HEAD_END not in head and (part := caller.recv(4096)):
            head += part
        method, target, _ = head.split(b"\r\n")[0].decode().split()
        running.asked.append(f"{method} {target}")
        host, _, port = target.rpartition(":")
        try:
            service = socket.create_connection((host, int(port)))
        except OSError:
            caller.sendall(b"HTTP/1.1 502 Bad gateway" + HEAD_END)
            return
        with service, suppress(OSError):
            caller.sendall(b"HTTP/1.1 200 Connection established" + HEAD_END)
            _pass_on(caller, service, running)


def _pass_on(caller: socket.socket, service: socket.socket, running: Proxy) -> None:
    while True:
        for ready in select([caller, service], [], [])[0]:
            part = ready.recv(65_536)
            if not part:
                return
            running.passed += part
            (service if ready is caller else caller).sendall(part)
