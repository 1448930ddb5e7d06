"""The cache as one: answers from memory or from the store behind it, and where new ones are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from math import inf
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from dataservice.client.cache.answer import CLOCK_SKEW_S, Answer, Source
from dataservice.client.cache.codec import pack
from dataservice.client.cache.recent import looked_at, newest_alone, not_behind, recent_of, with_history
from dataservice.client.cache.signal_answers import SignalAnswers
from dataservice.client.cache.stored_answers import is_better, size_of
from dataservice.client.contract.requests import HISTORY_LIMIT, can_exist
from dataservice.client.contract.resources import CatalogueResource, HistoryResource, Resource, SignalResource
from dataservice.client.contract.results import Page, SignalDetail, may_be_cut
from dataservice.client.contract.windows import Window, day_after
from dataservice.observations import Observations
from dataservice.stores import Entry, Put

T = TypeVar("T")

CATALOGUE = CatalogueResource()

PURGED = b""
"""In place of an answer that was purged: no answer packs to it, so it is none, and the next one replaces it."""

WIDE_AGE_S = 2 * 86_400.0
"""A list that was complete up to so long ago likely still is."""


class AnswerCache(SignalAnswers):
    """Answers known to this process and, if `scope` names the key, to the store that others share."""

    @property
    def held_bytes(self) -> int:
        """About how much memory the answers take."""
        return self.memory.held_bytes + self._histories.held_bytes + self.archive.held_bytes

    def expire(self, now: float, *, is_joined: bool = False) -> None:
        """Let nothing that is known count as fresh any more; nothing is lost.

        `is_joined`: another process did so at `now`, and what has arrived since is fresh.
        """
        self.rules = self.rules.forced(now)
        self.memory.expire(now, arrived_by=now if is_joined else inf)

    async def forget(self) -> int:
        """Forget all answers that are kept for this key; how many entries the store held. The archive stays."""
        self.memory.clear()
        self._histories.clear()
        self._look_again()
        self._noted_days.clear()
        self.missing.clear()
        self.window_only.clear()
        return 0 if self.scope is None else await self._store.clear(f"{self.scope}/")

    async def purge(self, slug: str, at: float) -> int:
        """Forget a signal's values, purged at `at` for all who share the store: here, and there what is of before.

        Returns how many entries the store held. Each is replaced by one that nobody can read, in the step that sees
        that it is still the old one; so what another process has fetched since stays, but that of the first minute,
        which may be from before by a clock that is ahead. What a copy of the store still has of before does not count
        here, nor what was being read from it meanwhile. The archive stays.
        """
        self.purged.add(slug, at)
        detail, windows = SignalResource(slug), HistoryResource(slug)
        self.memory.drop(detail)
        self.memory.drop_family(windows.family)
        self._histories.drop(slug)
        self._notes.pop(slug, None)
        purged = 0
        for resource in (detail, windows) if self.scope is not None and can_exist(detail) else ():
            name = self.name(resource)
            kept = await self._store.get(name)
            if kept is not None and kept.payload != PURGED and kept.fetched_at <= at + CLOCK_SKEW_S:
                purged += await self._store.replace(name, Entry(PURGED, kept.fetched_at), kept.fetched_at)
        return purged

    def distrust_lists(self) -> None:
        """Let no list that is in memory count as whole: the service leaves out the last row of its answers."""
        for resource in self.memory.resources():
            known = self.memory.get(resource)
            if known is not None and (cut := may_be_cut(known.value)) is not known.value:
                self._remember(resource, replace(known, value=cut), 0)

    def peek(self, resource: Resource[T], now: float, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory: a fresh one, or with `max_age_s` any that is not older; also out of a wider one."""
        if isinstance(resource, HistoryResource) and self._histories.held(resource.slug) is None:
            return None
        answer = self.memory.get(resource)
        if (
            answer is not None and max_age_s is None and now < answer.fresh_until
        ):  # the most common case, without a call
            return answer
        if answer is not None and answer.is_within(max_age_s, now):
            return answer
        if isinstance(resource, SignalResource):
            told = self._told_by_history(resource.slug, cast("Answer[SignalDetail] | None", answer), now)
            return cast("Answer[T]", told) if told is not None and told.is_within(max_age_s, now) else None
        if resource.family is resource:
            return None
        wide = self._narrowed_in_memory(resource, answer)  # a wider answer may hold a younger one
        return wide if wide is not None and wide.is_within(max_age_s, now) else None

    async def last_known(self, resource: Resource[T], now: float) -> Answer[T] | None:
        """The last known answer in memory or in the store: a fresh one if there is one, else the youngest."""
        if not resource.is_requested:
            return Answer(await self.looked_up(resource, now), now, math.inf, Source(self._store.tier))
        answer = self.in_memory(resource)
        if answer is not None and answer.is_fresh(now):
            return answer
        if isinstance(resource, SignalResource):
            told = self._told_by_history(resource.slug, cast("Answer[SignalDetail] | None", answer), now)
            if told is not None and told.is_fresh(now):
                return cast("Answer[T]", told)
            answer = cast("Answer[T] | None", told) or answer
        kept = await self._in_store(resource, now)
        if kept is not None and isinstance(resource, HistoryResource):
            return kept  # whatever was cut from the history before may lack a revision, even if it counts as no older
        known = kept if kept is not None and is_better(kept, answer) else answer
        if known is None or known.is_fresh(now) or not isinstance(resource, SignalResource):
            return known
        # What another process pulled since corrects an old detail.
        await self.history(resource.slug, now, cast("Answer[SignalDetail]", known))
        return replace(self.memory.get(resource) or known, source=known.source)

    async def keep_list(
        self, resource: Resource[T], value: T, payload: bytes, now: float, *, ending: Callable[[], str] = str
    ) -> Answer[T]:
        """Keep a catalogue or another list that just arrived, packed as `payload`; the answer as the network gave it.

        `ending` names who holds the lease of the entry: it is ended in the step in which the entry is kept.
        """
        fetched_at = self.rules.arrival(now)
        answer = Answer(value, fetched_at, self.rules.fresh_until(fetched_at, now), Source.NETWORK)
        self._remember(resource, answer, size_of(value, payload))
        if self.scope is not None:
            await self._store.put(self.name(resource), Entry(payload, fetched_at), ending=ending())
            await self._note_since(resource, now)
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
        fetched_at = self.rules.arrival(now)
        detail = self._of_one_source(resource.slug, value, fetched_at, now)
        is_apart = self.sources.is_apart(resource.slug)
        value, payload = (detail, payload) if detail is value or is_apart else (detail, pack(detail))
        answer = Answer(value, fetched_at, self.rules.fresh_until(fetched_at, now), Source.NETWORK)
        put = None if self.scope is None else lambda: Put(self.name(resource), Entry(payload, fetched_at), ending())
        is_put = False
        if not is_apart:
            look = looked_at(value)
            is_put = await self.archive.look(resource.slug, *look, fetched_at, is_kept=True, by_detail=True, then=put)
        before = self._remember(resource, answer, size_of(value, payload))
        if put is not None and not is_put:
            kept = put()
            await self._store.put(kept.name, kept.entry, ending=kept.ending)
        await self._learn_detail(resource.slug, before, answer, now)
        return answer

    def _of_one_source(self, slug: str, detail: SignalDetail, fetched_at: float, now: float) -> SignalDetail:
        """A detail that arrived, with what fresh windows show that are not behind it, if both tell one series.

        Where they tell two, with what windows told alone.
        """
        held = self._histories.held(slug)
        if held is None or not held.spans:
            return newest_alone(detail) if self.sources.is_apart(slug) else detail
        if not self.sources.is_apart(slug):
            self.compare(slug, held, Answer(detail, fetched_at, now, Source.NETWORK))
        if self.sources.is_apart(slug):
            return self.of_windows(slug, detail)
        span = held.spans[-1]
        is_joined = span.is_open and self.rules.is_fresh(span.checked_at, now) and self.sources.is_alike(slug)
        return not_behind(detail, held.observations) if is_joined else detail

    def shown_by_detail(
        self, slug: str, window: Window, found: Observations, now: float, *, lacks_last: bool = False
    ) -> Observations:
        """What was found of a window, with what a fresh detail shows behind it: a window may show the newest later.

        Both must be seen to tell one series; of one observation and none there is nothing to see, nor where windows are
        known to leave their last row out (`lacks_last`) and no recent history counts: then they must not differ.
        """
        known = self.memory.get(SignalResource(slug))
        if known is None or not known.is_fresh(now):
            return found
        shown = looked_at(known.value)[1]
        is_left_out = lacks_last and len(shown) == 1 and not self.sources.is_apart(slug)
        if not (self.sources.is_alike(slug) or is_left_out) and (len(found) or len(shown) > 1):
            return found
        newer = shown.between(day_after(found.last_day) if len(found) else window.start, window.end)
        return found.merged(newer) if len(newer) else found

    def _told_by_history(
        self, slug: str, known: Answer[SignalDetail] | None, now: float
    ) -> Answer[SignalDetail] | None:
        """The detail that a history in memory tells, up to its end, of a signal that is known by name.

        It must hold as much as a detail does: all there is, or as many observations.
        """
        held = self._histories.held(slug)
        if held is None or not held.spans or not held.spans[-1].is_open or held.spans[-1].revised:
            return None
        span, listed = held.spans[-1], self.memory.get(CATALOGUE)
        history = held.inside(span.window)
        is_enough = span.window.start == date.min or len(history) >= HISTORY_LIMIT or self.sources.is_apart(slug)
        signal = known.value.signal if known else listed.value.find(slug) if listed else None
        is_younger = known is None or (known.fetched_at < span.checked_at and not _lags(history, known.value.history))
        if not (is_enough and is_younger and len(history)) or signal is None or signal.slug != slug:
            return None
        detail = with_history(SignalDetail(signal, None, history), recent_of(held, span.window))
        fresh_until = self.rules.fresh_until(span.checked_at, now)
        answer = Answer(detail, span.checked_at, fresh_until, Source.MEMORY, is_of_windows=True)
        self._remember(SignalResource(slug), answer, detail.history.nbytes)
        return answer

    def complete_wider(self, resource: Resource[Any], now: float) -> Resource[Any] | None:
        """The widest list whose last known answer, not older than a day or two, held all that `resource` asks for.

        To ask for that one again costs a request, and answers all narrower ones too.
        """
        found: Resource[Any] | None = None
        for wide, answer in self.memory.family(resource) if resource.family != resource else ():
            is_whole = isinstance(answer.value, Page) and answer.value.complete and answer.age_s(now) <= WIDE_AGE_S
            if is_whole and wide != resource and wide.covers(resource) and (found is None or wide.covers(found)):
                found = wide
        return found

    def replaced_since(self, resource: Resource[Any], known: Answer[Any] | None, fetched_at: float) -> bool:
        """Return whether the store's entry of the time `fetched_at` is newer than what this process found there."""
        if isinstance(resource, HistoryResource):
            return fetched_at != self._histories.kept_at.get(resource.slug)
        return known is None or fetched_at > known.fetched_at

    async def after_failure(self, resource: Resource[T], known: Answer[T] | None, now: float) -> Answer[T] | None:
        """The last known answer after a fetch that failed: what arrived before it broke off is already in it."""
        if isinstance(resource, HistoryResource):
            return self.from_history(resource, await self.history_at_hand(resource.slug, now), now) or known
        return self.in_memory(resource) or known


def _lags(history: Observations, detail: Observations) -> bool:
    """Return whether a window that was asked later ends before the detail did: this service's windows come behind."""
    return bool(len(history) and len(detail) and history.times[-1] < detail.times[-1])
