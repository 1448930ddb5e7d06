"""Signals of which a service has no detail, though it has their observations: it has to say so once, and not each time.

The contract says of the observations alone that slugs may contain dots. Elsewhere such a name may be a 404.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from enum import Enum

from cachetools import LRUCache

from dataservice.client.cache.answer import Freshness
from dataservice.client.contract.requests import HISTORY_LIMIT
from dataservice.client.contract.resources import HistoryResource
from dataservice.client.contract.results import SignalDetail
from dataservice.stores import Entry, ResilientStore

HOLDS_S = 86_400.0
"""A detail that was not to be had is asked for again after a day: the service may have been mended."""

NOTE = "#detail"  # no request has a fragment, so no answer is kept under this name
LACKS, DOUBTED, HAS = b"lacks", b"doubted", b"has"
UNREADABLE = 1
"""Bytes of what is kept in place of an answer: that there is none, or that it was purged."""

MAX_NOTED = 10_000


class DetailState(Enum):
    """What is known of a signal's detail."""

    UNKNOWN = "never asked for, or not lately"
    ANSWERED = "the service has one, or had one, or has those of names like it"
    LACKING = "a 404, where the observations answer"


class WindowOnly:
    """Notes on signals whose detail is a 404, in the store beside the answers; one process learns it for all."""

    def __init__(self, store: ResilientStore, name_of: Callable[[str], str | None]) -> None:
        self._store = store
        self._name_of = name_of
        self._noted: LRUCache[str, Entry | None] = LRUCache(MAX_NOTED)

    async def lacks_detail(self, slug: str, now: float, rules: Freshness) -> bool:
        """Return whether asking for the detail would likely be in vain; the store is looked into once a process."""
        if slug not in self._noted:
            await self._look_up(slug)
        return _holds(self._noted.get(slug), now, rules)

    async def state(self, slug: str, now: float, rules: Freshness, *, others_have: bool = False) -> DetailState:
        """What all processes that share the store know of a signal's detail; `others_have`: names like it have one."""
        note = await self._look_up(slug)
        if note is not None and note.payload != HAS:
            return DetailState.LACKING if _holds(note, now, rules) else DetailState.UNKNOWN
        if others_have:
            return DetailState.ANSWERED
        name = self._name_of(slug)
        kept = None if name is None else await self._store.get(name)
        return DetailState.UNKNOWN if kept is None or len(kept.payload) <= UNREADABLE else DetailState.ANSWERED

    async def note(self, slug: str, now: float, *, is_doubtful: bool = False) -> None:
        """Note a 404; `is_doubtful` where it is not known whether the observations answer."""
        await self._put(slug, DOUBTED if is_doubtful else LACKS, now)

    async def answered(self, slug: str, now: float) -> None:
        """Note that there is a detail after all, where a note says otherwise."""
        note = self._noted.get(slug)
        if note is not None and note.payload != HAS:
            await self._put(slug, HAS, now)

    async def _put(self, slug: str, payload: bytes, now: float) -> None:
        entry = self._noted[slug] = Entry(payload, now)
        if (name := self._name_of(slug)) is not None:
            await self._store.put(name + NOTE, entry)

    def clear(self) -> None:
        """Forget what is in memory."""
        self._noted.clear()

    async def _look_up(self, slug: str) -> Entry | None:
        name = self._name_of(slug)
        if name is not None:
            self._noted[slug] = await self._store.get(name + NOTE)
        return self._noted.get(slug)


def in_place_of_detail(slug: str, known: SignalDetail | None, today: date) -> HistoryResource:
    """The window that tells what a detail would: the last year, or the one up to the last observation that is known."""
    start, last = today - timedelta(days=HISTORY_LIMIT), known.last_day if known else None
    return HistoryResource(slug, start if last is None or last >= start else last - timedelta(days=HISTORY_LIMIT))


def _holds(note: Entry | None, now: float, rules: Freshness) -> bool:
    if note is None or note.payload != LACKS:
        return False
    return rules.not_before <= note.fetched_at and now < note.fetched_at + HOLDS_S
