"""What every store behind the decoded answers can do: keep bytes with their age, grant leases, count.

A store knows nothing of keys, resources or HTTP. Its user puts the API key's fingerprint into every name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


class StoreAwayError(Exception):
    """A store that looks after its own outages cannot do this now; there is nothing to wait for, nor to log."""


class LogsAwayError(Exception):
    """The logs cannot be read or written now; entries, leases and counters can. The text names the file and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes, and when the service gave them (seconds since the epoch)."""

    payload: bytes
    fetched_at: float


@dataclass(frozen=True, slots=True)
class Put:
    """An entry to keep as `name`; then the lease of that name ends, if its owner is `ending`."""

    name: str
    entry: Entry
    ending: str = ""


@dataclass(frozen=True, slots=True)
class EntrySize:
    """The bytes that the entry `name` holds."""

    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Claim:
    """The answer to a claim: whether the lease was given, and when the entry of the same name was fetched, or None."""

    granted: bool
    fetched_at: float | None = None


DEFAULT_ARCHIVE_BYTES = 256 * 2**20
"""Room for some ten million revisions: years of daily looks at a thousand signals, little for a disk."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a log; parts are numbered in the order in which they were appended to any log of a store.

    An empty `payload` says that all earlier parts of the log were dropped, because the logs had grown too large; or
    that nobody can read it any more, where it `is_damaged`.
    """

    number: int
    payload: bytes
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A payload of about `nbytes` bytes that is not made yet: a store in memory makes it when somebody reads it."""

    make: Callable[[], bytes]
    nbytes: int


@dataclass(frozen=True, slots=True)
class Log:
    """Parts of a log: those behind what was read before, if they continue that; else all parts that there are now."""

    parts: tuple[Part, ...]
    is_continued: bool = True


@dataclass(frozen=True, slots=True)
class LogSize:
    """The bytes that the parts of the log `name` hold."""

    name: str
    nbytes: int


@runtime_checkable
class Copying(Protocol):
    """A store of which this machine has a copy, which may lag behind where the store is slow."""

    async def get_shared(self, name: str) -> Entry | None:
        """The entry as all machines see it; the copy's only while the store is away."""


@runtime_checkable
class Store(Protocol):
    """One place to keep answers. Any method may raise; `ResilientStore` turns that into a miss and one warning."""

    @property
    def tier(self) -> str:
        """Return what users call this store: memory, shelf, redis; a member of `Source` in `client/cache/answer.py`."""

    @property
    def shared(self) -> bool:
        """Return whether other processes use it too, so that leases are worth asking for."""

    @property
    def is_remote(self) -> bool:
        """Return whether it is beyond this machine and its users: then a client seals all that it keeps there."""

    async def salt(self, proposed: bytes | None = None) -> bytes:
        """16 random bytes, made once for this cache (or `proposed`): they key the hashes that name API keys in it."""

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`, however old; None where there is none."""

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep `entry` as `name`, replacing what was there; then end the lease `name`, if its owner is `ending`."""

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept as `name` is still of the time `expected` (None: nothing); whether it was."""

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`; how many there were. Counters and leases stay."""

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of all entries whose name begins with `prefix`, by name."""

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Return whether `owner` holds the lease `name` now; it ends after `ttl_s` seconds, should the owner die."""

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease as above and, in the same step, the time of the entry `name`: has somebody just replaced it?"""

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`; 0 only reads it."""

    async def parts(self, log: str, after: int = 0) -> Log:
        """The parts of a log behind the one numbered `after`, in their order; all, if that one is no longer there.

        Logs are no entries: nothing evicts them.
        """

    async def append(self, log: str, payload: bytes, after: int, *, then: Put | None = None) -> int:
        """Add a part to a log, if its last one is numbered `after` (0: it has none); the new number, 0 if it is not.

        Whoever adds one may `then` put an entry: where a store can, in the same step, and never before the part.
        If all logs are too large, those that nobody appended to for longest are dropped; of each, one empty part is
        left.
        """

    async def fold(self, log: str, numbers: Sequence[int], payload: bytes) -> bool:
        """Put one part in the place of those with these `numbers`, if all of them are still there; whether it was."""

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of all logs whose name begins with `prefix`, by name."""

    async def delete_logs(self, prefix: str = "") -> int:
        """Delete every log whose name begins with `prefix`; how many there were."""

    async def aclose(self) -> None:
        """Close files and connections; what was kept stays."""
