"""Whether to ask for the catalogue before names that may not exist: it settles them all at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from enum import Enum
from typing import Any

from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.contract.requests import CATALOGUE_LIMIT
from dataservice.client.contract.resources import CatalogueResource
from dataservice.client.contract.windows import utc_day
from dataservice.errors import DataServiceError
from dataservice.stores import ResilientStore

MANY_NAMES = 4
"""For fewer names the catalogue is not asked: it costs a request, too, and they likely exist."""

MOST_TRIED_AT_ONCE = 16
"""Names tried together until many of them exist: as many as the client sends at a time."""

TRUST = 4
"""After many names that exist, one fourth as many are tried together: no more are asked for in vain."""

AT_A_TIME = 64
"""Names asked for at the same time: enough for every connection and store."""

GATHER_S = 0.01
"""Calls of several threads or tasks that begin within so many seconds are made together."""

WAIT_S = 3.0
"""So long one call waits for what others find out: every read ends soon after its deadline."""


def tried_at_once(known: int) -> int:
    """Return how many names may be asked for in vain after so many that exist.

    >>> [tried_at_once(known) for known in (0, 1, 2, 15, 100, 1_000)]
    [1, 2, 3, 16, 25, 64]
    """
    return min(known + 1, max(MOST_TRIED_AT_ONCE, known // TRUST), AT_A_TIME)


class CatalogueCheck(Enum):
    """Whether names that nothing at hand vouches for exist: asked for as they are, a few first, or looked up first."""

    NONE = "none"
    PROBE = "probe"
    LOAD = "load"


class UnknownNames:
    """Counts the names that turned out not to exist today, together with the processes that share the store."""

    def __init__(self, cache: AnswerCache, store: ResilientStore, *, clock: Callable[[], float]) -> None:
        self._cache = cache
        self._store = store
        self._clock = clock
        self._here = 0
        self._day = ""
        self.in_doubt = _Doubt()
        """To ask within it for a name of which nothing is known: that shows something of the others."""

    async def note(self) -> None:
        """Count one more."""
        await self._count(1)

    async def catalogue_check(self, names: int, *, waits: bool = True) -> CatalogueCheck:
        """Return how doubtful `names` names are that nothing at hand vouches for.

        They are looked up if one did not exist today, and the catalogue, as large as it was last seen, costs no more
        than asking for all of that kind. Together with others that are under way they may be many: then it `waits` for
        the first of these to be answered, for some seconds at most.
        """
        unknown, others = await self._count(0), self.in_doubt.names if waits else 0
        if names + unknown + others < MANY_NAMES:
            return CatalogueCheck.NONE
        if others and not unknown:
            with suppress(TimeoutError):
                async with asyncio.timeout(WAIT_S):
                    await self.in_doubt.news()
            unknown = await self._count(0)
        known = self._cache.answers.in_memory(CatalogueResource())
        pages = 1 if known is None else -(-len(known.value) // CATALOGUE_LIMIT)
        if names + unknown < pages:
            return CatalogueCheck.NONE
        return CatalogueCheck.LOAD if unknown else CatalogueCheck.PROBE

    async def _count(self, names: int) -> int:
        day = str(utc_day(self._clock()))
        self._here = (self._here if day == self._day else 0) + names
        self._day = day
        if self._cache.answers.scope is None:
            return self._here
        shared = await self._store.add(f"{self._cache.answers.scope}/unknown/{day}", names)
        return max(self._here, shared or 0)


class _Doubt:
    """How many names are being asked for of which nothing is known; each counts until its block ends."""

    def __init__(self) -> None:
        self.names = 0
        self._news: asyncio.Event | None = None

    def __enter__(self) -> None:
        self.names += 1

    def __exit__(self, *_: object) -> None:
        self.names -= 1
        if self._news is not None:
            self._news.set()
            self._news = None

    async def news(self) -> None:
        """Wait until the next of them is answered."""
        self._news = self._news or asyncio.Event()
        await self._news.wait()


class RampUp:
    """Lets calls that ask for names at the same time go on a few first: the more names exist, the more at a time.

    As soon as one does not exist, or fails otherwise, all go on: to look the others up together. So does who has waited
    for `wait_s` seconds.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[Any]], *, wait_s: float = WAIT_S) -> None:
        self._sleep = sleep
        self._wait_s = wait_s
        self._exist = 0
        self._pending = 0
        self._turns = asyncio.Semaphore(tried_at_once(0))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[int]:
        """Wait for a turn, which ends with the block; yields how many calls there are at the same time, this included.

        Two or three calls do not wait for each other.
        """
        self._pending += 1
        try:
            if self._pending > 1:
                await self._sleep(GATHER_S)
            turns = self._turns
            is_bounded = await self._waited(turns)
            try:
                yield self._pending
            except DataServiceError:
                _release(turns, self._pending)
                raise
            else:
                self._exist += 1
                _release(turns, tried_at_once(self._exist) - tried_at_once(self._exist - 1))
            finally:
                _release(turns, int(is_bounded))
        finally:
            self._pending -= 1
            if not self._pending:
                self._turns = asyncio.Semaphore(tried_at_once(self._exist))

    async def _waited(self, turns: asyncio.Semaphore) -> bool:
        """Wait for a turn where there are many calls; whether there was one."""
        if self._pending < MANY_NAMES and turns.locked():
            return False
        try:
            async with asyncio.timeout(self._wait_s):
                return await turns.acquire()
        except TimeoutError:
            return False


def _release(turns: asyncio.Semaphore, count: int) -> None:
    for _ in range(count):
        turns.release()
