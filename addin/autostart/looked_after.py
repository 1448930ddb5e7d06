"""What happens beside the answering while a backend runs for weeks: a look every few seconds, in a thread."""

from __future__ import annotations

import logging
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
def looked_after(
    server: uvicorn.Server, certificate: Certificate | None, goes_on: Callable[[], bool], *, every_s: float = LOOK_S
) -> Iterator[None]:
    """Inside the block, end the server when `goes_on` says no, and give new connections a renewed certificate."""
    ended = threading.Event()
    version = _version(certificate)

    def look() -> None:
        nonlocal version
        while not ended.wait(every_s):
            try:
                server.should_exit |= not goes_on()
                if version != (version := _version(certificate)):
                    _use(server, certificate)
            except Exception as error:  # noqa: BLE001 - whatever it is, the backend goes on answering
                _log.warning("looking after the backend failed: %s: %s", type(error).__name__, error)

    thread = threading.Thread(target=look, name="look after the backend", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _version(certificate: Certificate | None) -> int | None:
    try:
        return certificate.certificate.stat().st_mtime_ns if certificate else None
    except OSError:
        return None


def _use(server: uvicorn.Server, certificate: Certificate | None) -> None:
    """Connections from now on get the certificate that the files hold."""
    context = server.config.ssl
    if certificate is not None and context is not None and certificate.certificate.exists():
        context.load_cert_chain(certificate.certificate, certificate.private_key)
        _log.info("the certificate was renewed; new connections use it")
