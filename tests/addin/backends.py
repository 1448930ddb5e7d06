"""Backends for tests: real ones, over real HTTP, in front of an embedded service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from addin.backend import create_app
from addin.backend.serving import Listener, listen, running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.errors import AddinError
from addin.excel import pages
from addin.protocol.messages import Reply
from tests.embedded import EmbeddedService


@dataclass(frozen=True)
class RunningBackend:
    """A backend and a connection to it."""

    http: httpx.Client
    keys: KeyStore

    @property
    def url(self) -> str:
        """The backend's address."""
        return str(self.http.base_url).rstrip("/")

    def batch(self, *calls: list[Any], **headers: str) -> dict[str, Any]:
        """Send calls as one batch; the whole response."""
        response = self.http.post("/functions/call", json={"calls": list(calls)}, headers=headers)
        assert response.status_code == 200, response.text
        msgspec.json.decode(response.content, type=Reply)  # it follows the protocol
        return response.json()

    def values(self, *calls: list[Any]) -> list[Any]:
        """The values of calls that give one each; an error's text in the place of a value."""
        return [answer.get("value", answer.get("message")) for answer in self.batch(*calls)["answers"]]

    def refresh(self, mode: str = "stale") -> dict[str, Any]:
        """Ask again from now on."""
        return self.http.post("/refresh", json={"mode": mode}).json()


USUAL_PORTS: list[int] = []
"""Where this process's backends listened so far."""


def usual_listener() -> Listener:
    """The first of this process's ports that is free: a browser has the scripts of its address already."""
    for port in USUAL_PORTS:
        with suppress(AddinError):
            return listen("127.0.0.1", port)
    found = listen("127.0.0.1", 0)
    USUAL_PORTS.append(found.socket.getsockname()[1])
    return found


@contextmanager
def backend_of(
    service: EmbeddedService, folder: Path, *, key: str | None = None, **settings: Any
) -> Iterator[RunningBackend]:
    """A backend inside the block, with its cache and its key file in `folder`; the Pro key unless another is given."""
    chosen = Settings(**{"url": service.url, "cache_dir": folder / "cache", **settings})
    keys = KeyStore(chosen.url, open_keychain=no_keychain, file=folder / "keys.json")
    in_use = ConfiguredKey(service.key if key is None else key, KeySource.CONFIG) if key != "" else None
    app = create_app(chosen, keys=keys, key=in_use, pages=pages.routes(chosen))
    with running(app, usual_listener()) as url, httpx.Client(base_url=url, timeout=60) as http:
        yield RunningBackend(http, keys)


@pytest.fixture(scope="session")
def sample_backend(
    sample_service: EmbeddedService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningBackend]:
    """Return a backend for the whole session, for tests that count nothing and change nothing."""
    with backend_of(sample_service, tmp_path_factory.mktemp("backend")) as running_backend:
        yield running_backend


@pytest.fixture
def backend(service: EmbeddedService, tmp_path: Path) -> Iterator[RunningBackend]:
    """Return a backend with a cold cache and a Pro key, before a service that counts from zero."""
    with backend_of(service, tmp_path) as running_backend:
        yield running_backend
