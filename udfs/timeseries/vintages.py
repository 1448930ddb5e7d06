"""A series as it was known on an earlier day, or with the values that were seen first: from the archive of looks.

What was known then costs no request, and nothing is guessed: days that nobody had looked at by then are an error, which
tells the day of the first look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from dataservice.client import SeenSignalsResource, SignalDetail, Vintages, VintagesResource
from dataservice.client.archive.coverage import NEVER_YET, end_of_day
from dataservice.client.contract import Window as Days
from dataservice.client.contract import day_after
from dataservice.observations import Observations
from udfs.arguments.dates import Day, as_day
from udfs.arguments.kinds import Explained, OneOf
from udfs.arguments.options import Option
from udfs.engine.effects import EVER, FRESH, have
from udfs.errors import ArgumentError, NoDataError
from udfs.records.resolve import CATALOGUE, need_catalogue, need_detail
from udfs.timeseries.by_day import Observed, observed
from udfs.timeseries.coverage import Known, Window
from udfs.timeseries.loader import Series, known_series, latest, on_or_before
from udfs.timeseries.resample import known_only

SEEN = SeenSignalsResource()

AFTER_A_LOOK_S = 1.0
"""Asked with an age of its own, because the batch remembers that there was nothing before the look."""


class Pick(Explained):
    """The choice among the values that an observation had."""

    LATEST = "latest", "the last one"
    FIRST = "first", "the one seen first"


ASOF = Day(
    help="as known here at the end of that day (UTC), by answers that had arrived, at no request; today is the present",
    example="2026-06-30",
)

VINTAGE_OPTIONS = (
    Option("asof", ASOF),
    Option("vintage", OneOf(members=Pick, help="which value of an observation that was revised"), "latest"),
)


@dataclass(frozen=True, slots=True)
class Vintage:
    """A vintage: the state on the day `as_of`, None for the present, and which of the values seen by then."""

    as_of: date | None = None
    pick: Pick = Pick.LATEST

    @classmethod
    def given(cls, options: Mapping[str, Any] | None, today: date) -> Vintage:
        """The vintage that `options` ask for; today is the present, and so is tomorrow, where it has begun elsewhere.

        Raises `ArgumentError` for later days.
        """
        if not options:
            return PRESENT
        as_of = options.get("asof")
        if as_of is not None and as_of > day_after(today):
            raise ArgumentError(f"option asof={as_of} lies in the future: nobody knows what will be known then")
        return cls(as_of if as_of is not None and as_of < today else None, options.get("vintage", Pick.LATEST))

    def day(self, today: date) -> date:
        """The day that counts as today."""
        return today if self.as_of is None else self.as_of

    @property
    def moment(self) -> int:
        """The time of the last look that counts."""
        return NEVER_YET if self.as_of is None else end_of_day(self.as_of)


PRESENT = Vintage()


async def series_of(name: str, window: Window, today: date, vintage: Vintage = PRESENT) -> Series:
    """The observations of the signal called `name` that `window` needs, as `known_series` gives them, of a vintage.

    Raises `NoDataError` where nothing is known of that vintage.
    """
    if vintage.as_of is None:
        series = await known_series(name, window, today)
        if vintage.pick is Pick.LATEST:
            return series
        values = await _picked(series.slug, vintage)
        return replace(series, known=replace(series.known, observations=values(series.known.observations)))
    slug, vintages = await vintages_of(name, max_age_s=EVER)
    known = _known_on(vintages, vintage, window.last)
    if known is not None and (window.is_known(known) or _is_empty(vintages, vintage, window, known)):
        return Series(slug, known)
    step_days = Known(vintages.as_of(vintage.moment)).step_days
    first = window.resource(slug, step_days, vintage.as_of).start or date.min
    raise NoDataError(vintages.why_unknown(slug, vintage.as_of, Days(first, window.last or date.max)))


async def observed_of(
    detail: SignalDetail, at: date | None, today: date, vintage: Vintage, *, with_previous: bool
) -> Observed:
    """The present observation on or before `at`, or the latest one, with the values that the vintage picks."""
    values = await _picked(detail.signal.slug, vintage) if vintage.pick is Pick.FIRST else None
    if at is None and with_previous and detail.latest is not None and not len(detail.history):
        at = detail.last_day  # its recent history does not count: a window tells what came before
    if at is None:
        return latest(detail, values)
    return await on_or_before(detail, at, today, with_previous=with_previous, values=values)


async def observed_as_of(name: str, at: date | None, vintage: Vintage, *, with_previous: bool) -> Observed:
    """The observation on or before `at`, or the latest one, as it was known on the vintage's day; no request.

    Raises `NoDataError` where that is not known, or where there was none.
    """
    slug, vintages = await vintages_of(name, max_age_s=EVER)
    as_of, day = vintage.day(date.max), date.max if at is None else as_day(at)
    known = _known_on(vintages, vintage, None if at is None else day)
    if known is None:
        raise NoDataError(vintages.why_unknown(slug, as_of, Days(day, day)))
    if at is None:
        current, before = known.observations[-1:], known_only(known.observations[:-1])[-1:]
    else:
        values = known_only(known.observations.between(None, at))
        current, before = values[-1:], values[-2:-1]
    if known.since > date.min and (not len(current) or (with_previous and not len(before))):
        raise NoDataError(vintages.why_unknown(slug, as_of, Days(date.min, day)))
    if not len(current):
        raise NoDataError(f"on {as_of} {slug} had no observation" + ("" if at is None else f" on or before {at}"))
    return observed(current, before)


async def vintages_of(name: str, *, max_age_s: float = FRESH) -> tuple[str, Vintages]:
    """The slug of the signal called `name` and what was known of it when.

    With `FRESH`, what the functions of the batch that ran before have found is part of it. Costs nothing but the
    catalogue, where there is none at hand and what was looked at here does not settle the name.
    """
    catalogue = await have(CATALOGUE, max_age_s=EVER)
    signal = catalogue.value.find(name) if catalogue else None
    slug = name if signal is None else signal.slug
    vintages = await _vintages(slug, max_age_s)
    if signal is None and vintages.looked.first_look == NEVER_YET:
        slug = await _seen_slug(name, max_age_s, may_ask=catalogue is None)
        if slug != name:
            vintages = await _vintages(slug, max_age_s)
    return slug, vintages


async def after_a_look(name: str) -> tuple[str, Vintages]:
    """The slug of a signal that nobody has looked at, and what is known of it after a look: one request.

    Raises `NoDataError` where there is no such signal, `DataServiceError` where the service does not answer.
    """
    slug = (await need_detail(name)).value.signal.slug
    return slug, await _vintages(slug, AFTER_A_LOOK_S)


async def _vintages(slug: str, max_age_s: float) -> Vintages:
    found = await have(VintagesResource(slug), max_age_s=max_age_s)
    return Vintages.nothing() if found is None else found.value


async def _seen_slug(name: str, max_age_s: float, *, may_ask: bool) -> str:
    """The slug of the signal called `name` that no catalogue at hand knows; the name itself for none that was seen."""
    seen = await have(SEEN, max_age_s=max_age_s)
    slug = seen.value.slug_of(name) if seen else None
    if slug is not None or not may_ask or (seen is not None and seen.value.lacks(name)):
        return slug or name
    listed = (await need_catalogue()).find(name)
    return name if listed is None else listed.slug


def _known_on(vintages: Vintages, vintage: Vintage, last: date | None) -> Known | None:
    """Return what was known up to `last`, from the day on since which nothing is missing; None if not even `last`."""
    since = vintages.looked.known_since(last or date.max, vintage.moment)
    if since is None:
        return None
    observations = vintages.as_of(vintage.moment).between(since)
    if vintage.pick is Pick.FIRST:
        observations = _with_first_values(observations, vintages, vintage.moment)
    return Known(observations, since)


def _is_empty(vintages: Vintages, vintage: Vintage, window: Window, known: Known) -> bool:
    """Return whether all days of a window were looked at, and there was nothing."""
    days = Days(window.first or date.min, window.last or date.max)
    return not len(known.observations) and vintages.looked.covers(days, vintage.moment)


async def _picked(slug: str, vintage: Vintage) -> Callable[[Observations], Observations]:
    """Return what makes observations show the values that were seen first; what no look tells of stays as it is."""
    vintages = await _vintages(slug, FRESH)
    return lambda observations: _with_first_values(observations, vintages, vintage.moment)


def _with_first_values(observations: Observations, vintages: Vintages, moment: int) -> Observations:
    first = vintages.first_values(moment)
    places = np.searchsorted(first.times, observations.times)
    known = np.append(first.times, np.datetime64("NaT"))[places] == observations.times
    values = np.where(known, np.append(first.values, np.nan)[places], observations.values)
    return Observations(observations.times, values)
