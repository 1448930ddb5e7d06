"""The cache as one: answers from memory or from the store behind it, and where new ones are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

import msgspec
from cachetools import LRUCache

from dataservice.client.cache.answer import CLOCK_SKEW_S, Answer, Freshness, Source
from dataservice.client.cache.codec import pack, unpack
from dataservice.client.cache.decoded import MemoryCache
from dataservice.client.cache.histories import Histories
from dataservice.client.cache.history import History, findings, window_of
from dataservice.client.cache.recent import contradicts, corrected, with_detail
from dataservice.client.cache.since import NOTE, earlier, from_any_day, noted, since_of, with_day
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.resources import HistoryResource, Resource, SignalResource, narrowed, wider
from dataservice.client.contract.results import Page, SignalDetail
from dataservice.client.contract.windows import utc_day
from dataservice.stores import Entry, ResilientStore

T = TypeVar("T")

OBJECTS_PER_BYTE = 4  # decoded records take about four times the memory of their packed bytes

NEVER = float("-inf")
"""Until when an answer from a clock that was ahead is fresh: nobody knows when it arrived."""

ABSENT_S = 2.0
"""For so long the store is not asked again for a detail that it did not have: the functions of one batch."""

MAX_ABSENT = 10_000

_logger = logging.getLogger("dataservice.client")


class AnswerCache:
    """Answers known to this process and, if `scope` names the key, to the store that others share.

    What it knows of a signal is one history: details and pulls are compared, and each corrects the other.
    """

    def __init__(self, store: ResilientStore, *, max_bytes: int, ttl_s: float) -> None:
        self.rules = Freshness(ttl_s)
        self.memory = MemoryCache(max_bytes)
        self._store = store
        self.scope: str | None = None
        self._histories = Histories(store, max_bytes=max_bytes // 2, name_of=self._history_name)
        self._absent: LRUCache[str, float] = LRUCache(MAX_ABSENT)
        self._noted: LRUCache[Resource[Any], None] = LRUCache(MAX_ABSENT)

    @property
    def held_bytes(self) -> int:
        """About how much memory the answers take."""
        return self.memory.held_bytes + self._histories.held_bytes

    def open(self, scope: str) -> None:
        """Use the store from now on, under the name of the key."""
        self.scope = scope

    def expire(self, now: float) -> None:
        """Let nothing that is known count as fresh any more; nothing is lost."""
        self.rules = self.rules.forced(now)
        self.memory.expire(now)

    def set_back(self, seconds: float) -> None:
        """Date all that is in memory earlier by `seconds`: the clock was set back."""
        self.memory.move(-seconds)
        self._histories.move(-seconds)
        self._absent.clear()
        self.rules = replace(self.rules, not_before=self.rules.not_before - seconds)

    async def forget(self) -> int:
        """Forget all that is kept for this key; how many entries the store held."""
        self.memory.clear()
        self._histories.clear()
        self._absent.clear()
        self._noted.clear()
        return 0 if self.scope is None else await self._store.clear(f"{self.scope}/")

    def peek(self, resource: Resource[T], now: float, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory: a fresh one, or with `max_age_s` any that is not older; also out of a wider one."""
        answer = self.memory.get(resource)
        if (
            answer is not None and max_age_s is None and now < answer.fresh_until
        ):  # the most common case, without a call
            return answer
        if answer is not None and _serves(answer, now, max_age_s):
            return answer
        wide = self._narrowed_in_memory(resource, answer)  # a wider answer may hold a younger one
        return wide if wide is not None and _serves(wide, now, max_age_s) else None

    def in_memory(self, resource: Resource[T]) -> Answer[T] | None:
        """The last known answer in memory, fresh or not, also out of a wider one."""
        answer = self.memory.get(resource)
        return self._narrowed_in_memory(resource, answer) or answer

    async def last_known(self, resource: Resource[T], now: float) -> Answer[T] | None:
        """The last known answer in memory or in the store: a fresh one if there is one, else the youngest."""
        answer = self.in_memory(resource)
        if answer is not None and answer.is_fresh(now):
            return answer
        kept = await self._in_store(resource, now)
        return kept if kept is not None and _is_better(kept, answer) else answer

    async def keep(self, resource: Resource[T], value: T, payload: bytes, now: float) -> Answer[T]:
        """Keep a value that just arrived, packed as `payload`; returns the answer as the network gave it."""
        fetched_at = self.rules.arrival(now)
        answer = Answer(value, fetched_at, self.rules.fresh_until(fetched_at, now), Source.NETWORK)
        before = self._remember(resource, answer, _size(value, payload))
        if self.scope is not None:
            await self._store.put(self.name(resource), Entry(payload, fetched_at))
            await self._note_since(resource, now)
        if isinstance(resource, SignalResource):
            await self._learn_detail(resource.slug, before, cast("Answer[SignalDetail]", answer), now)
        return answer

    async def history(self, slug: str, now: float) -> History:
        """All that is known of a signal's past, also while the store fails: a full pull costs many requests."""
        history = (await self._histories.load(slug)).dated(now)
        self._histories.hold(slug, history)
        return self._united(slug, history, await self._detail(slug, now))

    async def history_at_hand(self, slug: str, now: float) -> History:
        """The same, from memory where this process has read or pulled it before: for whoever just looked it up."""
        held = self._histories.held(slug)
        if held is None:
            return await self.history(slug, now)
        return self._united(slug, held, self.memory.get(SignalResource(slug)))

    async def learn(
        self, resource: HistoryResource, history: History, change: Callable[[History], History], now: float
    ) -> History:
        """Keep what a pull changed in a signal's history; answers cut from an earlier state are forgotten."""
        self.memory.drop_family(resource)
        history = await self._histories.keep(resource.slug, now, change, history)
        self.memory.drop_family(resource)  # others may have cut theirs meanwhile
        detail = await self._detail(resource.slug, now)
        if detail is not None and self._correct(resource.slug, detail, history) and self.scope is not None:
            known = self.memory.get(SignalResource(resource.slug))
            if known is not None and known.is_fresh(now):
                entry = Entry(pack(known.value), known.fetched_at)
                await self._store.put(self.name(SignalResource(resource.slug)), entry)
        return history

    def replaced_since(self, resource: Resource[Any], known: Answer[Any] | None, fetched_at: float | None) -> bool:
        """Whether the store's entry of the time `fetched_at` is newer than what this process found there."""
        if fetched_at is None:
            return False
        if isinstance(resource, HistoryResource):
            return fetched_at != self._histories.kept_at(resource.slug)
        return known is None or fetched_at > known.fetched_at

    @property
    def revised(self) -> LRUCache[str, float]:
        """By slug, when the service was last seen to have changed the past of a signal."""
        return self._histories.revised

    def from_history(self, resource: HistoryResource, history: History, now: float) -> Answer[Any] | None:
        """The answer to `resource` that `history` gives, kept in memory."""
        window = window_of(resource.start, resource.end, utc_day(now))
        found = findings(history, window, now, self.rules)
        if found is None:
            return None
        answer = Answer(found.observations, found.fetched_at, found.fresh_until, Source(self._store.tier))
        self._remember(resource, answer, found.observations.nbytes)
        return answer

    async def after_failure(self, resource: Resource[T], known: Answer[T] | None, now: float) -> Answer[T] | None:
        """The last known answer after a fetch that failed: what arrived before it broke off is already in it."""
        if isinstance(resource, HistoryResource):
            return self.from_history(resource, await self.history_at_hand(resource.slug, now), now) or known
        return self.in_memory(resource) or known

    def _united(self, slug: str, history: History, detail: Answer[SignalDetail] | None) -> History:
        """The history together with what the signal's detail says; the detail is corrected by it."""
        if detail is None:
            return history
        if detail.fresh_until == NEVER:
            return history if history.spans else _doubtful(with_detail(history, detail.value, detail.fetched_at))
        united = with_detail(history, detail.value, detail.fetched_at)
        if history.spans:
            self._correct(slug, detail, united)
        return united

    def _correct(self, slug: str, detail: Answer[SignalDetail], history: History) -> bool:
        """Let the detail in memory show what the history says; whether that is something else."""
        value, doubtful = corrected(detail.value, history)
        if value is detail.value and not doubtful:
            return False
        fresh_until = min(detail.fresh_until, detail.fetched_at) if doubtful else detail.fresh_until
        answer = replace(detail, value=value, fresh_until=fresh_until)
        self._remember(SignalResource(slug), answer, value.history.nbytes)
        return True

    async def _learn_detail(
        self, slug: str, before: Answer[SignalDetail] | None, arrived: Answer[SignalDetail], now: float
    ) -> None:
        """Compare a detail that just arrived with what is known of the signal's past.

        A history in the store is read only if the detail contradicts the one before it. Otherwise whoever reads it
        next compares both.
        """
        self.memory.drop_family(HistoryResource(slug))
        held = self._histories.held(slug)
        if before is not None and contradicts(before.value, arrived.value, before.fetched_at):
            self._histories.revised[slug] = now
            held = (await self._histories.load(slug)).dated(now)
        if held is None or not held.spans:
            return
        detail, at = arrived.value, arrived.fetched_at
        united = with_detail(held, detail, at)
        if united.revised_at == held.revised_at:
            self._histories.hold(slug, united)
        else:
            united = await self._histories.keep(slug, now, lambda known: with_detail(known, detail, at), held)
        self._correct(slug, arrived, united)

    async def _detail(self, slug: str, now: float) -> Answer[SignalDetail] | None:
        """The signal's detail in memory, else in the store."""
        resource = SignalResource(slug)
        known = self.memory.get(resource)
        if known is None and not now - ABSENT_S <= self._absent.get(slug, NEVER) <= now:
            return await self._unpacked(resource, now)
        return known

    def _history_name(self, slug: str) -> str | None:
        return None if self.scope is None else self.name(HistoryResource(slug))

    def name(self, resource: Resource[Any]) -> str:
        """The name of a resource's entry in the store: the key's fingerprint and the first request's target."""
        request = first_request(resource)
        target = request.path if isinstance(resource, HistoryResource) else request.target
        return f"{self.scope}{target}"

    def _narrowed_in_memory(self, resource: Resource[T], known: Answer[T] | None) -> Answer[T] | None:
        """The answer to `resource` out of the best wider one, if that is better than the `known` one."""
        if resource.family == resource:
            return None
        found: Answer[T] | None = None
        for wide, answer in self.memory.family(resource):
            if wide != resource and wide.covers(resource) and _is_better(answer, found or known):
                found = self._kept_narrowed(resource, wide, answer) or found
        return found

    def _kept_narrowed(self, resource: Resource[T], wide: Resource[Any], answer: Answer[Any]) -> Answer[T] | None:
        value: Any = narrowed(resource, wide, answer.value)
        if value is None:
            return None
        fresh_until = answer.fresh_until
        if isinstance(value, Page) and not value.complete:
            fresh_until = min(fresh_until, answer.fetched_at)  # there may be more: the last known list, not a fresh one
        found = Answer(value, answer.fetched_at, fresh_until, answer.source)
        self._remember(resource, found, 0)  # its records or rows are those of the wide answer
        return found

    async def _in_store(self, resource: Resource[T], now: float) -> Answer[T] | None:
        if isinstance(resource, HistoryResource):
            return await self._cut(resource, now)
        best = await self._unpacked(resource, now)
        for wide in () if best is not None and best.is_fresh(now) else wider(resource):
            best = await self._better(resource, wide, best, now)
        if best is None and since_of(resource) is not None:
            kept = await self._get(self._note_name(resource))
            for wide in earlier(resource, noted(kept.payload) if kept else ()):
                best = await self._better(resource, wide, best, now)
        return best

    async def _cut(self, resource: HistoryResource, now: float) -> Answer[Any] | None:
        """The answer out of the signal's history: out of the one in memory, if that needs no pull."""
        held = self._histories.held(resource.slug)
        if held is not None:
            found = self.from_history(resource, await self.history_at_hand(resource.slug, now), now)
            if found is not None and found.is_fresh(now):
                return found
        history = await self.history(resource.slug, now)
        return self.from_history(resource, history, now) if history.spans else None

    async def _better(
        self, resource: Resource[T], wide: Resource[Any], best: Answer[T] | None, now: float
    ) -> Answer[T] | None:
        """The `best` answer so far, or the one that `wide` holds in the store."""
        answer = await self._unpacked(wide, now)
        if answer is not None and _is_better(answer, best):
            return self._kept_narrowed(resource, wide, answer) or best
        return best

    async def _unpacked(self, resource: Resource[T], now: float) -> Answer[T] | None:
        kept = await self._get(self.name(resource))
        if kept is None:
            if isinstance(resource, SignalResource):
                self._absent[resource.slug] = now
            return None
        try:
            value = unpack(resource, kept.payload)
        except (msgspec.MsgspecError, ValueError) as error:
            _logger.info("a kept answer could not be read: %s", type(error).__name__)
            return None
        answer = self._dated(value, kept.fetched_at, now)
        if _is_better(answer, self.memory.get(resource)):
            self._remember(resource, answer, _size(value, kept.payload))
            if isinstance(resource, SignalResource):
                held = self._histories.held(resource.slug)
                if held is not None:
                    self._united(resource.slug, held, answer)
                    return self.memory.get(resource) or answer
        return answer

    def _dated(self, value: T, fetched_at: float, now: float) -> Answer[T]:
        """The answer of a store's entry; one from a clock that was ahead is known, but never fresh."""
        source = Source(self._store.tier)
        if fetched_at > now + CLOCK_SKEW_S:
            return Answer(value, now, NEVER, source)
        return Answer(value, fetched_at, self.rules.fresh_until(fetched_at, now), source)

    async def _note_since(self, resource: Resource[Any], now: float) -> None:
        """Note the day of a list that was kept, so that a later day's question finds it."""
        day = since_of(resource)
        if day is None or resource in self._noted:
            return
        name = self._note_name(resource)
        for _ in range(2):  # the other process that noted a day at the same moment is done by the second time
            kept = await self._store.get(name)
            days = noted(kept.payload) if kept else ()
            entry = Entry(with_day(days, day), now)
            if day in days or await self._store.replace(name, entry, kept.fetched_at if kept else None):
                self._noted[resource] = None
                return

    def _note_name(self, resource: Resource[Any]) -> str:
        return self.name(from_any_day(resource)) + NOTE

    def _remember(self, resource: Resource[Any], answer: Answer[Any], size: int) -> Answer[Any] | None:
        return self.memory.put(resource, replace(answer, source=Source.MEMORY), size)

    async def _get(self, name: str) -> Entry | None:
        return None if self.scope is None else await self._store.get(name)


def _doubtful(history: History) -> History:
    return replace(history, spans=tuple(replace(span, revised=True) for span in history.spans))


def _size(value: Any, payload: bytes) -> int:
    """About how many bytes of memory a decoded value takes: columns as many as packed, records a multiple."""
    columns = value.history.nbytes if isinstance(value, SignalDetail) else 0
    return columns + OBJECTS_PER_BYTE * (len(payload) - columns)


def _serves(answer: Answer[Any], now: float, max_age_s: float | None) -> bool:
    return now < answer.fresh_until if max_age_s is None else now - answer.fetched_at <= max_age_s


def _is_better(answer: Answer[Any], known: Answer[Any] | None) -> bool:
    return known is None or (answer.fresh_until, answer.fetched_at) > (known.fresh_until, known.fetched_at)
