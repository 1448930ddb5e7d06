"""Series as the columns of a table: converted to a frequency, aligned on common rows, filled, and then transformed.

Decisions and arithmetic only. A transform sees what is shown, or each series' own observations where that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dataservice.observations import Observations
from udfs.errors import ArgumentError
from udfs.timeseries.alignment import LOOKS_BACK, by_day, filled, row_times
from udfs.timeseries.coverage import TIMED, Known, Window, begins_there
from udfs.timeseries.frequency import Freq, Times, Unit, all_periods, period_start
from udfs.timeseries.options import ALONE, Align, Counted, Fill, FillTo, TableOptions
from udfs.timeseries.pipeline import Steps, lead_of
from udfs.timeseries.resample import Ends, Partial, known_only, next_due, partial_ends, resampled
from udfs.timeseries.rhythm import STALE_DAYS, Pace, Rhythm, rhythm_of, rhythm_of_rows
from udfs.timeseries.slots import Floats, Slots
from udfs.timeseries.transforms import ONE, WINDOW_VALUES, Step, correlation, transformed

NONE = np.datetime64("NaT", "us")


@dataclass(frozen=True, slots=True)
class Series:
    """One column before it is aligned: its rows with those that transforms need before `starts`, and its chain.

    `parts` are the labels of rows that stand for a part of their period.
    """

    slug: str
    rows: Observations
    starts: date | None
    rhythm: Rhythm = Rhythm.NONE
    steps: Steps = ()
    parts: tuple[np.datetime64, ...] = ()
    asked: str = ""
    is_whole: bool = False
    """Whether the series has no row before these."""
    longest_step_days: int = 0
    """The longest distance that a series without a rhythm had so far; looked for where values are carried on."""

    @property
    def shown(self) -> Observations:
        """The rows to show; those before are only there to be filled or computed from."""
        return self.rows.between(self.starts)

    @property
    def is_computed(self) -> bool:
        """Return whether values are compared with others, or combined."""
        return any(step.transform.name != "none" for step in self.steps)


@dataclass(frozen=True, slots=True)
class Ending:
    """The last day asked for (today, where none was), and whether nothing newer exists."""

    latest: date
    is_newest: bool = True

    @classmethod
    def of(cls, end: date | None, today: date) -> Ending:
        """The ending of a window up to `end`."""
        return cls(today) if end is None or end >= today else cls(end, is_newest=False)


def series_of_table(
    slug: str, known: Known, window: Window, steps: Steps, options: TableOptions, ending: Ending
) -> Series:
    """The rows of a series up to the window's end, one for each period, with those that its chain needs before."""
    starts, rhythm = window.starts(known), window.rhythm(known)
    observations = window.up_to_end(known.observations)
    computed = any(step.transform.name != "none" for step in steps)
    if computed or not options.freq.is_raw:
        observations = known_only(observations)
    rows = resampled(observations, options.freq, options.agg)
    ends = Ends()
    what = options.partial_of(steps)
    if what is not Partial.KEEP:
        ends = partial_ends(observations, options.freq, rhythm, ending.latest, is_newest=ending.is_newest)
    ends = Ends(ends.first and begins_there(known, rhythm), ends.last)
    if what is Partial.DROP:
        rows = rows[int(ends.first) : max(int(ends.first), len(rows) - ends.last)]
        if window.spare and window.count is not None and starts is not None and len(rows) >= window.count:
            starts = period_start(rows[-window.count :].first_day, options.freq)
    parts = tuple(rows.times[[0] * ends.first + [-1] * ends.last]) if what is Partial.MARK else ()
    if starts is not None and not computed:  # a null before the window is no value to fill from
        place = int(np.searchsorted(rows.times, np.datetime64(starts, "us")))
        rows = known_only(rows[:place]).merged(rows[place:])
    needed = window.with_lead(rows, starts, rhythm)
    is_whole = len(needed) == len(rows) and len(known.observations) > 0 and begins_there(known, rhythm)
    step_days = _longest_step_days(observations, rhythm) if options.fill is Fill.PREV else 0
    return Series(slug, needed, starts, rhythm, steps, parts, is_whole=is_whole, longest_step_days=step_days)


