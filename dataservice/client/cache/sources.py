"""Of which signals the detail and the windows tell one series, as the answers at hand have shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum, auto

from cachetools import LRUCache

from dataservice.client.cache.answer import Freshness
from dataservice.client.cache.recent import window_of_detail
from dataservice.client.cache.spans import History, Newest, live_from
from dataservice.client.contract.completeness.sources import Agreement, compared
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.windows import Window, day_before

MAX_ALIKE = 10_000
"""Signals that are remembered; of others the answers at hand are compared again."""

MAX_APART = 1_000
"""Signals that are kept with what else is known of the service."""

APART = "the service's windows of this signal differ from its detail; the windows are shown"


class Sources:
    """What was seen of the two sources of each signal."""

    def __init__(self) -> None:
        self._alike: LRUCache[str, None] = LRUCache(MAX_ALIKE)
        self._doubted: LRUCache[str, None] = LRUCache(MAX_ALIKE)
        self._apart: dict[str, None] = {}
        self.apart: tuple[str, ...] = ()
        """The signals whose sources differ: the same tuple until that changes."""

    def is_alike(self, slug: str) -> bool:
        """Return whether the sources of a signal were seen to agree row for row."""
        return slug in self._alike

    def were_alike(self, slug: str) -> bool:
        """The same, until they were seen to differ twice: the first time one of them may have been revised."""
        return slug in self._alike or slug in self._doubted

    def is_apart(self, slug: str) -> bool:
        """Return whether the sources of a signal were seen to differ."""
        return slug in self._apart

    def is_known(self, slug: str) -> bool:
        """Return whether the sources of a signal were compared."""
        return slug in self._alike or slug in self._apart

    def learn(self, slug: str, found: Agreement) -> None:
        """Remember what a comparison has shown; where they agreed before, the first difference is a revision."""
        match found:
            case Agreement.ALIKE:
                if slug in self._apart:
                    self._set_apart(each for each in self._apart if each != slug)
                self._doubted.pop(slug, None)
                self._alike[slug] = None
            case Agreement.APART if slug in self._alike:
                del self._alike[slug]
                self._doubted[slug] = None
            case Agreement.APART:
                self._doubted.pop(slug, None)
                self._set_apart([*self._apart, slug])
            case Agreement.UNKNOWN:
                pass

    def recall(self, apart: Iterable[str]) -> None:
        """Take over what was kept."""
        self._set_apart([*self._apart, *apart])

    def _set_apart(self, slugs: Iterable[str]) -> None:
        self._apart = dict.fromkeys(list(dict.fromkeys(slugs))[-MAX_APART:])
        self.apart = tuple(self._apart)


def agreement(detail: SignalDetail, at: float, history: History, rules: Freshness) -> Agreement:
    """Compare a detail that arrived `at` a time with what windows told.

    Days that were told at about the same time must agree. Where others differ, one of them may have been revised since.
    """
    window = window_of_detail(detail)
    if not window or not history.spans:
        return Agreement.UNKNOWN
    found = detail.history.between(window.start)
    parts = _parts(history)
    lately = [days for days, told_at in parts if abs(told_at - at) <= rules.ttl_s and told_at >= history.not_before]
    if compared(found, history.observations, lately) is Agreement.APART:
        return Agreement.APART
    every = compared(found, history.observations, [days for days, _ in parts])
    return Agreement.UNKNOWN if every is Agreement.APART else every


def contradicts(detail: SignalDetail, history: History) -> bool:
    """Return whether a detail tells otherwise what windows told at any time, as far as it is not doubted."""
    return _differs(detail, history, [days for days, _ in _parts(history)])


class Newer(Enum):
    """Which of two sources that tell otherwise was asked later, where they do."""

    NEITHER = auto()
    """They tell nothing otherwise."""
    DETAIL = auto()
    WINDOWS = auto()
    """Also where both were: the detail is old somewhere."""


def newer(detail: SignalDetail, at: float, history: History) -> Newer:
    """Which source was asked later where a detail of the time `at` and windows, doubted or not, tell otherwise."""
    parts = _parts(replace(history, spans=tuple(replace(span, revised=False) for span in history.spans)))
    if _differs(detail, history, [days for days, told_at in parts if told_at >= at]):
        return Newer.WINDOWS
    return Newer.DETAIL if _differs(detail, history, [days for days, _ in parts]) else Newer.NEITHER


def _differs(detail: SignalDetail, history: History, days: list[Window]) -> bool:
    found = detail.history.between(window_of_detail(detail).start)
    return compared(found, history.observations, days) is Agreement.APART


def meets(detail: SignalDetail, history: History) -> bool:
    """Return whether the days of a detail overlap those of windows, or lie next to them."""
    window = window_of_detail(detail)
    near = Window(day_before(window.start), window.end)
    return bool(window) and any(span.window.meets(near) for span in history.spans)


def _parts(history: History) -> list[tuple[Window, float]]:
    """The days of each span, and when they were told: the live part may be younger."""
    parts = []
    for span in history.spans:
        if span.revised:
            continue
        if span.checked_at == span.pulled_at:
            parts.append((span.window, span.pulled_at))
            continue
        live = live_from(history, span, Newest.of(history, span.window))
        settled = Window(span.window.start, day_before(live))
        parts += [(settled, span.pulled_at)] if settled else []
        parts += [(Window(live, span.window.end), span.checked_at)] if live <= span.window.end else []
    return parts
