"""What is known of each signal: its detail and its history, which show one value for each observation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar, cast

import msgspec
from cachetools import LRUCache

from dataservice.client.archive.archive import Archive
from dataservice.client.archive.seen import SeenSignals
from dataservice.client.archive.vintages import Vintages, VintagesResource
from dataservice.client.cache.answer import Answer, Source
from dataservice.client.cache.codec import pack, unpack
from dataservice.client.cache.histories import Histories
from dataservice.client.cache.history import findings, window_of
from dataservice.client.cache.notes.window_only import WindowOnly
from dataservice.client.cache.recent import (
    contradicts as tells_another_past,
)
from dataservice.client.cache.recent import (
    corrected,
    newest_alone,
    recent_of,
    window_of_detail,
    with_detail,
    with_doubtful,
    with_history,
)
from dataservice.client.cache.sources import APART, Newer, Sources, agreement, contradicts, meets, newer
from dataservice.client.cache.spans import History
from dataservice.client.cache.stored_answers import NEVER, StoredAnswers
from dataservice.client.cache.vintages_from_cache import vintages_from_cache
from dataservice.client.contract.completeness.sources import Agreement
from dataservice.client.contract.requests import can_exist
from dataservice.client.contract.resources import (
    HistoryResource,
    KnownDaysResource,
    Resource,
    SignalResource,
    windows_of,
)
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.contract.windows import Window, joined, utc_day
from dataservice.models import Signal
from dataservice.stores import Entry, ResilientStore

T = TypeVar("T")

ABSENT_S = 2.0
"""For so long the store is not asked again for a fresh detail that it did not have: the functions of one batch."""

MAX_NOTES = 10_000
"""Signals that are remembered; the least recently met are dropped first."""

MAX_NAMED = 2_000
"""Signals whose names are looked up in their kept details: each is one look into the store, once a process."""

ARCHIVE_SHARE = 32
"""Which part of the memory holds archives: they are larger than the histories, and are quickly read from the store."""


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
    signal: Signal | None = None


_NOTHING_NOTED, NO_HISTORY = _Notes(), History.nothing()


class SignalAnswers(StoredAnswers):
    """Answers about signals. What is known of a signal is one history: details and pulls correct each other."""

    def __init__(self, store: ResilientStore, *, max_bytes: int, ttl_s: float, missing_ttl_s: float) -> None:
        super().__init__(store, max_bytes=max_bytes, ttl_s=ttl_s, missing_ttl_s=missing_ttl_s)
        self._histories = Histories(
            store,
            max_bytes=max_bytes // 2,
            name_of=self._history_name,
            missing=self.missing,
            purged=self.purged,
            not_before=lambda: self.rules.not_before,
        )
        self._notes: LRUCache[str, _Notes] = LRUCache(MAX_NOTES)
        self.window_only = WindowOnly(store, self._detail_name)
        self.sources = Sources()
        self.has_thin_details = False
        """Whether recent histories leave out what windows show."""
        self.archive = Archive(
            store,
            max_bytes=max_bytes // ARCHIVE_SHARE,
            kept_look=self._kept_look,
            kept_state=self._kept_state,
            is_new=self._is_new,
            are_alike=self._are_alike,
        )

    def open(self, scope: str) -> None:
        """Use the store from now on, under the name of the key."""
        self.scope = self.archive.scope = scope

    def set_back(self, seconds: float) -> None:
        """Date all that is in memory earlier by `seconds`: the clock was set back."""
        self.memory.move(-seconds)
        self._histories.move(-seconds)
        self._look_again()
        self.missing.set_back(seconds)
        self.rules = replace(self.rules, not_before=self.rules.not_before - seconds)

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

    async def looked_up(self, resource: Resource[Any], now: float) -> Any:
        """Return what is known here by itself of the past, of names or of days; never a request.

        Of a name that no signal can have, nothing is known.
        """
        match resource:
            case VintagesResource(slug) | KnownDaysResource(slug) if not can_exist(SignalResource(slug)):
                return Vintages.nothing() if isinstance(resource, VintagesResource) else ()
            case VintagesResource(slug):
                return await self.archive.vintages(slug)
            case KnownDaysResource(slug):
                return tuple(span.window for span in (await self.history(slug, now)).spans)
        return await self._seen_signals()

    async def _seen_signals(self) -> SeenSignals:
        slugs = await self.archive.slugs()
        named = [await self._signal(slug) for slug in slugs[:MAX_NAMED]]
        unnamed = [slug for slug in slugs if self._noted(slug).signal is None]
        signals = (*(signal for signal in named if signal), *(Signal(slug=slug, name=slug) for slug in unnamed))
        return SeenSignals(Catalogue(signals), is_whole=not unnamed)

    async def history(self, slug: str, now: float, detail: Answer[SignalDetail] | None = None) -> History:
        """All that is known of a signal's past, also while the store fails: a full pull costs many requests.

        A `detail` that was just looked up is not looked up again.
        """
        before = self._histories.kept_at.get(slug)
        history = await self._histories.renewed(slug, now)
        self._notes_of(slug).history_at = now
        if self._histories.kept_at.get(slug) != before:  # another process pulled: cut all windows from the same history
            self.memory.drop_family(windows_of(slug))
        return self._united(slug, history, detail or await self._detail(slug, now))

    def lacks(self, resource: HistoryResource, now: float) -> bool:
        """Return whether a look into the store a moment ago has shown that no day of the window is known.

        A batch may ask for the windows around a hundred thousand days, and each look takes a thread.
        """
        held, detail = self._histories.held(resource.slug), self.memory.get(SignalResource(resource.slug))
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
        known = self.memory.get(signal)
        if known is not None and known.is_fresh(now):
            return False
        found = await self._unpacked(signal, now)
        return found is not None and (known is None or found.fetched_at > known.fetched_at)

    async def history_at_hand(self, slug: str, now: float) -> History:
        """The same, from memory where this process has read or pulled it before: for whoever just looked it up."""
        held = self._histories.held(slug)
        if held is None:
            return await self.history(slug, now)
        return self._united(slug, held, self.memory.get(SignalResource(slug)))

    def history_without_detail(self, slug: str) -> History:
        """What was pulled of a signal's past, as far as it is in memory, without what its detail says."""
        return self._histories.held(slug) or NO_HISTORY

    def distrust_details(self) -> None:
        """Let no detail that is at hand tell more than its newest observation: the service leaves rows out of them."""
        self.has_thin_details = True
        for resource in self.memory.resources():
            known = self.memory.get(resource)
            if isinstance(resource, SignalResource) and known is not None:
                self._remember(resource, msgspec.structs.replace(known, value=newest_alone(known.value)), 0)
                self.memory.drop_family(windows_of(resource.slug))

    async def history_after(self, slug: str, since: date, now: float) -> History:
        """What will be known of a signal's past when its detail is replaced by one that shows the days from `since` on.

        Earlier days that only the one at hand shows are forgotten with it.
        """
        held = self._histories.held(slug)
        history = (await self._histories.load(slug) if held is None else held).dated(now)
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
        self.memory.drop_family(resource.family)
        if not is_one:  # what windows told, and nothing of the detail
            history = self._histories.held(slug) or (await self._histories.load(slug)).dated(now)
        history = await self._histories.keep(slug, now, change, history)
        self.memory.drop_family(resource.family)  # others may have cut theirs meanwhile
        detail = await self._detail(slug, now)
        if detail is None:
            return history
        before = self.memory.get(SignalResource(slug))
        if is_one:
            self._correct(slug, detail, history)
        else:
            history = self._united(slug, history, detail)
        known = self.memory.get(SignalResource(slug))
        if not is_one or known is None or known is before:
            return history
        if known.is_fresh(now) and self.scope is not None:
            await self._store.put(self.name(SignalResource(slug)), Entry(pack(known.value), known.fetched_at))
        return history

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
            self.sources.learn(slug, agreement(detail.value, detail.fetched_at, history, self.rules))

    def of_windows(self, slug: str, detail: SignalDetail, *, even_doubtful: bool = False) -> SignalDetail:
        """The detail with what windows told up to the end of the series; without a history where none did.

        `even_doubtful`: what they told is shown even if it is to be asked again.
        """
        held = self._histories.held(slug) or NO_HISTORY
        told = joined(span.window for span in held.spans if even_doubtful or not span.revised)
        if not told or told[-1].end != date.max:
            return newest_alone(detail)
        shown = recent_of(held, told[-1])
        return with_history(detail, shown) if len(shown) else newest_alone(detail)

    def _show_windows(self, slug: str, detail: Answer[SignalDetail], *, even_doubtful: bool = False) -> None:
        """Let the detail in memory show what windows told; it is to be asked again where they do not reach the end."""
        value = self.of_windows(slug, detail.value, even_doubtful=even_doubtful)
        is_sure = len(self.of_windows(slug, detail.value).history) > 0
        fresh_until = detail.fresh_until if is_sure else min(detail.fresh_until, detail.fetched_at)
        if value.history != detail.value.history or fresh_until != detail.fresh_until:
            answer = msgspec.structs.replace(detail, value=value, fresh_until=fresh_until, is_of_windows=True)
            self._remember(SignalResource(slug), answer, value.history.nbytes)

    async def _are_alike(self, slug: str) -> bool:
        """Whether a signal's sources tell one series, by what was seen before, or by what the store keeps of them."""
        if not self.sources.is_known(slug) and not self.sources.were_alike(slug):
            kept = await self._kept_detail(slug)
            history = await self._histories.kept(slug)
            return kept is not None and agreement(*kept, history, self.rules) is Agreement.ALIKE
        return self.sources.were_alike(slug)

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
        self._remember(SignalResource(slug), answer, value.history.nbytes)
        return True

    async def _learn_detail(
        self, slug: str, before: Answer[SignalDetail] | None, arrived: Answer[SignalDetail], now: float
    ) -> None:
        """Compare a detail that just arrived with what is known of the signal's past.

        A history in the store is read only if the detail contradicts the one before it. Otherwise whoever reads it
        next compares both.
        """
        self.memory.drop_family(windows_of(slug))
        held = self._histories.held(slug)
        if before is not None and tells_another_past(before.value, arrived.value, before.fetched_at):
            self._histories.revised[slug] = now
            held = (await self._histories.load(slug)).dated(now)
            if not self.sources.is_known(slug):
                self.compare(slug, held, before)
        if held is None or not held.spans or self.sources.is_apart(slug):
            return
        detail, at = arrived.value, arrived.fetched_at
        united = with_detail(held, detail, at)
        if not self.sources.is_alike(slug):
            if united.revised_at != held.revised_at or contradicts(detail, held):
                await self._histories.keep(slug, now, lambda known: _doubtful(known, since=now), held)
            return
        if united.revised_at == held.revised_at:
            self._histories.hold(slug, united)
        else:
            united = await self._histories.keep(slug, now, lambda known: with_detail(known, detail, at), held)
        self._correct(slug, arrived, united)

    async def _detail(self, slug: str, now: float) -> Answer[SignalDetail] | None:
        """The signal's detail: a fresh one in memory, else the younger of that and the store's."""
        resource = SignalResource(slug)
        known = self.memory.get(resource)
        was_looked_up = now - ABSENT_S <= self._noted(slug).absent_at <= now
        if was_looked_up or (known is not None and known.is_fresh(now)):
            return known
        return await self._unpacked(resource, now) or known

    async def _kept_look(self, slug: str) -> tuple[Window, float] | None:
        """The days that the kept detail of a signal covers, and when the service gave it."""
        kept = await self._kept_detail(slug)
        return None if kept is None else (window_of_detail(kept[0]), kept[1])

    def _is_new(self, slug: str) -> bool:
        """Whether the store was found to have no answer about a signal."""
        return self._noted(slug).is_unkept and self._histories.kept_at.get(slug) is None

    async def _kept_state(self, slug: str) -> Vintages:
        """What the kept answers about a signal say of it; no look into the store where it is known to have none."""
        if self._is_new(slug):
            return Vintages.nothing()
        known = self.memory.get(SignalResource(slug))
        if known is not None and known.fresh_until != NEVER:
            detail: tuple[SignalDetail, float] | None = (known.value, known.fetched_at)
        else:
            detail = None if self._noted(slug).is_unkept else await self._kept_detail(slug)
        return vintages_from_cache(await self._histories.kept(slug), detail)

    async def _signal(self, slug: str) -> Signal | None:
        """The signal as its detail told it last; None where none is kept."""
        notes = self._notes_of(slug)
        if notes.signal is None:
            known = self.memory.get(SignalResource(slug))
            kept = (known.value, known.fetched_at) if known is not None else await self._kept_detail(slug)
            notes.signal = None if kept is None else kept[0].signal
        return notes.signal

    async def _kept_detail(self, slug: str) -> tuple[SignalDetail, float] | None:
        """The detail of a signal as the store has it, and when the service gave it."""
        kept = None if self.scope is None else await self._store.get(self.name(SignalResource(slug)))
        if kept is None:
            return None
        try:
            return unpack(SignalResource(slug), kept.payload), kept.fetched_at
        except (msgspec.MsgspecError, ValueError):  # what cannot be read tells nothing
            return None

    def _history_name(self, slug: str) -> str | None:
        return None if self.scope is None else self.name(HistoryResource(slug))

    def _detail_name(self, slug: str) -> str | None:
        return None if self.scope is None else self.name(SignalResource(slug))

    async def _in_store(self, resource: Resource[T], now: float) -> Answer[T] | None:
        if isinstance(resource, SignalResource):
            return cast("Answer[T] | None", await self._unpacked(resource, now))  # no other answer holds a detail
        if isinstance(resource, HistoryResource):
            return await self._cut(resource, now)
        return await super()._in_store(resource, now)

    async def _cut(self, resource: HistoryResource, now: float) -> Answer[Any] | None:
        """The answer out of the signal's history: out of the one in memory, if that needs no pull."""
        held = self._histories.held(resource.slug)
        if held is not None:
            found = self.from_history(resource, await self.history_at_hand(resource.slug, now), now)
            if found is not None and found.is_fresh(now):
                return found
        history = await self.history(resource.slug, now)
        return self.from_history(resource, history, now) if history.spans else None

    async def _unpacked(self, resource: Resource[T], now: float) -> Answer[T] | None:
        answer = await super()._unpacked(resource, now)
        if not isinstance(resource, SignalResource):
            return answer
        notes = self._notes_of(resource.slug)
        notes.looks += 1
        if answer is None:
            notes.absent_at, notes.is_unkept = now, True
            return None
        if self.has_thin_details:
            answer = msgspec.structs.replace(answer, value=cast("T", newest_alone(cast("SignalDetail", answer.value))))
            self._remember(resource, answer, 0)
        held = self._histories.held(resource.slug)
        if held is None and self.sources.is_apart(resource.slug):
            held = await self._histories.renewed(resource.slug, now)  # it is shown in place of the detail
        if self.memory.get(resource) is not None:
            if not answer.is_fresh(now):
                notes.absent_at = now
            self.memory.drop_family(windows_of(resource.slug))  # they were cut without this detail
            if held is not None:
                if notes.history_at != now:  # windows may have been told since to who asked for this detail
                    held = await self._histories.renewed(resource.slug, now)
                self._united(resource.slug, held, cast("Answer[SignalDetail]", answer))
            corrected_one = cast("Answer[T]", self.memory.get(resource) or answer)
            return msgspec.structs.replace(corrected_one, source=answer.source)
        return answer


def _doubtful(history: History, *, told_before: float = math.inf, since: float | None = None) -> History:
    """The history, of which what was told before a time is to be pulled again; `since` it was seen to be revised."""
    spans = tuple(replace(span, revised=span.revised or span.pulled_at < told_before) for span in history.spans)
    return replace(history, spans=spans, revised_at=history.revised_at if since is None else since)
