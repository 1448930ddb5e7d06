"""What was spent: the quota last seen and the requests counted here, shared through the store with other processes."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from dataservice.client.contract.quota import Quota, month_of, newer
from dataservice.stores import Entry, ResilientStore


class UsageTracker:
    """The account of one key at one service; `scope` names both in the store."""

    def __init__(self, store: ResilientStore) -> None:
        self._store = store
        self._scope: str | None = None
        self._quota: Quota | None = None
        self._used = 0
        self.sent = 0
        self._unsaved = 0
        self._saving = False
        self._month = ""

    def quota(self, now: float) -> Quota | None:
        """The quota last seen, by whichever process that shares the store."""
        return None if self._quota is None else replace(self._quota, used_here=self.used_here(now))

    def used_here(self, now: float) -> int:
        """Requests this installation spent in the UTC month of `now`, as far as known."""
        return self._used if self._month == month_of(now) else 0

    async def open(self, scope: str | None, now: float) -> None:
        """Begin with what the store knows of the key that `scope` names; None: there is no store to trust."""
        self._scope = scope
        await self.look_up(now)

    async def look_up(self, now: float) -> None:
        """Learn what other processes spent and were told meanwhile."""
        if self._scope is None:
            return
        kept = await self._store.get(_name(self._scope))
        quota = None if kept is None else _unpacked(kept.payload)
        if quota is not None and (self._quota is None or quota.seen_at > self._quota.seen_at):
            self._quota = quota
        await self._count(now)

    def spent(self, quota: Quota | None, now: float, *, requests: int) -> None:
        """Take down `requests` and what the service said about the quota; `save` writes it."""
        month = month_of(now)
        self.sent += requests
        self._used = (self._used if month == self._month else 0) + requests
        self._month = month
        self._unsaved += requests
        if quota is not None:
            self._quota = newer(self._quota, quota)

    async def save(self, now: float) -> None:
        """Write what is unsaved; who comes while another one writes leaves it to that one."""
        if self._scope is None or self._saving:
            return
        self._saving = True
        try:
            while self._unsaved:
                await self._count(now)
                if self._quota is not None:
                    payload = msgspec.json.encode(self._quota)
                    await self._store.put(_name(self._scope), Entry(payload, self._quota.seen_at))
        finally:
            self._saving = False

    async def _count(self, now: float) -> None:
        amount, self._unsaved = self._unsaved, 0
        month = month_of(now)
        shared = await self._store.add(f"{self._scope}/used/{month}", amount)
        if shared is not None:
            self._used = max(shared + self._unsaved, self._used if month == self._month else 0)
            self._month = month


def _name(scope: str) -> str:
    return f"{scope}/quota"


def _unpacked(payload: bytes) -> Quota | None:
    try:
        return msgspec.json.decode(payload, type=Quota)
    except msgspec.MsgspecError:
        return None