@dataclass(frozen=True)
class Columns:
    """Columns on common rows."""

    series: Sequence[Series]
    options: TableOptions
    ending: Ending
    first: date | None = None
    """The window's first day, where it has one: a step series that is filled to the end holds from there."""

    @cached_property
    def rows(self) -> list[Observations]:
        """The rows of each series, dated alike; one that begins within a day has several of that day."""
        is_timed = self.options.freq.unit in TIMED
        timed = [
            is_timed and (each.rhythm.pace is Pace.SEVERAL or isinstance(each.starts, datetime)) for each in self.series
        ]
        return by_day([each.rows for each in self.series], self.options.align, timed)

    @cached_property
    def times(self) -> Times:
        """The dates of the rows shown, oldest first."""
        times = self._window_times
        if self._repeats_last:
            times = self._to_end(times)
        return times if self.options.limit is None else times[-self.options.limit :]

    @property
    def _repeats_last(self) -> bool:
        """Return whether a last row repeats the one before: only where rows are no periods, which a fill completes."""
        return self.options.fillto is FillTo.END and self.options.freq.is_raw

    @cached_property
    def _window_times(self) -> Times:
        """The dates of all rows of the window."""
        shown = [rows.between(each.starts) for rows, each in zip(self.rows, self.series, strict=True)]
        times = row_times(shown, self.options.align, self.options.fill, self.options.freq)
        return self._to_end(times) if self.options.fillto is FillTo.END and not self._repeats_last else times

    @cached_property
    def values(self) -> list[NDArray[np.float64]]:
        """The values of each column on the rows."""
        found = []
        for place, each in enumerate(self.series):
            if each.is_computed and self.options.sees_filled:
                made = self._transformed(place, each.steps)
                if self._repeats_last and len(made) and len(self.times) and made.times[-1] < self.times[-1]:
                    made = Observations(np.append(made.times, self.times[-1]), np.append(made.values, made.values[-1]))
                found.append(_on_rows(made, self.times))
                continue
            rows = self._transformed(place, each.steps) if each.is_computed else self.rows[place]
            source = self._with_one_before(rows) if self.options.fill in LOOKS_BACK else rows.between(each.starts)
            found.append(filled(source, self.times, self.options.fill))
        return found

    def has_enough_before(self, begin: datetime | None = None) -> bool:
        """Return whether transforms of common rows see as many of them as they need, or all there are.

        `begin` is the first row that all can share, where that is known already.
        """
        if not len(self._window_times) or all(each.is_whole for each in self.series):
            return True
        if (
            self.options.align is Align.INTERSECT
            and self.options.sees_filled
            and self.has_all_from(begin or self.begin)
        ):
            return True
        places = [place for place, each in enumerate(self.series) if each.is_computed]
        if not all(self._correlates(place, self.series[place].steps) for place in places):
            return False
        if self.options.align is Align.UNION or not self.options.sees_filled:
            return True
        return all(self._reaches(place, self.series[place]) for place in places)

    @cached_property
    def begin(self) -> datetime | None:
        """The first row that all series can share: where the youngest of those that begin there does; None for none."""
        firsts = [
            rows.times[0].item()
            for rows, each in zip(map(known_only, self.rows), self.series, strict=True)
            if each.is_whole and len(rows)
        ]
        return max(firsts, default=None)

    def has_all_from(self, begin: datetime | None) -> bool:
        """Return whether every row from the first one on that all series can share is at hand."""
        if begin is None:
            return False
        return all(
            each.is_whole or (len(rows) > 0 and rows.times[0].item() <= begin)
            for rows, each in zip(map(known_only, self.rows), self.series, strict=True)
        )

    def _correlates(self, place: int, steps: Steps) -> bool:
        """Return whether before the first row shown two series share as many rows as their correlation needs."""
        for number, step in enumerate(steps):
            if step.transform.name == "corr" and step.span is not None:
                if self._pairs_all(place, steps[:number], step):
                    continue
                times, _, _ = self._paired(place, steps[:number], step)
                first = int(np.searchsorted(times, self._window_times[0]))
                carries = self.options.fill in LOOKS_BACK and not self.options.sees_filled  # the row before them too
                return (first == len(times) and not carries) or first >= step.span.count - (not carries)
        return True

    def _pairs_all(self, place: int, before: Steps, step: Step) -> bool:
        """Return whether two series can share no earlier value, because one of them has none before its first one."""
        pair = (place, self._partner(step))
        known = {each: known_only(self._transformed(each, before)).times for each in pair}
        return any(
            self.series[one].is_whole and len(known[one]) and len(known[two]) and known[two][0] <= known[one][0]
            for one, two in (pair, pair[::-1])
        )

    def _reaches(self, place: int, each: Series) -> bool:
        rows, rhythm = self._source(place)
        lead, numbers = lead_of(each.steps), rhythm.numbers(rows.times)
        needed = Window(lead=lead).first_needed(self._window_times[0].item(), rhythm)
        if rows.first_day > needed:
            return False
        at = int(np.searchsorted(rows.times, min(np.datetime64(needed, "us"), self._window_times[0])))
        return rhythm.is_calendar or int(numbers[at] - numbers[0]) >= lead.periods

    @cached_property
    def marks(self) -> list[tuple[str, ...]]:
        """Return what is odd with each column, as its header says it."""
        return [
            (*self._part_marks(each), *self._carried_mark(each, rows))
            for each, rows in zip(self.series, self.rows, strict=True)
        ]

    def _with_one_before(self, rows: Observations) -> Observations:
        """The rows of the window, and the one before it, which may be carried in: however much is at hand."""
        first = self._window_times[:1]
        return rows[max(0, int(np.searchsorted(rows.times, first[0])) - 1) :] if len(first) else rows

    def _transformed(self, place: int, steps: Steps) -> Observations:
        """The rows of a column after some steps, on the rows of the table where transforms see those."""
        for number, step in enumerate(steps):
            if step.transform.name == "corr":
                return self._correlated(place, steps[:number], step, steps[number + 1 :])
        rows, rhythm = self._source(place)
        first = self._first_shown(place)
        return transformed(rows, steps, Slots.of(rows.times, rhythm, first, self.base_day))

    def _source(self, place: int) -> tuple[Observations, Rhythm]:
        options, each = self.options, self.series[place]
        if not options.sees_filled:
            rows, own = self.rows[place], each.rhythm
        else:
            rows = Observations(self._grid, filled(self.rows[place], self._grid, options.fill))
            own = self._common_rhythm
        rhythm = Rhythm.NONE if options.count is Counted.ROWS else rhythm_of_rows(options.freq, own)
        return rows, rhythm

    @cached_property
    def _common_rhythm(self) -> Rhythm:
        """The rhythm of the table's rows: that of all series, else of the fastest one, else as the rows show."""
        if self.options.freq.unit is Unit.D and self.options.fill is not Fill.NONE:
            return Rhythm(Pace.DAILY)
        rhythms = sorted({each.rhythm for each in self.series}, key=lambda each: each.per_year or 0)
        if len(rhythms) == 1:
            return rhythms[0]
        slower, fastest = rhythms[-2].per_year or 0, rhythms[-1].per_year or 0
        is_plain = self.options.align is Align.UNION and fastest > slower and rhythms[0].per_year is not None
        return rhythms[-1] if is_plain else rhythm_of(self._grid)

    @cached_property
    def _grid(self) -> Times:
        """The rows shown and those before, which transforms need."""
        before = row_times(self.rows, self.options.align, self.options.fill, self.options.freq)
        is_whole = np.array_equal(before, self._window_times)
        return before if is_whole else np.union1d(before, self._window_times)

    def _first_shown(self, place: int) -> Any:
        """Return when a column begins to be shown: with its own first row, or with the table's."""
        if self.options.sees_filled and len(self._window_times):
            return self._window_times[0].item()
        return self.series[place].starts

    @cached_property
    def base_day(self) -> date | None:
        """The first day by which every column that is an index has a value: their common base."""
        if not len(self.times):
            return None
        days: list[date] = []
        for place, each in enumerate(self.series):
            if any(step.transform.name == "index" for step in each.steps):
                known = known_only(self._source(place)[0].between(self._first_shown(place)))
                known = known.between(self.times[0].item())
                days += [known.first_day] if len(known) else []
        return max(days, default=None)

    def _correlated(self, place: int, before: Steps, step: Step, after: Steps) -> Observations:
        """The rolling correlation with another column after the same steps, over rows on which both have a value."""
        times, one, two = self._paired(place, before, step)
        rows = Observations(times, _correlations(one, two, step))
        return transformed(rows, after, Slots.of(times, self._source(place)[1], self._first_shown(place)))

    def _paired(self, place: int, before: Steps, step: Step) -> tuple[Times, Floats, Floats]:
        """The times at which a column and its partner both have a value, and these values."""
        one, two = (known_only(self._transformed(each, before)) for each in (place, self._partner(step)))
        times, at, there = np.intersect1d(one.times, two.times, assume_unique=True, return_indices=True)
        return times, one.values[at], two.values[there]

    def _partner(self, step: Step) -> int:
        if len({each.slug for each in self.series}) < 2:
            raise ArgumentError(ALONE)
        if step.partner is None:
            return 0
        wanted = step.partner.casefold()
        for place, each in enumerate(self.series):
            if wanted in (each.slug.casefold(), each.asked.casefold()):
                return place
        raise ArgumentError(f"corr: there is no signal '{step.partner}' in this formula")

    def _to_end(self, times: Times) -> Times:
        end = np.datetime64(self.ending.latest, "us")
        begun = [known_only(rows) for rows in self.rows]
        begun = [rows for rows in begun if len(rows)]
        if not begun:
            return times
        if self.options.freq.is_raw:
            return times if len(times) and times[-1] >= end else np.append(times, end)
        first = times[0] if len(times) else end
        if self.first is not None:
            earliest = max(np.datetime64(self.first, "us"), min(rows.times[0] for rows in begun))
            first = min(first, earliest)
        return all_periods(first, max(end, times[-1]) if len(times) else end, self.options.freq)

    def part_days(self, each: Series) -> list[date]:
        """The rows shown of a column that stand for a part of their period, as they are dated."""
        shown = [label for label in each.parts if label in self.times]
        days = dated(np.array(shown, "datetime64[us]"), self.ending.latest, self.options.freq)
        return list(days.astype("datetime64[D]").tolist())

    def _part_marks(self, each: Series) -> list[str]:
        days = self.part_days(each)
        return [f"partial {', '.join(map(str, days))}"] if days else []

    def _carried_mark(self, each: Series, rows: Observations) -> list[str]:
        """That a series ended before the table, where its last value is carried further than its rhythm explains."""
        known = known_only(rows)
        if self.options.fill is not Fill.PREV or not len(known) or not len(self.times):
            return []
        last = min(self.times[-1].astype("datetime64[D]").item(), self.ending.latest)
        slack = timedelta(days=max(STALE_DAYS, round(each.rhythm.days), each.longest_step_days))
        is_late = last > known.last_day and last - slack > next_due(known.last_day, each.rhythm)
        return [f"carried from {known.last_day}"] if is_late else []


