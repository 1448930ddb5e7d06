"""What every store behind the decoded answers can do: keep bytes with their age, grant leases, count.

A store knows nothing of keys, resources or HTTP. Its user puts the API key's fingerprint into every name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes, and when the service gave them (seconds since the epoch)."""

    payload: bytes
    fetched_at: float


@dataclass(frozen=True, slots=True)
class EntrySize:
    """How many bytes the entry `name` holds."""

    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether a lease was given, and when the entry of the same name was fetched; None where there is none."""

    granted: bool
    fetched_at: float | None = None


@runtime_checkable
class Store(Protocol):
    """One place to keep answers. Any method may raise; `ResilientStore` turns that into a miss and one warning."""

    @property
    def tier(self) -> str:
        """What users call this store: memory, shelf, redis."""

    @property
    def shared(self) -> bool:
        """Whether other processes use it too, so that leases are worth asking for."""

    async def salt(self) -> bytes:
        """16 random bytes, made once for this cache: they key the hashes that name API keys in it."""

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`, however old; None where there is none."""

    async def put(self, name: str, entry: Entry) -> None:
        """Keep `entry` as `name`, replacing what was there."""

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept as `name` is still of the time `expected` (None: nothing); whether it was."""

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`; how many there were. Counters and leases stay."""

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of all entries whose name begins with `prefix`, by name."""

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Whether `owner` holds the lease `name` now; it ends after `ttl_s` seconds, should the owner die."""

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease as above and, in the same step, the time of the entry `name`: has somebody just replaced it?"""

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`; 0 only reads it."""

    async def aclose(self) -> None:
        """Close files and connections; what was kept stays."""
