"""What is known of one signal's past, and which pulls bring a window of it up to date: decisions only, no I/O.

Every span of days that was pulled remembers when. Its newest part is *live*: the last `OVERLAP` observations and
whatever may still arrive behind them. The live part is asked again when its freshness has passed; the answer overlaps
what is known, and a difference there means that the past was revised: then only what is pulled again counts as known.
What lies before the live part is settled, and pulled again after `FULL_PULL_S`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from dataservice.client.cache.answer import Freshness
from dataservice.client.contract.windows import Window, day_before, joined, missing, utc_day
from dataservice.observations import Observations

OVERLAP = 30
"""Observations asked again at every refresh: a month of daily values, enough to notice most revisions in one page."""

FULL_PULL_S = 30 * 86_400.0
"""Revisions further back than the overlap are found at the latest after 30 days."""

UNKNOWN_STEP_DAYS = 31.0
"""The assumed distance of two observations where fewer than two are known: monthly series are the common slow ones."""


@dataclass(frozen=True, slots=True)
class Span:
    """Days whose observations are all known: pulled at `pulled_at`, their newest part asked last at `checked_at`.

    `revised`: the service changed something in these days since, so they are to be pulled again before they are used.
    """

    window: Window
    pulled_at: float
    checked_at: float
    revised: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """The known observations of one signal, the spans they were pulled in, and when a revision was last noticed."""

    observations: Observations
    spans: tuple[Span, ...] = ()
    revised_at: float | None = None

    @classmethod
    def nothing(cls) -> History:
        """The history of a signal that nobody asked about yet."""
        return cls(Observations.empty())

    def inside(self, window: Window) -> Observations:
        """The known observations in `window`."""
        return self.observations.between(window.start, window.end)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a history holds of a window; `fresh_until` has passed where a pull is needed to be sure."""

    observations: Observations
    fetched_at: float
    fresh_until: float


def window_of(start: date | None, end: date | None, today: date) -> Window:
    """The window of a question; an end of today or later is an open one, so that tomorrow's question is the same."""
    return Window(start or date.min, date.max if end is None or end >= today else end)


def gaps(history: History, wanted: Window, now: float) -> list[Window]:
    """The days of `wanted` that were never pulled, were pulled too long ago, or were revised since."""
    return missing((span.window for span in history.spans if _is_trusted(span, now)), wanted) if wanted else []


def pulls_needed(history: History, wanted: Window, now: float, rules: Freshness) -> list[Window]:
    """The windows to pull before `wanted` can be answered afresh: its gaps, and live parts that need a check."""
    near = [span for span in history.spans if _is_trusted(span, now) and span.window.meets(wanted)]
    checks = [_check(history, span, wanted, now, rules) for span in near]
    return joined([*gaps(history, wanted, now), *(check for check in checks if check)])


def findings(history: History, wanted: Window, now: float, rules: Freshness) -> Findings | None:
    """What is known of `wanted`, however old; None unless it is known from its first day on, without a hole."""
    if not wanted:
        return Findings(Observations.empty(), now, now + rules.ttl_s)
    spans = [span for span in history.spans if span.window.meets(wanted)]
    holes = missing((span.window for span in spans), wanted)
    if not spans or any(hole.start == wanted.start or hole.end != wanted.end for hole in holes):
        return None
    live = [span for span in spans if wanted.end >= live_from(history, span)]
    fetched_at = min(span.checked_at for span in live) if live else min(span.pulled_at for span in spans)
    fresh_until = fetched_at
    if not pulls_needed(history, wanted, now, rules):
        oldest_pull = min(span.pulled_at for span in spans)
        fresh_until = min(fetched_at if live else now, oldest_pull + FULL_PULL_S - rules.ttl_s) + rules.ttl_s
    return Findings(history.inside(wanted), fetched_at, fresh_until)


