"""The cache as one: answers from memory or from the store behind it, and where new ones are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from dataservice.client.cache.answer import CLOCK_SKEW_S, Answer, Source
from dataservice.client.cache.codec import pack
from dataservice.client.cache.past import KnownPast
from dataservice.client.cache.recent import looked_at
from dataservice.client.cache.signal_answers import SignalAnswers
from dataservice.client.cache.stored_answers import StoredAnswers, is_better, size_of
from dataservice.client.contract.requests import can_exist
from dataservice.client.contract.resources import HistoryResource, Resource, SignalResource
from dataservice.client.contract.results import Page, SignalDetail, may_be_cut
from dataservice.stores import Entry, Put, ResilientStore

T = TypeVar("T")

PURGED = b""
"""In place of an answer that was purged: no answer packs to it, so it is none, and the next one replaces it."""

HISTORIES_SHARE = 2
ARCHIVE_SHARE = 32
"""Which parts of the memory hold histories and archives: archives are larger, and quickly read from the store."""

WIDE_AGE_S = 2 * 86_400.0
"""A list that was complete up to so long ago likely still is."""


class AnswerCache:
    """Answers known to this process and, once it is open, to the store that others share."""

    def __init__(self, store: ResilientStore, *, max_bytes: int, ttl_s: float, missing_ttl_s: float) -> None:
        self._store = store
        self.answers = StoredAnswers(store, max_bytes=max_bytes, ttl_s=ttl_s, missing_ttl_s=missing_ttl_s)
        self.signals = SignalAnswers(self.answers, store, max_bytes=max_bytes // HISTORIES_SHARE)
        self.past = KnownPast(self.answers, self.signals, store, max_bytes=max_bytes // ARCHIVE_SHARE)

    def open(self, scope: str) -> None:
        """Use the store from now on, under the name of the key."""
        self.answers.scope = self.past.archive.scope = scope

    def set_back(self, seconds: float) -> None:
        """Date all that is in memory earlier by `seconds`: the clock was set back."""
        self.answers.set_back(seconds)
        self.signals.set_back(seconds)

    @property
    def held_bytes(self) -> int:
        """About how much memory the answers take."""
        return self.answers.memory.held_bytes + self.signals.histories.held_bytes + self.past.archive.held_bytes

    def expire(self, now: float, *, is_joined: bool = False) -> None:
        """Let nothing that is known count as fresh any more; nothing is lost.

        `is_joined`: another process did so at `now`, and what has arrived since is fresh.
        """
        self.answers.rules = self.answers.rules.forced(now)
        self.answers.memory.expire(now, arrived_by=now if is_joined else inf)

    async def forget(self) -> int:
        """Forget all answers that are kept for this key; how many entries the store held. The archive stays."""
        self.answers.clear()
        self.signals.clear()
        return 0 if self.answers.scope is None else await self._store.clear(f"{self.answers.scope}/")

    async def purge(self, slug: str, at: float) -> int:
        """Forget a signal's values, purged at `at` for all who share the store: here, and there what is of before.

        Returns how many entries the store held. Each is replaced by one that nobody can read, in the step that sees
        that it is still the old one; so what another process has fetched since stays, but that of the first minute,
        which may be from before by a clock that is ahead. What a copy of the store still has of before does not count
        here, nor what was being read from it meanwhile. The archive stays.
        """
        self.answers.purged.add(slug, at)
        self.signals.drop(slug)
        detail, purged = SignalResource(slug), 0
        for resource in (detail, HistoryResource(slug)) if self.answers.scope is not None and can_exist(detail) else ():
            name = self.answers.name(resource)
            kept = await self._store.get(name)
            if kept is not None and kept.payload != PURGED and kept.fetched_at <= at + CLOCK_SKEW_S:
                purged += await self._store.replace(name, Entry(PURGED, kept.fetched_at), kept.fetched_at)
        return purged

    def distrust_lists(self) -> None:
        """Let no list that is in memory count as whole: the service leaves out the last row of its answers."""
        for resource in self.answers.memory.resources():
            known = self.answers.memory.get(resource)
            if known is not None and (cut := may_be_cut(known.value)) is not known.value:
                self.answers.remember(resource, replace(known, value=cut), 0)

    def peek(self, resource: Resource[T], now: float, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory: a fresh one, or with `max_age_s` any that is not older; also out of a wider one."""
        if isinstance(resource, HistoryResource) and self.signals.histories.held(resource.slug) is None:
            return None
        answer = self.answers.memory.get(resource)
        # The most common case, spared a call: what `is_within` says of None.
        if answer is not None and max_age_s is None and now < answer.fresh_until:
            return answer
        if answer is not None and answer.is_within(max_age_s, now):
            return answer
        if isinstance(resource, SignalResource):
            told = self.signals.told_by_history(resource.slug, cast("Answer[SignalDetail] | None", answer), now)
            return cast("Answer[T]", told) if told is not None and told.is_within(max_age_s, now) else None
        if resource.family is resource:
            return None
        wide = self.answers.narrowed_in_memory(resource, answer)  # a wider answer may hold a younger one
        return wide if wide is not None and wide.is_within(max_age_s, now) else None

    async def last_known(self, resource: Resource[T], now: float) -> Answer[T] | None:
        """The last known answer in memory or in the store: a fresh one if there is one, else the youngest."""
        if not resource.is_requested:
            return Answer(await self.past.looked_up(resource, now), now, math.inf, Source(self._store.tier))
        answer = self.answers.in_memory(resource)
        if answer is not None and answer.is_fresh(now):
            return answer
        if isinstance(resource, SignalResource):
            known = cast("Answer[SignalDetail] | None", answer)
            return cast("Answer[T] | None", await self.signals.last_known(resource, known, now))
        if isinstance(resource, HistoryResource):
            # Whatever was cut from the history before may lack a revision, even if it counts as no older.
            return await self.signals.cut(resource, now) or answer
        kept = await self.answers.in_store(resource, now)
        return kept if kept is not None and is_better(kept, answer) else answer

    async def keep_list(
        self, resource: Resource[T], value: T, payload: bytes, now: float, *, ending: Callable[[], str] = str
    ) -> Answer[T]:
        """Keep a catalogue or another list that just arrived, packed as `payload`; the answer as the network gave it.

        `ending` names who holds the lease of the entry: it is ended in the step in which the entry is kept.
        """
        fetched_at = self.answers.rules.arrival(now)
        answer = Answer(value, fetched_at, self.answers.rules.fresh_until(fetched_at, now), Source.NETWORK)
        self.answers.remember(resource, answer, size_of(value, payload))
        if self.answers.scope is not None:
            await self._store.put(self.answers.name(resource), Entry(payload, fetched_at), ending=ending())
            await self.answers.note_since(resource, now)
        return answer

    async def keep_detail(
        self,
        resource: SignalResource,
        value: SignalDetail,
        payload: bytes,
        now: float,
        *,
        ending: Callable[[], str] = str,
    ) -> Answer[SignalDetail]:
        """Keep a detail, in one step with what the archive learns of it, and compare it with what was known.

        Where windows are shown in its place, `payload` is kept all the same: it is what the detail said.
        """
        fetched_at = self.answers.rules.arrival(now)
        detail = self.signals.of_one_source(resource.slug, value, fetched_at, now)
        is_apart = self.signals.sources.is_apart(resource.slug)
        value, payload = (detail, payload) if detail is value or is_apart else (detail, pack(detail))
        answer = Answer(value, fetched_at, self.answers.rules.fresh_until(fetched_at, now), Source.NETWORK)
        name, kept = self.answers.name_if_open(resource), Entry(payload, fetched_at)
        put = None if name is None else lambda: Put(name, kept, ending())
        is_put = False
        if not is_apart:
            look, archive = looked_at(value), self.past.archive
            is_put = await archive.look(resource.slug, *look, fetched_at, is_kept=True, by_detail=True, then=put)
        before = self.answers.remember(resource, answer, size_of(value, payload))
        if name is not None and not is_put:
            await self._store.put(name, kept, ending=ending())
        await self.signals.learn_detail(resource.slug, before, answer, now)
        return answer

    def complete_wider(self, resource: Resource[Any], now: float) -> Resource[Any] | None:
        """The widest list whose last known answer, not older than a day or two, held all that `resource` asks for.

        To ask for that one again costs a request, and answers all narrower ones too.
        """
        found: Resource[Any] | None = None
        for wide, answer in self.answers.memory.family(resource) if resource.family != resource else ():
            is_whole = isinstance(answer.value, Page) and answer.value.complete and answer.age_s(now) <= WIDE_AGE_S
            if is_whole and wide != resource and wide.covers(resource) and (found is None or wide.covers(found)):
                found = wide
        return found

    def replaced_since(self, resource: Resource[Any], known: Answer[Any] | None, fetched_at: float) -> bool:
        """Return whether the store's entry of the time `fetched_at` is newer than what this process found there."""
        if isinstance(resource, HistoryResource):
            return fetched_at != self.signals.histories.kept_at.get(resource.slug)
        return known is None or fetched_at > known.fetched_at

    async def after_failure(self, resource: Resource[T], known: Answer[T] | None, now: float) -> Answer[T] | None:
        """The last known answer after a fetch that failed: what arrived before it broke off is already in it."""
        if isinstance(resource, HistoryResource):
            history = await self.signals.history_at_hand(resource.slug, now)
            return self.signals.from_history(resource, history, now) or known
        return self.answers.in_memory(resource) or known
