"""What is known of one signal's past, and which pulls bring a window of it up to date: decisions only, no I/O.

Every span of days that was pulled remembers when. The newest part of a series is *live*: the last `OVERLAP`
observations and whatever may still arrive behind them. The live part is asked again when its freshness has passed; the
answer overlaps what is known, and a difference there means that the past was revised: then only what is pulled again
counts as known. What lies before the live part is settled, and pulled again after `FULL_PULL_S`, or with the live part
where that takes no other request: what was added to the past is seen at once then. After a forced refresh only what is
pulled again counts.

A span ends on a known day, or is open: then its end was the newest observation when it was asked. A question is only
answered where it is known from its first day on without a hole, up to its last day or to such an end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from dataservice.client.cache.answer import Freshness
from dataservice.client.cache.spans import History, Newest, Span, check_from, live_from
from dataservice.client.contract.completeness.sources import as_known
from dataservice.client.contract.paging import fewest
from dataservice.client.contract.windows import Window, day_after, day_before, joined, missing
from dataservice.observations import Observations

FULL_PULL_S = 30 * 86_400.0
"""Revisions further back than what is asked anyway are found at the latest after 30 days."""

RECENT_DAYS = 7
"""A window that ended so few days ago is asked with an open end: tomorrow's window then has its end, too."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The part of a window that a history holds; `fresh_until` has passed where a pull is needed to be sure."""

    observations: Observations
    fetched_at: float
    fresh_until: float


def window_of(start: date | None, end: date | None, today: date) -> Window:
    """The window of a question; one that ends a few days ago or later has an open end, as tomorrow's will have."""
    first = start or date.min
    is_recent = end is None or end.toordinal() > today.toordinal() - RECENT_DAYS
    return Window(first, date.max if end is None or (is_recent and first <= end) else end)


def gaps(history: History, wanted: Window, now: float) -> list[Window]:
    """The days of `wanted` that were never pulled, were pulled too long ago, or were revised since."""
    return missing((span.window for span in _trusted(history, now)), wanted) if wanted else []


def pulls_needed(
    history: History, wanted: Window, now: float, rules: Freshness, *, rows_at_once: int = 0
) -> list[Window]:
    """The windows to pull before `wanted` can be answered afresh: its gaps, and live parts that need a check.

    `rows_at_once` is how many observations come with one request: what is known without a hole is pulled whole if it
    has no more.
    """
    pulls = _pulls(history, wanted, now, rules, Newest.of(history, wanted))
    runs = joined(span.window for span in _trusted(history, now) if span.window.meets(wanted))
    small = [run for run in runs if len(history.inside(run)) <= rows_at_once]
    return joined([*pulls, *(run for run in small if any(run.meets(pull) for pull in pulls))])


def _pulls(history: History, wanted: Window, now: float, rules: Freshness, newest: Newest | None) -> list[Window]:
    near = [span for span in _trusted(history, now) if span.window.meets(wanted)]
    live = [span for span in near if _is_live(history, span, wanted, newest)]
    due = [span for span in live if not rules.is_fresh(span.checked_at, now)]
    checks = [Window(check_from(history, span, newest), span.window.end) for span in due]
    if unknown := gaps(history, wanted, now):
        return joined([*unknown, *checks])
    return fewest(joined(checks), lambda window: len(history.inside(window)))


def findings(history: History, wanted: Window, now: float, rules: Freshness) -> Findings | None:
    """Return what is known of `wanted`, however old; None unless it is known from its first day on, without a hole.

    Where the newest days are missing, what lies before them counts only if its end was once the end of the series.
    """
    if not wanted:
        return Findings(Observations.empty(), now, now + rules.ttl_s)
    spans = [span for span in history.spans if span.window.meets(wanted)]
    holes = missing((span.window for span in spans), wanted)
    if holes:
        return _known_before(history, wanted, holes[0])
    newest = Newest.of(history, wanted)
    live = [span for span in spans if _is_live(history, span, wanted, newest)]
    fetched_at = min(span.checked_at for span in live) if live else min(span.pulled_at for span in spans)
    fetched_at = min([fetched_at, *(span.checked_at for span in spans if not _is_trusted(history, span, now))])
    fresh_until = min(fetched_at, now)
    if not _pulls(history, wanted, now, rules, newest):
        oldest_pull = min(span.pulled_at for span in spans)
        fresh_until = min((min(fetched_at, now) if live else now) + rules.ttl_s, oldest_pull + FULL_PULL_S)
    return Findings(history.inside(wanted), fetched_at, fresh_until)


