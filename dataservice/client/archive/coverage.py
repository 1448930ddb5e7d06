"""When each day of a series was looked at: first, and last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dataservice.client.contract.windows import Window, day_after
from dataservice.moments import Times

Moments: TypeAlias = NDArray[np.int64]
"""Times of looks in microseconds since the epoch (UTC)."""

NEVER_YET = int(np.iinfo(np.int64).max)
"""As a first look: there was none so far."""

NEVER_BEFORE = int(np.iinfo(np.int64).min)
"""As a last look: there was none before."""

MAX_STEPS = 2_000
"""Stretches of days that are told apart: a daily series has so many after years in which only its end was looked at."""

EPOCH_DAY = date(1970, 1, 1).toordinal()


def micros(seconds: float) -> int:
    """A time in seconds since the epoch as one of a look."""
    return round(seconds * 1e6)


def look_day(moment: int) -> date:
    """The day (UTC) of a look."""
    return datetime.fromtimestamp(moment // 1_000_000, UTC).date()


def end_of_day(day: date) -> int:
    """The last moment of a day (UTC), as a time of a look."""
    return (day.toordinal() + 1 - EPOCH_DAY) * 86_400_000_000 - 1


def steps_of(window: Window, moment: int) -> tuple[list[int], list[int], list[int]]:
    """The columns of a `Coverage` by one look at `window` at the time `moment`."""
    days = [1, window.start.toordinal(), *([] if window.end == date.max else [day_after(window.end).toordinal()])]
    first = [NEVER_YET, moment, NEVER_YET][: len(days)]
    last = [NEVER_BEFORE, moment, NEVER_BEFORE][: len(days)]
    begins = 1 if window.start == date.min else 0
    return days[begins:], first[begins:], last[begins:]


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """From the day `starts[i]` (an ordinal) to the next start, days were looked at first and last at these times.

    The first start is that of `date.min`.
    """

    starts: NDArray[np.int32]
    first: Moments
    last: Moments

    @classmethod
    def never(cls) -> Coverage:
        """No day was ever looked at."""
        return _NEVER

    @classmethod
    def of(cls, window: Window, moment: int) -> Coverage:
        """One look at `window`, and none elsewhere."""
        starts, first, last = steps_of(window, moment)
        return cls(np.array(starts, np.int32), np.array(first), np.array(last))

    def at(self, window: Window, moment: int) -> Coverage:
        """The same after one more look at `window`."""
        return self.union(Coverage.of(window, moment))

    def confirmed(self, window: Window, moment: int) -> Coverage:
        """The same after a look that is known only by its time: it counts for days that were looked at before it."""
        within = Coverage.of(window, moment)
        starts = np.union1d(self.starts, within.starts)
        (first, last), (_, confirmed) = _stretched(starts, self), _stretched(starts, within)
        return _joined(Coverage(starts, first, np.where(first <= moment, np.maximum(last, confirmed), last)))

    def union(self, other: Coverage) -> Coverage:
        """The looks of both."""
        if self is _NEVER or other is _NEVER:
            return other if self is _NEVER else self
        starts = np.union1d(self.starts, other.starts)
        (own_first, own_last), (first, last) = _stretched(starts, self), _stretched(starts, other)
        return _joined(Coverage(starts, np.minimum(own_first, first), np.maximum(own_last, last)))

    def news_since(self, earlier: Coverage) -> Coverage:
        """Return what this says that `earlier` does not: united with that it is this."""
        if earlier is _NEVER:
            return self
        starts = np.union1d(self.starts, earlier.starts)
        (first, last), (known_first, known_last) = _stretched(starts, self), _stretched(starts, earlier)
        first = np.where(first < known_first, first, NEVER_YET)
        return _joined(Coverage(starts, first, np.where(last > known_last, last, NEVER_BEFORE)))

    def since(self, moment: int) -> Coverage:
        """The same where nothing is known of what lies before `moment`."""
        return _joined(Coverage(self.starts, np.maximum(self.first, moment), self.last))

    def covers(self, window: Window, moment: int) -> bool:
        """Return whether every day of `window` had been looked at by `moment`."""
        return self.whole_from(window) <= moment

    def whole_from(self, window: Window) -> int:
        """Return when every day of `window` had been looked at for the first time; `NEVER_YET` if that never was."""
        low, high = self._places(window)
        return int(self.first[low:high].max(initial=NEVER_BEFORE))

    def last_look_at(self, window: Window) -> int:
        """The last look at any day of `window`; `NEVER_BEFORE` if there was none."""
        low, high = self._places(window)
        return int(self.last[low:high].max(initial=NEVER_BEFORE))

    def known_since(self, last: date, moment: int) -> date | None:
        """The day from which on all days up to `last` had been looked at by `moment`; None if `last` itself was not."""
        place = int(np.searchsorted(self.starts, last.toordinal(), side="right")) - 1
        unknown = np.flatnonzero(self.first[: place + 1] > moment)
        if len(unknown) and unknown[-1] == place:
            return None
        return date.fromordinal(int(self.starts[unknown[-1] + 1])) if len(unknown) else date.min

    def looks_at(self, times: Times) -> tuple[Moments, Moments]:
        """The first and the last look at the days of these observations."""
        days = times.astype("datetime64[D]").astype(np.int64) + EPOCH_DAY
        places = np.searchsorted(self.starts, days, side="right") - 1
        return self.first[places], self.last[places]

    @property
    def first_look(self) -> int:
        """The first look at any day; `NEVER_YET` if there was none."""
        return int(self.first.min())

    def _places(self, window: Window) -> tuple[int, int]:
        low = int(np.searchsorted(self.starts, window.start.toordinal(), side="right")) - 1
        return low, int(np.searchsorted(self.starts, window.end.toordinal(), side="right"))


_NEVER = Coverage(np.array([1], np.int32), np.array([NEVER_YET]), np.array([NEVER_BEFORE]))


def _stretched(starts: NDArray[np.int32], other: Coverage) -> tuple[Moments, Moments]:
    """The times of `other` at these starts."""
    places = np.searchsorted(other.starts, starts, side="right") - 1
    return other.first[places], other.last[places]


def _joined(looked: Coverage) -> Coverage:
    """The same days in as few steps as can be."""
    begins = np.ones(len(looked.starts), bool)
    begins[1:] = (looked.first[1:] != looked.first[:-1]) | (looked.last[1:] != looked.last[:-1])
    joined = Coverage(looked.starts[begins], looked.first[begins], looked.last[begins])
    return _coarser(joined) if len(joined.starts) > MAX_STEPS else joined


def _coarser(looked: Coverage) -> Coverage:
    """Two by two as one: known only from the later first look on, and looked at last at the earlier time."""
    pairs = np.arange(0, len(looked.starts), 2)
    first, last = np.maximum.reduceat(looked.first, pairs), np.minimum.reduceat(looked.last, pairs)
    return Coverage(looked.starts[pairs], first, last)
