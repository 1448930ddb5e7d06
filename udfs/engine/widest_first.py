"""The order in which a round asks: by priority, and apart what a fetch of the same round may bring along."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from datetime import date
from typing import Any

from dataservice.client import HistoryResource, Resource, SignalResource
from dataservice.client.contract.resources import wider
from udfs.engine.effects import Question

FEW = 64
"""So many selections are compared one by one; of more, only those that leave out whole filters are found."""

SORTED_AT_ONCE = 5_000
"""Questions put in order in one go, which takes a hundredth of a second."""


class Round:
    """What a round asks: of each signal its detail, or its windows, and never both side by side.

    `spared` are details in whose place a window is fetched that is enough; `later` are windows that wait for a detail
    of this round: it brings a part of them, and whoever asked for it may want a wider one.
    """

    def __init__(self, questions: Iterable[Question]) -> None:
        fetched = [each for each in questions if each.cached_max_age_s is None]
        windows: dict[str, list[Question]] = {}
        details: dict[str, list[Question]] = {}
        for each in fetched:
            if isinstance(each.resource, HistoryResource):
                windows.setdefault(each.resource.slug, []).append(each)
            elif isinstance(each.resource, SignalResource):
                details.setdefault(each.resource.slug, []).append(each)
        self.spared: set[Question] = set()
        self.later: set[Question] = set()
        for slug in details.keys() & windows.keys():
            if all(_is_brought(detail, windows[slug]) for detail in details[slug]):
                self.spared.update(details[slug])
            else:
                self.later.update(windows[slug])


def _is_brought(detail: Question, windows: Iterable[Question]) -> bool:
    """Whether one of these windows makes a detail needless."""
    unless = detail.unless
    return unless is not None and any(window.resource.covers(unless) for window in windows)


async def in_order(questions: Sequence[Question]) -> Sequence[Sequence[Question]]:
    """As `widest_first`; many are put in order by another thread, so that the loop goes on."""
    if len(questions) <= SORTED_AT_ONCE:
        return widest_first(questions)
    return await asyncio.to_thread(widest_first, questions)


def widest_first(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """The questions in order of priority, apart those whose answer a fetch of this round may bring along."""
    asked = sorted(questions, key=lambda question: question.resource.priority)
    families: dict[Hashable, list[Resource[Any]]] = {}
    for question in asked:
        if question.cached_max_age_s is None:
            families.setdefault(question.resource.family, []).append(question.resource)
    fetched = {family: _family(resources) for family, resources in families.items()}
    wide: list[Question] = []
    narrow: list[Question] = []
    for question in asked:
        others = fetched.get(question.resource.family)
        is_fetched = question.cached_max_age_s is None
        held = others is not None and others.covers(question.resource, is_member=is_fetched)
        (narrow if held else wide).append(question)
    return wide, narrow


def _family(resources: Sequence[Resource[Any]]) -> _Windows | _Selections:
    windows = [resource for resource in resources if isinstance(resource, HistoryResource)]
    return _Windows(windows) if len(windows) == len(resources) else _Selections(resources)


class _Windows:
    """The windows of one signal: for each start, the two latest ends of those that begin no later."""

    def __init__(self, windows: Sequence[HistoryResource]) -> None:
        spans = sorted((_start(each), _end(each)) for each in windows)
        self._starts = [start for start, _ in spans]
        self._ends: list[tuple[date, date]] = []
        latest = second = date.min
        for _, end in spans:
            latest, second = (end, latest) if end > latest else (latest, max(second, end))
            self._ends.append((latest, second))

    def covers(self, resource: Resource[Any], *, is_member: bool) -> bool:
        """Whether a window, other than `resource` itself if that is one of them, holds it."""
        if not isinstance(resource, HistoryResource):
            return False
        place = bisect_right(self._starts, _start(resource)) - 1
        if place < 0:
            return False
        latest, second = self._ends[place]
        return (second if is_member else latest) >= _end(resource)


class _Selections:
    """Any other resources of one family."""

    def __init__(self, resources: Sequence[Resource[Any]]) -> None:
        self._few = resources if len(resources) <= FEW else ()
        self._all = frozenset(resources)

    def covers(self, resource: Resource[Any], *, is_member: bool) -> bool:
        """Whether another one, or `resource` itself if it is none of them, holds it."""
        if not is_member and resource in self._all:
            return True
        if self._few:
            return any(other != resource and other.covers(resource) for other in self._few)
        return any(other in self._all for other in wider(resource))


def _start(window: HistoryResource) -> date:
    return window.start or date.min


def _end(window: HistoryResource) -> date:
    return window.end or date.max
