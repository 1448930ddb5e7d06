"""Signals whose values were purged: what a store still has of before is no answer, whichever copy it comes from."""

from __future__ import annotations

from typing import Any

from cachetools import LRUCache

from dataservice.client.cache.answer import CLOCK_SKEW_S
from dataservice.client.contract.resources import HistoryResource, Resource, SignalResource

MAX_SIGNALS = 10_000  # the least recently purged are dropped first


class PurgedSignals:
    """Until when the entries of signals do not count.

    Those of the first minute do not either: they may be from before by a clock that is ahead.
    """

    def __init__(self) -> None:
        self._until: LRUCache[str, float] = LRUCache(MAX_SIGNALS)

    def add(self, slug: str, at: float) -> None:
        """Note that the values of a signal were purged at that time."""
        self._until[slug] = at + CLOCK_SKEW_S

    def hides(self, resource: Resource[Any], fetched_at: float) -> bool:
        """Return whether an entry of that time is of before the purge."""
        if not self._until or not isinstance(resource, SignalResource | HistoryResource):
            return False
        return fetched_at <= self._until.get(resource.slug, float("-inf"))
