"""The observation on or before a day, and the one before it, with the fewest requests.

Nulls count as not observed, so a day without a value shows the last value before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from dataservice.client import Answer, HistoryResource, SignalDetail
from dataservice.observations import Observations
from udfs.engine.effects import FRESH, have
from udfs.errors import NoDataError
from udfs.records.resolve import need_of
from udfs.timeseries.coverage import Known, recent
from udfs.timeseries.resample import known_only

PAGE_OBSERVATIONS = 1_000
"""Observations that one request brings (contract: page size)."""

BLOCK_YEARS = (50, 20, 10, 5, 2, 1)
"""Sizes of the blocks in which old observations are asked for: cells on near days then ask the same."""

NEAR_STEPS = 12
"""Distances of two observations that a stored history is searched before a day: gaps are seldom longer."""


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation and the value before it; None where there is none."""

    moment: date | datetime
    value: float | None
    before: float | None

    def field(self, name: str) -> Any:
        """`value`, `observed_at`, `previous`, `change`, or `pct_change`: a fraction, None on a base of 0 or less."""
        match name:
            case "value":
                return self.value
            case "observed_at":
                return self.moment
            case "previous":
                return self.before
        if self.value is None or self.before is None:
            return None
        if name == "change":
            return self.value - self.before
        return self.value / self.before - 1 if self.before > 0 else None


def latest(detail: SignalDetail) -> Observed:
    """The latest observation, its value None where it is null; raises `NoDataError` where there is none."""
    observations = recent(detail).observations
    if not len(observations):
        raise NoDataError(f"{detail.signal.slug} has no observations yet")
    return _observed(observations[-1:], known_only(observations[:-1])[-1:])


async def on_or_before(detail: SignalDetail, day: date, today: date, *, with_previous: bool) -> Observed:
    """The last observation up to the end of `day`; raises `NoDataError` where there is none.

    The recent history answers where it reaches, then a stored one. Else one request brings a block of years around the
    day, the same for all days in it; only where that block is empty a second one asks for all that came before.
    """
    slug = detail.signal.slug
    wanted = 2 if with_previous else 1
    near = recent(detail)
    found = _last(near, day, wanted)
    if found is None:
        window = HistoryResource(slug, _back(day, int(near.step_days * NEAR_STEPS) + 1), day)
        stored: Answer[Observations] | None = await have(window, max_age_s=FRESH)
        found = _last(Known(stored.value, window.start or date.min), day, wanted) if stored else None
    if found is None:
        start, end = block_around(day, near.step_days)
        block = HistoryResource(slug, start, None if end >= today else end)
        found = _last(Known((await need_of(slug, block)).value, start), day, wanted)
        if found is None:
            before = HistoryResource(slug, None, block.end)
            found = _last(Known((await need_of(slug, before)).value), day, wanted)
    if not found:
        raise NoDataError(f"{slug} has no observation on or before {day}")
    return _observed(found[-1:], found[:-1])


def block_around(day: date, step_days: float) -> tuple[date, date]:
    """The first and last day of the block of calendar years that `day` lies in, and a year (or four steps) before it.

    The block is the widest that one request brings: two years of a daily series, fifty of a monthly one.
    """
    lead_years = 1 + int(4 * step_days / 366)
    room_years = PAGE_OBSERVATIONS * step_days / 366 - lead_years
    years = next((size for size in BLOCK_YEARS if size <= room_years), 1)
    first = day.year - day.year % years
    return date(max(1, first - lead_years), 1, 1), date(min(first + years - 1, date.max.year), 12, 31)


def _last(known: Known, day: date, wanted: int) -> Observations | None:
    """The last `wanted` observations up to `day`; fewer only if there are no more, None if there may be."""
    found = known_only(known.observations.between(None, day))[-wanted:]
    return found if len(found) == wanted or known.since == date.min else None


def _observed(current: Observations, before: Observations) -> Observed:
    ((moment, value),) = current
    at_midnight = moment.time() == datetime.min.time()
    return Observed(
        moment.date() if at_midnight else moment.astimezone(UTC),
        None if math.isnan(value) else value,
        float(before.values[0]) if len(before) else None,
    )


def _back(day: date, days: int) -> date:
    return day - timedelta(days=min(days, (day - date.min).days))
