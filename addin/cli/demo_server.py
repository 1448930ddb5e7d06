"""The demo: the embedded service with made-up data, a backend before it, and a page of formulas, all on free ports."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import orjson

from addin.backend import create_app
from addin.backend.serving import listen_at_home, running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.connect import open_store
from addin.config.settings import Settings
from addin.excel import pages
from addin.formulas import call_text
from addin.sheet.component import is_here
from addin.sheet.example import NAME, ExampleBook
from addin.sheet.routes import BookToOpen, routes
from addin.tls.certificates import Certificate
from dataservice.client import AsyncClient
from dataservice.server import DailySample, Store
from dataservice.server import running as running_service
from dataservice.server.timestamps import utc_now

FORMULAS = (
    '=DS.SIGNAL("us-cpi")',
    '=DS.SIGNAL("us-cpi", "observed_at")',
    '=DS.SIGNAL("WTI", "pct_change")',
    '=DS.SIGNAL({"us-10y";"sp-500";"btc-usd"})',
    '=DS.SIGNAL_HISTORY("eia.wti.spot", "N5")',
    '=DS.SIGNAL_HISTORY("us-cpi", "-2Y", , "freq=Q; transform=yoy")',
    '=DS.INDEX("risk-dial")',
    '=DS.CURRENT("digital-tide", "maturity_stage")',
    '=DS.SPARK("cboe.vix", "-6M")',
    '=DS.REVISIONS("us-cpi", , "-3M")',
    '=DS.SIGNAL("us-cpi", "value", , "asof=-2W")',
    '=DS.WIRE(, , 70, , 3, , , "published_at, kind, headline")',
    '=DS.SIGNAL("us-cpii")',
    '=DS.SIGNAL("us-cpi", "price")',
)
"""One of each kind: values, dates, a range that spills, histories, blocks, revisions, a table, two mistakes."""

EARLIER = timedelta(days=35)
"""So long before today the demo looks for the first time: the made-up service has revised something since."""

LOOKED_AT = "us-cpi"


@dataclass(frozen=True, slots=True)
class Look:
    """The requests spent on `LOOKED_AT` on an earlier day, when the service showed its data of that day."""

    day: date
    requests: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A batch that was sent over HTTP: the answers, what they cost, and how long it took."""

    answers: Sequence[dict[str, Any]]
    requests: int
    quota: dict[str, Any]
    seconds: float


@dataclass(frozen=True, slots=True)
class Demo:
    """A running demo."""

    url: str
    service_url: str
    key: str = field(repr=False)
    folder: Path
    http: httpx.Client
    look: Look
    sheet_url: str | None
    """The sheet in the browser, if it is served."""

    def send(self, formulas: Sequence[str] = FORMULAS) -> Sent:
        """The answers to `formulas`, sent as one batch to the backend as Excel and Calc send them."""
        body = b'{"calls":[%b]}' % b",".join(call_text(formula) for formula in formulas)
        response = self.http.post("/functions/call", content=body, headers={"content-type": "application/json"})
        response.raise_for_status()
        content = orjson.loads(response.content)
        seconds = response.elapsed.total_seconds()
        return Sent(content["answers"], content["requests"], content["quota"], seconds)


@contextmanager
def running_demo(
    *, port: int | None = 0, home: int = 0, certificate: Certificate | None = None, sheet: bool = False
) -> Iterator[Demo]:
    """A demo inside the block, in a folder that is removed at its end; raises `AddinError` where the port is taken.

    Without a port it takes the first free one from `home` on.

    With `sheet` it serves the sheet in the browser, if the component is here, and the template filled for it.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="dataservice-demo-")))
        listener = listen_at_home(port, home, certificate, is_private=True)
        stack.callback(listener.socket.close)
        clock = _DemoClock(back=EARLIER)
        store = stack.enter_context(Store(folder / "service.db", clock=clock))
        key = store.create_key("pro", label="demo")
        service = stack.enter_context(running_service(store))
        settings = Settings(url=service.url, cache_dir=folder / "cache")
        sample = DailySample(store, clock=clock)
        sample.update()
        look = asyncio.run(_look(settings, key, clock))
        clock.back = timedelta(0)
        stack.enter_context(sample.following())
        keys = KeyStore(service.url, open_keychain=no_keychain, file=folder / "keys.json")
        book = ExampleBook(folder, settings, key) if sheet and is_here() else None
        sheet_pages = routes(settings, BookToOpen(NAME, book.file)) if book else []
        served = [*pages.routes(settings), *sheet_pages]
        app = create_app(settings, keys=keys, key=ConfiguredKey(key, KeySource.CONFIG), pages=served)
        url = stack.enter_context(running(app, listener))
        if book:
            stack.callback(book.stop)  # or the backend would wait for whoever asks for the book
        # The certificate is made for this machine and may not be trusted yet; nothing leaves the loopback address.
        http = stack.enter_context(httpx.Client(base_url=url, timeout=60, verify=certificate is None, trust_env=False))
        yield Demo(url, service.url, key, folder, http, look, f"{url}/sheet" if sheet_pages else None)


class _DemoClock:
    """The time of day, set back by `back`."""

    def __init__(self, back: timedelta) -> None:
        self.back = back

    def __call__(self) -> datetime:
        return utc_now() - self.back


async def _look(settings: Settings, key: str, clock: _DemoClock) -> Look:
    """Ask the service for one signal, as a workbook did that was opened at the time of `clock`; it stays cached."""
    store = open_store(settings)
    try:
        async with AsyncClient(settings.url, key, store=store, clock=lambda: clock().timestamp()) as client:
            await client.signal(LOOKED_AT)
            return Look(clock().date(), client.requests_sent)
    finally:
        await store.aclose()
