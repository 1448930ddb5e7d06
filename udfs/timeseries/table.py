"""Series that were found, as one table: which days are needed for it, and how its columns are laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import lru_cache, reduce
from math import ceil
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dataservice.client.contract import HOURS, Back
from dataservice.observations import Observations
from udfs.arguments.dates import Last, StartOf, as_day, first_day
from udfs.cells import Table, objects
from udfs.errors import ArgumentError, CellError
from udfs.timeseries.alignment import LOOKS_BACK, row_times
from udfs.timeseries.compute import Columns, Ending, Series, dated
from udfs.timeseries.coverage import PERIOD_DAYS, Window, span_of
from udfs.timeseries.frequency import Freq, Times, Unit
from udfs.timeseries.options import Align, Counted, Dates, Fill, Header, Layout, Order, TableOptions
from udfs.timeseries.pipeline import Steps, lead_of
from udfs.timeseries.resample import FEWEST, Partial
from udfs.timeseries.rhythm import Rhythm, rhythm_of_rows
from udfs.timeseries.slots import Slots
from udfs.timeseries.spans import Lead
from udfs.timeseries.transforms import transformed

Values: TypeAlias = NDArray[np.float64] | CellError
NamedColumns: TypeAlias = list[tuple[str, NDArray[Any]]]

DATE = "date"
"""The column that the rows are dated by."""

FURTHER = 3
"""How much further is looked back for common rows where there were too few: four times as far."""

COMMON_LOOKS = 9
"""Looks for rows that are counted in common: each goes four times as far, so nine reach any beginning."""

COMMON_ROWS = 1.25
"""Rows of one series for a row that several have in common: two calendars' holidays are never a quarter of the days."""

ROW_DAYS = {**PERIOD_DAYS, Unit.RAW: 1.4, Unit.H: 1 / 24, Unit.B: 1.4, Unit.M: 28.0, Unit.Q: 90.0}
"""The fewest days from one row to the next; of every observation those of trading days."""

COMMON_LEAD = 12
"""Rows of each series among which one is common to all, however their rhythms differ: a year of months."""


WHOLE_PERIODS = frozenset({Unit.W, Unit.M, Unit.Q, Unit.Y})
"""Frequencies whose rows have one rhythm, whatever the series'."""

TRIED = 256
"""Chains that are remembered to fit a frequency: more than one sheet has."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One column of a table: its label, and its series or why there is none."""

    label: str
    found: Series | CellError

    @property
    def first_day(self) -> date | None:
        """The first day shown; None where no row is."""
        if isinstance(self.found, CellError) or not self.shows_rows:
            return None
        return as_day(self.found.starts) if self.found.starts else self.found.rows.first_day

    @property
    def shows_rows(self) -> bool:
        """Return whether there is a row to show, and not only one to fill from."""
        return isinstance(self.found, Series) and len(self.found.shown) > 0


def window_for(
    start: StartOf, end: date | None, today: date, options: TableOptions, steps: Steps = (), *, now: float = 0.0
) -> Window:
    """Return what must be known for the rows asked for: transforms look back, and so does a fill from the value before.

    Raises `ArgumentError` where `start` lies after `end`, and where the frequency alone rules a transform out, so that
    no observation is asked for.
    """
    if steps and options.freq.unit in WHOLE_PERIODS and options.count is Counted.PERIODS:
        _try_on_periods(steps, options.freq)
    moment = _hours_back(start, end, now) if isinstance(start, Back) and start.unit == HOURS else None
    last = None if end is None else as_day(end)
    first = moment or first_day(start, today if last is None else min(last, today))
    if first is not None and end is not None and _time(first) > _time(end, is_end=True):
        raise ArgumentError(f"start {first} lies after end {end}")
    lead = lead_of(steps)
    if options.align is Align.INTERSECT and steps:
        lead = replace(lead, periods=ceil(lead.periods * COMMON_ROWS), rows=COMMON_LEAD)
    elif options.fill in LOOKS_BACK and steps and not options.sees_filled:
        # The row before the window is transformed too, however long ago it was, and then carried in.
        lead += Lead(rows=1 + lead.periods + ceil((lead.months * 31 + lead.days) / ROW_DAYS[options.freq.unit]))
    elif options.fill in LOOKS_BACK or (steps and options.sees_filled and options.fill is not Fill.NONE):
        lead += Lead(rows=1)
    if _correlates([steps]):
        lead = replace(lead, rows=max(lead.rows, COMMON_LEAD))
    partial = options.partial_of(steps)
    sees_parts = options.freq.unit in FEWEST and partial is not Partial.KEEP
    if sees_parts:
        lead += Lead(periods=1)  # whether a series begins with a part of a period is told by the period before it
    return Window(
        None if first is None else as_day(first),
        last,
        start.count if isinstance(start, Last) else None,
        options.freq,
        lead,
        first if isinstance(first, datetime) else None,
        end if isinstance(end, datetime) else None,
        spare=int(partial is Partial.DROP and not options.freq.is_raw),
        by_rows=options.count is Counted.ROWS,
        sees_parts=sees_parts,
    )


