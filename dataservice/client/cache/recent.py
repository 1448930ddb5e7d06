"""What a signal's detail says of its history, and the reverse: one value for each observation, wherever it is shown.

A detail is also a pull: of the days from the first of its observations on, with an open end, at the time it arrived.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
from cachetools import LRUCache

from dataservice.client.cache.history import after_pull, is_revision
from dataservice.client.cache.spans import OVERLAP, History, Newest, Span, check_from
from dataservice.client.contract.completeness.density import detail_may_be_thin
from dataservice.client.contract.completeness.evidence import Evidence, days_over
from dataservice.client.contract.completeness.sources import as_known
from dataservice.client.contract.completeness.thinning import leaves_out, tells_alike
from dataservice.client.contract.forms import is_common_size
from dataservice.client.contract.requests import HISTORY_LIMIT
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.windows import NO_DAYS, Window, missing
from dataservice.models import Observation
from dataservice.moments import DAY_US, Times, of_axis
from dataservice.observations import Observations, day_of

CUTS = frozenset({31, 36, 48, 52, 53, 61, 91, 92, 104, 156, 182, 252, 253, 261, 262, 364})
"""Rows of a month, a quarter, a year: as many as a service may cut a recent history to, beside round numbers."""

LONG_DAYS = 550
"""365 observations of every working day span no more: more time than that is hardly thinned out."""

MAX_DOUBTED = 10_000
"""Signals that are remembered; the least recent are dropped first."""

MOST_STEP_DAYS = "most step days"
"""The name of what a history that does not count tells all the same: rows are no farther apart than these days."""

FEW = 12
"""Rows that are too few to tell how far apart they are."""


def settled(detail: SignalDetail, today: date = date.max) -> SignalDetail:
    """The same detail up to today, with its latest observation in its history, and the newest of both as the latest.

    Without a history that ends on a day before the latest one: others may lie between. Days without a value behind the
    latest one are no observations yet.
    """
    latest = detail.latest
    if latest is not None and detail.history.ends_with(latest.observed_at, latest.value, today):
        return detail  # as nearly all do
    history = detail.history.between(None, today)
    told = None if latest is None else Observations.from_columns([latest.observed_at], [latest.value])
    if told is not None and len(told.between(None, today)) == 0:
        latest = told = None
    if len(history) < len(detail.history) or latest is not detail.latest:
        detail = with_history(SignalDetail(detail.signal, latest), history)
    if told is None or latest is None or not len(history):
        return detail
    if history[-1:] == told:
        return detail
    if latest.value is not None and np.isnan(history.values[history.times > told.times[-1]]).all():
        history = history[: int(np.searchsorted(history.times, told.times[-1], side="right"))]
    if latest.value is None and not np.isnan(history.values[history.times == told.times]).all():
        return with_history(detail, history)  # what one look tells the other may leave out
    if told.last_day > history.last_day:
        return newest_alone(detail)
    return with_history(detail, history.merged(told))


def newest_alone(detail: SignalDetail) -> SignalDetail:
    """The detail without its history, of a service that leaves rows out of it; what that tells of its step is noted."""
    alone = SignalDetail(detail.signal, detail.latest, Observations.empty())
    count = len(detail.history)
    step_days = days_over(detail.history) / (count - 1) if count > 1 else detail.derived.get(MOST_STEP_DAYS)
    if step_days:
        alone.derived[MOST_STEP_DAYS] = step_days
    return alone


def not_behind(detail: SignalDetail, shown: Observations) -> SignalDetail:
    """The detail with the observations that are `shown` elsewhere at this time and are newer than its own."""
    if not len(detail.history):
        return detail
    newer = shown[len(shown.between(None, detail.history.last_day)) :]
    return with_history(detail, detail.history.merged(newer)) if len(newer) else detail


def looked_at(detail: SignalDetail) -> tuple[Window, Observations]:
    """The days of which a detail shows all observations, and these; an empty window where that are none.

    Where the detail shows that nothing lies before them, they are all there are.
    """
    found = detail.history
    if not len(found) and detail.latest is not None:
        found = Observations.from_columns([detail.latest.observed_at], [detail.latest.value])
        return Window(found.first_day, date.max), found
    window, is_from_first = of_axis(_days_looked_at, found.times)
    return window, found if is_from_first else found.between(window.start)


def _days_looked_at(times: Times) -> tuple[Window, bool]:
    """The days of which a detail shows all observations, and whether they begin no later than these."""
    window = _days_shown(times)
    if window and _are_whole(times):
        return Window(date.min, date.max), True
    return window, not window or window.start == day_of(times[0])


def is_whole(recent: Observations) -> bool:
    """Return whether a recent history, for which 365 were asked, must be the whole series.

    It must reach further back than 365 days, so that it counts no days. It must have fewer than 365 places, be they
    filled or not: rows without a value may have been left out. And it must not have as many rows as a service may have
    cut it to.
    """
    return of_axis(_are_whole, recent.times)


def _are_whole(times: Times) -> bool:
    count = len(times)
    if not FEW < count < HISTORY_LIMIT:
        return False
    days = times.astype("datetime64[D]").astype(int)
    span = int(days[-1] - days[0])
    if span <= HISTORY_LIMIT + 1:
        return False
    places = span / max(1, int(np.diff(days).min()))
    is_cut = count in CUTS or is_common_size(count) or is_common_size(count + 1)  # the latest may stand apart
    return places < HISTORY_LIMIT and not is_cut


def recent_of(history: History, window: Window) -> Observations:
    """The end of a window as a detail shows it: no more than a year of one that others may lie before.

    Else so few of them would pass for the whole series.
    """
    found = history.inside(window)
    if window.start > date.min and len(found) < HISTORY_LIMIT:
        return found.between(found.last_day - timedelta(days=HISTORY_LIMIT)) if len(found) else found
    return found[-HISTORY_LIMIT:]


def with_detail(history: History, detail: SignalDetail, at: float) -> History:
    """Return what is known of a signal's past together with what its `detail` said at the time `at`.

    What was asked later than `at` stays as it was found then.
    """
    window = window_of_detail(detail)
    found = detail.history.between(window.start) if window else Observations.empty()
    if not len(found):  # all of its observations are of one day, which may be cut
        return history
    if not history.spans:
        return replace(history, observations=found, spans=(Span(window, at, at),))
    later = [span for span in history.spans if span.checked_at > at and span.window.meets(window)]
    if any(span.revised for span in later):
        return history  # the detail is older than the doubt
    if not later:
        return _with_answer(history, window, found, at)
    return _replayed(history, later, window, found, at)


def with_doubtful(history: History, detail: SignalDetail, at: float) -> History:
    """The history together with what a detail says of days that it does not know; these are to be pulled again."""
    window = window_of_detail(detail)
    unknown = missing((span.window for span in history.spans), window) if window else []
    at, observations = min([at, *(span.checked_at for span in history.spans)]), history.observations
    for days in unknown:
        observations = observations.merged(detail.history.between(days.start, days.end))
    spans = [*history.spans, *(Span(days, at, at, revised=True) for days in unknown)]
    return replace(history, observations=observations, spans=tuple(sorted(spans, key=lambda span: span.window.start)))


def contradicts(known: SignalDetail, found: SignalDetail, at: float) -> bool:
    """Return whether a newer detail tells another past than an older one did."""
    before = with_detail(History.nothing(), known, at)
    window = window_of_detail(found)
    newest, met = Newest.of(before, window), [span for span in before.spans if span.window.meets(window)]
    told = as_known(before.inside(window), found.history)
    return any(is_revision(before, span, window, told, newest) for span in met)


def corrected(detail: SignalDetail, history: History) -> tuple[SignalDetail, bool]:
    """The detail with the observations of `history` where that knows them; and whether any of them is doubtful."""
    window = window_of_detail(detail)
    spans = [span for span in history.spans if span.window.meets(window)] if window else []
    if not spans:
        return detail, False
    unknown = missing((span.window for span in spans), window)
    whole = detail.history[: len(detail.history) - len(detail.history.between(window.start))]
    for span in spans:
        whole = whole.merged(history.inside(span.window.within(window)))
    for days in unknown:
        whole = whole.merged(detail.history.between(days.start, days.end))
    if unknown and len(detail.history):  # what lies behind days that nobody knows must not look like the next one
        whole = whole.between(None, detail.history.last_day)
    doubtful = bool(unknown) or any(span.revised for span in spans)
    if whole == detail.history:
        return detail, doubtful
    return with_history(detail, whole[-HISTORY_LIMIT:]), doubtful


def window_of_detail(detail: SignalDetail) -> Window:
    """The days of which the detail holds all observations; empty where there are none.

    However few they are, there may be others before them. With several a day the first day may be cut.
    """
    return of_axis(_days_shown, detail.history.times)


def _days_shown(times: Times) -> Window:
    if not len(times):
        return NO_DAYS
    days = times.view(np.int64) // DAY_US
    first_day_may_be_cut = bool((days[1:] == days[:-1]).any())
    return Window(day_of(times[0]) + timedelta(days=first_day_may_be_cut), date.max)


def _with_answer(history: History, window: Window, found: Observations, at: float) -> History:
    """The history after a detail of the time `at`; one from before a revision became doubtful with it."""
    result = after_pull(history, window, found, at)
    if history.revised_at is None or at >= history.revised_at:
        return result
    return replace(result, spans=tuple(replace(s, revised=s.revised or s.pulled_at == at) for s in result.spans))


def _replayed(history: History, later: list[Span], window: Window, found: Observations, at: float) -> History:
    """The history after all pulls in the order of their times: those before `at`, the one at `at`, those after it."""
    steps: list[tuple[float, Window]] = []
    since = max(found[-1 - OVERLAP :].first_day, window.start)  # the first check after `at` asked from here or earlier
    newest = Newest.of(history, window)
    for span in later:
        checked_from = check_from(history, span, newest)
        live = Window(min(checked_from, since) if span.is_open else checked_from, span.window.end)
        if span.pulled_at > at:
            steps.append((span.pulled_at, span.window))
        if span.checked_at != span.pulled_at:
            steps.append((span.checked_at, live))
    pulled_later = [days for _, days in steps]
    spans = []
    for span in history.spans:
        rests = missing(pulled_later, span.window)
        cut = rests != [span.window]
        checked_at = span.pulled_at if cut else span.checked_at
        for rest in rests:
            was_end = span.was_end and rest.end == span.window.end
            spans.append(replace(span, window=rest, checked_at=checked_at, was_end=was_end))
    result = _with_answer(replace(history, spans=tuple(spans)), window, found, at)
    for time, days in sorted(steps):
        result = after_pull(result, days, history.inside(days), time)
    ends = {span.window.end for span in history.spans if span.was_end}
    ended = (replace(span, was_end=span.was_end or span.window.end in ends) for span in result.spans)
    return replace(result, spans=tuple(ended))


def with_history(detail: SignalDetail, history: Observations) -> SignalDetail:
    """The detail with other observations; the newest of them is its latest."""
    newest = history[-1:]
    latest = detail.latest
    if not len(newest):
        return SignalDetail(detail.signal, None, history)
    if latest is None or Observations.from_columns([latest.observed_at], [latest.value]) != newest:
        ((moment, value),) = newest
        text = moment.isoformat().replace("+00:00", "Z")
        latest = Observation(observed_at=text, value=None if np.isnan(value) else value)
    return SignalDetail(detail.signal, latest, history)


class DoubtfulDetails:
    """What recent histories said that are not relied on, by signal, and of which signals windows said the same."""

    def __init__(self) -> None:
        self._told: LRUCache[str, Observations] = LRUCache(MAX_DOUBTED)
        self._proven: LRUCache[str, None] = LRUCache(MAX_DOUBTED)

    def relied_on(self, detail: SignalDetail, seen: Evidence) -> SignalDetail:
        """The detail, without its history where that may leave days out."""
        slug = detail.signal.slug
        if slug in self._proven or not detail_may_be_thin(detail.history, seen):
            return detail
        self._told[slug] = detail.history
        return newest_alone(detail)

    def told(self, slug: str) -> Observations:
        """Return what the recent history said that is not relied on."""
        return self._told.get(slug, Observations.empty())

    def proven(self, slug: str) -> Observations:
        """Return what the recent history said, if windows said the same."""
        return self.told(slug) if slug in self._proven else Observations.empty()

    def proves(self, slug: str, found: Observations) -> bool:
        """Whether a window shows the same days as a recent history of so long a time that it was hardly thinned out."""
        told = self.told(slug)
        return days_over(told) > LONG_DAYS and tells_alike(told, found)

    def contradicted(self, slug: str, found: Observations) -> bool:
        """Return whether a window shows days that the recent history left out; one that shows the same proves it."""
        told = self.told(slug)
        if tells_alike(told, found):
            self._proven[slug] = None
        return leaves_out(told, found)