def _known_before(history: History, wanted: Window, hole: Window) -> Findings | None:
    """Return what is known of `wanted` before the `hole`, if nothing came behind it when it was asked."""
    known = Window(wanted.start, day_before(hole.start))
    spans = [span for span in history.spans if span.window.meets(known)]
    if hole.start == wanted.start or not any(span.was_end and span.window.end == known.end for span in spans):
        return None
    fetched_at = min(span.checked_at for span in spans)
    return Findings(history.inside(known), fetched_at, fetched_at)


def told_lately(history: History, window: Window, now: float, rules: Freshness) -> Observations:
    """The observations of a window as they were told so lately that they count as fresh."""
    return _of_spans(history, _lately(history, now, rules)).between(window.start, window.end)


def is_told_lately(history: History, window: Window, now: float, rules: Freshness) -> bool:
    """Return whether every day of a window was told so lately that it counts as fresh."""
    return not missing((span.window for span in _lately(history, now, rules)), window)


def _lately(history: History, now: float, rules: Freshness) -> list[Span]:
    return [span for span in history.spans if not span.revised and rules.is_fresh(span.pulled_at, now)]


def _of_spans(history: History, spans: Sequence[Span]) -> Observations:
    found = history.observations[:0]
    for window in joined(span.window for span in spans):
        found = found.merged(history.inside(window))
    return found


def after_pull(history: History, pulled: Window, found: Observations, now: float) -> History:
    """The history after the service gave `found` as all observations of the days `pulled`.

    This is the one place where what is found is compared with what was known. After a revision all that was not pulled
    this time is doubtful.
    """
    newest = Newest.of(history, pulled)
    known = history.inside(pulled)
    told = as_known(known, found)
    met = [span for span in history.spans if span.window.meets(pulled)]
    changed = [span for span in met if is_revision(history, span, pulled, told, newest)]
    doubt = any(not span.revised for span in changed)
    was_end = any(span.was_end and span.window.end == pulled.end for span in met)
    united, kept = Span(pulled, now, now, was_end=was_end), []
    for span in history.spans:
        if _confirms(history, span, pulled, newest) and _is_trusted(history, span, now) and not doubt:
            start = min(span.window.start, pulled.start)
            pulled_at = now if pulled.covers(span.window) else span.pulled_at
            united = replace(united, window=Window(start, pulled.end), pulled_at=pulled_at)
        else:
            parts = _outside(history, span, pulled) if span.window.meets(pulled) else [span]
            kept += [replace(part, revised=part.revised or doubt) for part in parts]
    before = history.observations.between(None, day_before(pulled.start)) if pulled.start > date.min else found[:0]
    behind = history.observations[len(history.observations.between(None, pulled.end)) :]
    observations = Observations(
        np.concatenate([before.times, found.times, behind.times]),
        np.concatenate([before.values, found.values, behind.values]),
    )
    kept = _with_end(kept, [_last_known_day(history, span) for span in met if span.is_open])
    spans = _joined_alike(sorted([*kept, united], key=_by_start))
    revised_at = now if doubt else history.revised_at
    return replace(history, observations=observations, spans=spans, revised_at=revised_at)


