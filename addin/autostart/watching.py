"""What happens beside the answering while a backend runs for weeks: a look every few seconds, in a thread."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from addin.tls.certificates import Certificate

LOOK_S = 2.0
"""The pause between two looks: whoever removes the backend waits as long."""

_log = logging.getLogger(__name__)


@contextmanager
def maintained(
    server: uvicorn.Server, certificate: Certificate | None, goes_on: Callable[[], bool], *, every_s: float = LOOK_S
) -> Iterator[None]:
    """Inside the block, end the server when `goes_on` says no, and give new connections a renewed certificate."""
    renew = renewals(server.config, certificate)

    def look() -> None:
        server.should_exit |= not goes_on()
        renew()

    with watched(look, every_s=every_s):
        yield


@contextmanager
def watched(look: Callable[[], object], *, every_s: float = LOOK_S) -> Iterator[None]:
    """Inside the block, call `look` every few seconds in a thread."""
    ended = threading.Event()
    thread = watch_in_thread(look, ended, every_s=every_s)
    try:
        yield
    finally:
        ended.set()
        thread.join()


def watch_in_thread(look: Callable[[], object], ended: threading.Event, *, every_s: float = LOOK_S) -> threading.Thread:
    """A thread that calls `look` every few seconds until `ended`, or the process ends; what it raises is logged."""

    def look_on() -> None:
        while not ended.wait(every_s):
            try:
                look()
            except Exception as error:  # noqa: BLE001 - whatever it is, the backend goes on answering
                _log.warning("looking after the backend failed: %s: %s", type(error).__name__, error)

    thread = threading.Thread(target=look_on, name="look after the backend", daemon=True)
    thread.start()
    return thread


def renewals(config: uvicorn.Config, certificate: Certificate | None) -> Callable[[], None]:
    """A function that gives new connections the certificate of the files, if that has changed since its last call."""
    version = _version(certificate)

    def renew() -> None:
        nonlocal version
        found = _version(certificate)
        if version != found:
            _use(config, certificate)
            version = found  # not before: while the files are written, certificate and key may not fit

    return renew


def _version(certificate: Certificate | None) -> int | None:
    try:
        return certificate.certificate.stat().st_mtime_ns if certificate else None
    except OSError:
        return None


def _use(config: uvicorn.Config, certificate: Certificate | None) -> None:
    """Connections from now on get the certificate that the files hold, and those that begin just now one of both."""
    context = config.ssl
    if certificate is not None and context is not None and certificate.certificate.exists():
        renewed = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        renewed.load_cert_chain(certificate.certificate, certificate.private_key)  # raises if they do not fit

        def take(connection: ssl.SSLObject | ssl.SSLSocket, *_: object) -> None:
            connection.context = renewed

        # Loaded into the context in use, there would be a moment with the new certificate and the old key.
        context.sni_callback = take
        _log.info("the certificate was renewed; new connections use it")
