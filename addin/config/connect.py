"""From settings to a client: where answers are stored, and under which rules requests are spent."""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from addin.config.api_key import KeyStore, find_key, system_keychain
from addin.config.authorities import trusted
from addin.config.settings import Settings, config_dir, load_settings
from addin.errors import SettingsError
from dataservice.client import AsyncClient, Budget
from dataservice.client.contract import IndicesResource, first_request
from dataservice.client.network.connections import Connections, SendWatch
from dataservice.client.network.credentials import service_url
from dataservice.client.network.error_mapping import Failure
from dataservice.client.network.transport import Transport
from dataservice.errors import AuthenticationError
from dataservice.ledger import Ledger, SqliteLedger
from dataservice.stores import (
    MemoryStore,
    ReplicatedStore,
    SqliteStore,
    Store,
    default_archive_path,
    default_sqlite_path,
)
from udfs.engine import Session

COPY_NAME = "redis-copy-1.sqlite"
"""What Redis holds, as far as this machine has used it: it stands in while Redis is away."""


LEDGER_NAME = "ledger-1.sqlite"
"""Who signed in, who was stopped, whose key is kept: not in the cache folder, which anybody may empty at any time."""


def open_store(settings: Settings) -> Store:
    """Return where answers survive a restart: a file in the cache folder, or Redis with such a file as its copy.

    The archive has a file of its own, outside of the cache folder.

    Raises `SettingsError` if Redis is set and cannot be used from here.
    """
    if settings.redis_url:
        try:
            from dataservice.stores.redis import RedisStore
            from dataservice.stores.redis_address import problem

            _ = trusted(settings.ca_file)  # says what is wrong with the file, if it cannot be used
            far = RedisStore.from_url(
                settings.redis_url, max_archive_bytes=settings.archive_bytes, ca_file=settings.ca_file
            )
            return ReplicatedStore(far, SqliteStore(_cache_file(settings).with_name(COPY_NAME)), problem=problem)
        except (ImportError, ValueError) as error:
            raise SettingsError(f"redis_url cannot be used: {error}") from None
    return SqliteStore(
        _cache_file(settings), archive_path=archive_file(settings), max_archive_bytes=settings.archive_bytes
    )


def open_ledger(settings: Settings) -> Ledger:
    """Return where is kept what must not be lost: the Redis that machines share, or a file in the config folder.

    Raises `SettingsError` if Redis is set and cannot be used from here.
    """
    if not settings.redis_url:
        return SqliteLedger(config_dir() / LEDGER_NAME)
    try:
        from dataservice.ledger.redis import RedisLedger

        return RedisLedger.from_url(settings.redis_url, ca_file=settings.ca_file)
    except (ImportError, ValueError) as error:
        raise SettingsError(f"redis_url cannot be used: {error}") from None


def archive_file(settings: Settings) -> Path:
    """The file of the archive: in the data folder of the user, or in the one that was set for it or for the cache."""
    default = default_archive_path()
    folder = settings.archive_dir or settings.cache_dir
    return folder / default.name if folder else default


def store_place(settings: Settings) -> str:
    """Where answers are kept, as users are told: without a password."""
    if not settings.redis_url:
        return str(cache_folder(settings))
    return f"Redis at {urlsplit(settings.redis_url).netloc.rpartition('@')[2] or 'a local socket'}"


def cache_folder(settings: Settings) -> Path:
    """The folder of the cache file."""
    return _cache_file(settings).parent


def _cache_file(settings: Settings) -> Path:
    default = default_sqlite_path()
    return settings.cache_dir / default.name if settings.cache_dir else default


def open_client(
    settings: Settings,
    key: str | None,
    store: Store | None,
    *,
    share: int = 1,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncClient:
    """A client for one key, or for none; without a store its answers are lost when it is closed.

    Its memory is one `share`-th of the setting `memory_bytes`.
    `transport` holds connections that several clients share.

    Raises `SettingsError` if the service's address is missing or not safe, or the key cannot be one.
    """
    base_url = _checked_url(settings)
    if transport is None and settings.ca_file is not None:
        transport = Connections(base_url, settings.max_service_connections, verify=trusted(settings.ca_file))
    try:
        return AsyncClient(
            base_url,
            key or "",
            store=store,
            max_memory_bytes=max(1, settings.memory_bytes // share),
            transport=transport,
            ttl_s=settings.ttl_s,
            deadline_s=settings.deadline_s,
            max_pages=settings.max_pages,
            max_connections=settings.max_service_connections,
            max_answer_bytes=settings.max_answer_bytes,
            budget=Budget(reserve=settings.reserve, monthly=settings.monthly_budget),
        )
    except ValueError as error:
        raise SettingsError(f"{error}; `addin key show` tells where it comes from") from None


def _checked_url(settings: Settings) -> str:
    address = settings.base_url  # where none is set, that is said as it is
    try:
        return service_url(address)
    except ValueError as error:
        raise SettingsError(f"the setting url cannot be used: {error}") from None


async def reach(settings: Settings) -> None:
    """Ask the service without a key, which it refuses at no cost.

    Raises what keeps it from answering (`DataServiceError`), and `SettingsError` for an address that cannot be used.
    """
    address = _checked_url(settings)
    connections = Connections(address, 1, verify=trusted(settings.ca_file))
    transport = Transport(address, None, transport=connections, most=1, user_agent=None)
    try:
        request = first_request(IndicesResource())
        exchange = await transport.send(request, time.time(), SendWatch(), within_s=settings.deadline_s)
    finally:
        await transport.aclose()
    if isinstance(exchange.outcome, Failure) and not isinstance(exchange.outcome.error, AuthenticationError):
        raise exchange.outcome.error


def key_store(settings: Settings) -> KeyStore:
    """Return where the key of the service in `settings` is stored on this machine."""
    return KeyStore(settings.url, open_keychain=system_keychain)


@asynccontextmanager
async def connected(
    settings: Settings | None = None,
    *,
    transport_of: Callable[[str, int, ssl.SSLContext | bool], httpx.AsyncBaseTransport] | None = None,
    is_kept: bool = True,
    key: str | None = None,
) -> AsyncIterator[Session]:
    """A session with the user's settings, key and cache, closed at the end of the block.

    `transport_of` makes other connections to an address, at most so many, by whom https trusts. Unless `is_kept`,
    nothing that is cached is used, and nothing that arrives is cached. `key` stands for the one that is found.

    async with connected() as session:
        outcomes = await session.answer([Call("SIGNAL", ["us-cpi"])])
    """
    settings = settings or load_settings()
    if key is None and (found := find_key(key_store(settings))):
        key = found.value
    store = open_store(settings) if is_kept else MemoryStore()
    transport = None
    if transport_of is not None:
        transport = transport_of(_checked_url(settings), settings.max_service_connections, trusted(settings.ca_file))
    try:
        async with open_client(settings, key, store, transport=transport) as client:
            yield Session(client)
    finally:
        await store.aclose()