def doubted(history: History, window: Window) -> History:
    """The history after nothing came of a window where something is known: that is to be pulled again before use."""
    spans = [span for span in history.spans if not span.window.meets(window)]
    for span in history.spans:
        if span.window.meets(window):
            parts = [(rest, span.revised) for rest in missing([window], span.window)]
            for part, revised in (*parts, (span.window.within(window), True)):
                was_end = span.was_end and part.end == span.window.end
                spans.append(replace(span, window=part, revised=revised, was_end=was_end))
    return replace(history, spans=tuple(sorted(spans, key=_by_start)))


def is_revision(history: History, span: Span, pulled: Window, found: Observations, newest: Newest | None) -> bool:
    """Return whether `found` contradicts what is known of the days that `span` and `pulled` share.

    In settled days any difference does. Elsewhere the newest observation of all and whatever is newer are left aside:
    it is often provisional (today's close, a live rate). That it changes says nothing of the past, and must not cost a
    full pull at every refresh.
    """
    shared = span.window.within(pulled)
    known, found = history.inside(shared), found.between(shared.start, shared.end)
    if live_from(history, span, newest) > shared.end:
        return known != found
    past = known
    if len(known) and known.times[-1] == history.observations.times[-1]:
        past = known[:-1]
        if not len(past):  # days that were empty before the newest one are none any more
            return bool(np.any(found.times < known.times[-1]))
    return len(past) > 0 and past != found[: int(np.searchsorted(found.times, past.times[-1], side="right"))]


def _is_trusted(history: History, span: Span, now: float) -> bool:
    return not span.revised and history.not_before <= span.pulled_at and now < span.pulled_at + FULL_PULL_S


def _trusted(history: History, now: float) -> list[Span]:
    return [span for span in history.spans if _is_trusted(history, span, now)]


def _is_live(history: History, span: Span, wanted: Window, newest: Newest | None) -> bool:
    """Return whether `wanted` reaches into days of `span` that may still change."""
    return live_from(history, span, newest) <= min(wanted.end, span.window.end)


def _confirms(history: History, span: Span, pulled: Window, newest: Newest | None) -> bool:
    """Return whether a pull that found no difference asked all of `span` that may have changed."""
    return (
        pulled.end == span.window.end
        and pulled.start <= check_from(history, span, newest)
        and pulled.start <= day_after(_last_known_day(history, span))
    )


def _outside(history: History, span: Span, pulled: Window) -> Sequence[Span]:
    """The parts of `span` before and behind `pulled`.

    Of an open span nothing is known behind its newest observation: a later pull that begins after it leaves a hole.
    """
    last = _last_known_day(history, span)
    if pulled.start > day_after(last):
        return [replace(span, window=Window(span.window.start, last))] if span.window.start <= last else []
    return [
        replace(span, window=rest, was_end=span.was_end and rest.end == span.window.end)
        for rest in missing([pulled], span.window)
    ]


def _with_end(spans: Sequence[Span], ends: Sequence[date]) -> list[Span]:
    """The spans; of one that ends on a day of `ends`, nothing came behind it when that was asked.

    That may be a neighbour of the open span that was asked: where it held no observation, nothing is left of it.
    """
    return [replace(span, was_end=True) if span.window.end in ends else span for span in spans]


def _last_known_day(history: History, span: Span) -> date:
    """The last day of `span`; of an open one that of its newest observation: others may arrive late behind it."""
    if not span.is_open:
        return span.window.end
    known = history.inside(span.window)
    return known.last_day if len(known) else day_before(span.window.start)


def _joined_alike(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans, neighbours with the same times as one: a time never stands for days that were asked at another."""
    result: list[Span] = []
    for span in spans:
        last = result[-1] if result else None
        if last is not None and _are_alike(last, span):
            span = replace(span, window=Window(last.window.start, span.window.end))
            result.pop()
        result.append(span)
    return tuple(result)


def _are_alike(earlier: Span, later: Span) -> bool:
    touching = earlier.window.end >= day_before(later.window.start)
    return touching and replace(earlier, window=later.window, was_end=later.was_end) == later


def _by_start(span: Span) -> date:
    return span.window.start