@lru_cache(maxsize=TRIED)
def _try_on_periods(steps: Steps, freq: Freq) -> None:
    """Raise what the transforms raise on two periods of a frequency, as they do on any others."""
    times = freq.labels(np.arange(2))
    transformed(Observations(times, np.ones(2)), steps, Slots.of(times, rhythm_of_rows(freq, Rhythm.NONE)))


def joined_windows(
    windows: Sequence[Window], columns: Sequence[tuple[str, Steps]], options: TableOptions
) -> list[Window]:
    """Return the windows needed by all columns: those of one signal share its history, and all of them common rows.

    So does a correlation with the signal that it looks at.
    """
    everything = reduce(Lead.joined, [window.lead for window in windows])
    if _correlates([steps for _, steps in columns]) or (options.align is Align.INTERSECT and options.sees_filled):
        return [replace(window, lead=everything) for window in windows]
    leads: dict[str, Lead] = {}
    for (name, _), window in zip(columns, windows, strict=True):
        leads[name] = window.lead.joined(leads.get(name, window.lead))
    return [replace(window, lead=leads[name]) for (name, _), window in zip(columns, windows, strict=True)]


def _correlates(chains: Sequence[Steps]) -> bool:
    return any(step.transform.name == "corr" for steps in chains for step in steps)


def window_to_fill(window: Window, columns: Sequence[Labelled], options: TableOptions) -> Window | None:
    """Return the window to fill rows that only some series show: each of `N60` begins with its own 60th observation.

    None where no value before a series' own start is looked at.
    """
    days = {day for column in columns if (day := column.first_day) is not None}
    computed = any(isinstance(each.found, Series) and each.found.is_computed for each in columns)
    sees_before = options.fill in LOOKS_BACK or (computed and options.sees_filled)
    anchored = any(
        step.transform.anchored for each in columns if isinstance(each.found, Series) for step in each.found.steps
    )
    if window.count is None or not sees_before or len(days) < 2 or (anchored and not options.sees_filled):
        return None
    return replace(window, first=min(days), count=None)


def windows_of_common_rows(
    windows: Sequence[Window],
    count: int,
    columns: Sequence[Labelled],
    options: TableOptions,
    ending: Ending,
    begin: datetime | None = None,
) -> list[Window] | None:
    """Return what must be known where `N60` counts rows that all series have in common: from the 60th last of these on.

    None where that is known, or rows are not counted so. The first look reaches to where the slowest series begins, and
    none further than the first row that all can share, where that is known (`begin`, or by what was found).
    """
    found = [each.found for each in columns if isinstance(each.found, Series) and len(each.found.rows)]
    if options.align is not Align.INTERSECT or len(found) < 2:
        return None
    begin = begin or common_begin(columns, options, ending)
    shown = Columns(found, options, ending)
    common = row_times(shown.rows, Align.INTERSECT, Fill.NONE, options.freq)
    first: date | None
    if len(common) >= count:
        first = common[-count].item()
    elif begin is not None:
        if not len(common) and shown.has_all_from(begin):
            return None
        first = begin
    elif windows[0].count is not None:
        first = min(as_day(each.starts or each.rows.first_day) for each in found)
    else:
        first = _further_back(windows[0].first, ending.latest)
    moment = first if isinstance(first, datetime) and first.time() != time.min else None
    day = None if first is None else as_day(first)
    wanted = [replace(each, first=day, first_moment=moment, count=None) for each in windows]
    return None if wanted == windows else wanted


