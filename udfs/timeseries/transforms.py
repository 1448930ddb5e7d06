"""Transforms of a series: changes, averages, scores and levels, each a rule on the periods of one series.

A rule sees one value for each period of the rhythm, blank where there is none, so that nothing is counted in rows.
A blank that a rule makes stays a blank for the next one. Results are fractions, not per cent: 0.031 is 3.1 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dataservice.observations import Observations
from udfs.errors import ArgumentError
from udfs.timeseries.slots import Floats, Slots
from udfs.timeseries.spans import Lead, Span, base_positions

if TYPE_CHECKING:
    import pandas as pd

EWM_SPANS = 18
"""Spans before the window from which an exponential average is worked out: what lies before weighs less than 1e-15."""

WINDOW_VALUES = 2**18
"""Values of rolling windows looked at together: two megabytes, however wide the windows are."""

ANCHORS = 2**16
"""Periods whose anchors are looked up together, so that what is in between stays small."""

MAX_LOOKED_AT = 2**25
"""Values that all windows of a chain may hold together: a fifth of a second. Forty years of days, by three years."""

MOST = 100_000
"""The largest n: more rows than any series of a spreadsheet has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One transform of a chain with what stands in its brackets: a span, a base, its day or year, a partner."""

    transform: Transform
    span: Span | None = None
    base: float = 100.0
    at: date | int | None = None
    partner: str | None = None
    scaled: bool = False

    @property
    def looks_at(self) -> int:
        """About how many values it looks at for each period; 0 where it keeps a running figure."""
        span = self.span or ONE
        is_windowed = self.transform.windowed or (bool(span.unit) and self.transform.lead is _window)
        return (span.months * 31 + span.days if span.unit else span.count) if is_windowed else 0

    def __str__(self) -> str:
        match self.transform.takes:
            case "":
                return self.transform.name
            case "x":
                inside = [f"{self.base:g}", *([] if self.at is None else [str(self.at)])]
            case _:
                partner = [] if self.partner is None else [self.partner]
                inside = [*partner, str(self.span), *(["scaled"] if self.scaled else [])]
        if self.span == self.transform.default and len(inside) == 1:
            return self.transform.name
        return f"{self.transform.name}({', '.join(inside)})"


@dataclass(frozen=True)
class Transform:
    """One rule: its name, what it does, and what it needs before the window.

    `takes` is what stands in its brackets: nothing, `n`, `x`. `least` is the smallest count allowed and `default` what
    counts where none is given (None: one must be given). `anchored` rules begin at the first row of the window, so they
    need nothing before it. Those that are `windowed` look at all values of every window again.
    """

    name: str
    help: str
    apply: Callable[[Floats, Step, Slots], Floats]
    takes: str = ""
    lead: Callable[[Step], Lead] = lambda _: Lead()
    least: int = 1
    default: Span | None = None
    anchored: bool = False
    windowed: bool = False

    @property
    def form(self) -> str:
        """Return how it is written, such as `ma(n)`."""
        return f"{self.name}({self.takes})" if self.takes else self.name


def before(values: Floats, span: Span, slots: Slots, what: str) -> Floats:
    """For each period the value so much earlier, blank where there is none."""
    periods = span.periods(slots.rhythm, what)
    found = np.full(len(values), np.nan)
    if periods is not None:
        found[periods:] = values[: max(0, len(values) - periods)]
        return found
    has_value = ~np.isnan(values[slots.used])
    known = values[slots.used][has_value]
    times, known = slots.times[has_value], np.append(known, np.nan)
    for start in range(0, len(slots.times), ANCHORS):
        part = slice(start, start + ANCHORS)
        places = base_positions(span.anchors(slots.times[part], slots.rhythm), times)
        found[slots.used[part]] = known[places]
    return found


def rolled(values: Floats, step: Step, slots: Slots, reduce: Callable[[Floats], Floats]) -> Floats:
    """`reduce` over each period's window, which ends with it; blank where the window is not whole."""
    found = np.full(len(values), np.nan)
    ends, widths = slots.windows(_span(step), str(step))
    for width in np.unique(widths).tolist():
        windows, places = sliding_window_view(values, width), ends[widths == width]
        each = max(1, WINDOW_VALUES // width)
        is_run = len(places) == places[-1] - places[0] + 1  # without a copy where windows follow each other
        for start in range(0, len(places), each):
            part = places[start : start + each]
            taken = slice(part[0] - width + 1, part[-1] - width + 2) if is_run else part - width + 1
            found[part] = reduce(windows[taken])
    return found


def _positive(values: Floats) -> Floats:
    return np.where(values > 0, values, np.nan)


def _pct(values: Floats, step: Step, slots: Slots) -> Floats:
    """Change against the value before; blank where that one is not positive."""
    return values / _positive(before(values, _span(step), slots, str(step))) - 1


def _diff(values: Floats, step: Step, slots: Slots) -> Floats:
    """Difference from the value before, in the series' unit."""
    return values - before(values, _span(step), slots, str(step))


def _ann(values: Floats, step: Step, slots: Slots) -> Floats:
    """Change against the value before as a compounded yearly rate."""
    if slots.size < 2:
        return np.full(slots.size, np.nan)
    power = _span(step).times_a_year(slots.rhythm, str(step))
    return (_positive(values) / _positive(before(values, _span(step), slots, str(step)))) ** power - 1


def _lag(values: Floats, step: Step, slots: Slots) -> Floats:
    """The value so many periods earlier."""
    return before(values, _span(step), slots, str(step))


def _log(values: Floats, _step: Step, _slots: Slots) -> Floats:
    """Natural logarithm; blank where the value is not positive. `log|diff` gives log returns."""
    return np.log(_positive(values))


def _none(values: Floats, _step: Step, _slots: Slots) -> Floats:
    return values


def _rolling(
    values: Floats,
    step: Step,
    slots: Slots,
    *,
    running: Callable[[Any], pd.Series[float]],
    each: Callable[[Floats], Floats],
) -> Floats:
    """A rolling figure by pandas where windows are equally wide, else window by window."""
    import pandas as pd

    periods = _span(step).periods(slots.rhythm, str(step))
    if periods is None:
        return rolled(values, step, slots, each)
    return np.asarray(running(pd.Series(values).rolling(periods)))


def _mean_of(windows: Floats) -> Floats:
    return np.asarray(windows.mean(axis=1))


def _sum_of(windows: Floats) -> Floats:
    return np.asarray(windows.sum(axis=1))


def _median_of(windows: Floats) -> Floats:
    return np.asarray(np.median(windows, axis=1))


def _std_of(windows: Floats) -> Floats:
    """Standard deviation (n - 1) of each window by itself: a running one keeps what large values once left in it."""
    return _deviation(_away(windows))


def _score_of(windows: Floats) -> Floats:
    """Distance of the last value from its window's mean in standard deviations; blank where none moves."""
    away = _away(windows)
    deviation = _deviation(away)
    return away[:, -1] / np.where(deviation > 0, deviation, np.nan)


def _rank_of(windows: Floats) -> Floats:
    """Share of the window's values that are not above the last one, of equal ones half; 1 is the highest."""
    last = windows[:, -1:]
    rank = (windows < last).sum(axis=1) + ((windows == last).sum(axis=1) + 1) / 2
    return np.where(np.isnan(windows).any(axis=1), np.nan, rank / windows.shape[1])


def _deviation(away: Floats) -> Floats:
    """Standard deviation (n - 1) from distances from the mean."""
    if away.shape[1] < 2:
        return np.full(len(away), np.nan)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", away, away) / (away.shape[1] - 1)))


def _away(windows: Floats) -> Floats:
    """Distances from the mean: exact where values are near each other, 0 where none moves."""
    away = windows - windows[:, :1]
    away -= away.mean(axis=1, keepdims=True)
    return np.asarray(away)


def correlation(first: Floats, second: Floats) -> Floats:
    """Correlation of the rows of two arrays of windows; blank where one of them does not move."""
    one, other = _away(first), _away(second)
    scale = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    found = (one * other).sum(axis=1) / np.where(scale > 0, scale, np.nan)
    return np.asarray(np.clip(found, -1.0, 1.0))


def _ewm(values: Floats, step: Step, _slots: Slots) -> Floats:
    """Exponentially weighted mean of span n: each value moves the mean 2/(n+1) of the way towards itself.

    It begins with the first observation; `scaled` gives the first ones weights that add up to 1.
    """
    import pandas as pd

    means = pd.Series(values).ewm(span=_span(step).count, adjust=step.scaled).mean().to_numpy()
    return np.where(np.isnan(values), np.nan, means)


def _index(values: Floats, step: Step, slots: Slots) -> Floats:
    """The series scaled so that its base is x; blank where the base is not positive."""
    base = slots.base_value(values, step.at)
    return values / (base if base > 0 else np.nan) * step.base


def _cum(values: Floats, _step: Step, _slots: Slots) -> Floats:
    """Running sum from the window's first row on; a blank adds nothing and stays blank."""
    import pandas as pd

    return np.asarray(pd.Series(values).cumsum())


def _drawdown(values: Floats, _step: Step, _slots: Slots) -> Floats:
    """Change against the highest value since the window's first row, 0 or less; blank until one is positive."""
    import pandas as pd

    return values / _positive(np.asarray(pd.Series(values).cummax())) - 1


def _span(step: Step) -> Span:
    return step.span or Span(1)


def _back(step: Step) -> Lead:
    return Lead.of(_span(step))


def _window(step: Step) -> Lead:
    return Lead.of(_span(step), inclusive=True)


def _ewm_lead(step: Step) -> Lead:
    return Lead(periods=EWM_SPANS * _span(step).count)


def _index_lead(step: Step) -> Lead:
    day = date(step.at, 1, 1) if isinstance(step.at, int) else step.at
    return Lead(since=day)


ONE, YEAR, MONTH = Span(1), Span(1, "Y"), Span(1, "M")


def _over(span: Span, apply: Callable[[Floats, Step, Slots], Floats]) -> dict[str, Any]:
    """A change over a fixed span, such as yoy."""
    fixed = Step(Transform("", "", _none), span)
    return {
        "apply": lambda values, step, slots: apply(values, Step(step.transform, span), slots),
        "lead": lambda _: _back(fixed),
    }


def _each(reduce: Callable[[Floats], Floats], least: int = 1) -> dict[str, Any]:
    """A figure that is worked out for each window by itself."""
    return {
        "apply": lambda values, step, slots: rolled(values, step, slots, reduce),
        "takes": "n",
        "lead": _window,
        "least": least,
        "windowed": True,
    }


_MEAN = partial(_rolling, running=lambda rolling: rolling.mean(), each=_mean_of)
_SUM = partial(_rolling, running=lambda rolling: rolling.sum(), each=_sum_of)
_MEDIAN = partial(_rolling, running=lambda rolling: rolling.median(), each=_median_of)

TRANSFORMS = {
    transform.name: transform
    for transform in (
        Transform("none", "the values themselves, where other columns are transformed", _none),
        Transform("pct", "change from n periods before (1), as a fraction", _pct, "n", _back, default=ONE),
        Transform("diff", "difference from n periods before (1)", _diff, "n", _back, default=ONE),
        Transform("log", "natural logarithm; log|diff gives log returns", _log),
        Transform("yoy", "change from a year earlier, as a fraction", **_over(YEAR, _pct)),
        Transform("mom", "change from a month earlier, as a fraction", **_over(MONTH, _pct)),
        Transform("yoydiff", "difference from a year earlier", **_over(YEAR, _diff)),
        Transform("ann", "change from n periods before (1) as a compounded yearly rate", _ann, "n", _back, default=ONE),
        Transform("ma", "mean of the last n periods", _MEAN, "n", _window),
        Transform("sum", "sum of the last n periods", _SUM, "n", _window),
        Transform("std", "standard deviation of the last n periods", **_each(_std_of, least=2)),
        Transform("median", "median of the last n periods", _MEDIAN, "n", _window),
        Transform("rank", "rank within the last n periods; 1 is the highest", **_each(_rank_of)),
        Transform("zscore", "z-score within the last n periods", **_each(_score_of, least=2)),
        Transform("ewm", "exponentially weighted mean of span n, from the first observation on", _ewm, "n", _ewm_lead),
        Transform("index", "scaled to x (100) on one day for all signals", _index, "x", _index_lead, anchored=True),
        Transform("cum", "running sum from the first row of the window on", _cum, anchored=True),
        Transform("drawdown", "change from the highest value so far, as a fraction", _drawdown, anchored=True),
        Transform("lag", "the value n periods earlier (1)", _lag, "n", _back, default=ONE),
        Transform("corr", "correlation with the first signal, or corr(slug, n)", **_each(_std_of, least=2)),
    )
}
"""Every transform by its name, in the order of the reference."""


def transformed(rows: Observations, steps: tuple[Step, ...], slots: Slots) -> Observations:
    """`rows` after all `steps`; what overflows is blank."""
    if not steps or not len(rows):
        return rows
    if slots.size * sum(step.looks_at for step in steps) > MAX_LOOKED_AT:
        raise ArgumentError(f"windows so wide over {len(rows):,} observations take too long; use freq=W or freq=M")
    values, is_begun = slots.spread(rows.values), False
    with np.errstate(all="ignore"):  # what overflows becomes a blank below
        for step in steps:
            # An index of an earlier day needs the values before the window; what follows it begins with the window.
            if step.transform.anchored and not is_begun and step.at is None:
                values, is_begun = slots.begun(values), True
            values = step.transform.apply(values, step, slots)
            values = np.where(np.abs(values) < np.inf, values, np.nan)
    return Observations(rows.times, slots.gathered(values))
