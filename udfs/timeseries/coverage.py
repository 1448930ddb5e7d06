"""Which observations a question needs, whether those at hand are enough, and which resource to ask if not.

Decisions only. `Known` says since when all observations are at hand; a window is known when nothing that its rows or
their transforms need can lie before that day. A part of the past never silently stands for the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from math import ceil
from typing import Literal

import numpy as np

from dataservice.client import HistoryResource, SignalDetail
from dataservice.client.cache.recent import MOST_STEP_DAYS, is_whole
from dataservice.client.cache.spans import UNKNOWN_STEP_DAYS
from dataservice.observations import Observations
from udfs.arguments.dates import as_day
from udfs.timeseries.frequency import Freq, Unit, period_start
from udfs.timeseries.resample import Agg, known_only, resampled
from udfs.timeseries.rhythm import BY_DAYS, SAMPLE, STALE_DAYS, UNCOUNTED, Pace, Rhythm, rhythm_of, rhythm_of_rows
from udfs.timeseries.spans import Lead

DETAIL_DAYS = 430
"""A window that starts no longer ago likely lies in the recent history of any series: 365 observations are 17 months
of trading days, or a year of calendar days; more than a year leaves room for the start of a period or `mom`."""

DETAIL_ROWS = 365
"""Observations that the detail of a signal holds, whatever its rhythm."""

PERIOD_DAYS = {
    Unit.RAW: 0.0,
    Unit.H: 1 / 24,
    Unit.D: 1.0,
    Unit.B: 1.0,
    Unit.W: 7.0,
    Unit.M: 31.0,
    Unit.Q: 92.0,
    Unit.Y: 366.0,
}

UNKNOWN_PERIOD_DAYS = 92
"""How much further than a day a change over months may reach where the rhythm is not known: into its quarter."""

SURE = 16
"""Observations that tell a rhythm for certain: a few with a gap among them may look irregular."""

LONGEST_PAUSE_DAYS = 92
"""The longest pause within a series, beside two of its periods; what has none for longer begins there."""

COUNTED_DAYS = 1.2
"""Days for a row that is counted before a window which a detail may hold: its 365 rows of trading days are 17 months,
and `DETAIL_DAYS` are 14."""

FEW = 20
"""Rows counted before a window that may be months as well as days; who counts more (`ma(200)`) counts trading days."""

TRADING_DAYS = 1.4
"""Days from one trading day to the next, on average."""

SLACK = 1.4
"""How much further is asked for than rows take up on average, for holidays and gaps, beside `SLACK_DAYS`."""

SLACK_DAYS = 15

COUNTED_SLACK = 1.1
"""The same for more rows than a recent history holds: so many even holidays out, and pages cost."""

EARLIEST = date(1900, 1, 1)
"""Hardly any series begins before: who needs so much asks for all there is, which then is known to be all."""

DENSE = 2.5
"""Observations a period from which hardly any period is without."""

SPARE_WEEKS = 0.02
"""Weeks without an observation of a series that has several in most."""

TOLD_DAYS = 500
"""So many days of a stored history tell the rhythm of any series from weekly on: more than `SAMPLE` observations."""

NO_LEAD = Lead()

TIMED = frozenset({Unit.RAW, Unit.H})
"""Units whose rows have a time of day."""


@dataclass(frozen=True, slots=True)
class Known:
    """Observations at hand, oldest first: all there are from the day `since` on (`date.min`: all there are)."""

    observations: Observations
    since: date = date.min
    most_step_days: float = UNKNOWN_STEP_DAYS
    """How far apart two observations are at most, where fewer than two are at hand."""

    def cut(self, start: date | None) -> Known:
        """Return what of it lies from `start` on: others have it by chance, and nothing may depend on that."""
        if start is None or start <= self.since:
            return self
        return Known(self.observations.between(start), start)

    @property
    def step_days(self) -> float:
        """The average distance of two observations in days."""
        count = len(self.observations)
        if count < 2:
            return self.most_step_days
        return max((self.observations.last_day - self.observations.first_day).days / (count - 1), 1 / count)


def recent(detail: SignalDetail) -> Known:
    """The recent history of a signal, and since when it is whole.

    The contract leaves open what `history=365` counts, so fewer than 365 observations alone prove nothing.
    """
    known: Known | None = detail.derived.get("recent")
    if known is None:
        known = detail.derived["recent"] = _recent(detail)
    return known


def recent_rhythm(detail: SignalDetail) -> Rhythm | None:
    """The rhythm that a signal's recent history tells; None where that does not count, as it may leave rows out."""
    if detail.latest is not None and not len(detail.history):
        return None
    return rhythm_of(known_only(recent(detail).observations).times)


