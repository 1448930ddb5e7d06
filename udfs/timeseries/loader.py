"""From a name and a window, or a day, to the observations, with the fewest requests.

`known_series` serves a window; `on_or_before` and `latest` give one observation and the value before it. For these,
nulls count as not observed, so a day without a value shows the last value before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, TypeAlias

from dataservice.client import HistoryResource, SignalDetail, SignalResource
from dataservice.client.cache.history import UNKNOWN_STEP_DAYS
from dataservice.client.contract.requests import OBSERVATIONS_LIMIT
from dataservice.errors import DataServiceError
from dataservice.observations import Observations
from udfs.engine.effects import EVER, FRESH, have
from udfs.errors import NoDataError
from udfs.records.fields import day_or_moment
from udfs.records.resolve import need_of, slug_of
from udfs.timeseries.coverage import Known, Window, days_before, recent, which_resource
from udfs.timeseries.resample import known_only

BLOCK_YEARS = (50, 20, 10, 5, 2, 1)
"""Sizes of the blocks in which old observations are requested: cells on near days then request the same."""

Values: TypeAlias = Callable[[Observations], Observations]
"""What shows other values for the same observations."""

NEAR_STEPS = 12
"""Distances of two observations that a stored history is searched before a day: gaps are seldom longer."""


@dataclass(frozen=True, slots=True)
class Series:
    """A signal's observations that are enough for a window; they may reach further than it."""

    slug: str
    known: Known


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


async def known_series(name: str, window: Window, today: date) -> Series:
    """The observations of the signal called `name` that `window` needs.

    What is at hand and enough costs nothing: the signal's recent history first, then a stored history. Else
    `which_resource` decides. Raises `NoDataError` where there is no such signal, `DataServiceError` where the service
    does not answer.
    """
    slug = await slug_of(name)
    detail = SignalResource(slug)
    at_hand = await have(detail, max_age_s=FRESH)
    near = recent(at_hand.value) if at_hand else None
    if near and window.is_known(near):
        return Series(slug, near)
    resource = window.resource(slug, near.step_days if near else UNKNOWN_STEP_DAYS, today)
    far = await _stored(resource)
    if far and window.is_known(far):
        return Series(slug, far)
    if near is None and which_resource(window, today) == "detail":
        near = recent((await need_of(name, detail)).value)
        if window.is_known(near):
            return Series(slug, near)
        resource = window.resource(slug, near.step_days, today)
    try:
        return Series(slug, await _fetched(name, window, resource))
    except DataServiceError:
        last = await have(detail, max_age_s=EVER)
        if last is None or not window.is_known(recent(last.value)):
            raise
    return Series(slug, recent((await need_of(name, detail)).value))  # what was shown before is not lost


def no_observations(series: Series, first: date | None, last: date | None) -> NoDataError:
    """Why a window is empty: what was asked for, and the last observation before or in it that is at hand."""
    observations = series.known.observations
    span = " and ".join(f"{word} {day}" for word, day in (("from", first), ("to", last)) if day)
    newest = f"; its last one is of {observations.last_day}" if len(observations) else ""
    return NoDataError(f"{series.slug} has no observations {span}".rstrip() + newest)


def latest(detail: SignalDetail, values: Values | None = None) -> Observed:
    """The latest observation, its value None where it is null; raises `NoDataError` where there is none.

    `values` may show others in place of the observations' own values.
    """
    observations = recent(detail).observations
    if not len(observations):
        raise NoDataError(f"{detail.signal.slug} has no observations yet")
    return observed(observations[-1:], known_only(observations[:-1])[-1:], values)


async def on_or_before(
    detail: SignalDetail, day: date, today: date, *, with_previous: bool, values: Values | None = None
) -> Observed:
    """The last observation up to the end of `day`; raises `NoDataError` where there is none.

    The recent history answers where it reaches, then a stored one. Else one request brings a block of years around the
    day, the same for all days in it; only where that block is empty a second one asks for all that came before.
    """
    slug = detail.signal.slug
    wanted = 2 if with_previous else 1
    near = recent(detail)
    found = _last(near, day, wanted)
    if found is None:
        window = HistoryResource(slug, days_before(day, int(near.step_days * NEAR_STEPS) + 1), day)
        stored = await _stored(window)
        found = _last(stored, day, wanted) if stored else None
        if found is None and await _was_enough(window, day, wanted):
            found = _last(await _needed(slug, window), day, wanted)  # asked again, and not lost if that fails
    if found is None:
        start, end = block_around(day, near.step_days)
        block = HistoryResource(slug, start, None if end >= today else end)
        found = _last(await _needed(slug, block), day, wanted)
        if found is None:
            found = _last(await _needed(slug, replace(block, start=None)), day, wanted)
    if not found:
        raise NoDataError(f"{slug} has no observation on or before {day}")
    return observed(found[-1:], found[:-1], values)


def block_around(day: date, step_days: float) -> tuple[date, date]:
    """The first and last day of the block of calendar years that `day` lies in, and a year (or four steps) before it.

    The block is the widest that one request brings: two years of a daily series, fifty of a monthly one.
    """
    lead_years = 1 + int(4 * step_days / 366)
    room_years = OBSERVATIONS_LIMIT * step_days / 366 - lead_years
    years = next((size for size in BLOCK_YEARS if size <= room_years), 1)
    first = day.year - day.year % years
    return date(max(1, first - lead_years), 1, 1), date(min(first + years - 1, date.max.year), 12, 31)


async def _fetched(name: str, window: Window, resource: HistoryResource) -> Known:
    """The history from the service; all of it where the part that should be enough is not."""
    far = await _needed(name, resource)
    if window.is_known(far):
        return far
    return await _needed(name, replace(resource, start=None))


async def _needed(name: str, resource: HistoryResource) -> Known:
    return Known((await need_of(name, resource)).value, resource.start or date.min)


async def _stored(resource: HistoryResource) -> Known | None:
    answer = await have(resource, max_age_s=FRESH)
    return Known(answer.value, resource.start or date.min) if answer else None


async def _was_enough(resource: HistoryResource, day: date, wanted: int) -> bool:
    """Whether a stored history of any age holds the last observations up to `day`."""
    answer = await have(resource, max_age_s=EVER)
    return answer is not None and _last(Known(answer.value, resource.start or date.min), day, wanted) is not None


def _last(known: Known, day: date, wanted: int) -> Observations | None:
    """The last `wanted` observations up to `day`; fewer only if there are no more, None if there may be."""
    found = known_only(known.observations.between(None, day))[-wanted:]
    return found if len(found) == wanted or known.since == date.min else None


def observed(current: Observations, before: Observations, values: Values | None = None) -> Observed:
    """The observation `current`, of length 1, and the value of `before`, of length 1 or 0."""
    if values is not None:
        current, before = values(current), values(before)
    ((moment, value),) = current
    previous = float(before.values[0]) if len(before) else None
    return Observed(day_or_moment(moment), None if math.isnan(value) else value, previous)
