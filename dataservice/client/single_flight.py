"""One fetch of a resource at a time: a single flight inside the process, a lease among processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.contract.resources import HistoryResource, Resource
from dataservice.client.network.call_context import CallContext
from dataservice.errors import DeadlineExceededError
from dataservice.flight import Flight
from dataservice.limiter import PriorityLimiter
from dataservice.stores import Claim, ResilientStore

T = TypeVar("T")

Fetch: TypeAlias = Callable[[Resource[Any], CallContext, bool], Awaitable[Answer[Any]]]
"""Fetches a resource; it is told whether the answer may be there by now."""

LEASE_POLL_S = 0.05  # between two looks for what another process is fetching: short beside a request

LONGEST_POLL_S = 0.5  # each look finds less to see: whoever waits longer waits for a process that died

LEASES_A_PLACE = 2
"""For each request that may be under way: answers that this process fetches, or waits for while another one does.
The more each process takes for itself, the less is left for the others to share; and what waits here asks no store."""

LEASES_TOGETHER = 4
"""A quarter of them is taken at a time: the store grants all of these in one step, and no place for a request waits."""

LEASE_S = 8.0
"""How long a process that died holds the others back; a holder that is slower without renewing is bypassed."""


class SingleFlight:
    """The work under way: callers with the same key share one piece of it, and its result or its error.

    A caller that is cancelled does not cancel the work of the others. Work and connections belong to the event loop of
    the first caller: another one would wait for them in vain, so it gets a `RuntimeError`.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: dict[Hashable, Flight[Any]] = {}

    def join(self, key: Hashable, start: Callable[[], Coroutine[Any, Any, T]]) -> tuple[asyncio.Future[T], bool]:
        """The result to come of the work with `key`, started if there is none; and whether this caller started it."""
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError("this client was used in another event loop; make one in each, or use Client")
        flight = self._under_way.get(key)
        started = flight is None
        if flight is None:
            flight = self._under_way[key] = Flight(start(), partial(self._under_way.pop, key))
        return flight.landing(), started

    async def cancel(self) -> None:
        """End all work; its callers get `asyncio.CancelledError`."""
        tasks = [flight.task for flight in self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(slots=True)
class Lease:
    """The right to fetch one entry of a shared store; it ends by itself should this process die."""

    _store: ResilientStore
    _name: str
    _owner: str
    _clock: Callable[[], float]
    _taken_at: float = float("-inf")
    is_handed_over: bool = False
    """Whether the answer's keeping ends it."""

    async def acquire(self) -> Claim:
        """Whether the lease is held now, and the time of the entry; a lease that is already held is prolonged."""
        self._taken_at = self._clock()
        return await self._store.claim(self._name, self._owner, LEASE_S)

    async def renew(self) -> None:
        """Prolong the lease when half of it has passed."""
        if self._clock() - self._taken_at >= LEASE_S / 2:
            await self.acquire()

    def hand_over(self) -> str:
        """The owner, for the step in which the answer is kept: that step ends the lease."""
        self.is_handed_over = True
        return self._owner

    async def release(self) -> None:
        """Let the next one fetch."""
        await self._store.release(self._name, self._owner)


class FetchLock:
    """Lets one caller at a time fetch: of one signal's windows in this process, of one entry among processes."""

    def __init__(
        self,
        cache: AnswerCache,
        store: ResilientStore,
        *,
        most: int,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[Any]],
        chance: Callable[[], float],
    ) -> None:
        # In another order than other processes: so each of them fetches a part of what all of them need.
        places = LEASES_A_PLACE * most
        self._places = PriorityLimiter(places, chance=chance, together=1 + places // LEASES_TOGETHER)
        self._cache = cache
        self._store = store
        self._clock = clock
        self._sleep = sleep
        self._slug_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._owner = uuid4().hex
        self._numbers = count()

    def waiting(self) -> int:
        """Return how many wait until others have ended."""
        return self._places.waiting

    async def fetch(
        self,
        resource: Resource[Any],
        context: CallContext,
        known: Answer[Any] | None,
        fetch: Fetch,
    ) -> Answer[Any]:
        """Return what `fetch` gives while nobody else fetches `resource`; it is told whether the answer may be there.

        That is so if this call had to wait, or if the store's entry is newer than the answer `known` before. Windows of
        one signal are pulled one after another: the next may find all it needs in the one before.
        """
        is_shared = self._store.shared and self._cache.answers.scope is not None
        fetch = partial(self._leased, known, fetch) if is_shared else fetch
        waited = False
        if not isinstance(resource, HistoryResource):
            return await fetch(resource, context, waited)
        waited = resource.slug in self._slug_locks  # a lock is there for as long as somebody holds or awaits it
        async with self._slug_locks.setdefault(resource.slug, asyncio.Lock()):
            return await fetch(resource, context, waited)

    async def _leased(
        self,
        known: Answer[Any] | None,
        fetch: Fetch,
        resource: Resource[Any],
        context: CallContext,
        waited: bool,
    ) -> Answer[Any]:
        """The same with the lease of the entry; while another process holds it, look whether the answer has arrived."""
        await self._places.enter(resource.priority)
        try:
            owner = f"{self._owner}/{next(self._numbers)}"
            lease = Lease(self._store, self._cache.answers.name(resource), owner, self._clock)
            claim, has_polled = await self._claimed(lease, resource, context, known)
            if claim.granted:  # else none is needed to read what has arrived
                context.before_request, context.hand_over = lease.renew, lease.hand_over
            may_be_there = waited or has_polled or not claim.granted
            if claim.fetched_at is not None:
                may_be_there |= self._cache.replaced_since(resource, known, claim.fetched_at)
            try:
                return await fetch(resource, context, may_be_there)
            finally:
                if claim.granted and not lease.is_handed_over:
                    await lease.release()
        finally:
            self._places.leave()

    async def _claimed(
        self, lease: Lease, resource: Resource[Any], context: CallContext, known: Answer[Any] | None
    ) -> tuple[Claim, bool]:
        """The lease, or what its holder has kept meanwhile; and whether it had to be waited for."""
        poll_s, waited = LEASE_POLL_S, False
        while not (claim := await lease.acquire()).granted:
            if waited and await self._has_arrived(resource, known, claim):
                break
            if context.left_s(self._clock()) <= 0:
                raise DeadlineExceededError("another process has been asking for too long")
            waited = True
            await self._sleep(poll_s)
            poll_s = min(LONGEST_POLL_S, 1.5 * poll_s)
        return claim, waited

    async def _has_arrived(self, resource: Resource[Any], known: Answer[Any] | None, claim: Claim) -> bool:
        """Return whether the entry has been replaced since, by something that is fresh."""
        if claim.fetched_at is None or not self._cache.replaced_since(resource, known, claim.fetched_at):
            return False
        now = self._clock()
        found = await self._cache.last_known(resource, now)
        return found is not None and found.is_fresh(now)
