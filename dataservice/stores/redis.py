"""The store that several machines share: Redis or Valkey (extra `redis`)."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence
from typing import Any, Self

try:
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as LostConnectionError
except ImportError as error:  # pragma: no cover - depends on what is installed
    from dataservice.extras import install_command

    raise ImportError(f"the Redis store needs one more package: {install_command('redis')}") from error

from dataservice.stores.base import DEFAULT_ARCHIVE_BYTES, Claim, Entry, EntrySize, Log, LogSize, Part

KEEP_S = 90 * 86_400
"""The last known value is kept for a quarter: longer than the longest gap between two readings of common series."""

COUNTER_KEEP_S = 400 * 86_400  # counters are by month: a year of them, then they expire
TIMEOUT_S = 2.5
"""A server that stops for a second or two, to save or to fail over, is waited for: to go on alone costs requests."""

CONNECT_TIMEOUT_S = 1.0  # a server that is there accepts at once

_AGE = struct.Struct("<d")

_TAKE = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

_CLAIM = """
local fetched_at = redis.call('GETRANGE', KEYS[2], 0, 7)
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return {0, fetched_at} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, fetched_at}
"""

_REPLACE = """
local before = redis.call('GETRANGE', KEYS[1], 0, 7)
if #before < 8 then before = '' end
if before ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
"""

_RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

# A log is a stream whose ids are 0-1, 0-2 … in the order of all appends. Beside the streams: how many bytes each log
# has, the order in which the logs were appended to, and the last number and the sum of the bytes.
_PARTS = """
local stream, after = KEYS[1] .. 'log:' .. ARGV[1], tonumber(ARGV[2])
local is_there = after == 0 or #redis.call('XRANGE', stream, '0-' .. after, '0-' .. after) > 0
return {is_there and 1 or 0, redis.call('XRANGE', stream, '0-' .. (is_there and after + 1 or 1), '+')}
"""

_APPEND = """
local prefix, log, payload, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local last = redis.call('XREVRANGE', prefix .. 'log:' .. log, '+', '-', 'COUNT', 1)[1]
if (last and last[1] or '0-0') ~= '0-' .. ARGV[4] then return 0 end
local function add(name, part)
  local number = redis.call('HINCRBY', prefix .. 'totals', 'number', 1)
  redis.call('XADD', prefix .. 'log:' .. name, '0-' .. number, 'p', part)
  return number
