"""Recent histories that may be thinned out: only their newest row counts, until a window of the same days tells."""

from __future__ import annotations

from cachetools import LRUCache

from dataservice.client.cache.recent import newest_alone
from dataservice.client.contract.completeness.density import detail_may_be_thin
from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.completeness.thinning import leaves_out, tells_alike
from dataservice.client.contract.results import SignalDetail
from dataservice.observations import Observations

MOST = 10_000
"""Signals that are remembered; the least recent are dropped first."""


class DoubtfulDetails:
    """What recent histories said that are not relied on, by signal, and of which signals windows said the same."""

    def __init__(self) -> None:
        self._told: LRUCache[str, Observations] = LRUCache(MOST)
        self._proven: LRUCache[str, None] = LRUCache(MOST)

    def relied_on(self, detail: SignalDetail, seen: Evidence) -> SignalDetail:
        """The detail, without its history where that may leave days out."""
        slug = detail.signal.slug
        if slug in self._proven or not detail_may_be_thin(detail.history, seen):
            return detail
        self._told[slug] = detail.history
        return newest_alone(detail)

    def told(self, slug: str) -> Observations:
        """What the recent history said that is not relied on."""
        return self._told.get(slug, Observations.empty())

    def contradicted(self, slug: str, found: Observations) -> bool:
        """Whether a window shows days that the recent history left out; one that shows the same proves it."""
        told = self.told(slug)
        if tells_alike(told, found):
            self._proven[slug] = None
        return leaves_out(told, found)
