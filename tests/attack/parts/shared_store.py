"""The store that the processes of an attack share: in memory, in a file, or in Redis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dataservice.stores import Claim, MemoryStore, SqliteStore, Store
from dataservice.stores.redis import RedisStore
from dataservice.stores.redis_address import client_for
from tests.dataservice.client.parts.clocks import Clock

Ends = dict[str, tuple[str, float]]
"""Of each lease the owner, and when it ends by the attack's clock."""


class SharedStore:
    """One store of a kind; a folder has one."""

    def __init__(self, kind: str, redis_url: str, folder: Path, clock: Clock) -> None:
        self._kind, self._redis_url, self._folder, self._clock = kind, redis_url, folder, clock
        self._memory = MemoryStore(clock=clock, max_bytes=2**30)
        self._ends: Ends = {}

    def opened(self) -> Store:
        """The store as one process opens it."""
        match self._kind:
            case "sqlite":
                return SqliteStore(self._folder / "shelf.sqlite", clock=self._clock)
            case "redis":
                client = client_for(self._redis_url)
                return RedisByClock(client, self._ends, self._clock, prefix=f"{self._folder}:")
        return self._memory


class RedisByClock(RedisStore):
    """Redis whose leases end when the attack's clock has passed their end, as those of the other stores do.

    Redis counts real time. Nobody waits in an attack: while a lease of 30 s ended there, whoever waited for it asked
    a hundred thousand times, and let a day pass.
    """

    def __init__(self, client: Any, ends: Ends, clock: Clock, *, prefix: str) -> None:
        super().__init__(client, prefix=prefix)
        self._ends, self._clock = ends, clock

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """The lease `name`, free if its time has passed."""
        await self._end(name)
        is_granted = await super().lease(name, owner, ttl_s)
        self._note(name, owner, ttl_s, is_granted=is_granted)
        return is_granted

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The same, with the time of the entry."""
        await self._end(name)
        claim = await super().claim(name, owner, ttl_s)
        self._note(name, owner, ttl_s, is_granted=claim.granted)
        return claim

    async def _end(self, name: str) -> None:
        if name in self._ends and self._ends[name][1] <= self._clock():
            await self.release(name, self._ends.pop(name)[0])

    def _note(self, name: str, owner: str, ttl_s: float, *, is_granted: bool) -> None:
        if is_granted:
            self._ends[name] = owner, self._clock() + ttl_s
