"""What is known of one signal's past, in the spans it was pulled in, and which days of them may still change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from dataservice.client.cache.answer import CLOCK_SKEW_S
from dataservice.client.contract.windows import Window, day_after, day_before, utc_day
from dataservice.observations import Observations

OVERLAP = 30
"""Observations asked again at every refresh: a month of daily values, enough to notice most revisions in one page."""

UNKNOWN_STEP_DAYS = 31.0
"""The assumed distance of two observations where fewer than two are known: monthly series are the common slow ones."""

STEPS = 64
"""Observations from which their distance is told."""


@dataclass(frozen=True, slots=True)
class Span:
    """Days whose observations are all known: pulled at `pulled_at`, their newest part asked last at `checked_at`.

    `revised`: the service changed something since, so these days are to be pulled again before they are used.
    `was_end`: behind its last day there was nothing when it was asked; an open window says the same of itself.
    """

    window: Window
    pulled_at: float
    checked_at: float
    revised: bool = False
    was_end: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether the window has no last day."""
        return self.window.end == date.max


@dataclass(frozen=True, slots=True)
class History:
    """The known observations of one signal, the spans they were pulled in, and when a revision was last noticed.

    What was pulled before `not_before`, the time of the last forced refresh, is to be pulled again before it is used.
    """

    observations: Observations
    spans: tuple[Span, ...] = ()
    revised_at: float | None = None
    not_before: float = -math.inf

    @classmethod
    def nothing(cls) -> History:
        """The history of a signal that nobody asked about yet."""
        return _NOTHING

    def inside(self, window: Window) -> Observations:
        """The known observations in `window`."""
        return self.observations.between(window.start, window.end)

    def dated(self, now: float) -> History:
        """The same history, where spans from a clock that was ahead of `now` count as doubtful."""
        if all(max(span.pulled_at, span.checked_at) <= now + CLOCK_SKEW_S for span in self.spans):
            return self
        spans = tuple(
            replace(span, pulled_at=min(span.pulled_at, now), checked_at=min(span.checked_at, now), revised=True)
            if max(span.pulled_at, span.checked_at) > now + CLOCK_SKEW_S
            else span
            for span in self.spans
        )
        return replace(self, spans=spans, revised_at=None if self.revised_at is None else min(self.revised_at, now))

    def moved(self, seconds: float) -> History:
        """The same history, every time in it later by `seconds`: for a clock that was set."""
        spans = tuple(
            replace(span, pulled_at=span.pulled_at + seconds, checked_at=span.checked_at + seconds)
            for span in self.spans
        )
        return replace(self, spans=spans)


_NOTHING = History(Observations.empty())


@dataclass(frozen=True, slots=True)
class Newest:
    """The days up to the end of a series that are known without a hole, and from which of them on it may still change.

    Those are the last `OVERLAP` observations before the newest, in whichever spans they lie, and all that may follow.
    """

    known_from: date
    live_from: date

    @classmethod
    def of(cls, history: History, wanted: Window) -> Newest | None:
        """The newest days as they are once `wanted` is pulled; None where its end, and all that is known, has a day."""
        spans = history.spans
        if wanted.end != date.max and not (spans and spans[-1].is_open):
            return None
        known_from = date.max
        for window in (*(span.window for span in reversed(spans)), wanted):
            if wanted.end >= day_before(known_from):
                known_from = min(known_from, wanted.start)
            if window.end < day_before(known_from):
                break
            known_from = min(known_from, window.start)
        return cls(known_from, overlap_of(history, Window(known_from)).start)


def live_from(history: History, span: Span, newest: Newest | None) -> date:
    """The first day of `span` on which something may still change; the day after its end where all is settled."""
    if newest is not None and newest.known_from <= span.window.end:
        return min(max(span.window.start, newest.live_from), day_after(span.window.end))
    known = history.inside(span.window)
    step_days = _step_days(known if len(known) > OVERLAP else history.observations)
    ended_days_ago = (utc_day(span.checked_at) - span.window.end).days
    if ended_days_ago > OVERLAP * step_days:
        return day_after(span.window.end)
    return overlap_of(history, span.window).start


def check_from(history: History, span: Span, newest: Newest | None) -> date:
    """The day from which a check of `span` asks again; of settled days a check asks the last ones."""
    live = live_from(history, span, newest)
    return live if live <= span.window.end else overlap_of(history, span.window).start


def overlap_of(history: History, window: Window) -> Window:
    """The days of `window` from the last `OVERLAP` observations before its newest on; all, where it has no more."""
    known = history.inside(window)
    return Window(known[-1 - OVERLAP :].first_day if len(known) > OVERLAP + 1 else window.start, window.end)


def _step_days(known: Observations) -> float:
    """Return how far apart observations are; a quarter of them lie closer, so that holes between spans do not count."""
    steps = np.sort(np.diff(known.times[-STEPS:]))
    return max(1.0, float(steps[len(steps) // 4] / np.timedelta64(1, "D"))) if len(steps) else UNKNOWN_STEP_DAYS
