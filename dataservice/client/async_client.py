"""The client for programs that run an event loop."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import date
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from dataservice.client.cache.answer import DEFAULT_TTL_S, Answer
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.contract.quota import Quota
from dataservice.client.contract.requests import can_exist, first_request
from dataservice.client.contract.resources import IndicesResource, Resource
from dataservice.client.contract.windows import Window
from dataservice.client.endpoints import Endpoints
from dataservice.client.network.breaker import CircuitBreaker
from dataservice.client.network.budget import Budget
from dataservice.client.network.credentials import ApiKey, service_url
from dataservice.client.network.fetch import catalogue_pages, observation_pages
from dataservice.client.network.sender import RequestSender
from dataservice.client.network.transport import Transport
from dataservice.client.network.usage import UsageTracker
from dataservice.client.reader import Reading
from dataservice.client.status import Overview, ResourceState
from dataservice.errors import UnavailableError
from dataservice.models import Signal
from dataservice.observations import Observations
from dataservice.stores import MemoryStore, ResilientStore, Store

T = TypeVar("T")

URL_VARIABLE = "DATA_SERVICE_URL"
KEY_VARIABLE = "DATA_SERVICE_API_KEY"

DEADLINE_S = 20.0
"""Every read ends within so many seconds: with a value, or with the reason why there is none."""

MEMORY_BYTES = 128 * 2**20
"""Decoded answers of this process: eight million observations, or 10,000 signals with their recent history."""


class AsyncClient(Endpoints):
    """The Data Service for one API key, through one cache, at as few requests as can be.

    `base_url` and `api_key` default to the environment (DATA_SERVICE_URL, DATA_SERVICE_API_KEY). `store` keeps answers
    beyond this process: a `SqliteStore`, a `RedisStore`; without one they end with it. An answer is fresh for `ttl_s`
    seconds from its arrival; every read ends within `deadline_s`; `budget` limits what may be spent. Use it in one
    event loop.

    Raises `ValueError` for an address that is no https URL (plain http only to this machine, or `allow_plain_http`),
    and for a key that cannot be one.

    >>> async def latest() -> float:
    ...     async with AsyncClient("https://data.example", "ds_" + 40 * "0") as client:
    ...         return (await client.signal("us-cpi")).latest.value
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        store: Store | None = None,
        ttl_s: float = DEFAULT_TTL_S,
        deadline_s: float = DEADLINE_S,
        budget: Budget | None = None,
        max_memory_bytes: int = MEMORY_BYTES,
        allow_plain_http: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
        user_agent: str | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if not deadline_s > 0:
            raise ValueError(f"deadline_s must be more than 0 seconds, not {deadline_s!r}")
        self.base_url = service_url(base_url or _configured_url(), allow_plain_http=allow_plain_http)
        self._key = _configured_key(api_key)
        self._clock = clock
        self._store = ResilientStore(MemoryStore() if store is None else store)
        self._opening = asyncio.Lock()
        self._cache = AnswerCache(self._store, max_bytes=max_memory_bytes, ttl_s=ttl_s)
        self._answers = self._cache.known.by_resource
        self._breaker = CircuitBreaker(has_key=self._key is not None)
        self._usage = UsageTracker(self._store)
        self._transport = Transport(self.base_url, self._key, transport=transport, user_agent=user_agent)
        self._sender = RequestSender(
            self._transport, self._usage, self._breaker, budget or Budget(), clock=clock, sleep=sleep, jitter=jitter
        )
        self._reading = Reading(self._cache, self._store, self._sender, deadline_s=deadline_s, clock=clock, sleep=sleep)

        self._overview = Overview(self._cache, self._breaker, clock=clock)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r}, key_id={self.key_id!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End what is under way and close the connections; a `store` that was given stays open for its owner."""
        await self._reading.aclose()
        await self._transport.aclose()

    @property
    def key_id(self) -> str:
        """A name for the key in this process, to tell keys apart; never the key. Empty without one."""
        return "" if self._key is None else self._key.fingerprint(_PROCESS_SALT, self.base_url)[:12]

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory, at once: a fresh one, or with `max_age_s` any that is not older than that."""
        now = self._clock()
        answer = self._answers.get(resource)
        if answer is None or not _serves(answer, max_age_s, now):
            answer = self._cache.peek(resource)  # there may be a younger one inside a wider answer
            if answer is None or not _serves(answer, max_age_s, now):
                return None
        return answer

    async def have(self, resource: Resource[T], *, max_age_s: float) -> Answer[T] | None:
        """The answer in any cache tier, if it is not older than `max_age_s` seconds; never a request."""
        found = self.peek(resource, max_age_s=max_age_s)
        if found is None and can_exist(resource):
            await self._open()
            found = await self._cache.find(resource, self._clock())
        return found if found is not None and found.age_s(self._clock()) <= max_age_s else None

    async def read(self, resource: Resource[T]) -> Answer[T]:
        """The answer: fresh from a cache, else from the service, else the last known one with `stale_because`.

        Callers who ask for the same resource at the same time share one flight, and its result or its error. Raises
        the `DataServiceError` that kept the answer away where there is not even an old one.
        """
        answer = self.peek(resource)
        if answer is not None:
            return answer
        closed = self._breaker.closed(resource, first_request(resource).endpoint, self._clock())
        if closed is not None:
            last_known = self._cache.peek(resource)
            if last_known is not None:
                return last_known.stale(closed)
        await self._open()
        return await self._reading.read(resource)

    async def cost(self, resources: Iterable[Resource[Any]]) -> int:
        """How many requests reading all of `resources` now would spend at most; sends none.

        A series whose beginning is not known is taken to begin in 1985, one of monthly or rarer values in 1830; one of
        which nothing is known, to have an observation every working day.
        """
        await self._open()
        return await self._overview.cost(resources)

    async def refresh(self, *, force: bool = False) -> None:
        """Begin a new generation: refusals and outages are forgotten, so that the service is asked again.

        With `force`, nothing known counts as fresh any more; it stays the last known value all the same.
        """
        self._breaker.lift()
        if force:
            self._cache.expire(self._clock())
        await self._usage.look_up(self._clock())

    async def forget(self) -> int:
        """Forget everything kept for this key at this service, in every tier; how many entries there were."""
        await self._open()
        return await self._cache.forget()

    async def signal_pages(self, category: str | None = None) -> AsyncIterator[Sequence[Signal]]:
        """The catalogue page by page as the service sends it, past all caches: one request a page of up to 500."""
        await self._open()
        async for page in catalogue_pages(self._sender, self._reading.context, category):
            yield page.signals

    async def observation_pages(
        self, slug: str, start: date | None = None, end: date | None = None
    ) -> AsyncIterator[Observations]:
        """A signal's observations page by page, past all caches: one request a page of up to 1,000, none twice."""
        await self._open()
        seen = 0
        window = Window(start or date.min, end or date.max)
        async for pulled in observation_pages(self._sender, self._reading.context, slug, window):
            yield pulled.observations[seen:]
            seen = len(pulled.observations)

    def states(self) -> list[ResourceState]:
        """What this process knows of every resource it was asked for, those it holds nothing of behind the others."""
        return self._overview.states(self._reading.last_errors)

    @property
    def quota_now(self) -> Quota | None:
        """The quota as the headers of the last answer told it; no request. None before the first one."""
        return self._usage.quota(self._clock())

    @property
    def requests_sent(self) -> int:
        """The requests this client spent so far; a refused key spends none."""
        return self._usage.sent

    async def quota(self) -> Quota:
        """The quota last seen; only if none was ever seen, one request for the indices, which are then cached."""
        await self._open()
        await self._usage.look_up(self._clock())
        if self.quota_now is None:
            await self.read(IndicesResource())
        if (seen := self.quota_now) is None:
            raise UnavailableError("its answers hold no quota headers")
        return seen

    async def _open(self) -> None:
        """Find the key's place in the store, once; a store that fails is asked again at a later call."""
        if self._key is None or self._cache.scope is not None:
            return
        async with self._opening:
            if self._cache.scope is None and (salt := await self._store.salt()) is not None:
                scope = self._key.fingerprint(salt, self.base_url)
                await self._usage.open(scope, self._clock())
                self._cache.scope = scope


def _serves(answer: Answer[Any], max_age_s: float | None, now: float) -> bool:
    return now < answer.fresh_until if max_age_s is None else now - answer.fetched_at <= max_age_s


_PROCESS_SALT = secrets.token_bytes(16)


def _configured_url() -> str:
    url = os.environ.get(URL_VARIABLE, "")
    if not url.strip():
        raise ValueError(f"no service address: give base_url or set {URL_VARIABLE}")
    return url


def _configured_key(given: str | None) -> ApiKey | None:
    text = os.environ.get(KEY_VARIABLE, "") if given is None else given
    return ApiKey(text) if text.strip() else None
