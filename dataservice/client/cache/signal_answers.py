"""What is known of each signal: its detail and its history, which show one value for each observation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import msgspec
from cachetools import LRUCache

from dataservice.client.cache.answer import Answer, Source
from dataservice.client.cache.codec import pack
from dataservice.client.cache.histories import Histories
from dataservice.client.cache.history import findings, window_of
from dataservice.client.cache.notes.window_only import WindowOnly
from dataservice.client.cache.recent import (
    contradicts as tells_another_past,
)
from dataservice.client.cache.recent import (
    corrected,
    looked_at,
    newest_alone,
    not_behind,
    recent_of,
    with_detail,
    with_doubtful,
    with_history,
)
from dataservice.client.cache.sources import APART, Newer, Sources, agreement, contradicts, meets, newer
from dataservice.client.cache.spans import History
from dataservice.client.cache.stored_answers import NEVER, StoredAnswers, is_better
from dataservice.client.contract.requests import HISTORY_LIMIT
from dataservice.client.contract.resources import (
    CATALOGUE,
    HistoryResource,
    Resource,
    SignalResource,
    windows_of,
)
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.windows import Window, day_after, joined, utc_day
from dataservice.observations import Observations
from dataservice.stores import Entry, ResilientStore

ABSENT_S = 2.0
"""For so long the store is not asked again for a fresh detail that it did not have: the functions of one batch."""

MAX_NOTES = 10_000
"""Signals that are remembered; the least recently met are dropped first."""


@dataclass(slots=True)
class _Notes:
    """What looks into the store have shown of one signal."""

    absent_at: float = NEVER
    """When it had no fresh detail."""
    history_at: float = NEVER
    """When the history was looked up."""
    looks: int = 0
    """How often the detail was."""
    is_unkept: bool = False
    """Whether there was no detail at all."""


_NOTHING_NOTED, NO_HISTORY = _Notes(), History.nothing()


class SignalAnswers:
    """What the answers tell of each signal is one history: details and pulls correct each other.

    Details are held among the `answers`, pulls by `histories`.
    """

    def __init__(self, answers: StoredAnswers, store: ResilientStore, *, max_bytes: int) -> None:
        self._answers = answers
        self._store = store
        self.histories = Histories(
            store,
            max_bytes=max_bytes,
            name_of=lambda slug: answers.name_if_open(HistoryResource(slug)),
            missing=answers.missing,
            purged=answers.purged,
            not_before=lambda: answers.rules.not_before,
        )
        self._notes: LRUCache[str, _Notes] = LRUCache(MAX_NOTES)
        self.window_only = WindowOnly(store, lambda slug: answers.name_if_open(SignalResource(slug)))
        self.sources = Sources()
        self.has_thin_details = False
        """Whether recent histories leave out what windows show."""

    def set_back(self, seconds: float) -> None:
        """Date all that is in memory earlier by `seconds`: the clock was set back."""
        self.histories.move(-seconds)
        self._look_again()

    def clear(self) -> None:
        """Forget what is in memory."""
        self.histories.clear()
        self._look_again()
        self.window_only.clear()

    def drop(self, slug: str) -> None:
        """Forget what is in memory of one signal."""
        self._answers.memory.drop(SignalResource(slug))
        self._answers.memory.drop_family(windows_of(slug))
        self.histories.drop(slug)
        self._notes.pop(slug, None)

    def is_new(self, slug: str) -> bool:
        """Return whether the store was found to have no answer about a signal."""
        return self.is_unkept(slug) and self.histories.kept_at.get(slug) is None

    def is_unkept(self, slug: str) -> bool:
        """Return whether the store was found to have no detail of a signal."""
        return self._noted(slug).is_unkept

    def _look_again(self) -> None:
        """Let what was looked up a moment ago be looked up again."""
        for notes in self._notes.values():
            notes.absent_at = notes.history_at = NEVER

    def _noted(self, slug: str) -> _Notes:
        """The notes of a signal, to read."""
        return self._notes.get(slug, _NOTHING_NOTED)

    def _notes_of(self, slug: str) -> _Notes:
        """The notes of a signal, to write."""
        if (notes := self._notes.get(slug)) is None:
            notes = self._notes[slug] = _Notes()
        return notes

    async def history(self, slug: str, now: float, detail: Answer[SignalDetail] | None = None) -> History:
        """All that is known of a signal's past, also while the store fails: a full pull costs many requests.

        A `detail` that was just looked up is not looked up again.
        """
        before = self.histories.kept_at.get(slug)
        history = await self.histories.renewed(slug, now)
        self._notes_of(slug).history_at = now
        if self.histories.kept_at.get(slug) != before:  # another process pulled: cut all windows from the same history
            self._answers.memory.drop_family(windows_of(slug))
        return self._united(slug, history, detail or await self._detail(slug, now))

    def lacks(self, resource: HistoryResource, now: float) -> bool:
        """Return whether a look into the store a moment ago has shown that no day of the window is known.

        A batch may ask for the windows around a hundred thousand days, and each look takes a thread.
        """
        held, detail = self.histories.held(resource.slug), self._answers.memory.get(SignalResource(resource.slug))
        if held is None or detail is None or not now - ABSENT_S <= self._noted(resource.slug).history_at <= now:
            return False
        window = window_of(resource.start, resource.end, utc_day(now))
        recent = detail.value.history
        if len(recent) and recent.first_day <= window.end:
            return False
        return not any(span.window.meets(window) for span in held.spans)

    def looks_at_detail(self, slug: str) -> int:
        """Return how often the store was asked for the detail of a signal."""
        return self._noted(slug).looks

    async def finds_detail(self, resource: HistoryResource, now: float) -> bool:
        """Whether the store holds a younger detail of a history's signal than this process: it may save a request."""
        signal = SignalResource(resource.slug)
        known = self._answers.memory.get(signal)
        if known is not None and known.is_fresh(now):
            return False
        found = await self._unpacked(signal, now)
        return found is not None and (known is None or found.fetched_at > known.fetched_at)

    async def history_at_hand(self, slug: str, now: float) -> History:
        """The same, from memory where this process has read or pulled it before: for whoever just looked it up."""
        held = self.histories.held(slug)
        if held is None:
            return await self.history(slug, now)
        return self._united(slug, held, self._answers.memory.get(SignalResource(slug)))

    def history_without_detail(self, slug: str) -> History:
        """What was pulled of a signal's past, as far as it is in memory, without what its detail says."""
        return self.histories.held(slug) or NO_HISTORY

    def distrust_details(self) -> None:
        """Let no detail that is at hand tell more than its newest observation: the service leaves rows out of them."""
        self.has_thin_details = True
        for resource in self._answers.memory.resources():
            known = self._answers.memory.get(resource)
            if isinstance(resource, SignalResource) and known is not None:
                self._answers.remember(resource, msgspec.structs.replace(known, value=newest_alone(known.value)), 0)
                self._answers.memory.drop_family(windows_of(resource.slug))

    async def history_after(self, slug: str, since: date, now: float) -> History:
        """What will be known of a signal's past when its detail is replaced by one that shows the days from `since` on.

        Earlier days that only the one at hand shows are forgotten with it.
        """
        held = self.histories.held(slug)
        history = (await self.histories.load(slug) if held is None else held).dated(now)
        detail = await self._detail(slug, now)
        if detail is None:
            return history
        shown = detail.value.history.between(since)
        return with_detail(history, with_history(detail.value, shown), now) if len(shown) else history

    async def learn(
        self, resource: HistoryResource, history: History, change: Callable[[History], History], now: float
    ) -> History:
        """Keep what a pull changed in a signal's history; answers cut from an earlier state are forgotten."""
        slug, is_one = resource.slug, self.sources.is_alike(resource.slug)
        self._answers.memory.drop_family(resource.family)
        if not is_one:  # what windows told, and nothing of the detail
            history = self.histories.held(slug) or (await self.histories.load(slug)).dated(now)
        history = await self.histories.keep(slug, now, change, history)
        self._answers.memory.drop_family(resource.family)  # others may have cut theirs meanwhile
        detail = await self._detail(slug, now)
        if detail is None:
            return history
        before = self._answers.memory.get(SignalResource(slug))
        if is_one:
            self._correct(slug, detail, history)
        else:
            history = self._united(slug, history, detail)
        known = self._answers.memory.get(SignalResource(slug))
        if not is_one or known is None or known is before:
            return history
        if known.is_fresh(now) and self._answers.scope is not None:
            await self._store.put(self._answers.name(SignalResource(slug)), Entry(pack(known.value), known.fetched_at))
        return history

    @property
    def revised(self) -> LRUCache[str, float]:
        """By slug, when the service was last seen to have changed the past of a signal."""
        return self.histories.revised

    def from_history(self, resource: HistoryResource, history: History, now: float) -> Answer[Any] | None:
        """The answer to `resource` that `history` gives, kept in memory."""
        window = window_of(resource.start, resource.end, utc_day(now))
        found = findings(history, window, now, self._answers.rules)
        if found is None:
            return None
        answer = Answer(found.observations, found.fetched_at, found.fresh_until, Source(self._store.tier))
        self._answers.remember(resource, answer, found.observations.nbytes)
        return answer

    def _united(self, slug: str, history: History, detail: Answer[SignalDetail] | None) -> History:
        """The history together with what the signal's detail says; the detail is corrected by it.

        The history alone where they differ, or reach each other and were not compared: no answer is of two sources.
        """
        if detail is None:
            return history
        if not self.sources.is_known(slug):
            self.compare(slug, history, detail)
        if self.sources.is_apart(slug):
            self._show_windows(slug, detail)
            return history
        if not self.sources.is_alike(slug) and meets(detail.value, history):
            at = NEVER if detail.fresh_until == NEVER else detail.fetched_at
            if (later := newer(detail.value, at, history)) is not Newer.NEITHER:
                return self._contradicted(slug, detail, history, later)
            return history
        if detail.fresh_until == NEVER:  # nobody knows which is newer, and there must be one value
            self._correct(slug, detail, history)
            return with_doubtful(history, detail.value, detail.fetched_at)
        united = with_detail(history, detail.value, detail.fetched_at)
        if history.spans:
            self._correct(slug, detail, united)
        return united

    def _contradicted(self, slug: str, detail: Answer[SignalDetail], history: History, later: Newer) -> History:
        """What windows told where a detail tells otherwise: whichever is older is to be asked again before it is used.

        Windows that were asked later, or nobody knows when, are shown in the detail, too: that is right whether they
        are another source or a revision.
        """
        if later is Newer.WINDOWS:
            self._show_windows(slug, detail, even_doubtful=True)
            return _doubtful(history) if detail.fresh_until == NEVER else history
        return _doubtful(history, told_before=detail.fetched_at)

    def compare(self, slug: str, history: History, detail: Answer[SignalDetail]) -> None:
        """Learn whether a detail, as it arrived, and what windows told are one series.

        One that shows what windows told, because they differ, tells nothing new.
        """
        if history.spans and not self.sources.is_apart(slug) and not detail.is_of_windows:
            self.sources.learn(slug, agreement(detail.value, detail.fetched_at, history, self._answers.rules))

    def of_windows(self, slug: str, detail: SignalDetail, *, even_doubtful: bool = False) -> SignalDetail:
        """The detail with what windows told up to the end of the series; without a history where none did.

        `even_doubtful`: what they told is shown even if it is to be asked again.
        """
        held = self.histories.held(slug) or NO_HISTORY
        told = joined(span.window for span in held.spans if even_doubtful or not span.revised)
        if not told or told[-1].end != date.max:
            return newest_alone(detail)
        shown = recent_of(held, told[-1])
        return with_history(detail, shown) if len(shown) else newest_alone(detail)

    def of_one_source(self, slug: str, detail: SignalDetail, fetched_at: float, now: float) -> SignalDetail:
        """A detail that arrived, with what fresh windows show that are not behind it, if both tell one series.

        Where they tell two, with what windows told alone.
        """
        held = self.histories.held(slug)
        if held is None or not held.spans:
            return newest_alone(detail) if self.sources.is_apart(slug) else detail
        if not self.sources.is_apart(slug):
            self.compare(slug, held, Answer(detail, fetched_at, now, Source.NETWORK))
        if self.sources.is_apart(slug):
            return self.of_windows(slug, detail)
        span = held.spans[-1]
        is_joined = span.is_open and self._answers.rules.is_fresh(span.checked_at, now) and self.sources.is_alike(slug)
        return not_behind(detail, held.observations) if is_joined else detail

    def shown_by_detail(
        self, slug: str, window: Window, found: Observations, now: float, *, lacks_last: bool = False
    ) -> Observations:
        """What was found of a window, with what a fresh detail shows behind it: a window may show the newest later.

        Both must be seen to tell one series; of one observation and none there is nothing to see, nor where windows are
        known to leave their last row out (`lacks_last`) and no recent history counts: then they must not differ.
        """
        known = self._answers.memory.get(SignalResource(slug))
        if known is None or not known.is_fresh(now):
            return found
        shown = looked_at(known.value)[1]
        is_left_out = lacks_last and len(shown) == 1 and not self.sources.is_apart(slug)
        if not (self.sources.is_alike(slug) or is_left_out) and (len(found) or len(shown) > 1):
            return found
        newer = shown.between(day_after(found.last_day) if len(found) else window.start, window.end)
        return found.merged(newer) if len(newer) else found

    def told_by_history(self, slug: str, known: Answer[SignalDetail] | None, now: float) -> Answer[SignalDetail] | None:
        """The detail that a history in memory tells, up to its end, of a signal that is known by name.

        It must hold as much as a detail does: all there is, or as many observations.
        """
        held = self.histories.held(slug)
        if held is None or not held.spans or not held.spans[-1].is_open or held.spans[-1].revised:
            return None
        span, listed = held.spans[-1], self._answers.memory.get(CATALOGUE)
        history = held.inside(span.window)
        is_enough = span.window.start == date.min or len(history) >= HISTORY_LIMIT or self.sources.is_apart(slug)
        signal = known.value.signal if known else listed.value.find(slug) if listed else None
        is_younger = known is None or (known.fetched_at < span.checked_at and not _lags(history, known.value.history))
        if not (is_enough and is_younger and len(history)) or signal is None or signal.slug != slug:
            return None
        detail = with_history(SignalDetail(signal, None, history), recent_of(held, span.window))
        fresh_until = self._answers.rules.fresh_until(span.checked_at, now)
        answer = Answer(detail, span.checked_at, fresh_until, Source.MEMORY, is_of_windows=True)
        self._answers.remember(SignalResource(slug), answer, detail.history.nbytes)
        return answer

    def _show_windows(self, slug: str, detail: Answer[SignalDetail], *, even_doubtful: bool = False) -> None:
        """Let the detail in memory show what windows told; it is to be asked again where they do not reach the end."""
        value = self.of_windows(slug, detail.value, even_doubtful=even_doubtful)
        is_sure = len(self.of_windows(slug, detail.value).history) > 0
        fresh_until = detail.fresh_until if is_sure else min(detail.fresh_until, detail.fetched_at)
        if value.history != detail.value.history or fresh_until != detail.fresh_until:
            answer = msgspec.structs.replace(detail, value=value, fresh_until=fresh_until, is_of_windows=True)
            self._answers.remember(SignalResource(slug), answer, value.history.nbytes)

    def note_on(self, resource: Resource[Any]) -> str:
        """What is to be said of the answers about a signal; empty where nothing is."""
        if isinstance(resource, SignalResource | HistoryResource) and self.sources.is_apart(resource.slug):
            return APART
        return ""

    def _correct(self, slug: str, detail: Answer[SignalDetail], history: History) -> bool:
        """Let the detail in memory show what the history says; whether that is something else."""
        value, doubtful = corrected(detail.value, history)
        if value is detail.value and not doubtful:
            return False
        fresh_until = min(detail.fresh_until, detail.fetched_at) if doubtful else detail.fresh_until
        is_of_windows = detail.is_of_windows or value is not detail.value
        answer = msgspec.structs.replace(detail, value=value, fresh_until=fresh_until, is_of_windows=is_of_windows)
        self._answers.remember(SignalResource(slug), answer, value.history.nbytes)
        return True

    async def learn_detail(
        self, slug: str, before: Answer[SignalDetail] | None, arrived: Answer[SignalDetail], now: float
    ) -> None:
        """Compare a detail that just arrived with what is known of the signal's past.

        A history in the store is read only if the detail contradicts the one before it. Otherwise whoever reads it
        next compares both.
        """
        self._answers.memory.drop_family(windows_of(slug))
        held = self.histories.held(slug)
        if before is not None and tells_another_past(before.value, arrived.value, before.fetched_at):
            self.histories.revised[slug] = now
            held = (await self.histories.load(slug)).dated(now)
            if not self.sources.is_known(slug):
                self.compare(slug, held, before)
        if held is None or not held.spans or self.sources.is_apart(slug):
            return
        detail, at = arrived.value, arrived.fetched_at
        united = with_detail(held, detail, at)
        if not self.sources.is_alike(slug):
            if united.revised_at != held.revised_at or contradicts(detail, held):
                await self.histories.keep(slug, now, lambda known: _doubtful(known, since=now), held)
            return
        if united.revised_at == held.revised_at:
            self.histories.hold(slug, united)
        else:
            united = await self.histories.keep(slug, now, lambda known: with_detail(known, detail, at), held)
        self._correct(slug, arrived, united)

    async def _detail(self, slug: str, now: float) -> Answer[SignalDetail] | None:
        """The signal's detail: a fresh one in memory, else the younger of that and the store's."""
        resource = SignalResource(slug)
        known = self._answers.memory.get(resource)
        was_looked_up = now - ABSENT_S <= self._noted(slug).absent_at <= now
        if was_looked_up or (known is not None and known.is_fresh(now)):
            return known
        return await self._unpacked(resource, now) or known

    async def last_known(
        self, resource: SignalResource, known: Answer[SignalDetail] | None, now: float
    ) -> Answer[SignalDetail] | None:
        """The last known detail, if the one in memory is no fresh one: told by a history, or in the store."""
        told = self.told_by_history(resource.slug, known, now)
        if told is not None and told.is_fresh(now):
            return told
        known, kept = told or known, await self._unpacked(resource, now)
        known = kept if kept is not None and is_better(kept, known) else known
        if known is None or known.is_fresh(now):
            return known
        await self.history(resource.slug, now, known)  # what another process pulled since corrects an old detail
        return msgspec.structs.replace(self._answers.memory.get(resource) or known, source=known.source)

    async def cut(self, resource: HistoryResource, now: float) -> Answer[Any] | None:
        """The answer out of the signal's history: out of the one in memory, if that needs no pull."""
        held = self.histories.held(resource.slug)
        if held is not None:
            found = self.from_history(resource, await self.history_at_hand(resource.slug, now), now)
            if found is not None and found.is_fresh(now):
                return found
        history = await self.history(resource.slug, now)
        return self.from_history(resource, history, now) if history.spans else None

    async def _unpacked(self, resource: SignalResource, now: float) -> Answer[SignalDetail] | None:
        """The detail that the store has, with what is known of the signal's past, which it corrects."""
        answer, slug, memory = await self._answers.unpacked(resource, now), resource.slug, self._answers.memory
        notes = self._notes_of(slug)
        notes.looks += 1
        if answer is None:
            notes.absent_at, notes.is_unkept = now, True
            return None
        if self.has_thin_details:
            answer = msgspec.structs.replace(answer, value=newest_alone(answer.value))
            self._answers.remember(resource, answer, 0)
        held = self.histories.held(slug)
        if held is None and self.sources.is_apart(slug):
            held = await self.histories.renewed(slug, now)  # it is shown in place of the detail
        if memory.get(resource) is not None:
            if not answer.is_fresh(now):
                notes.absent_at = now
            memory.drop_family(windows_of(slug))  # they were cut without this detail
            if held is not None:
                if notes.history_at != now:  # windows may have been told since to who asked for this detail
                    held = await self.histories.renewed(slug, now)
                self._united(slug, held, answer)
            return msgspec.structs.replace(memory.get(resource) or answer, source=answer.source)
        return answer


def _doubtful(history: History, *, told_before: float = math.inf, since: float | None = None) -> History:
    """The history, of which what was told before a time is to be pulled again; `since` it was seen to be revised."""
    spans = tuple(replace(span, revised=span.revised or span.pulled_at < told_before) for span in history.spans)
    return replace(history, spans=spans, revised_at=history.revised_at if since is None else since)


def _lags(history: Observations, detail: Observations) -> bool:
    """Return whether a window that was asked later ends before the detail did: this service's windows come behind."""
    return bool(len(history) and len(detail) and history.times[-1] < detail.times[-1])