end
local number = add(log, payload)
redis.call('HINCRBY', prefix .. 'sizes', log, #payload)
redis.call('ZADD', prefix .. 'order', number, log)
local bytes = redis.call('HINCRBY', prefix .. 'totals', 'bytes', #payload)
while bytes > most do
  local oldest = redis.call('ZRANGE', prefix .. 'order', 0, 0)[1]
  if oldest == log then break end
  redis.call('ZREM', prefix .. 'order', oldest)
  redis.call('DEL', prefix .. 'log:' .. oldest)
  add(oldest, '')
  bytes = redis.call('HINCRBY', prefix .. 'totals', 'bytes', -tonumber(redis.call('HGET', prefix .. 'sizes', oldest)))
  redis.call('HSET', prefix .. 'sizes', oldest, 0)
end
return number
"""

_FOLD = """
local prefix, log, payload = KEYS[1], ARGV[1], ARGV[2]
local stream, freed = prefix .. 'log:' .. log, 0
for place = 3, #ARGV do
  local found = redis.call('XRANGE', stream, '0-' .. ARGV[place], '0-' .. ARGV[place])
  if #found == 0 then return 0 end
  freed = freed + #found[1][2][2]
end
local number = redis.call('HINCRBY', prefix .. 'totals', 'number', 1)
redis.call('XADD', stream, '0-' .. number, 'p', payload)
for place = 3, #ARGV do redis.call('XDEL', stream, '0-' .. ARGV[place]) end
redis.call('HINCRBY', prefix .. 'sizes', log, #payload - freed)
redis.call('HINCRBY', prefix .. 'totals', 'bytes', #payload - freed)
return 1
"""

_DELETE_LOG = """
local prefix, log = KEYS[1], ARGV[1]
local size = tonumber(redis.call('HGET', prefix .. 'sizes', log) or 0)
redis.call('HINCRBY', prefix .. 'totals', 'bytes', -size)
redis.call('HDEL', prefix .. 'sizes', log)
redis.call('ZREM', prefix .. 'order', log)
return redis.call('DEL', prefix .. 'log:' .. log)
"""


class RedisStore:
    """Keeps entries in a Redis or Valkey database under names that begin with `prefix`.

    How much is kept there is that server's own setting (`maxmemory`, `maxmemory-policy`). Logs never expire; together
    they hold at most `max_archive_bytes`.
    """

    tier = "redis"
    shared = True
    is_remote = True

    def __init__(
        self, client: Redis, *, prefix: str = "dataservice:", max_archive_bytes: int = DEFAULT_ARCHIVE_BYTES
    ) -> None:
        self._redis: Any = client
        self._max_archive_bytes = max_archive_bytes
        self._prefix = prefix
        self._take = self._redis.register_script(_TAKE)
        self._claim = self._redis.register_script(_CLAIM)
        self._replace = self._redis.register_script(_REPLACE)
        self._release = self._redis.register_script(_RELEASE)
        self._parts = self._redis.register_script(_PARTS)
        self._append = self._redis.register_script(_APPEND)
        self._fold = self._redis.register_script(_FOLD)
        self._delete_log = self._redis.register_script(_DELETE_LOG)

    @classmethod
    def from_url(
        cls, url: str, *, prefix: str = "dataservice:", max_archive_bytes: int = DEFAULT_ARCHIVE_BYTES
    ) -> Self:
        """A store at `redis://…`, `rediss://…` or `unix://…`."""
        client = Redis.from_url(
            url,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            retry=Retry(NoBackoff(), 1, supported_errors=(LostConnectionError,)),  # one that the server closed
        )
        return cls(client, prefix=prefix, max_archive_bytes=max_archive_bytes)

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

    async def put(self, name: str, entry: Entry) -> None:
        """Keep `entry` for `KEEP_S`."""
        await self._redis.set(self._entry(name), _AGE.pack(entry.fetched_at) + entry.payload, ex=KEEP_S)

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept is still of the time `expected`."""
        before = b"" if expected is None else _AGE.pack(expected)
        payload = _AGE.pack(entry.fetched_at) + entry.payload
        return bool(await self._replace(keys=[self._entry(name)], args=[before, payload, KEEP_S]))

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`."""
        count = 0
        async for name in self._redis.scan_iter(match=_literal(self._entry(prefix)) + "*", count=1_000):
            count += int(await self._redis.delete(name))
        return count

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of all entries whose name begins with `prefix`, by name."""
        start, found = (
            len(self._entry("")),
            self._redis.scan_iter(match=_literal(self._entry(prefix)) + "*", count=1_000),
        )
        names = sorted({name.decode() async for name in found})
        pipeline = self._redis.pipeline(transaction=False)
        for name in names:
            pipeline.strlen(name)
        sizes = zip(names, await pipeline.execute(), strict=True)
        return [EntrySize(name[start:], size - _AGE.size) for name, size in sizes if size >= _AGE.size]

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take the lease `name` if it is free, expired or already `owner`'s."""
        return bool(await self._take(keys=[f"{self._prefix}lease:{name}"], args=[owner, max(1, int(ttl_s * 1_000))]))

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease, and the time of the entry."""
        keys = [f"{self._prefix}lease:{name}", self._entry(name)]
        granted, fetched_at = await self._claim(keys=keys, args=[owner, max(1, int(ttl_s * 1_000))])
        age = _AGE.unpack(fetched_at)[0] if len(fetched_at) == _AGE.size else None
        return Claim(bool(granted), age)

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        await self._release(keys=[f"{self._prefix}lease:{name}"], args=[owner])

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

    async def append(self, log: str, payload: bytes, after: int) -> int:
        """Add a part behind the one numbered `after`; if all logs are too large, the oldest ones are dropped."""
        return int(await self._append(keys=[self._archive], args=[log, payload, self._max_archive_bytes, after]))

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
        await self._redis.aclose()

    @property
    def _archive(self) -> str:
        return f"{self._prefix}archive:"

    def _entry(self, name: str) -> str:
        return f"{self._prefix}entry:{name}"


def _literal(text: str) -> str:
    """`text` as a pattern that matches only itself."""
    return "".join(f"\\{c}" if c in "*?[]\\^-" else c for c in text)
