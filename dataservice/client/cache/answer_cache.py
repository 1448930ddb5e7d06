"""The cache as one: answers from memory or from the store behind it, and where new ones are kept."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
from cachetools import LRUCache

from dataservice.client.cache.answer import Answer, Freshness, Source
from dataservice.client.cache.codec import pack, pack_history, unpack, unpack_history
from dataservice.client.cache.decoded import ANSWER_BYTES, MemoryCache
from dataservice.client.cache.history import History, findings, window_of
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.resources import HistoryResource, Resource, narrowed, wider
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.windows import utc_day
from dataservice.stores import Entry, ResilientStore

T = TypeVar("T")

OBJECTS_PER_BYTE = 4  # decoded records take about four times the memory of their packed bytes
MAX_REVISED = 10_000  # slugs whose past was seen to change; the least recent are dropped first

_logger = logging.getLogger("dataservice.client")


class AnswerCache:
    """Answers known to this process and, if `scope` names the key, to the store that others share."""

    def __init__(self, store: ResilientStore, *, max_bytes: int, ttl_s: float) -> None:
        self.rules = Freshness(ttl_s)
        self.memory = MemoryCache(max_bytes)
        self._store = store
        self.scope: str | None = None
        self._histories: LRUCache[str, History] = LRUCache(max_bytes // 2, getsizeof=_history_bytes)
        self.revised: LRUCache[str, float] = LRUCache(MAX_REVISED)

    @property
    def held_bytes(self) -> int:
        """About how much memory the answers take."""
        return self.memory.held_bytes + int(self._histories.currsize)

    def open(self, scope: str) -> None:
        """Use the store from now on, under the name of the key."""
        self.scope = scope

    def expire(self, now: float) -> None:
        """Let nothing that is known count as fresh any more; nothing is lost."""
        self.rules = self.rules.forced(now)
        self.memory.expire(now)

    async def forget(self) -> int:
        """Forget all that is kept for this key; how many entries the store held."""
        self.memory.clear()
        self._histories.clear()
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

    async def keep(self, resource: Resource[T], value: T, now: float) -> Answer[T]:
        """Keep a value that just arrived, in memory and in the store; returns the answer as the network gave it."""
        payload, fetched_at = pack(value), self.rules.arrival(now)
        answer = Answer(value, fetched_at, self.rules.fresh_until(fetched_at, now), Source.NETWORK)
        self._remember(resource, answer, _size(value, payload))
        if self.scope is not None:
            await self._store.put(self.name(resource), Entry(payload, fetched_at))
        return answer

    async def history(self, resource: HistoryResource) -> History:
        """All that is known of a signal's past, also while the store fails: a full pull costs many requests."""
        kept = await self._get(resource)
        if kept is not None:
            try:
                return self._held(resource.slug, unpack_history(kept.payload))
            except (msgspec.MsgspecError, ValueError) as error:
                _logger.info("a kept history could not be read: %s", type(error).__name__)
        return self._held(resource.slug, self._histories.get(resource.slug, History.nothing()))

    async def history_at_hand(self, resource: HistoryResource) -> History:
        """The same, from memory where this process has read or pulled it before: for whoever just looked it up."""
        held = self._histories.get(resource.slug)
        return await self.history(resource) if held is None else held

    async def keep_history(self, resource: HistoryResource, history: History, now: float) -> History:
        """Keep what is known of a signal's past; answers cut from an earlier state are forgotten.

        The returned history reads the very bytes that are kept, so that there is one copy of them in memory.
        """
        self.memory.drop_family(resource)
        payload = pack_history(history)
        if self.scope is not None:
            await self._store.put(self.name(resource), Entry(payload, now))
        return self._held(resource.slug, unpack_history(payload))

    def from_history(self, resource: HistoryResource, history: History, now: float) -> Answer[Any] | None:
        """The answer to `resource` that `history` gives, kept in memory."""
        window = window_of(resource.start, resource.end, utc_day(now))
        found = findings(history, window, now, self.rules)
        if found is None:
            return None
        answer = Answer(found.observations, found.fetched_at, found.fresh_until, Source(self._store.tier))
        self._remember(resource, answer, found.observations.nbytes)
        return answer

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
        value = narrowed(resource, wide, answer.value)
        if value is None:
            return None
        found = Answer(value, answer.fetched_at, answer.fresh_until, answer.source)
        self._remember(resource, found, 0)  # its records or rows are those of the wide answer
        return found

    async def _in_store(self, resource: Resource[T], now: float) -> Answer[T] | None:
        if isinstance(resource, HistoryResource):
            history = await self.history(resource)
            return self.from_history(resource, history, now) if history.spans else None
        best = await self._unpacked(resource, now)
        for wide in () if best is not None and best.is_fresh(now) else wider(resource):
            answer = await self._unpacked(wide, now)
            if answer is not None and _is_better(answer, best):
                best = self._kept_narrowed(resource, wide, answer) or best
        return best

    async def _unpacked(self, resource: Resource[T], now: float) -> Answer[T] | None:
        kept = await self._get(resource)
        if kept is None:
            return None
        try:
            value = unpack(resource, kept.payload)
        except (msgspec.MsgspecError, ValueError) as error:
            _logger.info("a kept answer could not be read: %s", type(error).__name__)
            return None
        fresh_until = self.rules.fresh_until(kept.fetched_at, now)
        answer = Answer(value, kept.fetched_at, fresh_until, Source(self._store.tier))
        if _is_better(answer, self.memory.get(resource)):
            self._remember(resource, answer, _size(value, kept.payload))
        return answer

    def _held(self, slug: str, history: History) -> History:
        """The history, held in memory as well; its columns are those that the answers cut from it show."""
        self._histories.pop(slug, None)
        if history.revised_at is not None:
            self.revised[slug] = history.revised_at
        if _history_bytes(history) <= self._histories.maxsize:
            self._histories[slug] = history
        return history

    def _remember(self, resource: Resource[Any], answer: Answer[Any], size: int) -> None:
        self.memory.put(resource, replace(answer, source=Source.MEMORY), size)

    async def _get(self, resource: Resource[Any]) -> Entry | None:
        return None if self.scope is None else await self._store.get(self.name(resource))


def _history_bytes(history: History) -> int:
    return history.observations.nbytes + ANSWER_BYTES


def _size(value: Any, payload: bytes) -> int:
    """About how many bytes of memory a decoded value takes: columns as many as packed, records a multiple."""
    columns = value.history.nbytes if isinstance(value, SignalDetail) else 0
    return columns + OBJECTS_PER_BYTE * (len(payload) - columns)


def _serves(answer: Answer[Any], now: float, max_age_s: float | None) -> bool:
    return now < answer.fresh_until if max_age_s is None else now - answer.fetched_at <= max_age_s


def _is_better(answer: Answer[Any], known: Answer[Any] | None) -> bool:
    return known is None or (answer.fresh_until, answer.fetched_at) > (known.fresh_until, known.fetched_at)
