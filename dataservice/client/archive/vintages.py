"""What was known of one signal, and when: pure functions of the facts that looks found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from dataservice.client.archive.coverage import NEVER_BEFORE, NEVER_YET, Coverage, end_of_day, look_day
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.retold import retold
from dataservice.client.contract.resources import Resource
from dataservice.client.contract.windows import Window
from dataservice.errors import NoVintageError
from dataservice.observations import Observations, Values

if TYPE_CHECKING:
    import pandas as pd

REVISION_COLUMNS = ("observed_at", "value_before", "value", "first_seen", "not_before")

NOTE = "note"
"""A sixth column, where any of the rows has a note."""

RETOLD = "told otherwise, not revised"

MAX_ASKED = 4

DROPPED = 1
"""As `pruned_before`: the store dropped what came before, and does not know until when."""


@dataclass(frozen=True)
class Vintages:
    """All that is known of the states of a signal: the facts, in order, and which days were looked at when.

    Of what lies before `pruned_before` (a time of a look; 0: nothing was pruned) only the last state is kept.
    """

    facts: Facts
    looked: Coverage
    pruned_before: int = 0

    @classmethod
    def nothing(cls) -> Vintages:
        """Those of a signal that nobody looked at yet."""
        return cls(Facts.none(), Coverage.never())

    @property
    def nbytes(self) -> int:
        """About how much memory they take."""
        return self.facts.nbytes + 20 * len(self.looked.starts)

    def as_of(self, moment: int) -> Observations:
        """The observations as the looks up to `moment` showed them; only those of days looked at by then are known."""
        moment = min(moment, self._newest)
        found = self._asked.get(moment)
        if found is None:
            found = self._observations(self.last_at(moment))
            self._asked[moment] = found
        return found

    def first_values(self, moment: int) -> Observations:
        """Every observation that had a value in looks up to `moment`, with the first one that was seen."""
        facts = self.facts
        valued = (facts.first_seen <= moment) & ~facts.gone & ~np.isnan(facts.values) & ~self._is_retold_later
        times, values = facts.times[valued], facts.values[valued]
        begins = np.append(True, times[1:] != times[:-1])[: len(times)]
        return Observations(times[begins], values[begins])

    def known_on(self, slug: str, day: date, window: Window) -> Observations:
        """The observations in `window` as they were known at the end of `day` (UTC).

        Raises `NoVintageError` if some day of the window had not been looked at by then.
        """
        moment = end_of_day(day)
        if not self.looked.covers(window, moment):
            raise NoVintageError(self.why_unknown(slug, day, window), first_look=self.first_look(window))
        return self.as_of(moment).between(window.start, window.end)

    def first_look(self, window: Window) -> date | None:
        """The day on which all of `window` had been looked at for the first time; None if that never was."""
        moment = self.looked.whole_from(window)
        return None if moment == NEVER_YET else look_day(moment)

    def why_unknown(self, slug: str, day: date, window: Window) -> str:
        """Return why nothing can be said of `window` as of `day`: when it was first looked at, if ever."""
        first = self.first_look(window)
        if self.looked.first_look == NEVER_YET:
            return f"what was known of {slug} on {day} is not known here: nobody looked at it yet"
        pruned = "; earlier looks were pruned" if self.pruned_before else ""
        since = self.looked.known_since(window.end, end_of_day(day))
        if since is not None and since > window.start:
            when = "were never looked at" if first is None else f"were first looked at on {first}"
            return f"on {day} {slug} was known from {since} on; earlier days {when}{pruned}"
        if first is None:
            return (
                f"what was known of {slug} on {day} is not known here: not all of its days were ever looked at{pruned}"
            )
        return f"what was known of {slug} on {day} is not known here: the first look was on {first}{pruned}"

    def union(self, other: Vintages) -> Vintages:
        """Return what both know; in whatever order parts are put together, the result is the same."""
        before = max(self.pruned_before, other.pruned_before)
        facts = Facts.together([self.facts, other.facts])
        return _pruned(Vintages(facts, self.looked.union(other.looked)), before)

    def damaged(self) -> Vintages:
        """Return what is left to say after a part was lost: what followed what, and nothing of what was there on a day.

        What nothing is known before may have replaced what was lost: it is no change.
        """
        facts = self.facts
        not_before = np.where(facts.repeats_observation(), facts.not_before, NEVER_BEFORE)
        kept = replace(facts, not_before=not_before)
        return Vintages(kept, Coverage.never(), max(self.pruned_before, DROPPED))

    def pruned(self, before: int) -> Vintages:
        """Without the states that were over before the time `before`: nothing is known of what was known until then."""
        return _pruned(self, max(before, self.pruned_before)) if self.looked.first_look < before else self

    def revisions(self, observed_at: date | None = None, start: date | None = None) -> pd.DataFrame:
        """Return what changed between two looks, one row for each change, oldest observation first; columns of five.

        `value_before` is NaN for an observation that was new, `value` for one that vanished. `first_seen` and
        `not_before` are UTC times of looks: of the one that showed the change first, and of the last one before it that
        did not. What the first look at a day showed is no change; with `observed_at`, a day, it is the first row.

        Archives of versions before hold changes that are none: there is a column `note`, which says so, where any is.
        """
        import pandas as pd

        frame = pd.DataFrame(self.revision_columns(observed_at, start))
        for name in ("observed_at", "first_seen", "not_before"):
            frame[name] = frame[name].dt.tz_localize("UTC")
        return frame

    def revision_columns(self, observed_at: date | None = None, start: date | None = None) -> dict[str, NDArray[Any]]:
        """The same as columns by their names, times as datetime64[us]."""
        facts = self.facts.changes_only()
        is_change, before = _changes_shown(facts)
        is_first = ~facts.repeats_observation()
        chosen = is_change & (facts.not_before != NEVER_BEFORE)
        if observed_at is not None:
            chosen = is_change | is_first
        for first, last in ((observed_at, observed_at), (start, None)):
            chosen &= facts.times >= np.datetime64(first or date.min, "us")
            chosen &= facts.times < np.datetime64(last or date.max, "us") + np.timedelta64(1, "D")
        not_before = np.where(facts.retold, NEVER_BEFORE, facts.not_before)
        moments = (facts.first_seen.view("datetime64[us]"), not_before.view("datetime64[us]"))  # never: no time
        columns = [column[chosen] for column in (facts.times, before, facts.values, *moments)]
        found: dict[str, NDArray[Any]] = dict(zip(REVISION_COLUMNS, columns, strict=True))
        told_otherwise = retold(facts)[chosen] & (found["not_before"] != np.array(NEVER_BEFORE).view("datetime64[us]"))
        notes = np.array([RETOLD if told else None for told in told_otherwise], object)
        return found | {NOTE: notes} if told_otherwise.any() else found

    def revised(self) -> tuple[Facts, Values]:
        """Return the changes that were seen of observations that were known, and the value of each before."""
        facts = self.facts.changes_only()
        is_change, before = _changes_shown(facts)
        chosen = is_change & facts.repeats_observation()
        return facts[chosen], before[chosen]

    def last_at(self, moment: int) -> NDArray[np.bool_]:
        """For each fact whether it was the last one of its observation at `moment`."""
        known = self.facts.first_seen <= moment
        last: NDArray[np.bool_] = known & ~np.append(self.again[1:] & known[1:], False)[: len(known)]
        return last

    def _observations(self, chosen: NDArray[np.bool_]) -> Observations:
        chosen = chosen & ~self.facts.gone
        return Observations(self.facts.times[chosen], self.facts.values[chosen])

    @cached_property
    def again(self) -> NDArray[np.bool_]:
        """For each fact whether it concerns the observation of the one before it."""
        return self.facts.repeats_observation()

    @cached_property
    def _is_retold_later(self) -> NDArray[np.bool_]:
        """For each fact whether a later one of its observation tells it otherwise, from another source."""
        facts = self.facts
        retold = np.where(facts.retold, facts.first_seen, NEVER_BEFORE)
        begins = np.flatnonzero(~self.again)
        last = np.maximum.reduceat(retold, begins) if len(facts) else retold
        later: NDArray[np.bool_] = facts.first_seen < np.repeat(last, np.diff(np.append(begins, len(facts))))
        return later

    @cached_property
    def _newest(self) -> int:
        return int(self.facts.first_seen.max(initial=NEVER_BEFORE))

    @cached_property
    def _asked(self) -> LRUCache[int, Observations]:
        """The states that were asked for last: the cells of a sheet ask for one and the same."""
        return LRUCache(MAX_ASKED)


@dataclass(frozen=True, slots=True)
class VintagesResource(Resource[Vintages]):
    """The vintages of the signal `slug`; no request answers it, only what earlier answers showed."""

    slug: str

    is_requested: ClassVar[bool] = False


def _changes_shown(facts: Facts) -> tuple[NDArray[np.bool_], Values]:
    """Return which facts are changes, and the values before them: not those that only the other source told."""
    places = np.arange(len(facts)) - 1
    while True:
        is_same = (places >= 0) & (facts.times[places] == facts.times)
        others = is_same & facts.retold[places] & (facts.by_detail[places] != facts.by_detail)
        if not others.any():
            break
        places = places - others
    is_change = ~facts.retold & ~(is_same & facts[places].says_same(facts))
    return is_change, np.where(is_same, facts.values[places], np.nan)


def _pruned(vintages: Vintages, before: int) -> Vintages:
    if not before:
        return vintages
    facts = vintages.facts
    over = np.append(facts.repeats_observation()[1:] & (facts.first_seen[1:] <= before), False)[: len(facts)]
    facts = facts[~over]
    forgotten = facts.gone & ~facts.repeats_observation() & (facts.first_seen <= before)
    return Vintages(facts[~forgotten], vintages.looked.since(before), before)
