"""A store far away, with a copy on this machine: it goes on where the far one is slow or gone, and loses nothing."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from dataservice.stores.base import Claim, Entry, EntrySize, Log, LogSize, Put, Store, StoreAwayError
from dataservice.stores.resilient import ResilientStore

T = TypeVar("T")

HEDGE_S = 0.05
"""A far store that takes longer is not waited for where the copy holds an answer."""

FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 4.0
"""How long a far store is left alone that has failed: one that restarts is back within a second or two."""

DOUBTED_S = 3_600.0
"""For so long after it was away the far store may lack what the copy holds: answers are fresh for less."""

SALT = "salt of the far store"

_logger = logging.getLogger("dataservice.stores")


class ReplicatedStore:
    """`far`, which machines share, with a copy of its entries in `near`, which the processes of this machine share.

    While `far` is away, entries and leases are those of `near`, so that equal questions of this machine still cost one
    request; what was kept meanwhile is brought to `far` when it is back. Counters and logs are those of `far` alone.
    """

    shared = True

    def __init__(
        self,
        far: Store,
        near: Store,
        *,
        hedge_s: float = HEDGE_S,
        clock: Callable[[], float] = time.monotonic,
        problem: Callable[[Exception], str] = lambda error: type(error).__name__,
    ) -> None:
        self._far = far
        self._problem = problem
        self._near_store = near
        self._near = ResilientStore(near)
        self._hedge_s = hedge_s
        self._clock = clock
        self._away_until = float("-inf")
        self._was_away_at = float("-inf")
        self._pause_s = FIRST_PAUSE_S
        self._because = ""
        self._is_trying = False
        self._salt_while_away: bytes | None = None
        """The salt with which this process began because the far store did not answer."""
        self._to_bring: set[str] = set()
        """The names of what was kept while the far store was away."""
        self._near_leases: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def tier(self) -> str:
        """The far store's own name."""
        return self._far.tier

    @property
    def is_remote(self) -> bool:
        """Return whether the far store is beyond this machine."""
        return self._far.is_remote

    async def salt(self, proposed: bytes | None = None) -> bytes:
        """The far store's salt; one that began again, without what it held, gets the one it had.

        While one is away that was never reached from here, it is a salt on which all processes of this machine agree.
        """
        before = await self._salt_here() or proposed
        try:
            found = await self._ask(lambda: self._far.salt(before))
        except StoreAwayError:
            if before is None:
                raise
            self._salt_while_away = before
            return before
        await self._keep_salt(found)
        return found

    async def get(self, name: str) -> Entry | None:
        """The entry of the far store; the copy where that is away, slow, or began again."""
        asking = self._begun(self.get_shared(name))
        done, _ = await asyncio.wait({asking}, timeout=self._hedge_s)
        if not done and (copy := await self._near.get(name)) is not None:
            return copy
        return await asking

    async def get_shared(self, name: str) -> Entry | None:
        """The entry of the far store, however slow it is; the copy where that is away, or began again."""
        try:
            found = await self._ask(lambda: self._far.get(name))
        except StoreAwayError:
            return await self._near.get(name)
        if found is None and self._clock() < self._was_away_at + DOUBTED_S:
            return await self._near.get(name)
        return found

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep `entry` here and there."""
        copying = self._begun(self._near.put(name, entry))
        try:
            await self._ask(lambda: self._far.put(name, entry))
        except StoreAwayError:
            await copying
            self._to_bring.add(name)
        if ending:
            await self.release(name, ending)

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept is still of the time `expected`; else the copy here becomes what is kept."""
        try:
            is_kept = await self._ask(lambda: self._far.replace(name, entry, expected))
        except StoreAwayError:
            self._to_bring.add(name)
            return await self._near.replace(name, entry, expected)
        if is_kept:
            self._begun(self._near.put(name, entry))
        elif (found := await self.get_shared(name)) is not None:
            await self._begun(self._near.put(name, found))  # after what was begun before
        return is_kept

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`, here and there."""
        await self._near.clear(prefix)
        return await self._ask(lambda: self._far.clear(prefix))

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of the far store's entries."""
        return await self._ask(lambda: self._far.entries(prefix))

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """The lease in the far store; one of this machine while that is away."""
        try:
            return await self._ask(lambda: self._far.lease(name, owner, ttl_s))
        except StoreAwayError:
            self._near_leases.add((name, owner))
            return await self._near.lease(name, owner, ttl_s)

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The same, with the time of the entry."""
        try:
            return await self._ask(lambda: self._far.claim(name, owner, ttl_s))
        except StoreAwayError:
            self._near_leases.add((name, owner))
            return await self._near.claim(name, owner, ttl_s)

    async def release(self, name: str, owner: str) -> None:
        """End a lease where it was given."""
        if (name, owner) in self._near_leases:
            self._near_leases.discard((name, owner))
            await self._near.release(name, owner)
        else:
            await self._ask(lambda: self._far.release(name, owner))

    async def add(self, counter: str, amount: int) -> int:
        """The far store's counter: its user counts alone while that is away."""
        return await self._ask(lambda: self._far.add(counter, amount))

    async def parts(self, log: str, after: int = 0) -> Log:
        """The parts of a log of the far store."""
        return await self._ask(lambda: self._far.parts(log, after))

    async def append(self, log: str, payload: bytes, after: int, *, then: Put | None = None) -> int:
        """Add a part to a log of the far store."""
        number = await self._ask(lambda: self._far.append(log, payload, after))
        if number and then is not None:
            await self.put(then.name, then.entry, ending=then.ending)
        return number

    async def fold(self, log: str, numbers: Sequence[int], payload: bytes) -> bool:
        """Put one part in the place of several in the far store."""
        return await self._ask(lambda: self._far.fold(log, numbers, payload))

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of the far store's logs."""
        return await self._ask(lambda: self._far.logs(prefix))

    async def delete_logs(self, prefix: str = "") -> int:
        """Delete logs of the far store."""
        return await self._ask(lambda: self._far.delete_logs(prefix))

    async def aclose(self) -> None:
        """End what is under way, and close both."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        await self._far.aclose()
        await self._near_store.aclose()

    async def _ask(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Return what the far store answers; raises `StoreAwayError` if it fails, and at once for a while afterwards.

        After that while one operation tries it, while the others still do without.
        """
        was_away = self._away_until > float("-inf")
        if was_away and (self._is_trying or self._clock() < self._away_until):
            raise StoreAwayError(self._because)
        self._is_trying = was_away
        try:
            if was_away:
                await self._salt_again()
            result = await operation()
        except Exception as error:
            self._left(error)
            raise StoreAwayError(self._because) from error
        finally:
            self._is_trying = False
        if was_away:
            self._is_back()
        return result

    async def _salt_again(self) -> None:
        """Give a far store that began again the salt it had, before anything is kept under another one."""
        if (here := await self._salt_here()) is not None:
            found = await self._far.salt(here)
            await self._keep_salt(found)
            if self._salt_while_away not in (None, found):
                _logger.warning("other machines have used the store %r: restart this process to share it", self.tier)

    async def _salt_here(self) -> bytes | None:
        """The salt that the far store had, or else the copy's own; None where the copy cannot be read."""
        known = await self._near.get(SALT)
        return await self._near.salt() if known is None else known.payload

    async def _keep_salt(self, found: bytes) -> None:
        known = await self._near.get(SALT)
        if known is None or known.payload != found:
            await self._near.put(SALT, Entry(found, 0.0))

    def _left(self, error: Exception) -> None:
        self._because = self._problem(error)
        if self._clock() >= self._away_until:  # of many operations that fail together, one counts
            if self._away_until == float("-inf"):
                _logger.warning("the store %r is away, a copy on this machine stands in: %s", self.tier, self._because)
            self._away_until = self._clock() + self._pause_s
            self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s)
        self._was_away_at = self._clock()

    def _is_back(self) -> None:
        _logger.warning("the store %r is back", self.tier)
        self._away_until, self._pause_s = float("-inf"), FIRST_PAUSE_S
        self._was_away_at = self._clock()
        names, self._to_bring = self._to_bring, set()
        self._begun(self._bring(names))

    async def _bring(self, names: set[str]) -> None:
        """Keep in the far store what was kept meanwhile, unless it holds something younger."""
        for name in names:
            try:
                copy, kept = await self._near.get(name), await self._ask(partial(self._far.get, name))
                if copy is not None and (kept is None or kept.fetched_at < copy.fetched_at):
                    expected = None if kept is None else kept.fetched_at
                    await self._ask(partial(self._far.replace, name, copy, expected))
            except StoreAwayError:
                self._to_bring.add(name)

    def _begun(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """The work as a task that is not lost, and whose failure somebody has seen."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()
