"""A real backend that counts what Calc sends it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.tls.certificates import Certificate
from tests.embedded import EmbeddedService


class Counted:
    """A running backend's address and the paths it was asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.url = ""
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.paths.append(scope["path"])
        await self._app(scope, receive, send)

    @property
    def batches(self) -> int:
        """How many batches of calls came."""
        return self.paths.count("/functions/call")


@contextmanager
def counted_backend(
    service: EmbeddedService, folder: Path, *, certificate: Certificate | None = None, port: int = 0, **settings: Any
) -> Iterator[Counted]:
    """A backend with a cold cache inside the block."""
    chosen = Settings(url=service.url, cache_dir=folder / "backend-cache", **settings)
    keys = KeyStore(service.url, open_keychain=no_keychain, file=folder / "keys.json")
    counted = Counted(create_app(chosen, keys=keys, key=ConfiguredKey(service.key, KeySource.CONFIG)))
    with running(counted, listen("127.0.0.1", port, certificate)) as url:
        counted.url = url
        yield counted


def unused_url() -> str:
    """An address where nothing listens."""
    listener = listen("127.0.0.1", 0)
    try:
        return listener.url
    finally:
        listener.socket.close()
