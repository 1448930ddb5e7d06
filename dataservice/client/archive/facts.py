"""Facts about observations as columns: what a look found to be so that the look before it had not shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataservice.client.archive.coverage import NEVER_BEFORE, Moments
from dataservice.moments import Times
from dataservice.observations import Observations, Values

FACT_BYTES = 4 * 8 + 3
"""Four columns of eight bytes a row, and three of one."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """From `first_seen` on the observation of `times` had this value, or was `gone`; seven columns of length n.

    `not_before` is the last look that still showed what was before, `NEVER_BEFORE` if there was none. A null value is
    NaN, and so is that of a gone observation. `by_detail`: a signal's detail told it, else a window. `retold`: what was
    before was told by the other one of these, which were not seen to tell one series: so it is no change.
    """

    times: Times
    values: Values
    gone: NDArray[np.bool_]
    first_seen: Moments
    not_before: Moments
    by_detail: NDArray[np.bool_]
    retold: NDArray[np.bool_]

    @classmethod
    def none(cls) -> Facts:
        """No facts."""
        return _NONE

    @classmethod
    def found(cls, observations: Observations, gone: Times, first_seen: int, *, by_detail: bool = False) -> Facts:
        """Return what one look found, in order; when the state before was last seen is yet to be said."""
        count = len(observations) + len(gone)
        times, values = observations.times, observations.values
        if len(gone):
            times, values = np.concatenate([times, gone]), np.concatenate([values, np.full(len(gone), np.nan)])
        is_gone = np.arange(count) >= len(observations)
        seen, before, source = np.full(count, first_seen), np.full(count, NEVER_BEFORE), np.full(count, by_detail)
        facts = cls(times, values, is_gone, seen, before, source, np.zeros(count, bool))
        return facts if not len(gone) else facts[np.argsort(times, kind="stable")]

    @classmethod
    def together(cls, facts: Sequence[Facts]) -> Facts:
        """All of them as one, each once, by observation and then by time; each was not before the one before it.

        Of two that contradict each other at one time the later one in `facts` counts. What only repeats the fact before
        it stays: there may be one between them that is not here yet.
        """
        facts = [one for one in facts if len(one)]
        if len(facts) == 1:
            return facts[0]  # in order by itself
        if not facts:
            return cls.none()
        columns: list[Any] = [np.concatenate([getattr(one, name) for one in facts]) for name in cls.__slots__]
        order = np.lexsort((~columns[6], columns[3], columns[0]))  # what both sources told counts
        times, values, gone, first_seen, not_before, *told = (column[order] for column in columns)
        same_observation = times[1:] == times[:-1]
        begins = np.append(True, ~(same_observation & (first_seen[1:] == first_seen[:-1])))
        not_before = np.maximum.reduceat(not_before, np.flatnonzero(begins))
        ends = np.append(begins[1:], True)
        kept = cls(times[ends], values[ends], gone[ends], first_seen[ends], not_before, *(each[ends] for each in told))
        return _each_after_the_last(kept)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, part: slice | NDArray[np.bool_] | NDArray[np.intp]) -> Facts:
        return Facts(*(getattr(self, name)[part] for name in self.__slots__))

    @property
    def nbytes(self) -> int:
        """The memory that the columns take."""
        return FACT_BYTES * len(self)

    def changes_only(self) -> Facts:
        """The same without facts that say what the one before them says."""
        equal = np.append(False, self[1:].says_same(self[:-1]))[: len(self)]
        return self[~(self.repeats_observation() & equal)]

    def states(self) -> Facts:
        """The last fact of each observation."""
        return self[np.append(self.times[1:] != self.times[:-1], True)[: len(self)]]

    def last_of(self, others: Facts) -> tuple[NDArray[np.bool_], Facts]:
        """Return for each of `others` whether there is a fact of its observation, and the last one; any where not."""
        if not len(self):
            return np.zeros(len(others), bool), others
        last = self.states()
        found = last[np.minimum(np.searchsorted(last.times, others.times), len(last) - 1)]
        return found.times == others.times, found

    def says_same(self, other: Facts) -> NDArray[np.bool_]:
        """Return for each fact whether it says the same as that in the same place."""
        same: NDArray[np.bool_] = same_values(self.values, other.values) & (self.gone == other.gone)
        return same

    def means_same(self, other: Facts) -> NDArray[np.bool_]:
        """The same, where a row without a value means what none means."""
        same: NDArray[np.bool_] = same_values(self.values, other.values)
        return same

    def repeats_observation(self) -> NDArray[np.bool_]:
        """For each fact whether it concerns the observation of the one before it."""
        return np.append(False, self.times[1:] == self.times[:-1])[: len(self)]


_NO_MOMENTS, _NO_ANSWERS = np.empty(0, np.int64), np.empty(0, bool)
_NO_TIMES: Times = np.empty(0, "datetime64[us]")
_NONE = Facts(_NO_TIMES, np.empty(0), _NO_ANSWERS, _NO_MOMENTS, _NO_MOMENTS, _NO_ANSWERS, _NO_ANSWERS)


def same_values(one: Values, other: Values) -> NDArray[np.bool_]:
    """Return where two columns hold the same: nulls are equal."""
    same: NDArray[np.bool_] = (one == other) | (np.isnan(one) & np.isnan(other))
    return same


def _each_after_the_last(facts: Facts) -> Facts:
    seen_before = np.append(NEVER_BEFORE, facts.first_seen[:-1])
    not_before = np.where(facts.repeats_observation(), np.maximum(facts.not_before, seen_before), facts.not_before)
    return replace(facts, not_before=not_before)
