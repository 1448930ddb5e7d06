"""From a name and a window to the observations, with the fewest requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from dataservice.client import Answer, HistoryResource, SignalDetail, SignalResource
from dataservice.observations import Observations
from udfs.engine.effects import FRESH, have
from udfs.errors import NoDataError
from udfs.records.resolve import need_of, slug_of
from udfs.timeseries.coverage import UNKNOWN_STEP_DAYS, Known, Window, recent, which_resource


@dataclass(frozen=True, slots=True)
class Series:
    """A signal's observations that are enough for a window."""

    slug: str
    known: Known

    @property
    def observations(self) -> Observations:
        """Oldest first; they may reach further than the window."""
        return self.known.observations


async def known_series(name: str, window: Window, today: date) -> Series:
    """The observations of the signal called `name` that `window` needs.

    What is at hand and enough costs nothing: the signal's recent history first, then a stored history. Else
    `which_resource` decides. Raises `NoDataError` where there is no such signal, `DataServiceError` where the service
    does not answer.
    """
    slug = await slug_of(name)
    detail = SignalResource(slug)
    near = _recent(await have(detail, max_age_s=FRESH))
    if near and window.is_known(near):
        return Series(slug, near)
    resource = window.resource(slug, near.step_days if near else UNKNOWN_STEP_DAYS, today)
    far = _stored(resource, await have(resource, max_age_s=FRESH))
    if far and window.is_known(far):
        return Series(slug, far)
    if near is None and which_resource(window, today) == "detail":
        near = recent((await need_of(name, detail)).value)
        if window.is_known(near):
            return Series(slug, near)
        resource = window.resource(slug, near.step_days, today)
    return Series(slug, await _fetched(name, window, resource))


async def _fetched(name: str, window: Window, resource: HistoryResource) -> Known:
    """The history from the service; all of it where the part that should be enough is not."""
    far = Known((await need_of(name, resource)).value, resource.start or date.min)
    if window.is_known(far):
        return far
    return Known((await need_of(name, replace(resource, start=None))).value)


def _recent(answer: Answer[SignalDetail] | None) -> Known | None:
    return recent(answer.value) if answer else None


def _stored(resource: HistoryResource, answer: Answer[Observations] | None) -> Known | None:
    return Known(answer.value, resource.start or date.min) if answer else None


def no_observations(series: Series, first: date | None, last: date | None) -> NoDataError:
    """Why a window is empty: what was asked for, and the last observation before or in it that is at hand."""
    observations = series.observations
    span = " and ".join(f"{word} {day}" for word, day in (("from", first), ("to", last)) if day)
    newest = f"; its last one is of {observations.last_day}" if len(observations) else ""
    return NoDataError(f"{series.slug} has no observations {span}".rstrip() + newest)
