"""The store that the processes of an attack share: in memory, in a file, or in Redis."""

from __future__ import annotations

from pathlib import Path

from dataservice.stores import MemoryStore, SqliteStore, Store
from dataservice.stores.redis import RedisStore
from tests.dataservice.client.parts.clocks import Clock


class SharedStore:
    """One store of a kind; a folder has one."""

    def __init__(self, kind: str, redis_url: str, folder: Path, clock: Clock) -> None:
        self._kind, self._redis_url, self._folder, self._clock = kind, redis_url, folder, clock
        self._memory = MemoryStore(clock=clock, max_bytes=2**30)

    def opened(self) -> Store:
        """The store as one process opens it."""
        match self._kind:
            case "sqlite":
                return SqliteStore(self._folder / "shelf.sqlite", clock=self._clock)
            case "redis":
                return RedisStore.from_url(self._redis_url, prefix=f"{self._folder}:")
        return self._memory
