"""The client for programs that run an event loop."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import date
from functools import partial
from math import inf
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from dataservice.client.archive.archive import Archive
from dataservice.client.archive.vintages import Vintages
from dataservice.client.cache.answer import DEFAULT_TTL_S, Answer, Miss
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.cache.notes.kept_profile import KeptProfile
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, Evidence
from dataservice.client.contract.dates import DateLike, days_of, hours_back, moments_of
from dataservice.client.contract.paging import MAX_PAGES, Pulled
from dataservice.client.contract.profile import Profile
from dataservice.client.contract.quota import Quota
from dataservice.client.contract.requests import can_exist
from dataservice.client.contract.resources import HistoryResource, IndicesResource, Resource, SignalResource
from dataservice.client.contract.windows import Window, utc_day
from dataservice.client.cost import Cost, Refresh
from dataservice.client.endpoints import Endpoints
from dataservice.client.network.breaker import NEGATIVE_TTL_S, CircuitBreaker
from dataservice.client.network.budget import Budget
from dataservice.client.network.call_context import Meter
from dataservice.client.network.credentials import check_limits, configured_key, configured_url, key_id, sealed_for
from dataservice.client.network.sender import RequestSender
from dataservice.client.network.transport import MAX_ANSWER_BYTES, MAX_CONNECTIONS, Transport
from dataservice.client.network.usage import UsageTracker
from dataservice.client.pages import pages_of_catalogue, pages_of_window
from dataservice.client.probe import MOST_REQUESTS, probed
from dataservice.client.reader import ResourceReader
from dataservice.client.single_flight import FetchLock
from dataservice.client.status import Overview, ResourceState
from dataservice.client.steady_clock import SteadyClock
from dataservice.client.unknown_names import CatalogueCheck, RampUp, UnknownNames
from dataservice.errors import UnavailableError
from dataservice.key_text import quoted
from dataservice.models import Signal
from dataservice.observations import Observations
from dataservice.stores import MemoryStore, ResilientStore, Store

T = TypeVar("T")

DEADLINE_S = 20.0
"""Every read ends within so many seconds: with a value, or with the reason why there is none."""

MEMORY_BYTES = 128 * 2**20
"""Decoded answers of this process: eight million observations, or 10,000 signals with their recent history."""


class AsyncClient(Endpoints):
    """The Data Service for one API key, through one cache, at as few requests as can be.

    `base_url` and `api_key` default to the environment (DATA_SERVICE_URL, DATA_SERVICE_API_KEY). `store` keeps answers
    beyond this process: a `SqliteStore`, a `RedisStore`; without one they end with it. An answer is fresh for `ttl_s`
    seconds from its arrival; every read ends within `deadline_s`; `budget` limits what may be spent, `max_pages` the
    requests of one answer, `max_answer_bytes` what one of them may unpack to, `max_connections` the requests under way
    at a time. `evidence` is what is known of the service's ways before the first answer. Use it in one event loop.

    The endpoints' methods return the value itself: a fresh one, or the last known one while the service cannot answer.
    To learn how old it is, `read` the same resource. All raise `DataServiceError` where there is no value.

    Raises `ValueError` for no URL, plain http beyond this machine without `allow_plain_http`, or no possible key.

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
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        max_pages: int = MAX_PAGES,
        max_connections: int = MAX_CONNECTIONS,
        allow_plain_http: bool = False,
        evidence: Evidence = NOTHING_SEEN,
        transport: httpx.AsyncBaseTransport | None = None,
        user_agent: str | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        limits: dict[str, int] = {"max_answer_bytes": max_answer_bytes, "max_connections": max_connections}
        check_limits(deadline_s, max_pages=max_pages, max_memory_bytes=max_memory_bytes, **limits)
        _check_parts(store, budget)
        self.base_url = configured_url(base_url, allow_plain_http=allow_plain_http)
        self._key = configured_key(api_key)
        clock = self._clock = SteadyClock(clock, self._set_back)
        self._store = ResilientStore(sealed_for(self._key, self.base_url, store or MemoryStore()))
        self._opening = asyncio.Lock()
        self._cache = AnswerCache(self._store, max_bytes=max_memory_bytes, ttl_s=ttl_s, missing_ttl_s=NEGATIVE_TTL_S)
        self._cache.past.archive.opening = self._open
        self._breaker = CircuitBreaker(has_key=self._key is not None)
        self._usage = UsageTracker(self._store, budget or Budget(), clock=clock, sleep=sleep)
        bounds: dict[str, Any] = {"most": max_connections, "max_answer_bytes": max_answer_bytes}
        self._transport = Transport(self.base_url, self._key, transport=transport, user_agent=user_agent, **bounds)
        waiting: dict[str, Any] = {"most": max_connections, "clock": clock, "sleep": sleep}
        self._sender = RequestSender(self._transport, self._usage, self._breaker, self._store, jitter=jitter, **waiting)
        fetch_lock = FetchLock(self._cache, self._store, chance=jitter, **waiting)
        self._sender.queued = fetch_lock.waiting
        names = self._unknown_names = UnknownNames(self._cache, self._store, clock=clock)
        reading: dict[str, Any] = {"deadline_s": deadline_s, "clock": clock, "max_pages": max_pages}
        self._profile = KeptProfile(self._store, lambda: self._cache.answers.scope, clock)
        reading["learn"] = self._profile.learn
        reading |= {"ramp_up": RampUp(sleep), "evidence": evidence}
        self._reader = ResourceReader(self._cache, self._sender, fetch_lock, names, **reading)
        self._overview = Overview(self._cache, self._breaker, self._reader.evidence, clock=clock)

    def __repr__(self) -> str:
        if not {"base_url", "_key"} <= vars(self).keys():  # its making raised, and a traceback shows it
            return f"{type(self).__name__}(unfinished)"
        return f"{type(self).__name__}({self.base_url!r}, key_id={self.key_id!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End what is under way and close the connections; a `store` that was given stays open for its owner."""
        await self._reader.aclose()
        await self._transport.aclose()
        await self._store.settle()

    def take_apart(self) -> None:
        """Let go of what a closed client knows, at once: nothing may be asked of it any more.

        Its parts refer to each other. Else they would stay until Python looks for such circles, which takes a process
        with many clients a tenth of a second each time.
        """
        for part in (
            self._clock,
            self._cache.past,
            self._cache,
            self._usage,
            self._sender,
            self._profile,
            self._reader,
        ):
            vars(part).clear()
        vars(self).clear()

    @property
    def key_id(self) -> str:
        """A name for the key in this process, to tell keys apart; never the key. Empty without one."""
        return key_id(self._key, self.base_url)

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory, at once: a fresh one, or with `max_age_s` any that is not older than that."""
        return self._cache.peek(resource, self._clock(), max_age_s)

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache, fresh if any cache holds a fresh one, else the youngest; never a request."""
        if resource.is_requested and not can_exist(resource):
            return None
        await self._open()
        now = self._clock()
        is_lacking = isinstance(resource, HistoryResource) and self._cache.signals.lacks(resource, now)
        return None if is_lacking else await self._cache.last_known(resource, now)

    async def vintages(self, slug: str) -> Vintages:
        """Return what was known of a signal, and when, as earlier answers showed it; never a request."""
        await self._open()
        return await self._cache.past.archive.vintages(slug)

    @property
    def archive(self) -> Archive:
        """The archive of this key: its signals, their sizes, and how to prune and clear it."""
        return self._cache.past.archive

    async def scope(self) -> str | None:
        """The hash that names the key in the store, which is opened; None without a key, or if the store fails."""
        await self._open()
        return self._cache.answers.scope

    async def have(self, resource: Resource[T], *, max_age_s: float) -> Answer[T] | None:
        """The answer in any cache, if it is not older than `max_age_s` seconds; never a request."""
        found = self.peek(resource, max_age_s=max_age_s) or await self.last_known(resource)
        return found if found is not None and found.is_within(max_age_s, self._clock()) else None

    async def catalogue_check(self, names: int, *, waits: bool = True) -> CatalogueCheck:
        """Whether `names` signals, which no answer at hand vouches for, are to be looked up in the catalogue first.

        Where others are under way it `waits` for what the first of them shows.
        """
        await self._open()
        return await self._unknown_names.catalogue_check(names, waits=waits)

    async def read(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer: fresh from a cache, else from the service, else the last known one with `stale_because`.

        Callers that read the same resource at the same time share one request, and its result or its error. With
        `known_miss`, what `last_known` has just found, the store is not looked into again. `meter` counts what this
        call spends, while it spends it. Raises `DataServiceError` where there is no answer, not even an old one.
        """
        if (answer := self.peek(resource)) is not None:
            return answer
        await self._open()
        answer = await self._reader.read(resource, known_miss, meter)
        if self._reader.evidence.has_changed:
            await self._go_by_version()
        return answer

    async def _named(self, resource: SignalResource | HistoryResource) -> Answer[Any]:
        """As `read`; a name of which nothing is known is looked up in the catalogue where that costs less."""
        known = self.peek(resource) or await self.last_known(resource)
        if known is not None and known.is_fresh(self._clock()):
            return known
        if known is None and can_exist(resource) and self.peek(SignalResource(resource.slug), max_age_s=inf) is None:
            async with self._reader.doubting(resource.slug):
                return await self.read(resource, known_miss=Miss(known))
        return await self.read(resource, known_miss=Miss(known))

    async def signal_pages(self, category: str | None = None) -> AsyncIterator[Sequence[Signal]]:
        """The catalogue page by page as the service sends it, past all caches: one request a page of up to 500."""
        await self._open()
        context, seen = self._reader.context(), 0
        async for pulled in pages_of_catalogue(self._sender, context, category):
            yield tuple(pulled.found.values())[seen:]
            seen = len(pulled.found)
            context.begin_again(self._clock())  # each page has the whole deadline, however long the caller took

    async def observation_pages(
        self, slug: str, start: DateLike | None = None, end: DateLike | None = None
    ) -> AsyncIterator[Observations]:
        """A signal's observations page by page, past all caches: one request a page of up to 1,000, none twice."""
        start, today = hours_back(start, end, self._clock()), utc_day(self._clock())
        first, last = days_of(start, end, today)
        cut = moments_of(start, end, today)
        await self._open()
        context, seen = self._reader.context(), 0
        async for pulled in pages_of_window(
            self._sender,
            context,
            slug,
            Pulled.begin(Window(first or date.min, last or date.max)),
            self._reader.evidence,
        ):
            yield pulled.observations[seen:].between(*cut)
            seen = len(pulled.observations)
            context.begin_again(self._clock())

    async def cost(self, resources: Iterable[Resource[Any]]) -> int:
        """How many requests reading all of `resources` now would likely spend; sends none. For bounds see `cost_of`.

        A series of unknown beginning counts from 1985, or 1830 if monthly or rarer; an unknown one has daily values.
        """
        await self._open()
        return await self._overview.cost(resources)

    async def cost_of(
        self, resource: Resource[Any], *, after: Refresh | None = None, shown_from: date | None = None
    ) -> Cost:
        """From how many to how many requests reading `resource` now, or `after` a refresh, would spend; sends none.

        With `shown_from`: when the signal's next detail has arrived, which shows the days from then on.
        """
        await self._open()
        return await self._overview.cost_of(resource, after, shown_from)

    async def known_after(
        self, resource: Resource[T], shown_from: date, *, after: Refresh | None = None
    ) -> Answer[T] | None:
        """What will be known of a signal's past when its next detail shows the days `shown_from` on; no request."""
        await self._open()
        return await self._overview.known_after(resource, shown_from, after)

    def complete_wider(self, resource: Resource[Any]) -> Resource[Any] | None:
        """The list that is asked for again in place of a stale narrower one, which it holds; or None."""
        return self._cache.complete_wider(resource, self._clock())

    async def refresh(self, *, force: bool = False) -> float:
        """Begin a new generation: refusals and outages are forgotten, so that the service is asked again.

        With `force`, nothing known counts as fresh any more; it stays the last known value. Returns when it began.
        """
        began_at = self._clock()
        await self.join_refresh(began_at, force=force, is_own=True)
        return began_at

    async def join_refresh(self, began_at: float, *, force: bool, is_own: bool = False) -> None:
        """Take part in a refresh that another process began, which shares the store: what arrived since is fresh."""
        self._breaker.reset()
        self._cache.answers.missing.ask_again(began_at)
        if force:
            self._cache.expire(began_at, is_joined=not is_own)
        await self._usage.look_up()
        await self._usage.allow_probe(is_joined=not is_own)

    async def look_up_quota(self) -> Quota | None:
        """The quota as all processes that share the store have last seen it; no request."""
        await self._open()
        await self._usage.look_up()
        return self.quota_now

    async def forget(self) -> int:
        """Forget all answers kept for this key at this service; returns the number of entries. The archive stays."""
        await self._open()
        return await self._cache.forget()

    async def purge(self, slug: str, at: float) -> int:
        """Forget a signal's values, purged at `at` for all who share the store; how many entries that held."""
        await self._open()
        return await self._cache.purge(slug, at)

    def states(self) -> list[ResourceState]:
        """Return what this process knows of every resource it was asked for; those without a value come last."""
        return self._overview.states(self._reader.last_errors)

    @property
    def quota_now(self) -> Quota | None:
        """The quota in the headers of the last answer; no request. None before the first one."""
        return self._usage.quota(self._clock())

    @property
    def held_bytes(self) -> int:
        """About how much memory the answers take."""
        return self._cache.held_bytes

    @property
    def places(self) -> int:
        """Return how many requests may be under way now: as many as the service answers as fast as before."""
        return self._sender.places

    @property
    def pace(self) -> str:
        """Return what is known of a limit of the service, and how long the queue takes; empty where none is known."""
        return self._sender.pacer.pace.queue_told(self._sender.waiting)

    @property
    def requests_sent(self) -> int:
        """The requests this client has spent so far; a refused key spends none."""
        return self._usage.sent

    async def quota(self, *, meter: Meter | None = None) -> Quota:
        """The quota last seen; only if none was ever seen, one request for the indices, which are then cached.

        `meter` counts it.
        """
        if await self.look_up_quota() is None:
            await self.read(IndicesResource(), meter=meter)
        if (seen := self.quota_now) is None:
            raise UnavailableError("its answers hold no quota headers")
        return seen

    async def probe(self, slug: str | None = None) -> Profile:
        """Find out how the service answers where the contract leaves it open, in at most 11 requests, and keep that.

        `slug` names a signal to ask about, best a long daily one; without it the first of the catalogue is taken. The
        client goes by what is found, now and for 30 days. Raises `BudgetError` where 11 requests and the reserve are
        not left, and `DataServiceError` where nothing answers.
        """
        await self.look_up_quota()
        self._usage.require(MOST_REQUESTS, self._clock())
        context = self._reader.context()
        self._transport.path_end = ""
        ask = partial(self._sender.ask_once, context=context)
        seen = self.quota_now
        day = None if seen is None else seen.restarts_on
        profile = await probed(ask, self._clock(), slug, end_paths=self._end_paths, restarts_on=day)
        self._go_by(profile)
        self._reader.forget_forms()
        await self._profile.put(profile)
        return profile

    def _end_paths(self, path_end: str) -> None:
        """Let all paths end so; what was refused under others says nothing any more."""
        if path_end != self._transport.path_end:
            self._transport.path_end = path_end
            self._breaker.reset()

    def _go_by(self, profile: Profile) -> None:
        self._reader.evidence.now = profile.evidence
        if profile.evidence.thin_details:
            self._cache.signals.distrust_details()
        self._recall_sources(profile)
        self._end_paths(profile.evidence.path_end)

    def _recall_sources(self, profile: Profile) -> None:
        """Go by what was seen of details and windows: answers of both that are kept are shown as long as they are."""
        self._cache.signals.sources.recall(profile.evidence.apart)

    async def _go_by_version(self) -> None:
        """Go by what is kept of the version of the service that has just answered in the place of another."""
        self._reader.evidence.has_changed = False
        if (profile := await self._kept_profile()) is not None:
            self._go_by(profile)

    async def profile(self) -> Profile | None:
        """The profile that a probe of this service made with this key, if it still holds; no request."""
        await self._open()
        found = await self._kept_profile()
        return found if found is not None and found.findings else None

    async def _kept_profile(self) -> Profile | None:
        return await self._profile.get(self._reader.evidence.now.version)

    def _set_back(self, seconds: float) -> None:
        """The clock was set back: date anew what it has dated so far, and block nothing until it catches up."""
        self._cache.set_back(seconds)
        self._sender.pacer.set_back(seconds)
        self._breaker.reset()

    async def _open(self) -> None:
        """Find the key's place in the store, once; a store that fails is tried again at a later call."""
        if self._key is None or self._cache.answers.scope is not None:
            return
        async with self._opening:
            if self._cache.answers.scope is None and (salt := await self._store.salt()) is not None:
                scope = self._key.fingerprint(salt, self.base_url)
                await self._usage.open(scope)
                if (told := self._usage.last_told) is not None:
                    self._breaker.tier_told(told)
                self._sender.pacer.open(scope)
                self._cache.open(scope)
                profile = await self._profile.get(self._reader.evidence.now.version, even_old=True)
                if profile is None:
                    return
                if profile.holds(self._clock()) and self._reader.evidence.now == NOTHING_SEEN:
                    self._go_by(profile)
                else:
                    self._recall_sources(profile)


def _check_parts(store: Store | None, budget: Budget | None) -> None:
    """Raise `ValueError` for what is no store, such as its path, and for a budget that is a mere number."""
    if store is not None and not hasattr(store, "is_remote"):
        raise ValueError(f"store must be a store such as SqliteStore(path), not {quoted(store)}")
    if budget is not None and not isinstance(budget, Budget):
        raise ValueError(f"budget must be a Budget such as Budget(monthly=400), not {quoted(budget)}")
