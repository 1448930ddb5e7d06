"""The processes that are killed: the service, and a reader that says what is known."""

from __future__ import annotations

import asyncio
import random
import threading
from datetime import date
from multiprocessing.connection import Connection
from typing import Any

import httpx

from dataservice.client import AsyncClient, HistoryResource, IndicesResource, SignalResource, WireResource
from dataservice.server import running
from dataservice.stores import SqliteStore

NOON = 1_788_177_600.0
"""At noon of the last day of the data; time stands still, so that every window means the same days in all processes."""

READY = -1
DAILY = ("btc-usd", "cboe.vix", "eia.wti.spot")
WINDOWS = (
    (None, None),
    (date(2021, 3, 1), None),
    (date(2020, 1, 1), date(2022, 12, 31)),
    (date(2021, 1, 1), None),
    (date(2026, 5, 1), None),
)
RESOURCES: tuple[Any, ...] = (
    *(SignalResource(slug) for slug in DAILY),
    *(HistoryResource(slug, *window) for slug in DAILY for window in WINDOWS),
    IndicesResource(),
    WireResource(),
)


def client_of(url: str, key: str, store: SqliteStore | None, **options: Any) -> AsyncClient:
    """A client whose clock stands still."""
    return AsyncClient(url, key, store=store, clock=lambda: NOON, **options)


def refuse(request: httpx.Request) -> httpx.Response:
    """Where nobody answers."""
    raise httpx.ConnectError("nobody", request=request)


async def at_once(_: float) -> None:
    """Nobody waits for a service that is gone."""


def serve(database: str, port: int, told: Connection) -> None:
    """The service, as a process: it says on which port it listens."""
    with running(database, port=port) as service:
        told.send(service.port)
        threading.Event().wait()


def read_on(url: str, key: str, path: str, seed: int, told: Connection) -> None:
    """The reading process: it reads at random, and says what another connection to the file knows then."""

    async def work() -> None:
        chance, own, other = random.Random(seed), SqliteStore(path), SqliteStore(path)
        async with client_of(url, key, own) as client:
            told.send(READY)
            while True:
                wanted = chance.sample(RESOURCES, chance.randint(1, 4))
                await asyncio.gather(*(client.read(resource) for resource in wanted), return_exceptions=True)
                async with client_of(url, key, other, transport=httpx.MockTransport(refuse), sleep=at_once) as looker:
                    for resource in wanted:
                        if await looker.last_known(resource) is not None:
                            told.send(RESOURCES.index(resource))
                await client.refresh(force=chance.random() < 0.5)

    asyncio.run(work())
