"""The past of signals as it was known before: the archive, and what kept answers say where that has nothing yet."""

from __future__ import annotations

from typing import Any

import msgspec
from cachetools import LRUCache

from dataservice.client.archive.archive import Archive
from dataservice.client.archive.coverage import Coverage, micros
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.seen import SeenSignals
from dataservice.client.archive.vintages import Vintages, VintagesResource
from dataservice.client.cache.codec import unpack
from dataservice.client.cache.recent import window_of_detail, with_detail
from dataservice.client.cache.signal_answers import MAX_NOTES, SignalAnswers
from dataservice.client.cache.sources import agreement
from dataservice.client.cache.spans import History
from dataservice.client.cache.stored_answers import NEVER, StoredAnswers
from dataservice.client.contract.completeness.sources import Agreement
from dataservice.client.contract.requests import can_exist
from dataservice.client.contract.resources import KnownDaysResource, Resource, SignalResource
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.contract.windows import Window
from dataservice.models import Signal
from dataservice.stores import ResilientStore

MAX_NAMED = 2_000
"""Signals whose names are looked up in their kept details: each is one look into the store, once a process."""


class KnownPast:
    """What is known here of the past of signals, without a request."""

    def __init__(
        self, answers: StoredAnswers, signals: SignalAnswers, store: ResilientStore, *, max_bytes: int
    ) -> None:
        self._answers = answers
        self._signals = signals
        self._store = store
        self._named: LRUCache[str, Signal] = LRUCache(MAX_NOTES)
        self.archive = Archive(
            store,
            max_bytes=max_bytes,
            kept_look=self._kept_look,
            kept_state=self._kept_state,
            is_new=signals.is_new,
            are_alike=self._are_alike,
        )

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
                return tuple(span.window for span in (await self._signals.history(slug, now)).spans)
        return await self._seen_signals()

    async def _seen_signals(self) -> SeenSignals:
        slugs = await self.archive.slugs()
        for slug in slugs[:MAX_NAMED]:
            await self._note_name(slug)
        signals = tuple(self._named.get(slug) or Signal(slug=slug, name=slug) for slug in slugs)
        return SeenSignals(Catalogue(signals), is_whole=all(slug in self._named for slug in slugs))

    async def _note_name(self, slug: str) -> None:
        """Note a signal as its detail told it last, where one is known."""
        if slug not in self._named:
            known = self._answers.memory.get(SignalResource(slug))
            kept = (known.value, known.fetched_at) if known is not None else await self._kept_detail(slug)
            if kept is not None:
                self._named[slug] = kept[0].signal

    async def _are_alike(self, slug: str) -> bool:
        """Return whether a signal's sources tell one series, by what was seen, or by what the store keeps of them."""
        sources = self._signals.sources
        if not sources.is_known(slug) and not sources.were_alike(slug):
            kept = await self._kept_detail(slug)
            history = await self._signals.histories.kept(slug)
            return kept is not None and agreement(*kept, history, self._answers.rules) is Agreement.ALIKE
        return sources.were_alike(slug)

    async def _kept_look(self, slug: str) -> tuple[Window, float] | None:
        """The days that the kept detail of a signal covers, and when the service gave it."""
        kept = await self._kept_detail(slug)
        return None if kept is None else (window_of_detail(kept[0]), kept[1])

    async def _kept_state(self, slug: str) -> Vintages:
        """What the kept answers about a signal say of it; no look into the store where it is known to have none."""
        if self._signals.is_new(slug):
            return Vintages.nothing()
        known = self._answers.memory.get(SignalResource(slug))
        if known is not None and known.fresh_until != NEVER:
            detail: tuple[SignalDetail, float] | None = (known.value, known.fetched_at)
        else:
            detail = None if self._signals.is_unkept(slug) else await self._kept_detail(slug)
        return vintages_from_cache(await self._signals.histories.kept(slug), detail)

    async def _kept_detail(self, slug: str) -> tuple[SignalDetail, float] | None:
        """The detail of a signal as the store has it, and when the service gave it."""
        name = self._answers.name_if_open(SignalResource(slug))
        kept = None if name is None else await self._store.get(name)
        if kept is None:
            return None
        try:
            return unpack(SignalResource(slug), kept.payload), kept.fetched_at
        except (msgspec.MsgspecError, ValueError):  # what cannot be read tells nothing
            return None


def vintages_from_cache(history: History, detail: tuple[SignalDetail, float] | None) -> Vintages:
    """The kept history and detail, which has the time of its arrival, as vintages.

    A later answer may have corrected parts of them, so all counts as first seen when the last of them arrived: that is
    late for some values, and never too early.
    """
    known = with_detail(history, *detail) if detail else history
    trusted = [span for span in known.spans if not span.revised]
    if not trusted:
        return Vintages.nothing()
    moment = micros(max(max(span.pulled_at, span.checked_at) for span in known.spans))
    looked, facts = Coverage.never(), Facts.none()
    for span in trusted:
        looked = looked.at(span.window, micros(span.pulled_at))
        found = known.inside(span.window)
        facts = Facts.together([facts, Facts.found(found, found.times[:0], moment, by_detail=not history.spans)])
    return Vintages(facts, looked.since(moment))