def common_begin(columns: Sequence[Labelled], options: TableOptions, ending: Ending) -> datetime | None:
    """The first row that all signals can share, where only common rows are shown; None where none is seen to begin.

    A later look, which reaches less far back, no longer tells it.
    """
    found = [each.found for each in columns if isinstance(each.found, Series) and len(each.found.rows)]
    return Columns(found, options, ending).begin if options.align is Align.INTERSECT and found else None


def nothing_in_common(columns: Sequence[Labelled], window: Window, options: TableOptions, ending: Ending) -> str | None:
    """Return that signals of which only common rows are shown have none, and what brings them together; else None."""
    found = [each.found for each in columns if isinstance(each.found, Series)]
    if options.align is not Align.INTERSECT or len(Columns(found, options, ending, window.first).times):
        return None
    names = dict.fromkeys(each.slug for each in found)
    span = span_of(window.first_moment or window.first, window.last_moment or window.last)
    if len(names) == 1:
        return f"{found[0].slug} has no value{span}"
    what = "day" if options.freq.is_raw else "period"
    said = f"{', '.join(names)} have no {what} in common{span}"
    rows = [each.rows for each in found]
    overlap = max(each.first_day for each in rows) <= min(each.last_day for each in rows)
    return f"{said}; freq=M, Q or Y brings them to common periods" if overlap and options.freq.is_raw else said


def windows_of_one_start(
    windows: Sequence[Window], names: Sequence[str], columns: Sequence[Labelled | Exception]
) -> list[Window] | None:
    """Return the windows by which all columns of one signal begin together: one that leaves a part out begins earlier.

    None where they do. Rows are counted no more then.
    """
    starts: dict[str, set[date]] = {}
    for name, each in zip(names, columns, strict=True):
        if isinstance(each, Labelled) and isinstance(each.found, Series) and each.found.starts:
            starts.setdefault(name, set()).add(each.found.starts)
    if all(len(days) < 2 for days in starts.values()):
        return None
    return [
        replace(window, first=as_day(min(starts[name])), count=None) if len(starts.get(name, ())) > 1 else window
        for name, window in zip(names, windows, strict=True)
    ]


def _further_back(first: date | None, last: date) -> date | None:
    """A day that lies several times as far back; None for all there is."""
    number = 0 if first is None else last.toordinal() - (1 + FURTHER) * max(1, (last - first).days)
    return date.fromordinal(number) if number > 0 else None


def windows_to_share(
    windows: Sequence[Window],
    columns: Sequence[Labelled],
    options: TableOptions,
    ending: Ending,
    begin: datetime | None = None,
) -> list[Window] | None:
    """Return what must be known so that transforms see enough rows that all series have in common, which may be rare.

    None where they see enough, or all there are.
    """
    found = [each.found for each in columns if isinstance(each.found, Series)]
    are_common = options.align is Align.INTERSECT or _correlates([each.steps for each in found])
    if not are_common or Columns(found, options, ending, windows[0].first).has_enough_before(begin):
        return None
    return [replace(window, lead=window.lead + Lead(rows=FURTHER * window.lead.rows)) for window in windows]


def history_table(
    columns: Sequence[Labelled], options: TableOptions, ending: Ending, first: date | None = None
) -> Table:
    """The table: a `date` column and a column for each series, or `date`, `signal`, `value` in the long layout.

    The period in which the last day asked for lies is dated by that day, because it may go on.
    """
    found = [each.found for each in columns if isinstance(each.found, Series)]
    computed = Columns(found, options, ending, first)
    times, marks, values = computed.times, iter(computed.marks), iter(computed.values)
    data: list[_Column] = []
    for each in columns:
        if isinstance(each.found, CellError):
            data.append(_Column(each.label, options.heading(each.label, ()), each.found))
        else:
            heading = options.heading(each.label, each.found.steps, next(marks))
            data.append(_Column(each.label, heading, next(values)))
    if options.order is Order.DESC:
        times = times[::-1]
        data = [replace(each, values=_reversed(each.values)) for each in data]
    build = _long if options.layout is Layout.LONG else _wide
    laid_out = build(data, dated(times, ending.latest, options.freq), options)
    return Table(
        tuple(name for name, _ in laid_out),
        tuple(values for _, values in laid_out),
        shows_header=options.header is not Header.NONE,
        dated_by=DATE if options.dates is Dates.SHOW else None,
        names=_names(laid_out, data, options),
        notes=_notes(found, computed, data),
    )