def dated(times: Times, latest: date, freq: Freq) -> Times:
    """The labels of periods; the period that `latest` lies in is dated by it, because it may go on."""
    if freq.is_raw or not len(times):
        return times
    day = np.datetime64(latest, "us")
    return np.where(times == all_periods(day, day, freq)[0], day, times)


def _on_rows(found: Observations, times: Times) -> NDArray[np.float64]:
    if np.array_equal(found.times, times):
        return found.values
    places = np.searchsorted(found.times, times)
    is_there = np.append(found.times, NONE)[places] == times
    return np.where(is_there, np.append(found.values, np.nan)[places], np.nan)


def _correlations(one: NDArray[np.float64], two: NDArray[np.float64], step: Step) -> NDArray[np.float64]:
    width, found = (step.span or ONE).count, np.full(len(one), np.nan)
    each = max(1, WINDOW_VALUES // width)
    for start in range(0, len(one) - width + 1, each):
        part = slice(start, min(start + each, len(one) - width + 1))
        windows = [sliding_window_view(values, width)[part] for values in (one, two)]
        with np.errstate(all="ignore"):  # what overflows is blank
            found[start + width - 1 : part.stop + width - 1] = correlation(*windows)
    return found


def _longest_step_days(observations: Observations, rhythm: Rhythm) -> int:
    times = known_only(observations).times if rhythm.per_year is None else ()
    return int(np.diff(times).max() / np.timedelta64(1, "D")) if len(times) > 1 else 0
