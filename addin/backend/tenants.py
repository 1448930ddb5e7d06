"""The accounts a backend serves: its own, and in a shared deployment one for each user's key.

Each key has its own client, session and memo, so that no answer of one is ever seen by another; all share one store,
where entries carry the key's fingerprint.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

from addin.config.connect import MEMORY_BYTES, open_client, open_store
from addin.config.settings import Settings
from addin.protocol.batch import Batches
from addin.protocol.response_cache import Memo
from dataservice.client import AsyncClient
from dataservice.stores import Store
from udfs.engine.session import Session

DEADLINE_MARGIN_S = 2.0
"""A batch ends so long after the client's own deadline, whose errors say more, has had its chance."""

USER_SHARE = 16
"""A user's account may take so small a part of the memory; most need far less."""


class Tenant:
    """One key's client with all that rests on its answers."""

    def __init__(self, client: AsyncClient, settings: Settings, *, memo_bytes: int, generation: int) -> None:
        self.client = client
        self.session = Session(client)
        self.batches = Batches(
            self.session, Memo(memo_bytes), deadline_s=settings.deadline_s + DEADLINE_MARGIN_S, clock=time.time
        )
        self.generation = generation
        """Another number means: whatever was worked out before may be different now."""
        self.users = 0
        self.retired = False


class Tenants:
    """Opens, lends and closes accounts; at most `max_users` users' keys are held, the least recently used go first."""

    def __init__(self, settings: Settings, key: str | None, *, store: Store | None = None) -> None:
        self._settings = settings
        self._store = store or open_store(settings)
        # From the time on, so that hosts take a backend that was started anew for another one, too.
        self._generations = count(int(1000 * time.time()))
        self._by_key: OrderedDict[str, Tenant] = OrderedDict()
        self.own = self._open(key)

    @asynccontextmanager
    async def lent(self, key: str | None = None) -> AsyncIterator[Tenant]:
        """The account of a user's key, or the backend's own; it stays open inside the block."""
        account = self.own if key is None else self._of_user(key)
        account.users += 1  # at once: from here on it cannot be closed by others
        try:
            await self._retire_too_many()
            yield account
        finally:
            account.users -= 1
            await _close_if_done(account)

    async def use_key(self, key: str | None) -> None:
        """Let the backend's own account be that of `key` from now on."""
        before, self.own = self.own, self._open(key)
        await _retire(before)

    async def refresh(self, account: Tenant, *, force: bool) -> None:
        """Lift what keeps `account` from asking; `force`: let nothing count as fresh. No value is lost."""
        await account.client.refresh(force=force)
        account.batches.forget()
        account.generation = next(self._generations)

    def open_apart(self, key: str | None) -> AsyncClient:
        """A client for trying a key, which finds nothing in any cache."""
        return open_client(self._settings, key, None)

    async def aclose(self) -> None:
        """Close every client and the store."""
        for account in (self.own, *self._by_key.values()):
            await account.client.aclose()
        self._by_key.clear()
        await self._store.aclose()

    def _of_user(self, key: str) -> Tenant:
        if key not in self._by_key:
            self._by_key[key] = self._open(key, share=USER_SHARE)
        self._by_key.move_to_end(key)
        return self._by_key[key]

    async def _retire_too_many(self) -> None:
        while len(self._by_key) > self._settings.max_users:
            await _retire(self._by_key.popitem(last=False)[1])

    def _open(self, key: str | None, *, share: int = 1) -> Tenant:
        """An account with its `share`-th part of the memory that the backend may take."""
        client = open_client(self._settings, key, self._store, max_memory_bytes=MEMORY_BYTES // share)
        memo_bytes = self._settings.memo_bytes // share
        return Tenant(client, self._settings, memo_bytes=memo_bytes, generation=next(self._generations))


async def _retire(account: Tenant) -> None:
    account.retired = True
    await _close_if_done(account)


async def _close_if_done(account: Tenant) -> None:
    """Close a retired account when its last batch has ended."""
    if account.retired and not account.users:
        await account.client.aclose()
