"""The histories of signals as they are kept: in memory, and as one entry a signal in the store."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import replace

import msgspec
from cachetools import LRUCache

from dataservice.client.cache.answer import ANSWER_BYTES
from dataservice.client.cache.codec import pack_history, unpack_history
from dataservice.client.cache.notes.missing import MissingNames
from dataservice.client.cache.notes.purged import PurgedSignals
from dataservice.client.cache.spans import History
from dataservice.client.contract.resources import HistoryResource
from dataservice.stores import Entry, ResilientStore

MAX_REVISED = 10_000  # slugs whose past was seen to change; the least recent are dropped first

ATTEMPTS = 3
"""Writers of one history take turns by a lease; one whose lease ran out begins again from what the other kept."""

_logger = logging.getLogger("dataservice.client")


class Histories:
    """The pulled past of each signal; `name_of` names its entry, None while the store is not open.

    `not_before` tells when everything was last asked to be pulled again.
    """

    def __init__(
        self,
        store: ResilientStore,
        *,
        max_bytes: int,
        name_of: Callable[[str], str | None],
        missing: MissingNames,
        purged: PurgedSignals,
        not_before: Callable[[], float],
    ) -> None:
        self._store = store
        self._not_before = not_before
        self._missing = missing
        self._purged = purged
        self._name_of = name_of
        self._held: LRUCache[str, History] = LRUCache(max_bytes, getsizeof=_size)
        self.kept_at: LRUCache[str, float] = LRUCache(MAX_REVISED)
        """The time of the entry that was last seen in the store: it tells whether another process replaced it."""
        self.revised: LRUCache[str, float] = LRUCache(MAX_REVISED)

    @property
    def held_bytes(self) -> int:
        """About how much memory the histories take."""
        return int(self._held.currsize)

    def held(self, slug: str) -> History | None:
        """The history in memory."""
        if slug not in self._held:
            return None
        history = self._held[slug]
        return history if history.not_before == self._not_before() else self.hold(slug, history)

    async def load(self, slug: str) -> History:
        """The history in the store; the one in memory where the store has none, or fails."""
        name = self._name_of(slug)
        kept = None if name is None else await self._store.get(name)
        if kept is None:
            self.kept_at.pop(slug, None)
            return self.held(slug) or History.nothing()
        self.kept_at[slug] = kept.fetched_at  # the next one takes its place, whatever it is
        resource = HistoryResource(slug)
        if not (
            self._purged.hides(resource, kept.fetched_at)
            or self._missing.learn(resource, kept.payload, kept.fetched_at)
        ):
            try:
                return replace(unpack_history(kept.payload), not_before=self._not_before())
            except (msgspec.MsgspecError, ValueError) as error:
                _logger.info("a kept history could not be read: %s", type(error).__name__)
        return self.held(slug) or History.nothing()

    async def renewed(self, slug: str, now: float) -> History:
        """The history in memory after a look into the store."""
        history = (await self.load(slug)).dated(now)
        self.hold(slug, history)
        return history

    async def kept(self, slug: str) -> History:
        """The history in the store, and nothing of what is in memory."""
        name = self._name_of(slug)
        entry = None if name is None else await self._store.get(name)
        if entry is None or self._purged.hides(HistoryResource(slug), entry.fetched_at):
            return History.nothing()
        try:
            return unpack_history(entry.payload)
        except (msgspec.MsgspecError, ValueError):  # what cannot be read tells nothing
            return History.nothing()

    async def keep(self, slug: str, now: float, change: Callable[[History], History], history: History) -> History:
        """The changed `history`, kept; where another process replaced the entry meanwhile, the change is made to that.

        The returned history reads the very bytes that are kept, so that there is one copy of them in memory.
        """
        name, payload = self._name_of(slug), b""
        for _ in range(ATTEMPTS):
            before = self.kept_at.get(slug)
            kept_at = now if before is None else max(now, math.nextafter(before, math.inf))  # no two have one time
            payload = pack_history(change(history))
            if name is None:
                break
            if await self._store.replace(name, Entry(payload, kept_at), before):
                self.kept_at[slug] = kept_at
                break
            self.kept_at.pop(slug, None)
            history = (await self.load(slug)).dated(now)
        return self.hold(slug, unpack_history(payload))

    def hold(self, slug: str, history: History) -> History:
        """Hold the history in memory; its columns are those that the answers cut from it show."""
        self._held.pop(slug, None)
        history = replace(history, not_before=self._not_before())
        if history.revised_at is not None:
            self.revised[slug] = history.revised_at
        if _size(history) <= self._held.maxsize:
            self._held[slug] = history
        return history

    def drop(self, slug: str) -> None:
        """Forget what is in memory of one signal."""
        self._held.pop(slug, None)
        self.kept_at.pop(slug, None)

    def clear(self) -> None:
        """Forget what is in memory."""
        self._held.clear()
        self.kept_at.clear()

    def move(self, seconds: float) -> None:
        """Date all histories in memory later by `seconds`: the clock was set."""
        for slug in list(self._held):
            self._held[slug] = self._held[slug].moved(seconds)


def _size(history: History) -> int:
    return history.observations.nbytes + ANSWER_BYTES
