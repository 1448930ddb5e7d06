"""A session for synchronous hosts: calls from any thread, evaluated on one event loop with one client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from addin.config.connect import connected
from addin.config.consent import consent_for, how_to_allow
from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from addin.protocol.consent import Consent
from addin.protocol.pending_batch import PendingBatch
from addin.protocol.readers import guarded
from dataservice.client.sync_client import EventLoopThread
from dataservice.errors import DeadlineExceededError
from udfs.engine import Call, Outcome, Session
from udfs.errors import CellError, ErrorCode, error_cell

GRACE_S = 5.0
"""A cell waits this much beyond the deadline for what no reader bounds: the cache, the keychain, the evaluation."""


class SyncSession:
    """Answers one call at a time without an event loop of the caller; it connects with the first call.

    Every call ends in an `Outcome` within the deadline of the settings, even if the settings themselves are wrong.
    """

    def __init__(
        self,
        connect: Callable[[Settings], AbstractAsyncContextManager[Session]] = connected,
        *,
        settings: Callable[[], Settings] = load_settings,
        grace_s: float = GRACE_S,
    ) -> None:
        self._connect = connect
        self._load = settings
        self._loop = EventLoopThread("dataservice-cells")
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._consent: Consent | None = None
        """One for all calls: a recalculation comes cell by cell."""
        self._settings: Settings | None = None
        self._grace_s = grace_s

    def answer(self, call: Call) -> Outcome:
        """The outcome of a call; it raises nothing."""
        try:
            return self._loop.run(self._answer(call))
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            return _failed(error, call)

    async def answer_meanwhile(self, call: Call) -> Outcome:
        """The same for a caller on an event loop of its own, which goes on meanwhile."""
        try:
            return await asyncio.wrap_future(self._loop.start(self._answer(call)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            return _failed(error, call)

    def refresh(self, *, force: bool = False) -> None:
        """Connect again with the current key and settings, and ask again for what is stale; `force`: for everything.

        Raises `AddinError` if the settings cannot be used.
        """
        self._loop.run(self._refresh(force=force))

    def close(self) -> None:
        """Close the connection and the thread; may be called twice."""
        if not self._loop.closed:
            self._loop.run(self._disconnect())
            self._loop.close()

    async def _answer(self, call: Call) -> Outcome:
        settings = self._settings = self._settings or self._load()
        try:
            async with asyncio.timeout(settings.deadline_s + self._grace_s):
                session = await self._connected(settings)
                self._consent = self._consent or consent_for(session.client, settings, since=time.time())
                batch = PendingBatch(self._consent, how_to_allow(settings))
                reader = guarded(session.client, batch, deadline_s=settings.deadline_s)
                (outcome,) = await session.answer([call], reader=reader, gate=reader.gate)
        except TimeoutError:
            return _failed(DeadlineExceededError(f"no answer within {settings.deadline_s:g} s"), call)
        return outcome

    async def _refresh(self, *, force: bool) -> None:
        await self._disconnect()
        self._settings = self._load()
        session = await self._connected(self._settings)
        await session.client.refresh(force=force)

    async def _connected(self, settings: Settings) -> Session:
        """The session; calls that arrive while it is being opened wait for it."""
        async with self._opening:
            if self._session is None:
                self._session = await self._stack.enter_async_context(self._connect(settings))
            return self._session

    async def _disconnect(self) -> None:
        self._session = self._consent = self._settings = None
        await self._stack.aclose()


def _failed(error: Exception, call: Call) -> Outcome:
    """An error outside of any function; one that the user can correct keeps its own words."""
    if isinstance(error, AddinError):
        return Outcome(CellError(ErrorCode.NA, str(error)), 0.0)
    return Outcome(error_cell(error, call.function_id), 0.0)
