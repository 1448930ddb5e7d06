"""How a resource gets its answer: from a tier, from one flight to the service, or as the last known value."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

from cachetools import LRUCache

from dataservice.client.cache.answer import Answer, Freshness, Source
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.cache.history import History, after_pull, pulls_needed, window_of
from dataservice.client.cache.single_flight import SingleFlight
from dataservice.client.contract.paging import Pulled
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.resources import HistoryResource, Resource
from dataservice.client.contract.timestamps import utc_day
from dataservice.client.contract.windows import Window
from dataservice.client.network.fetch import fetch, observation_pages
from dataservice.client.network.retry import RetryPolicy
from dataservice.client.network.sender import CallContext, RequestSender
from dataservice.errors import DataServiceError, DeadlineExceededError
from dataservice.stores import ResilientStore

T = TypeVar("T")

PATIENCE_WITH_VALUE_S = 1.0
"""How long to go on trying when the last known value is at hand: a batch has 2 s while the service is down."""

MAX_LAST_ERRORS = 10_000  # one a resource; the least recently met go first

DEADLINE_GRACE_S = 0.5  # those who mind the deadline say better what took so long

LEASE_POLL_S = 0.05  # between two looks for what another process is fetching: short beside a request

LEASE_S = 8.0
"""How long a process that died holds the others back; one that takes longer for a request is asked beside."""

_ALL_FRESH = Freshness(float("inf"))


class Reading:
    """One key's way to answers."""

    def __init__(
        self,
        cache: AnswerCache,
        store: ResilientStore,
        sender: RequestSender,
        *,
        deadline_s: float,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[Any]],
    ) -> None:
        self._cache = cache
        self._store = store
        self._sender = sender
        self._deadline_s = deadline_s
        self._clock = clock
        self._sleep = sleep
        self._single_flight = SingleFlight()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._owner = uuid4().hex
        self.last_errors: LRUCache[Resource[Any], DataServiceError] = LRUCache(MAX_LAST_ERRORS)

    async def read(self, resource: Resource[T]) -> Answer[T]:
        """The answer of the one flight to `resource`; only who started it is told what it spent."""
        answer, started = await self._single_flight.join(resource, lambda: self._fly(resource))
        return answer if started else replace(answer, requests=0)

    async def aclose(self) -> None:
        """End what is under way."""
        await self._single_flight.cancel()

    def context(self, resource: Resource[Any] | None = None, known: Answer[Any] | None = None) -> CallContext:
        """A new call's dealings with the service."""
        limit_s = self._deadline_s if known is None else min(PATIENCE_WITH_VALUE_S, self._deadline_s)
        return CallContext(resource, self._clock(), self._deadline_s, RetryPolicy(limit_s))

    async def _fly(self, resource: Resource[T]) -> Answer[T]:
        known = await self._cache.find(resource, self._clock())
        if known is not None and known.is_fresh(self._clock()):
            return known
        context = self.context(resource, known)
        try:
            self._sender.check(first_request(resource), context)
            answer = await self._within_deadline(resource, context)
        except DataServiceError as error:
            failed = error
        else:
            self.last_errors.pop(resource, None)
            return answer
        self.last_errors[resource] = failed.afresh()
        last_known = self._cache.peek(resource) or known
        if last_known is None:
            raise failed
        return replace(last_known.stale(failed.afresh()), requests=context.requests)

    async def _within_deadline(self, resource: Resource[T], context: CallContext) -> Answer[T]:
        """The answer; ended from outside if something on the way does not mind the deadline."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._deadline_s + DEADLINE_GRACE_S):
                return await self._bring(resource, context)
        raise self._sender.late(first_request(resource), context)

    async def _bring(self, resource: Resource[T], context: CallContext) -> Answer[T]:
        async with self._turn(resource), self._lease(resource, context):
            found = await self._cache.find(resource, self._clock())  # another process may have been faster
            if found is not None and found.is_fresh(self._clock()):
                return found
            if isinstance(resource, HistoryResource):
                answer: Answer[Any] = await self._bring_history(resource, context)
            else:
                value = await fetch(self._sender, resource, context)
                answer = await self._cache.keep(resource, value, self._clock())
        return replace(answer, source=Source.NETWORK, requests=context.requests)

    async def _bring_history(self, resource: HistoryResource, context: CallContext) -> Answer[Any]:
        rules = self._cache.rules
        history = await self._cache.history(resource)
        for _ in range(2):  # a check may find a revision: what it made doubtful is pulled in the second round
            now = self._clock()
            wanted = window_of(resource.start, resource.end, utc_day(now))
            for pull in pulls_needed(history, wanted, now, rules):
                history = await self._pull(resource, history, pull, context)
            rules = _ALL_FRESH
        answer = self._cache.from_history(resource, history, self._clock())
        if answer is None:
            raise DeadlineExceededError("the history could not be completed")
        return answer

    async def _pull(self, resource: HistoryResource, history: History, window: Window, context: CallContext) -> History:
        """The history with `window` pulled; of a pull that breaks off, what arrived is kept and not asked again."""
        pulled = Pulled.begin(window)
        try:
            async for page in observation_pages(self._sender, lambda: context, resource.slug, window):
                pulled = page
        finally:
            days = pulled.known_window()
            if pulled.pages and days:
                now = self._cache.rules.arrival(self._clock())
                history = after_pull(history, days, pulled.observations.between(days.start, days.end), now)
                history = await self._cache.keep_history(resource, history, now)
        return history

    @asynccontextmanager
    async def _turn(self, resource: Resource[Any]) -> AsyncIterator[None]:
        """Windows of one signal are pulled one after another: the next may find all it needs in the one before."""
        if not isinstance(resource, HistoryResource):
            yield
            return
        lock = self._turns.setdefault(resource.slug, asyncio.Lock())
        async with lock:
            yield

    @asynccontextmanager
    async def _lease(self, resource: Resource[Any], context: CallContext) -> AsyncIterator[None]:
        """Processes that share a store fetch a resource one at a time; who waits looks whether it has arrived."""
        if not self._store.shared or self._cache.scope is None:
            yield
            return
        name = self._cache.name(resource)
        while not await self._store.lease(name, self._owner, LEASE_S):
            await self._sleep(LEASE_POLL_S)
            now = self._clock()
            found = await self._cache.find(resource, now)
            if found is not None and found.is_fresh(now):
                yield  # no lease is needed to read it
                return
            if context.left_s(now) <= 0:
                raise DeadlineExceededError("another process has been asking for too long")
        context.before_request = self._renewal(name)
        try:
            yield
        finally:
            await self._store.release(name, self._owner)

    def _renewal(self, name: str) -> Callable[[], Awaitable[None]]:
        """Prolongs a lease when half of it has passed."""
        leased_at = self._clock()

        async def renew() -> None:
            nonlocal leased_at
            if self._clock() - leased_at >= LEASE_S / 2:
                leased_at = self._clock()
                await self._store.lease(name, self._owner, LEASE_S)

        return renew