@dataclass(frozen=True, slots=True)
class _Column:
    label: str
    heading: str
    values: Values


def _names(laid_out: NamedColumns, data: Sequence[_Column], options: TableOptions) -> tuple[str, ...]:
    """Return what columns are called in Python: by their signals, and by their headers where a signal has several."""
    names = [name for name, _ in laid_out]
    if options.layout is Layout.LONG:
        names[-1] = "value"
    elif len(options.transform) < 2:
        names[-len(data) :] = [each.label for each in data]
    return tuple(names)


def _notes(found: Sequence[Series], computed: Columns, data: Sequence[_Column]) -> Mapping[str, Any]:
    """Return what Python tells of the columns: their headers, the rhythm of each signal, what is odd."""
    notes: dict[str, Any] = {
        "headers": [each.heading for each in data],
        "rhythm": {each.slug: str(each.rhythm) for each in found},
    }
    marks = {each.slug: list(marks) for each, marks in zip(found, computed.marks, strict=True) if marks}
    return notes | ({"marks": marks} if marks else {})


def _hours_back(start: Back, end: date | None, now: float) -> datetime:
    until = end if isinstance(end, datetime) else None
    if until is None:
        until = datetime.fromtimestamp(now, UTC).replace(tzinfo=None) if end is None else _time(end, is_end=True)
    return start.from_moment(until)


def _time(moment: date, *, is_end: bool = False) -> datetime:
    """A day or time as a time: a day by its beginning, or by its end."""
    if isinstance(moment, datetime):
        return moment
    return datetime(moment.year, moment.month, moment.day, *((23, 59, 59, 999_999) if is_end else ()))  # noqa: DTZ001 - naive UTC


def _wide(columns: Sequence[_Column], times: Times, options: TableOptions) -> NamedColumns:
    height = max(len(times), int(any(isinstance(each.values, CellError) for each in columns)))
    found: NamedColumns = [(DATE, _padded(times, height))] if options.dates is Dates.SHOW else []
    for each in columns:
        values = each.values
        fitted = _error_column(values, height) if isinstance(values, CellError) else _padded(values, height)
        found.append((each.heading, fitted))
    return found


def _long(columns: Sequence[_Column], times: Times, options: TableOptions) -> NamedColumns:
    """One row a value, by date and then in the order asked for; errors first, values that are missing left out."""
    errors = [(each.label, each.values) for each in columns if isinstance(each.values, CellError)]
    good = [(each, each.values) for each in columns if not isinstance(each.values, CellError)]
    is_mixed = len(options.transform) > 1
    matrix = np.column_stack([values for _, values in good]) if good else np.empty((0, 0))
    rows, places = np.nonzero(~np.isnan(matrix))
    numbers = matrix[rows, places]
    value = objects([*(error for _, error in errors), *numbers.tolist()]) if errors else numbers
    labels = [each.heading if is_mixed else each.label for each, _ in good]
    names = [*(label for label, _ in errors), *(labels[place] for place in places)]
    dates = np.concatenate([np.full(len(errors), np.datetime64("NaT"), "datetime64[us]"), times[rows]])
    found: NamedColumns = [(DATE, dates)] if options.dates is Dates.SHOW else []
    shared = options.transform[0] if len(options.transform) == 1 else ()
    return [*found, ("signal", objects(names)), (options.heading("value", shared), value)]


def _padded(column: NDArray[Any], height: int) -> NDArray[Any]:
    """The column with blanks below it: where only errors have a row, it has none of its own."""
    if len(column) == height:
        return column
    blank = np.array(["NaT" if column.dtype.kind == "M" else np.nan], column.dtype)
    return np.concatenate([column, np.repeat(blank, height - len(column))])


def _error_column(error: CellError, height: int) -> NDArray[Any]:
    """The error in the first row, blanks below: the other columns still show."""
    column = np.full(height, None, object)
    column[0] = error
    return column


def _reversed(values: Values) -> Values:
    return values if isinstance(values, CellError) else values[::-1]
