"""Transforms of a series: changes, averages, scores and levels, each a rule on one column of dated values.

A rule sees the series' own observations only, never filled values or another series' dates. Nulls are left out before;
a blank that a rule makes stays a blank for the next one. Results are fractions, not per cent: 0.031 is 3.1 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from udfs.timeseries.coverage import Lead
from udfs.timeseries.resample import Times

if TYPE_CHECKING:
    import pandas as pd

    Column: TypeAlias = pd.Series[float]

STALE_DAYS = 10
"""How much older than its day a base may be: the longest closing of a large exchange (Tokyo, spring 2019)."""

EWM_ROWS = 5
"""Spans before the window that an exponential average starts from: what lies before weighs less than 0.005 %."""

WINDOW_VALUES = 2**18
"""Values of rolling windows looked at together: two megabytes, however wide the windows are."""


@dataclass(frozen=True)
class Transform:
    """One rule: its name, what it does, and the rows before the window that its first value needs.

    `least` is the smallest allowed argument (None: it takes none) and `default` what counts where none is given (None:
    one must be given). `anchored` rules begin at the first row of the window, so they need nothing before it. Those
    that are `windowed` look at all values of every window again.
    """

    name: str
    help: str
    apply: Callable[[Column, float], Column]
    lead: Callable[[int], Lead] = lambda _: Lead()
    least: float | None = None
    default: float | None = None
    whole: bool = True
    anchored: bool = False
    windowed: bool = False

    @property
    def form(self) -> str:
        """How it is written, such as `ma(n)`."""
        if self.least is None:
            return self.name
        return f"{self.name}(n)" if self.whole else f"{self.name}(x)"


def anchor_days(times: Times, months: int) -> Times:
    """For each time the same day of the month so many months earlier, as datetime64[D].

    Where that month is shorter its last day counts, and the last day of a month always goes to the last day.
    """
    days = times.astype("datetime64[D]")
    month = days.astype("datetime64[M]")
    target = month - months
    first, last = target.astype("datetime64[D]"), (target + 1).astype("datetime64[D]") - 1
    same_day = np.minimum(first + (days - month.astype("datetime64[D]")), last)
    is_last_day = (days + 1).astype("datetime64[M]") != month
    return np.where(is_last_day, last, same_day)


def base_positions(times: Times, known: Times, months: int) -> NDArray[Any]:
    """The place in `known` of each time's base; -1 where there is none that is not too old. Both are sorted."""
    anchors = anchor_days(times, months)
    positions = np.searchsorted(known.astype("datetime64[D]"), anchors, side="right") - 1
    if not len(known):
        return positions
    age = anchors - known.astype("datetime64[D]")[positions]
    return np.where((positions >= 0) & (age <= np.timedelta64(STALE_DAYS, "D")), positions, -1)


def _positive(column: Column) -> Column:
    return column.where(column > 0)


def _pct(column: Column, _: float) -> Column:
    """Change against the observation before; blank where that one is not positive."""
    return column / _positive(column.shift(1)) - 1


def _diff(column: Column, _: float) -> Column:
    """Difference from the observation before, in the series' unit."""
    return column.diff()


def _log(column: Column, _: float) -> Column:
    """Natural logarithm; blank where the value is not positive. `log|diff` gives log returns."""
    return _positive(column).map(np.log)


def _change_since(months: int) -> Callable[[Column, float], Column]:
    """Change against the observation on or before the same day so many months earlier.

    The last day of a month is compared with the last day of that month. Blank where the earlier observation is not
    positive, or more than ten days older than that day: a missing month is no base, nor is the quarter before one.
    """

    def change(column: Column, _: float) -> Column:
        known = column.dropna()
        positions = base_positions(
            column.index.to_numpy("datetime64[us]"), known.index.to_numpy("datetime64[us]"), months
        )
        bases = column.copy()
        bases[:] = np.append(known.to_numpy(), np.nan)[positions]
        return column / _positive(bases) - 1

    return change


def _ma(column: Column, n: float) -> Column:
    """Mean of the last n observations; blank until there are n."""
    return column.rolling(int(n)).mean()


def _ewm(column: Column, n: float) -> Column:
    """Exponentially weighted mean of span n (weight 2/(n+1) for the newest), weights scaled to add up to 1."""
    return column.ewm(span=n, adjust=True).mean()


def _zscore(column: Column, n: float) -> Column:
    """Distance from the mean of the last n observations in their standard deviations (n - 1); blank where none moves.

    Each window is summed by itself: a running variance keeps what large values once left in it.
    """
    width, values = int(n), column.to_numpy()
    scores = np.full(len(values), np.nan)
    each = max(1, WINDOW_VALUES // width)
    for start in range(0, len(values) - width + 1, each):
        windows = sliding_window_view(values[start : start + each + width - 1], width)
        away = windows - windows[:, :1]  # exact where values are near each other: 0 where none moves
        away -= away.mean(axis=1, keepdims=True)
        deviation = np.sqrt(np.square(away).sum(axis=1) / (width - 1))
        ends = slice(start + width - 1, start + width - 1 + len(windows))
        scores[ends] = away[:, -1] / np.where(deviation > 0, deviation, np.nan)
    found = column.copy()
    found[:] = scores
    return found


def _index(column: Column, base: float) -> Column:
    """The series scaled so that the window's first value is the base; blank where that value is not positive."""
    first = column.dropna().head(1)
    unit = first.iloc[0] if len(first) and first.iloc[0] > 0 else np.nan
    return column / unit * base


def _cum(column: Column, _: float) -> Column:
    """Running sum from the window's first row on; a blank adds nothing and stays blank."""
    return column.cumsum()


def _drawdown(column: Column, _: float) -> Column:
    """Change against the highest value since the window's first row, 0 or less; blank until one is positive."""
    return column / _positive(column.cummax()) - 1


def _lag(column: Column, n: float) -> Column:
    """The value n observations earlier."""
    return column.shift(int(n))


def _rows(extra: int = 0, factor: int = 1) -> Callable[[int], Lead]:
    return lambda n: Lead(rows=n * factor + extra)


def _days(days: int) -> Callable[[int], Lead]:
    return lambda _: Lead(days=days + STALE_DAYS)


TRANSFORMS = {
    transform.name: transform
    for transform in (
        Transform("pct", "change from the previous observation, as a fraction", _pct, _rows(1)),
        Transform("diff", "difference from the previous observation", _diff, _rows(1)),
        Transform("log", "natural logarithm; log|diff gives log returns", _log),
        Transform("yoy", "change from the same day a year earlier, as a fraction", _change_since(12), _days(366)),
        Transform("mom", "change from the same day a month earlier, as a fraction", _change_since(1), _days(31)),
        Transform("ma", "mean of the last n observations", _ma, _rows(-1), least=1),
        Transform("ewm", "exponentially weighted mean of span n", _ewm, _rows(factor=EWM_ROWS), least=1),
        Transform("zscore", "z-score within the last n observations", _zscore, _rows(-1), least=2, windowed=True),
        Transform(
            "index",
            "scaled so that the first value shown is x",
            _index,
            least=0,
            default=100,
            whole=False,
            anchored=True,
        ),
        Transform("cum", "running sum of the rows shown", _cum, anchored=True),
        Transform("drawdown", "change from the highest value so far, as a fraction", _drawdown, anchored=True),
        Transform("lag", "the value n observations earlier", _lag, _rows(), least=1, default=1),
    )
}
"""Every transform by its name, in the order of the reference."""
