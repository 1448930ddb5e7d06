"""What benchmarks measure against: the embedded service with made-up data, a backend before it, and bare servers."""

from __future__ import annotations

import csv
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from addin.backend import create_app
from addin.backend.serving import collect_rarely, listen, running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.excel import pages
from dataservice.server import Store, import_directory, write_sample
from dataservice.server import running as running_service

LONG_SLUG = "btc-usd"
LONG_ROWS = 10_000
"""The made-up series that is replaced by one of so many daily observations."""


@contextmanager
def service_settings() -> Iterator[tuple[Settings, str]]:
    """Settings for a running service with made-up data, and a Pro key; all is removed afterwards."""
    with TemporaryDirectory(prefix="dataservice-benchmark-") as name:
        folder = Path(name)
        write_sample(folder / "sample")
        _write_long(folder / "sample" / "observations" / f"{LONG_SLUG}.csv")
        with Store(folder / "service.db") as store:
            import_directory(store, folder / "sample")
            with running_service(store) as service:
                yield Settings(url=service.url, cache_dir=folder / "cache"), store.create_key("pro")


@contextmanager
def backend() -> Iterator[httpx.Client]:
    """A connection to a backend with an empty cache, whose process collects garbage as `addin serve` does."""
    with service_settings() as (settings, key), collecting_rarely():
        keys = KeyStore(settings.url, open_keychain=no_keychain, file=settings.cache_dir / "keys.json")  # type: ignore[operator]
        in_use = ConfiguredKey(key, KeySource.CONFIG)
        with connection_to(create_app(settings, keys=keys, key=in_use, pages=pages.routes(settings))) as http:
            yield http


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Collect garbage as `addin serve` does."""
    before = gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def connection_to(app: ASGIApp) -> Iterator[httpx.Client]:
    """A connection to an application that runs in a thread, as the backend does."""
    with running(app, listen("127.0.0.1", 0)) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
        yield http


def bare_server(answers: dict[tuple[object, ...], bytes]) -> ASGIApp:
    """The least a batch can cost: parse it, look each call up in a dictionary, join the bytes."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _lifespan(receive, send)
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        found = b",".join([answers[tuple(call)] for call in orjson.loads(body)["calls"]])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b'{"answers":[' + found + b"]}"})

    return app


async def _lifespan(receive: Receive, send: Send) -> None:
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})


def _write_long(path: Path) -> None:
    today = datetime.now(UTC).date()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["observed_at", "value"])
        for n in range(LONG_ROWS):
            writer.writerow([f"{today - timedelta(days=LONG_ROWS - 1 - n)}T00:00:00Z", 100 + n * 0.37 % 91])
