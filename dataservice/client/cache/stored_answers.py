"""Answers as they are kept: in memory, in the store, and inside of wider answers."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any, TypeVar

import msgspec
from cachetools import LRUCache

from dataservice.client.cache.answer import CLOCK_SKEW_S, Answer, Freshness, MemoryCache, Source
from dataservice.client.cache.codec import unpack
from dataservice.client.cache.notes.missing import MISSING, MissingNames
from dataservice.client.cache.notes.purged import PurgedSignals
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.resources import PostsResource, Resource, WireResource, narrowed, wider
from dataservice.client.contract.results import Page, SignalDetail
from dataservice.stores import Entry, ResilientStore

T = TypeVar("T")

OBJECTS_PER_BYTE = 4  # decoded records take about four times the memory of their packed bytes

NEVER = float("-inf")
"""Until when an answer from a clock that was ahead is fresh: nobody knows when it arrived."""

MAX_NOTED = 10_000

_logger = logging.getLogger("dataservice.client")


class StoredAnswers:
    """Answers in memory and in the store, also out of wider ones; `scope` names the key, once the store is open."""

    def __init__(self, store: ResilientStore, *, max_bytes: int, ttl_s: float, missing_ttl_s: float) -> None:
        self.rules = Freshness(ttl_s)
        self.missing = MissingNames(missing_ttl_s)
        self.purged = PurgedSignals()
        self.memory = MemoryCache(max_bytes)
        self._store = store
        self.scope: str | None = None
        self._noted_days: LRUCache[Resource[Any], None] = LRUCache(MAX_NOTED)

    def clear(self) -> None:
        """Forget what is in memory, and what was noted of the store's entries: they are gone."""
        self.memory.clear()
        self._noted_days.clear()
        self.missing.clear()

    def set_back(self, seconds: float) -> None:
        """Date all that is in memory earlier by `seconds`: the clock was set back."""
        self.memory.move(-seconds)
        self.missing.set_back(seconds)
        self.rules = replace(self.rules, not_before=self.rules.not_before - seconds)

    def in_memory(self, resource: Resource[T]) -> Answer[T] | None:
        """The last known answer in memory, fresh or not, also out of a wider one."""
        answer = self.memory.get(resource)
        return answer if resource.family is resource else self.narrowed_in_memory(resource, answer) or answer

    def name(self, resource: Resource[Any]) -> str:
        """The name of a resource's entry in the store: the key's fingerprint and that of the first request."""
        return f"{self.scope}{first_request(resource).entry}"

    def name_if_open(self, resource: Resource[Any]) -> str | None:
        """The same, or None while the store is not open."""
        return None if self.scope is None else f"{self.scope}{first_request(resource).entry}"

    def narrowed_in_memory(self, resource: Resource[T], known: Answer[T] | None) -> Answer[T] | None:
        """The answer to `resource` out of the best wider one, if that is better than the `known` one."""
        found: Answer[T] | None = None
        for wide, answer in self.memory.family(resource):
            if wide != resource and wide.covers(resource) and is_better(answer, found or known):
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
        self.remember(resource, found, 0)  # its records or rows are those of the wide answer
        return found

    async def in_store(self, resource: Resource[T], now: float) -> Answer[T] | None:
        """The answer in the store, also out of a wider one; not of signals, of which `SignalAnswers` knows more."""
        best = await self.unpacked(resource, now)
        for wide in () if best is not None and best.is_fresh(now) else wider(resource):
            best = await self._better(resource, wide, best, now)
        if best is None and since_of(resource) is not None:
            kept = None if self.scope is None else await self._store.get(self._note_name(resource))
            for wide in earlier(resource, noted(kept.payload) if kept else ()):
                best = await self._better(resource, wide, best, now)
        return best

    async def _better(
        self, resource: Resource[T], wide: Resource[Any], best: Answer[T] | None, now: float
    ) -> Answer[T] | None:
        """The `best` answer so far, or the one that `wide` holds in the store."""
        answer = await self.unpacked(wide, now)
        if answer is not None and is_better(answer, best):
            return self._kept_narrowed(resource, wide, answer) or best
        return best

    async def unpacked(self, resource: Resource[T], now: float) -> Answer[T] | None:
        """The answer that the store has under the name of `resource`; it is remembered if it is the better one."""
        name = self.name_if_open(resource)
        kept = None if name is None else await self._store.get(name)
        if kept is None or self.purged.hides(resource, kept.fetched_at):
            return None
        if self.missing.learn(resource, kept.payload, kept.fetched_at):
            return None
        try:
            value = unpack(resource, kept.payload)
        except (msgspec.MsgspecError, ValueError) as error:
            _logger.info("a kept answer could not be read: %s", type(error).__name__)
            return None
        answer = self._dated(value, kept.fetched_at, now)
        if is_better(answer, self.memory.get(resource)):
            self.remember(resource, answer, size_of(value, kept.payload))
        return answer

    async def keep_missing(self, resource: Resource[Any], now: float) -> None:
        """Keep that the service knows no such thing; an answer that is kept stays."""
        if self.scope is not None:
            await self._store.replace(self.name(resource), Entry(MISSING, now), self.missing.since(resource))

    def _dated(self, value: T, fetched_at: float, now: float) -> Answer[T]:
        """The answer of a store's entry; one from a clock that was ahead is known, but never fresh."""
        source = Source(self._store.tier)
        if fetched_at > now + CLOCK_SKEW_S:
            return Answer(value, now, NEVER, source)
        return Answer(value, fetched_at, self.rules.fresh_until(fetched_at, now), source)

    async def note_since(self, resource: Resource[Any], now: float) -> None:
        """Note the day of a list that was kept, so that a later day's question finds it."""
        day = since_of(resource)
        if day is None or resource in self._noted_days:
            return
        name = self._note_name(resource)
        for _ in range(2):  # the other process that noted a day at the same moment is done by the second time
            kept = await self._store.get(name)
            days = noted(kept.payload) if kept else ()
            entry = Entry(with_day(days, day), now)
            if day in days or await self._store.replace(name, entry, kept.fetched_at if kept else None):
                self._noted_days[resource] = None
                return

    def _note_name(self, resource: Resource[Any]) -> str:
        return self.name(from_any_day(resource)) + NOTE

    def remember(self, resource: Resource[Any], answer: Answer[Any], size: int) -> Answer[Any] | None:
        """Hold an answer of `size` bytes in memory; the one before."""
        return self.memory.put(resource, msgspec.structs.replace(answer, source=Source.MEMORY), size)