def after_pull(history: History, pulled: Window, found: Observations, now: float) -> History:
    """The history after the service gave `found` as all observations of the days `pulled`."""
    kept: list[Span] = []
    united = Span(pulled, now, now)
    revised_at = history.revised_at
    for span in history.spans:
        shared = span.window.within(pulled)
        if not shared:
            kept.append(span)
        elif not _is_trusted(span, now):
            kept += _outside(span, pulled)
        elif is_revision(history.inside(shared), found.between(shared.start, shared.end)):
            revised_at = now
            kept += [replace(part, revised=True) for part in _outside(span, pulled)]
        else:
            united = _union(united, span, pulled)
    before = history.observations.between(None, day_before(pulled.start)) if pulled.start > date.min else found[:0]
    behind = history.observations[len(history.observations.between(None, pulled.end)) :]
    observations = Observations(
        np.concatenate([before.times, found.times, behind.times]),
        np.concatenate([before.values, found.values, behind.values]),
    )
    return merged_spans(History(observations, tuple(sorted([*kept, united], key=_by_start)), revised_at), now)


def is_revision(known: Observations, found: Observations) -> bool:
    """Whether `found` contradicts `known`, the newest known observation and whatever is newer left aside.

    The newest observation of a series is often provisional (today's close, a live rate): that it changes says nothing
    of the past, and must not cost a full pull at every refresh.
    """
    past = known[:-1]
    return len(past) > 0 and past != found[: int(np.searchsorted(found.times, past.times[-1], side="right"))]


def live_from(history: History, span: Span) -> date:
    """The first day of `span` on which something may still change; the day after its end where all is settled."""
    known = history.inside(span.window)
    step_days = UNKNOWN_STEP_DAYS
    if len(known) > 1:
        step_days = max(1.0, (known.last_day - known.first_day).days / (len(known) - 1))
    ended_days_ago = (utc_day(span.checked_at) - span.window.end).days
    if ended_days_ago > OVERLAP * step_days:
        return date.fromordinal(span.window.end.toordinal() + 1)
    return check_from(history, span)


def check_from(history: History, span: Span) -> date:
    """The day from which a check of `span` asks again."""
    known = history.inside(span.window)
    return known[-1 - OVERLAP :].first_day if len(known) > OVERLAP + 1 else span.window.start


def merged_spans(history: History, now: float) -> History:
    """Trusted neighbours that were checked together, or whose older one is settled, become one span."""
    result: list[Span] = []
    for span in history.spans:
        if result and _is_trusted(result[-1], now) and _is_trusted(span, now) and _merge(history, result[-1], span):
            last = result.pop()
            window = Window(last.window.start, span.window.end)
            span = Span(window, min(last.pulled_at, span.pulled_at), span.checked_at)
        result.append(span)
    return replace(history, spans=tuple(result))


def _is_trusted(span: Span, now: float) -> bool:
    return not span.revised and now < span.pulled_at + FULL_PULL_S


def _check(history: History, span: Span, wanted: Window, now: float, rules: Freshness) -> Window | None:
    if rules.is_fresh(span.checked_at, now):
        return None
    forced = span.checked_at < rules.not_before
    if forced or wanted.end >= live_from(history, span):
        return Window(check_from(history, span), span.window.end)
    return None


def _union(united: Span, span: Span, pulled: Window) -> Span:
    """`united` and a `span` that it confirmed."""
    window = Window(min(united.window.start, span.window.start), max(united.window.end, span.window.end))
    pulled_at = united.pulled_at if pulled.covers(span.window) else min(united.pulled_at, span.pulled_at)
    reached_its_end = pulled.end >= span.window.end
    return Span(window, pulled_at, united.checked_at if reached_its_end else min(united.checked_at, span.checked_at))


def _outside(span: Span, pulled: Window) -> Sequence[Span]:
    """The parts of `span` before and behind `pulled`."""
    return [replace(span, window=rest) for rest in missing([pulled], span.window)]


def _merge(history: History, earlier: Span, later: Span) -> bool:
    if earlier.window.end < day_before(later.window.start):
        return False
    return earlier.checked_at == later.checked_at or live_from(history, earlier) > earlier.window.end


def _by_start(span: Span) -> date:
    return span.window.start
