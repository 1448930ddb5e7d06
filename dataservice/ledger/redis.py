"""The ledger that several machines share: one hash in Redis or Valkey (extra `redis`).

It is one key, so a server that evicts it, is emptied or starts without its data loses all of it at once, and its
incarnation with it. A server that comes back with older data is noticed by the number of writes.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

try:
    from redis.asyncio import Redis, RedisCluster

    from dataservice.stores.redis_address import client_for, close, problem
except ImportError as error:  # pragma: no cover - depends on what is installed
    from dataservice.extras import install_command

    raise ImportError(f"the Redis ledger needs one more package: {install_command('redis')}") from error

from dataservice.ledger.base import Fact, LedgerAwayError, Look, Mark

T = TypeVar("T")

KEY = "dataservice-ledger"

TIMEOUT_S = 2.0
"""How long a person waits for the server before they are told that it is away."""

PAUSE_S = 0.5
"""So long after a failure nobody waits for the server again: requests must not pile up."""

BEGUN = """
local function begun(key, proposed)
  redis.call('HSETNX', key, 'incarnation', proposed)
  return redis.call('HGET', key, 'incarnation')
end
"""

BEGIN = BEGUN + "return begun(KEYS[1], ARGV[1])"

WRITE = (
    BEGUN
    + """
local incarnation = begun(KEYS[1], ARGV[1])
local number = redis.call('HINCRBY', KEYS[1], 'number', 1)
for place = 2, #ARGV, 3 do
  if ARGV[place + 1] == '1' then redis.call('HSET', KEYS[1], 'f:' .. ARGV[place], number .. ':' .. ARGV[place + 2])
  else redis.call('HDEL', KEYS[1], 'f:' .. ARGV[place]) end
end
return {incarnation, number}
"""
)

AFRESH = """
if redis.call('HGET', KEYS[1], 'incarnation') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'incarnation', ARGV[2], 'number', ARGV[3])
end
return 1
"""


class RedisLedger:
    """Keeps facts in one hash of a Redis or Valkey, also behind Sentinels or in a cluster."""

    def __init__(
        self,
        client: Redis | RedisCluster,
        *,
        key: str = KEY,
        timeout_s: float = TIMEOUT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis: Any = client
        self._key = key
        self._timeout_s = timeout_s
        self._clock = clock
        self._away_until = float("-inf")
        self._because = ""
        self._seen = Mark("", 0)
        """The last moment that is known here."""
        self._begin = self._redis.register_script(BEGIN)
        self._write = self._redis.register_script(WRITE)
        self._afresh = self._redis.register_script(AFRESH)

    @classmethod
    def from_url(cls, url: str, *, ca_file: Path | None = None) -> Self:
        """A ledger at an address as for the store; raises `ValueError` for one that cannot be one."""
        return cls(client_for(url, ca_file))

    async def look(self, *names: str) -> Look:
        """The facts with these names."""
        return await self._asked(lambda: self._looked(names))

    async def write(self, changes: Mapping[str, bytes | None]) -> Mark:
        """Write all these facts, or none."""
        arguments: list[str | bytes] = []
        for name, value in changes.items():
            arguments += [name, "0" if value is None else "1", value or b""]

        async def work() -> Mark:
            await self._looked(())  # a server that was set back begins again before anything is written
            incarnation, number = await self._write(keys=[self._key], args=[secrets.token_hex(8), *arguments])
            return self._saw(Mark(incarnation.decode(), int(number)))

        return await self._asked(work)

    async def names(self, prefix: str) -> list[str]:
        """The names that begin with `prefix`."""
        found = await self._asked(lambda: self._redis.hkeys(self._key))
        names = [each[2:].decode() for each in found if each.startswith(b"f:")]
        return sorted(name for name in names if name.startswith(prefix))

    async def add(self, counter: str, amount: int) -> int:
        """The counter after adding `amount`."""
        field = f"c:{counter}"
        if amount:
            return int(await self._asked(lambda: self._redis.hincrby(self._key, field, amount)))
        return int(await self._asked(lambda: self._redis.hget(self._key, field)) or 0)

    async def aclose(self) -> None:
        """Close the connections."""
        await close(self._redis)

    async def _looked(self, names: tuple[str, ...]) -> Look:
        seen = self._seen  # before it is asked: what is learned meanwhile may be later than this answer
        fields = ["incarnation", "number", *(f"f:{name}" for name in names)]
        incarnation, number, *values = await self._redis.hmget(self._key, fields)
        if incarnation is None:
            await self._begin(keys=[self._key], args=[secrets.token_hex(8)])
            incarnation, number, *values = await self._redis.hmget(self._key, fields)
        mark = Mark(incarnation.decode(), int(number or 0))
        if mark.incarnation == seen.incarnation and mark.number < seen.number:
            await self._afresh(keys=[self._key], args=[mark.incarnation, secrets.token_hex(8), seen.number + 1])
            return await self._looked(names)
        facts = {name: _fact(value) for name, value in zip(names, values, strict=True) if value is not None}
        return Look(self._saw(mark), facts)

    def _saw(self, mark: Mark) -> Mark:
        if mark.incarnation != self._seen.incarnation or mark.number > self._seen.number:
            self._seen = mark
        return mark

    async def _asked(self, work: Callable[[], Awaitable[T]]) -> T:
        if self._clock() < self._away_until:
            raise LedgerAwayError(self._because)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody knows now what the ledger holds
            self._because = f"Redis cannot be used: {problem(error)}"
            self._away_until = self._clock() + PAUSE_S
            raise LedgerAwayError(self._because) from None


def _fact(kept: bytes) -> Fact:
    number, _, value = kept.partition(b":")
    return Fact(value, int(number))
