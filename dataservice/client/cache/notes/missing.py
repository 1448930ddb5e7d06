"""What the service said does not exist, kept in the store in the place of an answer: no other process asks for it."""

from __future__ import annotations

import math
from typing import Any

from cachetools import LRUCache

from dataservice.client.cache.answer import CLOCK_SKEW_S
from dataservice.client.contract.resources import HistoryResource, Resource, SignalResource

MISSING = b"\xc1"
"""The payload of such an entry: no answer packs to it, so earlier versions take it for one they cannot read."""

MAX_NAMES = 10_000  # the least recently met are dropped first


class MissingNames:
    """The resources of which the service said that there is no such thing, and when, as the store's entries tell.

    That holds for `ttl_s` seconds.
    """

    def __init__(self, ttl_s: float) -> None:
        self._ttl_s = ttl_s
        self._since: LRUCache[Resource[Any], float] = LRUCache(MAX_NAMES)
        self._not_before = -math.inf

    def learn(self, resource: Resource[Any], payload: bytes, fetched_at: float) -> bool:
        """Note what the entry of `resource` says; whether it says that there is no such thing."""
        if payload == MISSING:
            self._since[_named(resource)] = fetched_at
            return True
        if self._since:
            self._since.pop(_named(resource), None)
        return False

    def since(self, resource: Resource[Any]) -> float | None:
        """The time of the entry that said so last; None where none did."""
        return self._since.get(_named(resource))

    def holds(self, resource: Resource[Any], now: float) -> bool:
        """Return whether asking for `resource` would likely bring the same refusal; no signal, no history of it."""
        if not self._since:
            return False
        named = [_named(resource)]
        if isinstance(resource, HistoryResource):
            named.append(SignalResource(resource.slug))
        return any(self._is_recent(self._since.get(each), now) for each in named)

    def clear(self) -> None:
        """Forget what entries said: they are gone."""
        self._since.clear()

    def ask_again(self, now: float) -> None:
        """Let everything be asked again that was missing up to `now`."""
        self._not_before = now

    def set_back(self, seconds: float) -> None:
        """The clock was set back: what was dated by it is looked up again."""
        self._not_before -= seconds

    def _is_recent(self, since: float | None, now: float) -> bool:
        return since is not None and self._not_before < since <= now + CLOCK_SKEW_S and now < since + self._ttl_s


def _named(resource: Resource[Any]) -> Resource[Any]:
    """The resource whose entry says it: all windows of a history have one."""
    return HistoryResource(resource.slug) if isinstance(resource, HistoryResource) else resource
