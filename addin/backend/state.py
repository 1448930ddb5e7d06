"""What all requests of one backend share: its tenants, its own key, and the calls that hosts made recently.

Each key is a tenant with its own client, session and response cache, so that no answer for one key is ever shown to
another. All tenants share one store, whose entries carry the key's fingerprint.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict
from itertools import count
from typing import Any, cast

from starlette.requests import Request

from addin.config.api_key import ConfiguredKey, KeyStore
from addin.config.connect import open_client, open_store
from addin.config.settings import Settings
from addin.protocol.batch import Batches, ResponseCache
from dataservice.client import Cost, Quota
from dataservice.client.async_client import MEMORY_BYTES
from dataservice.stores import Store
from udfs.engine.session import Session

RECENT_S = 3_600.0
"""A workbook that has asked for nothing in an hour is closed or forgotten: nothing more is spent on it."""

DEADLINE_MARGIN_S = 2.0
"""A batch ends this much after the client's own deadline, because the client's errors say more."""

USER_SHARE = 16
"""A user's tenant gets one such part of the memory; most need far less."""


class RecentCalls:
    """The calls that hosts made within the last hour."""

    def __init__(self) -> None:
        self._called_at: dict[bytes, float] = {}

    def add(self, calls: Iterable[bytes], now: float) -> None:
        """Record that `calls` were made at `now`."""
        self._called_at.update(dict.fromkeys(calls, now))

    def at(self, now: float) -> list[bytes]:
        """The calls made within the hour before `now`; older ones are forgotten."""
        self._called_at = {call: then for call, then in self._called_at.items() if now - then <= RECENT_S}
        return list(self._called_at)


class Tenant:
    """One key's client and everything that depends on its answers, within one `share`-th of the memory."""

    def __init__(self, settings: Settings, key: str | None, store: Store, *, generation: int, share: int) -> None:
        self.client = open_client(settings, key, store, max_memory_bytes=MEMORY_BYTES // share)
        self.session = Session(self.client)
        cache = ResponseCache(settings.memo_bytes // share)
        self.batches = Batches(self.session, cache, deadline_s=settings.deadline_s + DEADLINE_MARGIN_S)
        self.generation = generation
        """A different number means that every earlier answer may be different now."""
        self.users = 0
        self.retired = False

    def quota_members(self) -> dict[str, Any] | None:
        """The quota as hosts show it, None until the service has reported one."""
        quota = self.client.quota_now
        if quota is None:
            return None
        return {name: value for name, value in asdict(quota).items() if name != "seen_at"}

    async def retire(self) -> None:
        """Close the client as soon as the last batch has ended."""
        self.retired = True
        await self.close_if_done()

    async def close_if_done(self) -> None:
        """Close the client of a retired tenant if no batch uses it any more."""
        if self.retired and not self.users:
            await self.client.aclose()


class BackendState:
    """The settings, the backend's own key and the tenants, of which the least recently used are closed first.

    `keys` is where the backend's own key is stored; `key` is the one to begin with. Raises `SettingsError` if the
    settings are not sufficient.
    """

    def __init__(self, settings: Settings, keys: KeyStore, key: ConfiguredKey | None) -> None:
        self.settings = settings
        self.keys = keys
        self.key = key
        self.started_at = time.time()
        self.requests_total = 0
        """Requests spent on formulas since the start."""
        self.recent_calls = RecentCalls()
        """The calls made with the backend's own key, for the background refresh."""
        self._store = open_store(settings)
        # Counted from the current time, so that hosts also notice a backend that was restarted.
        self._generations = count(int(1000 * self.started_at))
        self._by_key: OrderedDict[str, Tenant] = OrderedDict()
        self.own = self._open(key.value if key else None)

    @classmethod
    def of(cls, request: Request) -> BackendState:
        """The state of the backend that a request arrived at."""
        return cast("BackendState", request.app.state.backend)

    @asynccontextmanager
    async def tenant(self, user_key: str | None = None) -> AsyncIterator[Tenant]:
        """The tenant of a user's key, or the backend's own; it stays open inside the block."""
        tenant = self.own if user_key is None else self._of_user(user_key)
        tenant.users += 1  # before the first await: from here on nobody else can close it
        try:
            while len(self._by_key) > self.settings.max_users:
                _, unused = self._by_key.popitem(last=False)
                await unused.retire()
            yield tenant
        finally:
            tenant.users -= 1
            await tenant.close_if_done()

    async def use_key(self, key: ConfiguredKey | None) -> None:
        """Use `key` as the backend's own from now on."""
        self.key = key
        before, self.own = self.own, self._open(key.value if key else None)
        await before.retire()

    async def refresh(self, tenant: Tenant, *, force: bool) -> None:
        """Let `tenant` send requests again after errors; `force`: nothing counts as fresh. No value is lost."""
        await tenant.client.refresh(force=force)
        tenant.batches.forget()
        tenant.generation = next(self._generations)

    def key_members(self) -> dict[str, Any]:
        """What may be shown of the key: whether there is one, where it comes from, and its last four characters."""
        if self.key is None:
            return {"set": False, "source": "none", "id": None}
        return {"set": True, "source": str(self.key.source), "id": self.key.id}

    async def aclose(self) -> None:
        """Close every client and the store."""
        for tenant in (self.own, *self._by_key.values()):
            await tenant.client.aclose()
        self._by_key.clear()
        await self._store.aclose()

    def _of_user(self, key: str) -> Tenant:
        if key not in self._by_key:
            self._by_key[key] = self._open(key, share=USER_SHARE)
        self._by_key.move_to_end(key)
        return self._by_key[key]

    def _open(self, key: str | None, *, share: int = 1) -> Tenant:
        return Tenant(self.settings, key, self._store, generation=next(self._generations), share=share)


def quota_shortfall(cost: Cost, quota: Quota | None, settings: Settings) -> str | None:
    """Why not even the fewest requests of `cost` can be sent now; None if they can, or the quota is not known yet."""
    requests = cost.at_least
    if requests == 0 or quota is None:
        return None
    needed = f"{cost} needed"
    reserve, budget = settings.reserve, settings.monthly_budget
    spendable = max(0, quota.remaining - reserve)
    if requests > spendable:
        held = f" ({reserve:,} more are held in reserve)" if reserve else ""
        return f"{needed}, {spendable:,} left this month{held}"
    if budget is not None and quota.used_here + requests > budget:
        return f"{needed}, {max(0, budget - quota.used_here):,} left of the budget of {budget:,} a month"
    return None
