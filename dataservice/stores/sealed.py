"""A store that others can read, but not understand: names and payloads are encrypted with keys of one user's own."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from cachetools import LRUCache

from dataservice.stores.base import Claim, Entry, EntrySize, Log, LogSize, Part, Put, Store
from dataservice.stores.seal import SEAL_BYTES, Seal, sealed_prefix

MAX_UNREADABLE = 10_000
_AGE = struct.Struct("<d")


class SealedStore:
    """`store`, in which only those read who have the same keys: `keys_for(salt)` makes 96 bytes of them.

    Of a name `scope/rest` the scope stays readable, and so do counters, ages and sizes. A payload that was damaged, or
    moved to another name or age, counts as not there; a damaged part of a log counts as one that was dropped. What is
    not sealed is never read. Call `salt` before anything else.
    """

    is_remote = True

    def __init__(self, store: Store, keys_for: Callable[[bytes], bytes]) -> None:
        self._store = store
        self._keys_for = keys_for
        self._made: Seal | None = None
        self._unreadable: LRUCache[str, float] = LRUCache(MAX_UNREADABLE)
        """The ages of entries that could not be opened: to their user they are not there, and are replaced."""

    @property
    def tier(self) -> str:
        """The store's own name."""
        return self._store.tier

    @property
    def shared(self) -> bool:
        """Return whether other processes use the store too."""
        return self._store.shared

    async def salt(self, proposed: bytes | None = None) -> bytes:
        """The store's salt, from which the keys are made."""
        salt = await self._store.salt(proposed)
        self._made = Seal(self._keys_for(salt))
        return salt

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`; None for one that cannot be opened."""
        sealed = self._seal.name(name)
        kept = await self._store.get(sealed)
        if kept is None:
            return None
        payload = self._seal.opened(kept.payload, _place(sealed, kept.fetched_at))
        if payload is None:
            self._unreadable[name] = kept.fetched_at
            return None
        return Entry(payload, kept.fetched_at)

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep `entry` as `name`."""
        self._unreadable.pop(name, None)
        sealed = self._seal.name(name)
        await self._store.put(sealed, self._sealed_entry(sealed, entry), ending=ending)

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept is still of the time `expected`; what cannot be opened is not there."""
        sealed = self._seal.name(name)
        before = self._unreadable.pop(name, None) if expected is None else expected
        return await self._store.replace(sealed, self._sealed_entry(sealed, entry), before)

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`, as far as these keys open the names."""
        _, slash, rest = prefix.partition("/")
        if slash and not rest:
            return await self._store.clear(sealed_prefix(prefix)) + await self._store.clear(prefix)
        return sum([await self._store.clear(self._seal.name(each.name)) for each in await self.entries(prefix)])

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of all entries that these keys open and whose name begins with `prefix`, by name."""
        kept = await self._store.entries(sealed_prefix(prefix))
        named = [(self._seal.opened_name(each.name), each.nbytes - SEAL_BYTES) for each in kept]
        found = [EntrySize(name, nbytes) for name, nbytes in named if name is not None and name.startswith(prefix)]
        return sorted(found, key=lambda entry: entry.name)

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """The lease `name`."""
        return await self._store.lease(self._seal.name(name), owner, ttl_s)

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease, and the time of the entry if it was not found to be damaged."""
        claim = await self._store.claim(self._seal.name(name), owner, ttl_s)
        is_damaged = claim.fetched_at is not None and self._unreadable.get(name) == claim.fetched_at
        return Claim(claim.granted) if is_damaged else claim

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        await self._store.release(self._seal.name(name), owner)

    async def add(self, counter: str, amount: int) -> int:
        """The counter under its own name: a month or a day, and a number that the store must be able to count."""
        return await self._store.add(counter, amount)

    async def parts(self, log: str, after: int = 0) -> Log:
        """The parts of a log behind the one numbered `after`."""
        sealed = self._seal.name(log)
        found = await self._store.parts(sealed, after)
        place = sealed.encode()
        return Log(
            tuple(_opened(part, self._seal.opened(part.payload, place)) for part in found.parts),
            found.is_continued,
        )

    async def append(self, log: str, payload: bytes, after: int, *, then: Put | None = None) -> int:
        """Add a part to a log, if its last one is numbered `after`."""
        sealed = self._seal.name(log)
        if then is not None:
            self._unreadable.pop(then.name, None)
            name = self._seal.name(then.name)
            then = Put(name, self._sealed_entry(name, then.entry), then.ending)
        return await self._store.append(sealed, self._seal.payload(payload, sealed.encode()), after, then=then)

    async def fold(self, log: str, numbers: Sequence[int], payload: bytes) -> bool:
        """Put one part in the place of those with these `numbers`."""
        sealed = self._seal.name(log)
        return await self._store.fold(sealed, numbers, self._seal.payload(payload, sealed.encode()))

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of all logs that these keys open and whose name begins with `prefix`, by name."""
        found = [
            (self._seal.opened_name(each.name), each.nbytes) for each in await self._store.logs(sealed_prefix(prefix))
        ]
        known = [LogSize(name, nbytes) for name, nbytes in found if name is not None and name.startswith(prefix)]
        return sorted(known, key=lambda log: log.name)

    async def delete_logs(self, prefix: str = "") -> int:
        """Delete every log whose name begins with `prefix`, as far as these keys open the names."""
        _, slash, rest = prefix.partition("/")
        if slash and not rest:
            return await self._store.delete_logs(sealed_prefix(prefix)) + await self._store.delete_logs(prefix)
        return sum([await self._store.delete_logs(self._seal.name(each.name)) for each in await self.logs(prefix)])

    async def aclose(self) -> None:
        """Close the store."""
        await self._store.aclose()

    @property
    def _seal(self) -> Seal:
        if self._made is None:
            raise RuntimeError("a sealed store was used before its salt was read")
        return self._made

    def _sealed_entry(self, sealed_name: str, entry: Entry) -> Entry:
        payload = self._seal.payload(entry.payload, _place(sealed_name, entry.fetched_at))
        return Entry(payload, entry.fetched_at)


def _place(sealed_name: str, fetched_at: float) -> bytes:
    return sealed_name.encode() + _AGE.pack(fetched_at)


def _opened(part: Part, payload: bytes | None) -> Part:
    return Part(part.number, payload or b"", part.is_damaged or (bool(part.payload) and payload is None))
