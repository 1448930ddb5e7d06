"""The store inside the process: what is kept ends with it."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from dataservice.stores.base import DEFAULT_ARCHIVE_BYTES, Claim, Entry, EntrySize, Log, LogSize, Part, Put, Unpacked

DEFAULT_MEMORY_BYTES = 64 * 2**20
"""Room for four million observations, or for a catalogue of 100,000 signals."""

ENTRY_BYTES = 200  # of objects around a payload: the entry, its number, the name, two dictionary places


class MemoryStore:
    """Keeps up to `max_bytes` of entries; the least recently used are evicted first.

    >>> MemoryStore(max_bytes=1_000_000).tier
    'memory'
    """

    tier = "memory"
    shared = False
    is_remote = False

    def __init__(
        self,
        *,
        max_bytes: int = DEFAULT_MEMORY_BYTES,
        max_archive_bytes: int = DEFAULT_ARCHIVE_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
        self._clock = clock
        self._salt = secrets.token_bytes(16)
        self._entries: LRUCache[str, Entry] = LRUCache(max_bytes, getsizeof=_size)
        self._leases: dict[str, Lease] = {}
        self._counters: Counter[str] = Counter()
        self._max_archive_bytes = max_archive_bytes
        self._logs: dict[str, list[_Part]] = {}
        """By name, the one appended to longest ago first."""
        self._appended = 0
        self._archive_bytes = 0

    async def salt(self, proposed: bytes | None = None) -> bytes:  # noqa: ARG002 - there is one from the beginning
        """16 random bytes, made with this object."""
        return self._salt

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`."""
        return self._entries.get(name)

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep `entry`, unless it alone is larger than this memory."""
        self._entries.pop(name, None)
        if _size(entry) <= self._entries.maxsize:
            self._entries[name] = entry
        if ending:
            await self.release(name, ending)

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept is still of the time `expected`."""
        kept = self._entries.get(name)
        if (None if kept is None else kept.fetched_at) != expected:
            return False
        await self.put(name, entry)
        return True

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`."""
        names = [name for name in self._entries if name.startswith(prefix)]
        for name in names:
            del self._entries[name]
        return len(names)

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of all entries whose name begins with `prefix`, by name."""
        names = sorted(name for name in self._entries if name.startswith(prefix))
        return [EntrySize(name, len(self._entries[name].payload)) for name in names]

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take the lease `name` if it is free, expired or already `owner`'s."""
        now = self._clock()
        if not may_take(self._leases.get(name), owner, now):
            return False
        self._leases[name] = Lease(owner, now + ttl_s)
        return True

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease, and the time of the entry."""
        kept = self._entries.get(name)
        return Claim(await self.lease(name, owner, ttl_s), None if kept is None else kept.fetched_at)

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        held = self._leases.get(name)
        if held is not None and held.owner == owner:
            del self._leases[name]

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`."""
        self._counters[counter] += amount
        return self._counters[counter]

    async def parts(self, log: str, after: int = 0) -> Log:
        """The parts of a log behind the one numbered `after`; all, if that one is no longer there."""
        parts = self._logs.get(log, [])
        is_there = after == 0 or any(part.number == after for part in parts)
        return Log(tuple(part.packed() for part in parts if part.number > after or not is_there), is_there)

    async def append(self, log: str, payload: bytes | Unpacked, after: int, *, then: Put | None = None) -> int:
        """Add a part behind the one numbered `after`; if all logs are too large, the oldest ones are dropped."""
        parts = self._logs.get(log, [])
        if after != (parts[-1].number if parts else 0):
            return 0
        part = self._part(payload)
        self._logs.pop(log, None)
        self._logs[log] = [*parts, part]
        while self._archive_bytes > self._max_archive_bytes:
            oldest = next((name for name, parts in self._logs.items() if _log_size(parts)), log)
            if oldest == log:
                break
            self._archive_bytes -= _log_size(self._logs[oldest])
            self._logs[oldest] = [self._part(b"")]
        if then is not None:
            await self.put(then.name, then.entry, ending=then.ending)
        return part.number

    async def fold(self, log: str, numbers: Sequence[int], payload: bytes) -> bool:
        """Put one part in the place of those with these `numbers`, if all of them are still there."""
        parts = self._logs.get(log, [])
        left = [part for part in parts if part.number not in set(numbers)]
        if len(left) != len(parts) - len(numbers):
            return False
        self._archive_bytes -= _log_size(parts) - _log_size(left)
        self._logs[log] = [*left, self._part(payload)]
        return True

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of all logs whose name begins with `prefix`, by name."""
        return [LogSize(name, _log_size(self._logs[name])) for name in sorted(self._logs) if name.startswith(prefix)]

    async def delete_logs(self, prefix: str = "") -> int:
        """Delete every log whose name begins with `prefix`."""
        names = [name for name in self._logs if name.startswith(prefix)]
        for name in names:
            self._archive_bytes -= _log_size(self._logs.pop(name))
        return len(names)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _part(self, payload: bytes | Unpacked) -> _Part:
        nbytes = payload.nbytes if isinstance(payload, Unpacked) else len(payload)
        self._appended += 1
        self._archive_bytes += nbytes
        return _Part(self._appended, payload, nbytes)


@dataclass(slots=True)
class _Part:
    number: int
    payload: bytes | Unpacked
    nbytes: int

    def packed(self) -> Part:
        """The part as others know it; what was not made until now takes as much room as it was said to."""
        payload = self.payload.make() if isinstance(self.payload, Unpacked) else self.payload
        return Part(self.number, payload)


@dataclass(frozen=True, slots=True)
class Lease:
    """`owner` may work until `expires_at`."""

    owner: str
    expires_at: float


def may_take(held: Lease | None, owner: str, now: float) -> bool:
    """Return whether `owner` may take a lease that is `held`: free, expired, or its own."""
    return held is None or held.owner == owner or now >= held.expires_at


def _log_size(parts: Sequence[_Part]) -> int:
    return sum(part.nbytes for part in parts)


def _size(entry: Entry) -> int:
    return len(entry.payload) + ENTRY_BYTES
