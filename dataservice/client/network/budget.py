"""What may be spent of the month's requests, and what was: a pure policy, and the count it works on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from dataservice.client.contract.quota import Quota, month_of, newer
from dataservice.client.contract.windows import utc_day
from dataservice.errors import BudgetError
from dataservice.stores import Entry, ResilientStore


@dataclass(frozen=True, slots=True)
class Budget:
    """`reserve` requests of the key are never spent from here; `monthly` limits what is spent from here in a month.

    >>> Budget(reserve=50, monthly=400)
    Budget(reserve=50, monthly=400)
    """

    reserve: int = 0
    monthly: int | None = None

    def __post_init__(self) -> None:
        if self.reserve < 0:
            raise ValueError(f"reserve must be 0 or more requests, not {self.reserve}")
        if self.monthly is not None and self.monthly < 0:
            raise ValueError(f"monthly must be 0 or more requests, not {self.monthly}")

    def refusal(self, quota: Quota | None, *, used_here: int, under_way: int, now: float) -> BudgetError | None:
        """Why one more request must not be sent now, or None.

        What the service said counts on the UTC day it said so: on another day one request may find out again.
        """
        if self.monthly is not None and used_here + under_way >= self.monthly:
            return BudgetError(f"the budget of {self.monthly:,} requests a month is spent here")
        if quota is None or not self.reserve or utc_day(quota.seen_at) != utc_day(now):
            return None
        if quota.remaining - under_way <= self.reserve:
            return BudgetError(f"{quota.remaining:,} requests are left and {self.reserve:,} are held in reserve")
        return None


class UsageTracker:
    """Counts the requests of one key at one service, together with the processes that share the store."""

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

    async def open(self, scope: str, now: float) -> None:
        """Begin with what the store knows of the key that `scope` names."""
        self._scope = scope
        await self.look_up(now)

    async def look_up(self, now: float) -> None:
        """Read what other processes have spent and were told meanwhile."""
        if self._scope is None:
            return
        kept = await self._store.get(_name(self._scope))
        quota = None if kept is None else _unpacked(kept.payload)
        if quota is not None and (self._quota is None or quota.seen_at > self._quota.seen_at):
            self._quota = quota
        await self._count(now)

    def spent(self, quota: Quota | None, now: float, *, requests: int) -> None:
        """Count `requests` and note what the service said about the quota; `save` writes both."""
        month = month_of(now)
        self.sent += requests
        self._used = (self._used if month == self._month else 0) + requests
        self._month = month
        self._unsaved += requests
        if quota is not None:
            self._quota = newer(self._quota, quota)

    async def save(self, now: float) -> None:
        """Write what is unsaved, unless another call is already writing: that one writes all."""
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