def size_of(value: Any, payload: bytes) -> int:
    """About how many bytes of memory a decoded value takes: columns as many as packed, records a multiple."""
    columns = value.history.nbytes if isinstance(value, SignalDetail) else 0
    return columns + OBJECTS_PER_BYTE * (len(payload) - columns)


def is_better(answer: Answer[Any], known: Answer[Any] | None) -> bool:
    return known is None or (answer.fresh_until, answer.fetched_at) > (known.fresh_until, known.fetched_at)


MAX_DAYS = 64
"""Days noted for one set of filters: formulas use few."""

CANDIDATES = 3
"""Earlier days that are looked up: the nearest one holds the fewest items besides, and is rarely gone."""

NOTE = "#since"  # no request has a fragment, so no answer is kept under this name

_days = msgspec.msgpack.Decoder(tuple[date, ...]).decode
_encode = msgspec.msgpack.Encoder().encode


def since_of(resource: Resource[Any]) -> date | None:
    """The day that the resource begins with, if it is such a list."""
    return resource.since if isinstance(resource, WireResource | PostsResource) else None


def from_any_day(resource: Resource[Any]) -> Resource[Any]:
    """The same list without its first day."""
    return replace(resource, since=None) if isinstance(resource, WireResource | PostsResource) else resource


def noted(payload: bytes) -> tuple[date, ...]:
    """The days in a note, the last noted first; none where it cannot be read."""
    try:
        return _days(payload)
    except (msgspec.MsgspecError, ValueError):
        return ()


def with_day(days: Iterable[date], day: date) -> bytes:
    """The note with one more day."""
    return _encode(tuple(dict.fromkeys([day, *days]))[:MAX_DAYS])


def earlier(resource: Resource[Any], days: Iterable[date]) -> list[Resource[Any]]:
    """The same list since earlier days, the nearest first: each holds what is newer than a later day."""
    if not isinstance(resource, WireResource | PostsResource) or resource.since is None:
        return []
    before = sorted((day for day in days if day < resource.since), reverse=True)
    return [replace(resource, since=day) for day in before[:CANDIDATES]]
