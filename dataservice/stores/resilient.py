"""A store that cannot fail its user: an error becomes a miss and one warning, and the store is paused for a while."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from dataservice.fair_timeout import FairTimeout
from dataservice.limiter import PriorityLimiter
from dataservice.stores.base import (
    Claim,
    Copying,
    Entry,
    EntrySize,
    Log,
    LogsAwayError,
    LogSize,
    Put,
    Store,
    StoreAwayError,
    Unpacked,
)
from dataservice.stores.memory import MemoryStore

T = TypeVar("T")

TIMEOUT_S = 5.0
"""A store that takes longer, such as a file on a network that is gone, has failed: the service would be faster."""

AT_A_TIME, AT_A_TIME_HERE = 32, 256
"""Operations under way on one store: ten thousand cells must not open as many connections, nor time out waiting.

On a file of this machine as many as its thread does in one transaction: it opens no more than one connection.
"""

PAUSE_S = 30.0
"""A store that failed is not used for half a minute: a dead Redis would otherwise cost every cell a time-out.

Where only writing failed, as on a full disk, what is kept there is still read.
"""

HEDGE_S = 0.05
"""For so long a caller waits until its answer is kept: a store that stops for a moment must not keep it from a cell."""

_logger = logging.getLogger("dataservice.stores")


class ResilientStore:
    """`store`, with every failure answered as if nothing were kept there."""

    def __init__(
        self,
        store: Store,
        *,
        timeout_s: float = TIMEOUT_S,
        hedge_s: float = HEDGE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self.tier, self.shared = store.tier, store.shared
        self._memory = store if type(store) is MemoryStore else None
        """One that neither waits nor fails, unlike what may extend it."""
        self._timeout_s = timeout_s
        self._hedge_s = hedge_s
        self._late: dict[str, asyncio.Task[None]] = {}
        """By name, the last of its writes that is still under way."""
        self._clock = clock
        self._places = PriorityLimiter(AT_A_TIME if store.is_remote else AT_A_TIME_HERE)
        self._paused_until = float("-inf")
        self._writing_paused_until = float("-inf")
        self._logs_paused_until = float("-inf")
        self._warned = False

    async def salt(self) -> bytes | None:
        """The cache's salt, or None where it cannot be read: then nothing may be kept."""
        return await self._tried(self._store.salt, None)

    async def get(self, name: str) -> Entry | None:
        """The entry, or None."""
        if self._memory is not None:
            return await self._memory.get(name)
        if name in self._late:
            await self._settled(name)
        return await self._tried(partial(self._store.get, name), None)

    async def get_shared(self, name: str) -> Entry | None:
        """The entry as all machines see it: for what tells nobody by its age whether it is the last one."""
        await self._settled(name)
        get = self._store.get_shared if isinstance(self._store, Copying) else self._store.get
        return await self._tried(partial(get, name), None)

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep the entry and end the lease if that is possible; a slow store does so after this returned."""
        await self._hedged(name, partial(self._store.put, name, entry, ending=ending))

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Return whether the entry was kept; a store that cannot be written has no other one either."""
        return await self._tried(partial(self._store.replace, name, entry, expected), otherwise=True, writes=True)

    async def clear(self, prefix: str = "") -> int:
        """Return how many entries were forgotten."""
        return await self._tried(partial(self._store.clear, prefix), 0, writes=True)

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of the entries; none where they cannot be known."""
        return await self._tried(partial(self._store.entries, prefix), [])

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Return whether the lease was given; a store that fails holds nobody back."""
        return await self._tried(partial(self._store.lease, name, owner, ttl_s), otherwise=True, writes=True)

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease and the time of the entry; a store that fails holds nobody back."""
        if name in self._late:
            await self._settled(name)
        free = Claim(granted=True)
        return await self._tried(partial(self._store.claim, name, owner, ttl_s), free, writes=True)

    async def release(self, name: str, owner: str) -> None:
        """End the lease if that is possible, after what was put under its name: the next owner has to find it."""
        await self._hedged(name, partial(self._store.release, name, owner))

    async def add(self, counter: str, amount: int) -> int | None:
        """The counter's value, or None where it cannot be known."""
        return await self._tried(partial(self._store.add, counter, amount), None, writes=amount != 0)

    async def parts(self, log: str, after: int = 0) -> Log | None:
        """The parts of a log, or None where they cannot be known."""
        return await self._tried(partial(self._store.parts, log, after), None, logs=True)

    async def append(self, log: str, payload: bytes | Unpacked, after: int, *, then: Put | None = None) -> int | None:
        """The number of the new part, 0 where the last part is not `after`; None where the store fails."""
        if self._memory is not None:
            return await self._memory.append(log, payload, after, then=then)
        payload = payload.make() if isinstance(payload, Unpacked) else payload
        if then is not None and then.name in self._late:
            await self._settled(then.name)
        return await self._tried(
            partial(self._store.append, log, payload, after, then=then), None, writes=True, logs=True
        )

    async def fold(self, log: str, numbers: Sequence[int], payload: bytes) -> bool:
        """Return whether the parts became one."""
        return await self._tried(
            partial(self._store.fold, log, numbers, payload), otherwise=False, writes=True, logs=True
        )

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of the logs; none where they cannot be known."""
        return await self._tried(partial(self._store.logs, prefix), [], logs=True)

    async def delete_logs(self, prefix: str = "") -> int:
        """Return how many logs were deleted."""
        return await self._tried(partial(self._store.delete_logs, prefix), 0, writes=True, logs=True)

    async def aclose(self) -> None:
        """Close the store."""
        await self.settle()
        await self._tried(self._store.aclose, None)

    async def settle(self) -> None:
        """Wait until everything is kept that was put."""
        if self._late:
            await asyncio.wait(list(self._late.values()))

    async def _settled(self, name: str) -> None:
        if (late := self._late.get(name)) is not None:
            await asyncio.wait({late})

    async def _hedged(self, name: str, write: Callable[[], Awaitable[None]]) -> None:
        """Begin a write and wait for it `hedge_s` at most; the writes of one name are done one after another."""
        if not self._store.shared:
            await self._tried(write, None, writes=True)
            return
        before = self._late.get(name)
        begin = partial(self._tried, write, None, writes=True)
        task = self._late[name] = asyncio.ensure_future(begin() if before is None else _after(before, begin))
        task.add_done_callback(partial(self._ended, name))
        await asyncio.wait({task}, timeout=self._hedge_s)

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        if self._late.get(name) is task:
            del self._late[name]

    async def _tried(
        self, operation: Callable[[], Awaitable[T]], otherwise: T, *, writes: bool = False, logs: bool = False
    ) -> T:
        if self._memory is not None:
            return await operation()
        await self._places.enter()
        try:
            now = self._clock()
            if now < (self._writing_paused_until if writes else self._paused_until):
                return otherwise
            if logs and now < self._logs_paused_until:
                return otherwise
            with FairTimeout(self._timeout_s):
                result = await operation()
        except StoreAwayError:
            return otherwise
        except LogsAwayError as error:
            self._logs_paused_until = now + PAUSE_S
            _logger.warning("the archive failed and is skipped for now: %s", error)
            return otherwise
        except Exception as error:  # noqa: BLE001 - whatever a store raises, no cell may fail for it
            self._failed(error, writes=writes)
            return otherwise
        finally:
            self._places.leave()
        self._warned = False
        return result

    def _failed(self, error: Exception, *, writes: bool) -> None:
        self._writing_paused_until = self._clock() + PAUSE_S
        if not writes:
            self._paused_until = self._writing_paused_until
        level = logging.DEBUG if self._warned else logging.WARNING
        # A file and why are no secret; what a tier says otherwise may hold an address with a password.
        reason = type(error).__name__
        if isinstance(error, OSError) and error.filename:
            reason = f"{error.strerror}: {error.filename}"
        _logger.log(level, "the cache store %r failed and is skipped for now: %s", self.tier, reason)
        self._warned = True


async def _after(before: asyncio.Task[None], begin: Callable[[], Awaitable[None]]) -> None:
    await asyncio.wait({before})
    await begin()
