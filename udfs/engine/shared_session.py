"""The session behind `await udfs.SIGNAL(...)`: one for the whole process, whoever awaits it.

Its client lives in a thread with an event loop of its own. So tasks, threads and event loops that come and go share
one client, one cache and one request. It opens with the first call and closes when the process ends.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from dataservice.client import AsyncClient
from dataservice.client.sync_client import EventLoopThread
from dataservice.stores import SqliteStore
from udfs.engine.session import Session

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Session]]

CONNECTORS = "udfs.connect"
"""The entry points through which a program offers its settings and key: the functions do not import their hosts."""


@asynccontextmanager
async def from_environment() -> AsyncIterator[Session]:
    """A session from `DATA_SERVICE_URL` and `DATA_SERVICE_API_KEY`, on the cache file of the user."""
    store = SqliteStore()
    try:
        async with AsyncClient(store=store) as client:
            yield Session(client)
    finally:
        await store.aclose()


def configured() -> AbstractAsyncContextManager[Session]:
    """A session as the installed program opens its own, with the settings, key and cache of the user."""
    connect: Connect = next((found.load() for found in entry_points(group=CONNECTORS)), from_environment)
    return connect()


class OpeningError(Exception):
    """The session could not be opened, for a `reason` such as a setting that is missing."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class SharedSession:
    """A session that any task of any event loop in any thread may await."""

    def __init__(self, connect: Connect = configured) -> None:
        self._connect = connect
        self._open = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._session: Session | None = None
        self._loop = EventLoopThread("dataservice-functions", at_end=self._open.aclose)

    async def value(self, function_id: str, args: Sequence[Any]) -> Any:
        """The result of one call as `Session.value` gives it; raises what went wrong, and `OpeningError`."""
        return await asyncio.wrap_future(self._loop.start(self._value(function_id, args)))

    def result(self, function_id: str, args: Sequence[Any]) -> Any:
        """The same for a caller that waits; interrupting it ends the call."""
        return self._loop.run(self._value(function_id, args))

    def close(self) -> None:
        """End what is under way and close the client and its store."""
        self._loop.close()

    async def _value(self, function_id: str, args: Sequence[Any]) -> Any:
        async with self._opening:
            if self._session is None:
                self._session = await self._opened()
        return await self._session.value(function_id, args)

    async def _opened(self) -> Session:
        try:
            return await self._open.enter_async_context(self._connect())
        except Exception as error:
            raise OpeningError(error) from error


class _Process:
    """The session of this process; a fork begins without one, because threads and connections are not copied."""

    def __init__(self) -> None:
        self._inherited: list[SharedSession] = []
        """The parent's: never used or closed here, because its connections are still the parent's."""
        self._session: SharedSession | None = None
        self._lock = threading.Lock()

    def session(self) -> SharedSession:
        with self._lock:
            if self._session is None:
                self._session = SharedSession()
            return self._session

    def close(self) -> None:
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def begin_as_fork(self) -> None:
        self._lock = threading.Lock()
        if self._session is not None:
            self._inherited.append(self._session)
        self._session = None


_process = _Process()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.begin_as_fork)


def shared_session() -> SharedSession:
    """The session of this process; nothing is opened before its first call."""
    return _process.session()


def close() -> None:
    """Close the session of this process; the next call opens one again, with the settings and the key of then."""
    _process.close()
