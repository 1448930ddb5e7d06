"""Which observations a question needs, whether those at hand are enough, and which resource to ask if not.

Decisions only. `Known` says since when all observations are at hand; a window is known when nothing that its rows or
their transforms need can lie before that day. A part of the past never silently stands for the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

import numpy as np

from dataservice.client import HistoryResource, SignalDetail
from dataservice.client.cache.recent import is_whole
from dataservice.client.cache.spans import UNKNOWN_STEP_DAYS
from dataservice.observations import Observations
from udfs.timeseries.resample import Agg, Freq, known_only, period_start, resampled

DETAIL_DAYS = 430
"""A window that starts no longer ago likely lies in the recent history of any series: 365 observations are 17 months
of trading days, or a year of calendar days; more than a year leaves room for the start of a period or `mom`."""

PERIOD_DAYS = {Freq.RAW: 0, Freq.D: 1, Freq.W: 7, Freq.M: 31, Freq.Q: 92, Freq.Y: 366}


@dataclass(frozen=True, slots=True)
class Lead:
    """What transforms need before the first row shown: calendar days, and rows before those."""

    days: int = 0
    rows: int = 0

    def __add__(self, other: Lead) -> Lead:
        return Lead(self.days + other.days, self.rows + other.rows)


@dataclass(frozen=True, slots=True)
class Known:
    """Observations at hand, oldest first: all there are from the day `since` on (`date.min`: all there are)."""

    observations: Observations
    since: date = date.min

    @property
    def step_days(self) -> float:
        """The average distance of two observations in days."""
        count = len(self.observations)
        if count < 2:
            return UNKNOWN_STEP_DAYS
        return max((self.observations.last_day - self.observations.first_day).days / (count - 1), 1 / count)


def recent(detail: SignalDetail) -> Known:
    """The recent history of a signal, and since when it is whole.

    The contract leaves open what `history=365` counts, so fewer than 365 observations alone prove nothing.
    """
    known: Known | None = detail.derived.get("recent")
    if known is None:
        known = detail.derived["recent"] = _recent(detail)
    return known


def _recent(detail: SignalDetail) -> Known:
    observations = _with_latest(detail)
    if not len(detail.history):
        return Known(observations, date.max)
    first = detail.history.first_day
    if is_whole(detail.history):
        return Known(observations)
    days = detail.history.times.astype("datetime64[D]")
    first_day_may_be_cut = bool(np.any(days[1:] == days[:-1]))
    return Known(observations, first + timedelta(days=first_day_may_be_cut))


def _with_latest(detail: SignalDetail) -> Observations:
    """The recent history and the latest observation, which it usually ends with."""
    if detail.latest is None:
        return detail.history
    latest = Observations.from_columns([detail.latest.observed_at], [detail.latest.value])
    if len(detail.history) and latest.times[0] <= detail.history.times[-1]:
        return detail.history
    return detail.history.merged(latest)


@dataclass(frozen=True, slots=True)
class Window:
    """The rows asked for: from `first` (None: the first observation) or the last `count` observations, up to `last`."""

    first: date | None = None
    last: date | None = None
    count: int | None = None
    freq: Freq = Freq.RAW
    lead: Lead = Lead()

    def starts(self, known: Known) -> date | None:
        """The first day whose rows are shown, at the start of its period; None for all there are, or too few."""
        first = self.first
        if self.count is not None:
            observations = known_only(known.observations.between(None, self.last))
            first = observations[-self.count :].first_day if len(observations) >= self.count else None
        return None if first is None else period_start(first, self.freq)

    def is_known(self, known: Known) -> bool:
        """Whether `known` holds every observation that the rows and their transforms need."""
        if known.since == date.min:
            return True
        starts = self.starts(known)
        if starts is None or not len(known.observations):
            return False
        first_needed = period_start(days_before(starts, self.lead.days), self.freq)
        if known.since > first_needed:
            return False
        if not self.lead.rows:
            return True
        before = known_only(known.observations.between(None, days_before(first_needed, 1)))
        rows = resampled(before, self.freq, Agg.LAST)
        first_is_cut = bool(len(rows)) and known.since > period_start(rows.first_day, self.freq)
        return len(rows) - first_is_cut >= self.lead.rows

    def with_lead(self, rows: Observations, starts: date | None) -> Observations:
        """The rows from `starts` on, and those before that transforms need: the same ones wherever they came from."""
        if starts is None:
            return rows
        first_needed = np.datetime64(period_start(days_before(starts, self.lead.days), self.freq), "us")
        place = int(np.searchsorted(rows.times, first_needed))
        return rows[max(0, place - self.lead.rows) :]

    def resource(self, slug: str, step_days: float, today: date) -> HistoryResource:
        """The history to ask for, observations being about `step_days` apart; an end of today or later is left open."""
        last = None if self.last is None or self.last >= today else self.last
        start = self.first
        if self.count is not None:
            start = days_before(last or today, int(self.count * step_days * 1.3) + 15)
        if start is None:
            return HistoryResource(slug, None, last)
        start = period_start(days_before(period_start(start, self.freq), self.lead.days), self.freq)
        if self.lead.rows:
            start = days_before(start, int(self.lead.rows * max(step_days, PERIOD_DAYS[self.freq]) * 1.5) + 15)
        return HistoryResource(slug, None if start == date.min else start, last)


def which_resource(window: Window, today: date) -> Literal["detail", "history"]:
    """What to ask first where nothing at hand is enough: the signal's detail, or its observations.

    The detail is one request, which SIGNAL cells share, and holds 365 observations: a year of a daily series, thirty
    of a monthly one. Observations cost one request for each 1,000.

    - A window of about a year: the detail, it likely holds it.
    - A number of observations (`N60`), or transforms that need rows before the window: the detail too. Either it holds
      them, or it tells how far apart observations are; without that they would have to be asked for as if the series
      were monthly: many pages of a daily one.
    - Any other window: the observations. Asked of the detail first, a daily series would cost one request more, and a
      monthly one would save none.
    """
    if window.count is not None or (window.lead.rows and window.first is not None):
        return "detail"
    reach = None if window.first is None else days_before(window.first, window.lead.days)
    return "detail" if reach is not None and reach >= days_before(today, DETAIL_DAYS) else "history"


def days_before(day: date, days: int) -> date:
    """So many days before, but not before the first day there is."""
    return day - timedelta(days=min(days, (day - date.min).days))
