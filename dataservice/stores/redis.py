"""The store that several machines share: Redis or Valkey (extra `redis`)."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

try:
    from redis.asyncio import Redis, RedisCluster

    from dataservice.stores.redis_address import client_for, close
except ImportError as error:  # pragma: no cover - depends on what is installed
    from dataservice.extras import install_command

    raise ImportError(f"the Redis store needs one more package: {install_command('redis')}") from error

from dataservice.stores import redis_scripts as scripts
from dataservice.stores.base import DEFAULT_ARCHIVE_BYTES, Claim, Entry, EntrySize, Log, LogSize, Part, Put

KEEP_S = 90 * 86_400
"""The last known value is kept for a quarter: longer than the longest gap between two readings of common series."""

COUNTER_KEEP_S = 400 * 86_400  # counters are by month: a year of them, then they expire
DELETED_AT_ONCE = 500
"""Names in one pipeline: the server answers others in between."""

_AGE = struct.Struct("<d")


class RedisStore:
    """Keeps entries in a Redis or Valkey database, or a cluster of them, under names that begin with `prefix`.

    In a cluster an entry is on the node of its name, beside its lease, and the archive as a whole on one node. How much
    is kept there is that server's own setting (`maxmemory`, `maxmemory-policy`). Logs never expire; together they hold
    at most `max_archive_bytes`.
    """

    tier = "redis"
    shared = True
    is_remote = True

    def __init__(
        self,
        client: Redis | RedisCluster,
        *,
        prefix: str = "dataservice:",
        max_archive_bytes: int = DEFAULT_ARCHIVE_BYTES,
    ) -> None:
        self._redis: Any = client
        self._is_cluster = isinstance(client, RedisCluster)
        self._max_archive_bytes = max_archive_bytes
        self._prefix = prefix
        self._take = self._redis.register_script(scripts.TAKE)
        self._claim = self._redis.register_script(scripts.CLAIM)
        self._replace = self._redis.register_script(scripts.REPLACE)
        self._release = self._redis.register_script(scripts.RELEASE)
        self._parts = self._redis.register_script(scripts.PARTS)
        self._append = self._redis.register_script(scripts.APPEND)
        self._fold = self._redis.register_script(scripts.FOLD)
        self._delete_log = self._redis.register_script(scripts.DELETE_LOG)

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        prefix: str = "dataservice:",
        max_archive_bytes: int = DEFAULT_ARCHIVE_BYTES,
        ca_file: Path | None = None,
    ) -> Self:
        """A store at `redis://…`, `rediss://…`, `unix://…`, `redis+sentinel://…` or `redis+cluster://…`.

        `ca_file` holds authorities (PEM) that TLS trusts as well. Raises `ValueError` if `url` is no such address.
        """
        return cls(client_for(url, ca_file), prefix=prefix, max_archive_bytes=max_archive_bytes)

    async def salt(self, proposed: bytes | None = None) -> bytes:
        """The salt of this prefix, made by its first user."""
        name = f"{self._prefix}salt"
        await self._redis.set(name, proposed or secrets.token_bytes(16), nx=True)
        return bytes(await self._redis.get(name))

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`."""
        found = await self._redis.get(self._entry(name))
        if found is None or len(found) < _AGE.size:
            return None
        return Entry(found[_AGE.size :], _AGE.unpack_from(found)[0])

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep `entry` for `KEEP_S`."""
        await self._redis.set(self._entry(name), _AGE.pack(entry.fetched_at) + entry.payload, ex=KEEP_S)
        if ending:
            await self.release(name, ending)

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept is still of the time `expected`."""
        before = b"" if expected is None else _AGE.pack(expected)
        payload = _AGE.pack(entry.fetched_at) + entry.payload
        return bool(await self._replace(keys=[self._entry(name)], args=[before, payload, KEEP_S]))

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`."""
        keys, count = await self._keys(prefix), 0
        for first in range(0, len(keys), DELETED_AT_ONCE):
            pipeline = self._redis.pipeline(transaction=False)
            for key in keys[first : first + DELETED_AT_ONCE]:
                pipeline.delete(key)
            count += sum(await pipeline.execute())
        return count

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of all entries whose name begins with `prefix`, by name."""
        keys = await self._keys(prefix)
        pipeline = self._redis.pipeline(transaction=False)
        for key in keys:
            pipeline.strlen(key)
        start, end = len(self._entry_start), -1 if self._is_cluster else None
        sizes = zip(keys, await pipeline.execute(), strict=True)
        return [EntrySize(key[start:end], size - _AGE.size) for key, size in sizes if size >= _AGE.size]

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take the lease `name` if it is free, expired or already `owner`'s."""
        return bool(await self._take(keys=[self._lease(name)], args=[owner, max(1, int(ttl_s * 1_000))]))

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease, and the time of the entry."""
        keys = [self._lease(name), self._entry(name)]
        granted, fetched_at = await self._claim(keys=keys, args=[owner, max(1, int(ttl_s * 1_000))])
        age = _AGE.unpack(fetched_at)[0] if len(fetched_at) == _AGE.size else None
        return Claim(bool(granted), age)

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        await self._release(keys=[self._lease(name)], args=[owner])

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`."""
        name = f"{self._prefix}counter:{counter}"
        value = int(await self._redis.incrby(name, amount))
        await self._redis.expire(name, COUNTER_KEEP_S)
        return value

    async def parts(self, log: str, after: int = 0) -> Log:
        """The parts of a log behind the one numbered `after`; all, if that one is no longer there."""
        is_there, found = await self._parts(keys=[self._archive], args=[log, after])
        return Log(tuple(Part(int(name.partition(b"-")[2]), fields[1]) for name, fields in found), bool(is_there))

    async def append(self, log: str, payload: bytes, after: int, *, then: Put | None = None) -> int:
        """Add a part behind the one numbered `after`; if all logs are too large, the oldest ones are dropped."""
        number = int(await self._append(keys=[self._archive], args=[log, payload, self._max_archive_bytes, after]))
        if number and then is not None:  # on another node of a cluster: no one step holds both
            await self.put(then.name, then.entry, ending=then.ending)
        return number

    async def fold(self, log: str, numbers: Sequence[int], payload: bytes) -> bool:
        """Put one part in the place of those with these `numbers`, if all of them are still there."""
        return bool(await self._fold(keys=[self._archive], args=[log, payload, *numbers]))

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of all logs whose name begins with `prefix`, by name."""
        found = self._redis.hscan_iter(f"{self._archive}sizes", match=_literal(prefix) + "*", count=1_000)
        return sorted([LogSize(name.decode(), int(size)) async for name, size in found], key=lambda log: log.name)

    async def delete_logs(self, prefix: str = "") -> int:
        """Delete every log whose name begins with `prefix`."""
        found = await self.logs(prefix)
        for log in found:
            await self._delete_log(keys=[self._archive], args=[log.name])
        return len(found)

    async def aclose(self) -> None:
        """Close the connections."""
        await close(self._redis)

    async def _keys(self, prefix: str) -> list[str]:
        """The keys of all entries whose name begins with `prefix`, in their order; of all nodes of a cluster."""
        match = _literal(self._entry_start + prefix) + "*"
        return sorted({key.decode() async for key in self._redis.scan_iter(match=match, count=1_000)})

    @property
    def _archive(self) -> str:
        return f"{{{self._prefix}archive}}:" if self._is_cluster else f"{self._prefix}archive:"

    @property
    def _entry_start(self) -> str:
        return f"{self._prefix}entry:" + self._tag[0]

    @property
    def _tag(self) -> tuple[str, str]:
        """Return what encloses the part of a key that decides its node: that of an entry is that of its lease."""
        return ("{@", "}") if self._is_cluster else ("", "")

    def _entry(self, name: str) -> str:
        return f"{self._prefix}entry:{name.join(self._tag)}"

    def _lease(self, name: str) -> str:
        return f"{self._prefix}lease:{name.join(self._tag)}"


def _literal(text: str) -> str:
    """`text` as a pattern that matches only itself."""
    return "".join(f"\\{c}" if c in "*?[]\\^-" else c for c in text)
