"""Series that were found, as one table: cut, aggregated, transformed, aligned, filled, and laid out as asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dataservice.observations import Observations
from udfs.errors import CellError
from udfs.timeseries.align import Align, Fill, by_day, filled, row_times
from udfs.timeseries.coverage import Known, Lead, Window
from udfs.timeseries.pipeline import Step, lead_of, transformed
from udfs.timeseries.resample import Agg, Freq, Times, all_periods, known_only, resampled

if TYPE_CHECKING:
    from udfs.cells import Table


class Header(StrEnum):
    """What stands above a column of values."""

    SLUG = "slug"
    NAME = "name"
    NONE = "none"


class Layout(StrEnum):
    """One column for each series, or one row for each value."""

    WIDE = "wide"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How a history is shown; the defaults are the observations as they are."""

    freq: Freq = Freq.RAW
    agg: Agg = Agg.LAST
    fill: Fill = Fill.NONE
    align: Align = Align.UNION
    transform: tuple[Step, ...] = ()
    descending: bool = False
    header: Header = Header.SLUG
    dates: bool = True
    limit: int | None = None
    layout: Layout = Layout.WIDE

    def heading(self, label: str) -> str:
        """What stands above the values of a series: its label, and how its periods were made one value."""
        return label if self.freq is Freq.RAW else f"{label} ({self.agg})"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One column of a table: its label, its rows or why there are none, and the first day shown (None: all rows).

    Rows before that day are only those that a fill may take its first value from.
    """

    label: str
    rows: Observations | CellError
    starts: date | None = None

    @property
    def shows_rows(self) -> bool:
        """Whether there is a row to show, and not only one to fill from."""
        return isinstance(self.rows, Observations) and len(self.rows.between(self.starts)) > 0


def window_for(first: date | None, last: date | None, count: int | None, options: TableOptions) -> Window:
    """What must be known for the rows asked for: transforms look back, and so does a fill from the value before."""
    carried = Lead(rows=1) if options.fill in (Fill.PREV, Fill.LINEAR) else Lead()
    return Window(first, last, count, options.freq, lead_of(options.transform) + carried)


def rows_of(known: Known, window: Window, options: TableOptions) -> tuple[Observations, date | None]:
    """The aggregated and transformed rows up to the window's end, and the first day to be shown."""
    starts = window.starts(known)
    observations = known.observations.between(None, window.last)
    if options.transform or options.freq is not Freq.RAW:
        observations = known_only(observations)
    rows = window.with_lead(resampled(observations, options.freq, options.agg), starts)
    if not options.transform:
        return rows, starts
    anchored = any(step.transform.anchored for step in options.transform)
    return transformed(rows, options.transform, starts if anchored else None), starts


def history_table(columns: Sequence[Labelled], latest: date, options: TableOptions) -> Table:
    """The frame: a `date` column and a column for each series, or `date`, `signal`, `value` in the long layout.

    `latest` is the last day that was asked for: the period in which it lies is dated by it, because it may go on.
    """
    found = [(column.rows, column.starts) for column in columns if isinstance(column.rows, Observations)]
    series = by_day([rows for rows, _ in found])
    shown = [rows.between(starts) for rows, (_, starts) in zip(series, found, strict=True)]
    times = row_times(shown, options.align, options.fill, options.freq)
    if options.limit is not None:
        times = times[-options.limit :]
    if options.descending:
        times = times[::-1]
    values = iter([filled(rows, times, options.fill) for rows in series])
    data = [next(values) if isinstance(column.rows, Observations) else column.rows for column in columns]
    dates = times if options.freq is Freq.RAW else _dated(times, np.datetime64(latest, "us"), options.freq)
    build = _long if options.layout is Layout.LONG else _wide
    frame = build([column.label for column in columns], dates, data, options)
    if options.header is Header.NONE:
        frame.attrs["header"] = False
    return frame


def _dated(times: Times, latest: np.datetime64, freq: Freq) -> Times:
    return np.where(times == all_periods(latest, latest, freq)[0], latest, times)


Values: TypeAlias = NDArray[np.float64] | CellError


def _wide(labels: Sequence[str], times: Times, data: Sequence[Values], options: TableOptions) -> Table:
    import pandas as pd

    height = max(len(times), int(any(isinstance(values, CellError) for values in data)))
    columns: list[Any] = [_padded(times, height)] if options.dates else []
    columns += [_error_column(values, height) if isinstance(values, CellError) else values for values in data]
    frame = pd.DataFrame({place: pd.Series(column) for place, column in enumerate(columns)})
    headings = [options.heading(label) for label in labels]
    frame.columns = pd.Index((["date"] if options.dates else []) + headings, dtype=object)
    return frame


def _long(labels: Sequence[str], times: Times, data: Sequence[Values], options: TableOptions) -> Table:
    """One row a value, by date and then in the order asked for; errors first, values that are missing left out."""
    import pandas as pd

    failed = [(label, values) for label, values in zip(labels, data, strict=True) if isinstance(values, CellError)]
    found = [(label, values) for label, values in zip(labels, data, strict=True) if not isinstance(values, CellError)]
    matrix = np.column_stack([values for _, values in found]) if found else np.empty((0, 0))
    rows, places = np.nonzero(~np.isnan(matrix))
    numbers = matrix[rows, places]
    value: Any = [*(error for _, error in failed), *numbers.tolist()] if failed else numbers
    names = [*(label for label, _ in failed), *(found[place][0] for place in places)]
    dates = np.concatenate([np.full(len(failed), np.datetime64("NaT"), "datetime64[us]"), times[rows]])
    columns: Mapping[str, Any] = {"date": dates} if options.dates else {}
    signal = pd.Series(names, dtype=object)
    return pd.DataFrame({**columns, "signal": signal, options.heading("value"): pd.Series(value)})


def _padded(times: Times, height: int) -> Times:
    return np.concatenate([times, np.full(height - len(times), np.datetime64("NaT"), "datetime64[us]")])


def _error_column(error: CellError, height: int) -> NDArray[Any]:
    """The error in the first row, blanks below: the other columns still show."""
    column = np.full(height, None, object)
    column[0] = error
    return column
