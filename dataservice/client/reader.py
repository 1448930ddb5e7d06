"""How a resource gets its answer: from a cache, from one flight to the service, or as the last known value."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, TypeVar

from cachetools import LRUCache
from msgspec.structs import replace

from dataservice.client.cache.answer import Answer, Miss, Source
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, Evidence, Evidences
from dataservice.client.contract.paging import MAX_PAGES
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.resources import CATALOGUE, HistoryResource, Resource, SignalResource
from dataservice.client.contract.results import Catalogue
from dataservice.client.lists import fetch_list
from dataservice.client.network.call_context import CallContext, Meter, RetryPolicy
from dataservice.client.network.sender import RequestSender
from dataservice.client.series.details import DetailFetch
from dataservice.client.series.histories import fetch_history
from dataservice.client.series.tools import FetchTools
from dataservice.client.single_flight import FetchLock, SingleFlight
from dataservice.client.unknown_names import CatalogueCheck, RampUp, UnknownNames
from dataservice.errors import (
    BoundReachedError,
    DataServiceError,
    MalformedAnswerError,
    NotFoundError,
    UnavailableError,
)
from dataservice.fair_timeout import FairTimeout

T = TypeVar("T")

RETRY_WITH_VALUE_S = 1.0
"""How long to go on trying when the last known value is at hand: a batch has 2 s while the service is down."""

MAX_LAST_ERRORS = 10_000  # one a resource; the least recently met are dropped first

_logger = logging.getLogger("dataservice.client")

LISTED_S = 3_600.0
"""A catalogue of the last hour settles which names exist; a new signal is found in the next one."""

LOOK_S = 60.0
"""How often the store is looked into for such a catalogue: it may be large, and unpacking it takes a while."""

DEADLINE_GRACE_S = 0.5  # whoever minds the deadline itself has the better message about what took so long


class ResourceReader:
    """One key's way to answers, each within `deadline_s` seconds."""

    def __init__(
        self,
        cache: AnswerCache,
        sender: RequestSender,
        fetch_lock: FetchLock,
        unknown_names: UnknownNames,
        ramp_up: RampUp,
        *,
        deadline_s: float,
        clock: Callable[[], float],
        learn: Callable[[Evidence], Awaitable[None]],
        max_pages: int = MAX_PAGES,
        evidence: Evidence = NOTHING_SEEN,
    ) -> None:
        self._cache = cache
        self._sender = sender
        self._fetch_lock = fetch_lock
        self._unknown_names = unknown_names
        self._ramp_up = ramp_up
        self.evidence = Evidences(evidence)
        self._tools = FetchTools(
            sender=sender,
            cache=cache,
            read=self._read_within,
            learn=learn,
            clock=clock,
            max_pages=max_pages,
            evidence=self.evidence,
        )
        self._deadline_s, self._limit_s = deadline_s, deadline_s + DEADLINE_GRACE_S
        self._policy = RetryPolicy(deadline_s)
        self._policy_with_value = RetryPolicy(min(RETRY_WITH_VALUE_S, deadline_s))
        self._clock = clock
        self._single_flight = SingleFlight()
        self._looked_at = float("-inf")
        self.last_errors: LRUCache[Resource[Any], DataServiceError] = LRUCache(MAX_LAST_ERRORS)

    async def read(
        self, resource: Resource[T], known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer of the one flight to `resource`; only the `meter` of the caller that started it counts it.

        A flight that ended at the bound of whoever started it is no answer for others: they start one of their own.
        """
        mine = meter or Meter()
        while True:
            landing, started = self._single_flight.join(resource, partial(self._answer, resource, known_miss, mine))
            try:
                answer = await landing
            except DataServiceError as error:
                is_mine = mine.bound is not None and mine.bound.is_reached
                if isinstance(error, BoundReachedError) and not is_mine:
                    continue
                error.with_traceback(None)  # which holds the frames that raised it, and with them the error itself
                raise
            finally:
                del landing  # it holds the error, whose traceback holds this frame
            if started:
                return answer
            if not isinstance(answer.stale_because, BoundReachedError):
                return replace(answer, requests=0)

    async def _read_within(self, resource: Resource[T], meter: Meter) -> Answer[T]:
        """What another answer needs, counted with that."""
        return await self.read(resource, meter=meter)

    @asynccontextmanager
    async def doubting(self, slug: str) -> AsyncIterator[None]:
        """Read within this a name that nothing at hand vouches for; of many at a time a few are tried first.

        Raises `NotFoundError` without a request for a name that a catalogue of the last hour does not hold.
        """
        if await self._recent_catalogue() is not None:
            await self._require_listed(slug)
            yield
            return
        async with self._ramp_up.turn() as names:
            await self._require_listed(slug, names)
            yield

    async def _require_listed(self, slug: str, names: int = 1) -> None:
        """Raise `NotFoundError` for a name that a catalogue of the last hour does not hold.

        After several unknown names it is asked for: one look settles all that are still to come.
        """
        listed = await self._recent_catalogue()
        if listed is None and await self._unknown_names.catalogue_check(names, waits=False) is CatalogueCheck.LOAD:
            try:
                listed = await self.read(CATALOGUE)
            except DataServiceError:
                return  # the name itself may be answered all the same
        is_settled = listed is not None and listed.stale_because is None and not listed.value.may_be_cut
        if listed is not None and is_settled and listed.value.find(slug) is None:
            raise NotFoundError(f"no signal {slug!r} in the catalogue")

    async def _recent_catalogue(self) -> Answer[Catalogue] | None:
        """A catalogue of the last hour, if one is at hand."""
        now, known = self._clock(), self._cache.answers.in_memory(CATALOGUE)
        if (known is None or not known.is_within(LISTED_S, now)) and abs(now - self._looked_at) > LOOK_S:
            self._looked_at = now
            known = await self._cache.last_known(CATALOGUE, now)
        return known if known is not None and known.is_within(LISTED_S, now) else None

    def forget_forms(self) -> None:
        """Forget which answers could not be read: a probe has found out how the service answers."""
        for resource, error in list(self.last_errors.items()):
            if isinstance(error, MalformedAnswerError):
                del self.last_errors[resource]

    async def aclose(self) -> None:
        """End what is under way."""
        await self._single_flight.cancel()

    def context(self) -> CallContext:
        """The context of a new call that is about no resource."""
        return CallContext(None, self._clock(), self._deadline_s, self._policy, Meter(), self._sender.progress)

    async def _answer(self, resource: Resource[T], known_miss: Miss[T] | None, meter: Meter) -> Answer[T]:
        known, has_looked = (known_miss.last_known, True) if known_miss else await self._looked_up(resource)
        if known_miss is None and known is not None and known.is_fresh(self._clock()):
            return known
        if known is not None and (brought := await self._brought_by_wider(resource, meter)) is not None:
            return brought
        policy = self._policy if known is None else self._policy_with_value
        context = CallContext(resource, self._clock(), self._deadline_s, policy, meter, self._sender.progress)
        is_doubtful = known is None and self._cache.answers.in_memory(CATALOGUE) is None and hasattr(resource, "slug")
        with self._unknown_names.in_doubt if is_doubtful else nullcontext():
            return await self._fetched(resource, context, known, has_looked=has_looked)

    async def _fetched(
        self, resource: Resource[T], context: CallContext, known: Answer[T] | None, *, has_looked: bool
    ) -> Answer[T]:
        """The answer of the service; what was `known` before where there is none, with the reason.

        It is cancelled from outside if something on the way does not mind the deadline.
        """
        fetch = self._fetch if has_looked else self._fetch_or_find
        try:
            self._sender.check(first_request(resource), context, context.waiting_since)
            self._check_missing(resource, context.waiting_since)
            with FairTimeout(self._limit_s, left_s=self._left_s):
                answer = await self._fetch_lock.fetch(resource, context, known, fetch)
        except TimeoutError:
            failed = self._sender.late(first_request(resource), context)
        except DataServiceError as error:
            failed = error
        except Exception as error:
            _logger.exception("reading %s failed", type(resource).__name__)
            failed = UnavailableError(f"its answer could not be used ({type(error).__name__})")
        else:
            if odd := getattr(answer.value, "odd", ""):  # of an answer that could be read in part
                self.last_errors[resource] = MalformedAnswerError(odd)
            elif self.last_errors:
                self.last_errors.pop(resource, None)
            return answer
        self.last_errors[resource] = failed.afresh()
        if isinstance(failed, NotFoundError) and context.meter.requests:
            await self._unknown_names.note()
            if known is None:
                await self._cache.answers.keep_missing(resource, self._clock())
        last_known = await self._cache.after_failure(resource, known, self._clock())
        if last_known is None:
            raise failed
        return replace(last_known.stale(failed.afresh()), requests=context.meter.requests)

    async def _looked_up(self, resource: Resource[T]) -> tuple[Answer[T] | None, bool]:
        """Return what any cache knows of it, and whether the store needs no look for the detail of a history's signal.

        It has just been looked for, or it is no history.
        """
        asked: Resource[Any] = resource
        looks = self._cache.signals.looks_at_detail(asked.slug) if isinstance(asked, HistoryResource) else 0
        known = await self._cache.last_known(resource, self._clock())
        return known, not isinstance(asked, HistoryResource) or self._cache.signals.looks_at_detail(asked.slug) > looks

    async def _brought_by_wider(self, resource: Resource[T], meter: Meter) -> Answer[T] | None:
        """The fresh answer out of a complete wider list, which is asked for again instead: one request for all."""
        wide = self._cache.complete_wider(resource, self._clock())
        if wide is None:
            return None
        with suppress(DataServiceError):
            await self.read(wide, meter=meter)
        found = self._cache.peek(resource, self._clock())
        return None if found is None else replace(found, source=Source.NETWORK, requests=meter.requests)

    def _check_missing(self, resource: Resource[Any], now: float) -> None:
        """Raise what the service lately told another process: that there is no such thing."""
        if self._cache.answers.missing.holds(resource, now):
            request = first_request(resource)
            raise NotFoundError(f"no {request.subject or request.path}", status=404, path=request.path)

    def _left_s(self) -> float:
        """Seconds until a call ends for which others were answered meanwhile."""
        return self._limit_s - self._sender.progress.ago_s()

    async def _fetch_or_find(self, resource: Resource[T], context: CallContext, look_again: bool) -> Answer[T]:
        """The same of a history whose signal was not looked up: its detail may be kept."""
        if not look_again and isinstance(resource, HistoryResource):
            look_again = await self._cache.signals.finds_detail(resource, self._clock())
        return await self._fetch(resource, context, look_again)

    async def _fetch(self, resource: Resource[T], context: CallContext, look_again: bool) -> Answer[T]:
        if look_again:
            now = self._clock()  # whoever held the right before may have brought the answer
            found = await self._cache.last_known(resource, now)
            if found is not None and found.is_fresh(now):
                return found
            self._check_missing(resource, now)
        asked: Resource[Any] = resource
        match asked:
            case SignalResource():
                answer: Answer[Any] = await DetailFetch(self._tools, asked, context).run()
            case HistoryResource():
                answer = await fetch_history(self._tools, asked, context)
            case _:
                answer = await fetch_list(self._tools, asked, context)
        return replace(answer, source=Source.NETWORK, requests=context.meter.requests)
