"""What a look at a signal shows to be otherwise than it was known; a detail and windows are two sources of one signal.

A change that one source shows counts at once if that source told what was before. Else it is held back (`retold`) until
the other source tells it, too: they may tell one series in two ways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dataservice.client.archive.coverage import NEVER_BEFORE, Coverage
from dataservice.client.archive.facts import Facts, same_values
from dataservice.client.archive.vintages import Vintages
from dataservice.client.contract.completeness.sources import SEVERAL, as_known
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations


@dataclass(frozen=True, slots=True)
class News:
    """What a look showed: `changes`, and what counts from now on because both sources told it."""

    changes: Facts
    confirmed: Facts

    @property
    def facts(self) -> Facts:
        """Both as one."""
        return Facts.together([self.changes, self.confirmed])


@dataclass(frozen=True, slots=True)
class Look:
    """An answer that found all observations of the days of `window`; a signal's detail told them, or else a window."""

    window: Window
    found: Observations
    by_detail: bool = False

    def news(self, known: Vintages, moment: int) -> News:
        """Return what differs from what was known at its time."""
        return News(self._changes(known, moment), self._confirmed(known, moment))

    def crosses_sources(self, known: Vintages) -> bool:
        """Return whether anything is known from the other source."""
        return bool((known.facts.by_detail != self.by_detail).any())

    def _changes(self, known: Vintages, moment: int) -> Facts:
        if not len(known.facts) and known.looked is Coverage.never():
            return Facts.found(self.found, self.found.times[:0], moment, by_detail=self.by_detail)
        before = self._inside(known.as_of(moment))
        if before == self.found:
            return Facts.none()
        found = as_known(before, self.found)
        places = np.searchsorted(before.times, found.times)
        inside = np.append(before.times, np.datetime64("NaT"))[places] == found.times
        unchanged = inside & same_values(np.append(before.values, np.nan)[places], found.values)
        new = Observations(found.times[~unchanged], found.values[~unchanged])
        gone = before.times[~np.isin(before.times, found.times, assume_unique=True)]
        facts = _without_blanks(known, Facts.found(new, gone, moment, by_detail=self.by_detail), moment)
        first, last = known.looked.looks_at(facts.times)
        not_before = np.where(last <= moment, last, np.where(first <= moment, first, NEVER_BEFORE))
        return replace(facts, not_before=not_before)

    def _confirmed(self, known: Vintages, moment: int) -> Facts:
        """Return what is a change from now on: only the other source had told it, and at `moment` this one does, too.

        It counts from when it was first told. That this one told it is said besides: what it tells next may differ.
        """
        held = self._held_back(known, moment)
        if not held.any():
            return Facts.none()
        others = known.facts[held]
        found = as_known(self._inside(known.as_of(moment)), self.found)
        gone = np.setdiff1d(others.times, found.times, assume_unique=True)
        _, ours = Facts.found(found, gone, moment, by_detail=self.by_detail).last_of(others)
        same = ours.means_same(others)
        if min((same & others.gone).sum(), (same & ~known.again[held]).sum()) >= SEVERAL:
            return Facts.none()  # rows that stand on other days: windows of another length had moved them
        changes = replace(others, retold=np.zeros(len(others), bool))
        ours = replace(ours, values=others.values, gone=others.gone)
        return Facts.together([changes[same], ours[same]])

    def _held_back(self, known: Vintages, moment: int) -> NDArray[np.bool_]:
        """Return which facts are the last ones of these days and were told by the other source alone."""
        facts, first, last = known.facts, np.datetime64(self.window.start, "us"), np.datetime64(self.window.end, "us")
        held: NDArray[np.bool_] = known.last_at(moment) & facts.retold & (facts.by_detail != self.by_detail)
        held &= (facts.times >= first) & (facts.times < last + np.timedelta64(1, "D"))
        return held

    def _inside(self, found: Observations) -> Observations:
        return found.between(self.window.start, self.window.end)


def _without_blanks(known: Vintages, facts: Facts, moment: int) -> Facts:
    """The facts but for rows without a value in place of none, and the reverse: either says the same."""
    is_known, last = known.facts[known.facts.first_seen <= moment].last_of(facts)
    return facts[~(is_known & last.means_same(facts))]


def of_one_source(news: News, known: Vintages, moment: int, *, behind: Observations | None = None) -> News:
    """The news of a look at `moment`; what its source did not tell otherwise before is no change.

    Nor is anything new but what lies behind all that was known, or between two observations that this source told: the
    other one may leave it out. Of two that agree only what vanished `behind` the last observation of the look is none:
    one of them may have the newest later.
    """
    facts = news.changes
    if not len(facts):
        return news
    before, source = known.facts[known.facts.first_seen <= moment], facts.by_detail[0]
    is_known, last = before.last_of(facts)
    told, own = before[before.by_detail == source].last_of(facts)
    is_own = (last.by_detail == source) | (told & ~own.says_same(facts))
    there = before.states()
    there = there[~there.gone]
    by_own = np.concatenate([[False], there.by_detail == source, [False]])
    places = np.searchsorted(there.times, facts.times)
    is_new = by_own[places] & by_own[places + 1] | (facts.times > known.facts.times[-1])
    retold = ~np.where(is_known, is_own, is_new)
    if behind is not None:
        retold &= facts.gone & (facts.times > behind.times[-1]) if len(behind) else False
    return replace(news, changes=replace(facts, retold=retold))