def _recent(detail: SignalDetail) -> Known:
    observations = _with_latest(detail)
    if not len(detail.history):
        return Known(observations, date.max, detail.derived.get(MOST_STEP_DAYS, UNKNOWN_STEP_DAYS))
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
    """The rows asked for: from `first` (None: the first observation) or the last `count` rows, up to `last`.

    `first_moment` and `last_moment` cut the first and the last day at a time of day.
    """

    first: date | None = None
    last: date | None = None
    count: int | None = None
    freq: Freq = Freq.RAW
    lead: Lead = NO_LEAD
    first_moment: datetime | None = None
    last_moment: datetime | None = None
    spare: int = 0
    """Rows more than asked for, where the last one may be left out as a part of its period."""
    by_rows: bool = False
    """Whether transforms count rows, and not periods."""
    sees_parts: bool = False
    """Whether it counts that the first period of a series is only a part of one."""

    def up_to_end(self, observations: Observations) -> Observations:
        """The observations up to the window's end."""
        return observations.between(None, self.last_moment or self.last)

    def rhythm(self, known: Known) -> Rhythm:
        """The rhythm of the series up to the window's end: the same wherever it is looked up."""
        observations = self.up_to_end(known.observations)
        newest = known_only(observations[-4 * SAMPLE :])
        enough = len(newest) >= SAMPLE or len(observations) <= 4 * SAMPLE
        return rhythm_of((newest if enough else known_only(observations)).times)

    def of_rows(self, rhythm: Rhythm) -> Rhythm:
        """The rhythm in which transforms count, of a series whose own is `rhythm`."""
        return Rhythm.NONE if self.by_rows else rhythm_of_rows(self.freq, rhythm)

    def starts(self, known: Known) -> date | None:
        """The first day whose rows are shown, at the start of its period; None for all there are, or too few.

        A time of day counts where there are several observations a day: a day's only one stands for all of it.
        """
        first = self.first
        if self.count is not None:
            rows = resampled(known_only(self.up_to_end(known.observations)), self.freq, Agg.LAST)
            wanted = self.count + self.spare
            if len(rows) < wanted:
                return None
            moment: datetime = rows.times[-wanted].item()
            is_cut = len(rows) > wanted and rows.times[-wanted - 1].item().date() == moment.date()
            first = moment if is_cut and self.freq.unit in TIMED else moment.date()
        elif self.first_moment is not None and self.freq.unit in TIMED and self._has_times(known, self.first_moment):
            return self.first_moment
        return None if first is None else period_start(first, self.freq)

    def _has_times(self, known: Known, moment: datetime) -> bool:
        """Return whether the series has several observations a day, or on that very day."""
        return (
            self.rhythm(known).pace is Pace.SEVERAL or len(known.observations.between(moment.date(), moment.date())) > 1
        )

    def is_known(self, known: Known) -> bool:
        """Return whether `known` holds every observation that the rows and their transforms need."""
        if known.since == date.min or self._counts_within(known):
            return True
        starts = self.starts(known)
        if starts is None or not len(known.observations):
            return False
        own = self.rhythm(known)
        if known.since <= as_day(starts) and begins_there(known, own):
            return True
        rhythm = self.of_rows(own)
        needed = self.first_needed(starts, rhythm)
        if known.since > needed or (self.sees_parts and period_start(known.observations.first_day, self.freq) > needed):
            return False
        wanted = self._rows_before(rhythm)
        if not wanted:
            return True
        rows = resampled(known_only(known.observations.between(None, days_before(needed, 1))), self.freq, Agg.LAST)
        first_is_cut = bool(len(rows)) and known.since > period_start(rows.first_day, self.freq)
        return len(rows) - first_is_cut + self._pause(known, rows, needed, rhythm) >= wanted

    def is_served_by(self, known: Known) -> bool:
        """Return whether `known` is enough, and tells the rhythm as the whole series does."""
        if self._needs_rhythm and known.since != date.min and len(self.up_to_end(known.observations)) < SURE:
            return False
        return self.is_known(known)

    def tells_as_much(self, known: Known) -> bool:
        """Return whether `known` tells the rhythm by as many observations as a longer part of the series would."""
        if known.since == date.min or (self.count is None and self.first_moment is None and self._is_plain):
            return True
        return len(known_only(self.up_to_end(known.observations)[-4 * SAMPLE :])) >= SAMPLE

    def with_lead(self, rows: Observations, starts: date | None, rhythm: Rhythm) -> Observations:
        """The rows from `starts` on, and those before that transforms need: the same ones wherever they came from."""
        if starts is None:
            return rows
        rhythm = self.of_rows(rhythm)
        needed = self.first_needed(starts, rhythm)
        at = np.datetime64(starts if needed == as_day(starts) else needed, "us")
        place = int(np.searchsorted(rows.times, at))
        return rows[max(0, place - self._rows_before(rhythm)) :]

    def resource(self, slug: str, step_days: float, today: date, rhythm: Rhythm | None = None) -> HistoryResource:
        """The history to ask for, observations being about `step_days` apart; an end of today or later is left open."""
        last = None if self.last is None or self.last >= today else self.last
        if self.first is None and self.count is None:
            return HistoryResource(slug, None, last)
        slack = SLACK if (self.count or 0) <= DETAIL_ROWS else COUNTED_SLACK
        start = self.first_day(today, step_days * slack, rhythm, SLACK_DAYS)
        if start < EARLIEST:
            return HistoryResource(slug, None, last)
        if rhythm is None and self._needs_rhythm and self.freq.is_raw:
            start = days_before(start, UNKNOWN_PERIOD_DAYS)  # the period in which that day lies may begin before it
        if self._needs_rhythm:
            start = min(start, days_before(last or today, int(SURE * step_days * SLACK)))
        return HistoryResource(slug, start, last)

    def counted_back(self, slug: str, known: Known, today: date) -> HistoryResource | None:
        """The history from where the rows that are counted began in what was `known`; None where it held too few."""
        first = None if self.count is None else self.starts(known)
        if first is None:
            return None
        since = replace(self, first=days_before(as_day(first), SLACK_DAYS), count=None)
        return since.resource(slug, known.step_days, today, self.rhythm(known))

    def enough(self, slug: str, today: date) -> HistoryResource:
        """The stored history that is likely enough, with as many observations as tell the rhythm of a recent one."""
        asked = self.resource(slug, self.likely_step_days, today)
        if asked.start is None or which_resource(self, today) == "history":
            return asked
        return replace(asked, start=min(asked.start, days_before(self.last or today, TOLD_DAYS)))

    @property
    def likely_step_days(self) -> float:
        """Return the days between observations where nothing is known of them: so that too few are unlikely."""
        counted = self.lead.periods + self.lead.rows + (self.count or 0)
        return UNKNOWN_STEP_DAYS if counted <= FEW else TRADING_DAYS

    def first_day(self, today: date, row_days: float, rhythm: Rhythm | None = None, slack_days: int = 0) -> date:
        """About the first day that is needed, observations being `row_days` apart, or a period."""
        last = today if self.last is None else min(self.last, today)
        start = last if self.first is None else self.first
        if self.count is not None:
            start = self._start_of_count(self.count, last, row_days, slack_days)
        row_days = max(row_days, PERIOD_DAYS[self.freq.unit])
        of_rows = self.of_rows(rhythm or Rhythm.NONE)
        if start == date.min:
            return start
        start = self.first_needed(period_start(start, self.freq), of_rows)
        wanted = self._rows_before(of_rows)
        return days_before(start, int(wanted * row_days) + slack_days) if wanted else start

    def _start_of_count(self, count: int, last: date, row_days: float, slack_days: int) -> date:
        """A day from which on there likely are so many rows up to the `last` day."""
        period_days = PERIOD_DAYS[self.freq.unit]
        if period_days < max(PERIOD_DAYS[Unit.W], DENSE * row_days):
            return days_before(last, int(count * max(row_days, period_days)) + slack_days)
        back = count + self.spare + (ceil(count * SPARE_WEEKS) if self.freq.unit is Unit.W else 0)
        number = self.freq.numbers(np.array([last], "datetime64[us]")) - back
        first: date = max(self.freq.first_days(number)[0], np.datetime64(date.min, "D")).item()
        return first

    def first_needed(self, starts: date, rhythm: Rhythm) -> date:
        """The first day that spans of the calendar reach back to; of weeks and months with all periods that count."""
        lead, day = self.lead, as_day(starts)
        if rhythm.is_calendar:
            per_year = rhythm.per_year or 1
            periods = lead.periods + ceil(lead.months * per_year / 12) + ceil(lead.days / rhythm.days)
            if periods:
                number = int(rhythm.numbers(np.array([day], "datetime64[us]"))[0])
                day = min(day, rhythm.start(number - periods))
        elif lead.months or lead.days:
            day = days_before(day, lead.months * 31 + lead.days)
        if lead.since is not None:
            day = min(day, days_before(lead.since, ceil(max(rhythm.days, STALE_DAYS))))
        return period_start(day, self.freq)

    @property
    def _needs_rhythm(self) -> bool:
        """Return whether rows or transforms count periods, and not only what is shown before."""
        return bool(self.lead.periods or self.lead.months or self.lead.days or self.lead.since)

    def _counts_within(self, known: Known) -> bool:
        """Return whether plain rows are counted of which `known` holds more: also where they are all of one day.

        It holds all up to the newest, so nothing can lie between them; the one before them shows where a day is cut.
        """
        if self.count is None or not self._is_plain:
            return False
        return len(known_only(self.up_to_end(known.observations))) > self.count + self.spare

    @property
    def _is_plain(self) -> bool:
        """Return whether rows are shown as they are."""
        return self.freq.is_raw and self.lead == NO_LEAD

    def _rows_before(self, rhythm: Rhythm) -> int:
        """Count the rows needed before the first day needed: those to fill from, and periods that are counted."""
        if rhythm.is_calendar:
            return self.lead.rows
        return self.lead.rows + self.lead.periods + (self.lead.has_age and rhythm.pace in UNCOUNTED)

    def _pause(self, known: Known, rows: Observations, needed: date, rhythm: Rhythm) -> int:
        """Periods known to have no observation, before the first row that is known: a long pause of a daily series."""
        until = rows.first_day if len(rows) else needed
        if rhythm.pace not in BY_DAYS or self.lead.rows or (until - known.since).days <= STALE_DAYS:
            return 0
        return rhythm.pause(*np.array([known.since, until], "datetime64[D]").astype(np.int64).tolist())


def begins_there(known: Known, rhythm: Rhythm) -> bool:
    """Return whether a series has no observation before those at hand: that is known, or there was none for so long."""
    if known.since == date.min:
        return True
    longest = timedelta(days=LONGEST_PAUSE_DAYS + 2 * rhythm.days)
    return rhythm.pace is not Pace.IRREGULAR and known.observations.first_day - known.since > longest


def which_resource(window: Window, today: date) -> Literal["detail", "history"]:
    """Return what to ask first where nothing at hand is enough: the signal's detail, or its observations.

    The detail is one request, which SIGNAL cells share, and holds 365 observations: a year of a daily series, thirty
    of a monthly one. Observations cost one request for each 1,000. So a window that the detail of a series of trading
    days likely holds is looked up there, with the rows that transforms count before it; and any other one in the
    observations, as asking the detail first would cost a daily series one request more.
    """
    if window.first is None and window.count is None:
        return "history"
    if window.count is not None and window.freq.is_raw and window.last is None:
        counted = window.count + window.lead.rows + window.lead.periods
        if counted <= DETAIL_ROWS and not window.lead.months and not window.lead.days:
            return "detail"
    reach = window.first_day(today, COUNTED_DAYS)
    return "detail" if reach >= days_before(today, DETAIL_DAYS) else "history"


def days_before(day: date, days: int) -> date:
    """So many days before, but not before the first day there is."""
    return day - timedelta(days=min(days, (day - date.min).days))


def span_of(first: date | None, last: date | None = None) -> str:
    """The days of a window in words, with a blank before them; empty for all there are."""
    return "".join(f" {word} {day}" for word, day in (("from", first), ("to", last)) if day)
