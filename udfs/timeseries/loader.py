"""From a name and a window, or a day, to the observations, with the fewest requests.

`known_series` serves a window; `on_or_before` and `latest` give one observation and the value before it. For these,
nulls count as not observed, so a day without a value shows the last value before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import TypeGuard

import msgspec

from dataservice.client import Answer, HistoryResource, KnownDaysResource, SignalDetail, SignalResource
from dataservice.client.contract import OBSERVATIONS_LIMIT
from dataservice.client.contract import Window as Days
from dataservice.errors import DataServiceError
from dataservice.observations import Observations
from udfs.arguments.dates import as_day
from udfs.engine.effects import (
    EVER,
    FRESH,
    INTERNED,
    Question,
    Reply,
    ask,
    asked_at_hand,
    have,
    in_memory,
    need_unless,
    tell_sought,
)
from udfs.errors import NoDataError
from udfs.records.resolve import listed, need_of, slug_of
from udfs.timeseries.by_day import ByDay, Observed, Values, by_day
from udfs.timeseries.coverage import SURE, Known, Window, days_before, recent, recent_rhythm, span_of, which_resource
from udfs.timeseries.resample import known_only
from udfs.timeseries.rhythm import Rhythm

BLOCK_YEARS = (50, 20, 10, 5, 2, 1)
"""Sizes of the blocks in which old observations are requested: cells on near days then request the same."""

NEAR_DAYS = 400
"""So long before a day its observation and the one before it lie, of any series but yearly ones."""

JUST_NOW_S, LATELY_S = 1.0, 60.0
"""Asked with ages of their own, because the batch remembers that there was nothing before others fetched it."""

WEEKS_DAYS = 20.0
"""Rows that are so far apart are hardly what is left of daily ones: rather of months or quarters."""

NEAR_STEPS = 12
"""Distances of two observations that a stored history is searched before a day: gaps are seldom longer."""


@dataclass(frozen=True, slots=True)
class Series:
    """A signal's observations that are enough for a window; they may reach further than it."""

    slug: str
    known: Known


class _Block(msgspec.Struct, frozen=True):
    """Some years around a day, all that came before their end, and the questions whether fresh ones are at hand."""

    years: HistoryResource
    past: HistoryResource
    years_at_hand: Sequence[Question]
    past_at_hand: Sequence[Question]


async def known_series(name: str, window: Window, today: date) -> Series:
    """The observations of the signal called `name` that `window` needs.

    What is at hand and enough costs nothing: a history in memory, which also shows that the name exists, then the
    signal's recent history, then a stored one. Else `which_resource` decides. Raises `NoDataError` where there is no
    such signal, `DataServiceError` where the service does not answer.
    """
    is_near = which_resource(window, today) == "detail"
    stored = window.enough(name, today)
    held = _known(stored, await in_memory(stored))
    if _serves(held, window, is_near=is_near):
        return Series(name, held)
    slug = await slug_of(name)
    detail, stored = SignalResource(slug), replace(stored, slug=slug)
    if not is_near:
        await tell_sought(stored)
    at_hand = await have(detail, max_age_s=FRESH)
    near = recent(at_hand.value) if at_hand else None
    known = near if near is None or is_near else near.cut(stored.start)
    if known and window.is_served_by(known):
        return Series(slug, known)
    far = _known(stored, await have(stored, max_age_s=FRESH))
    if _serves(far, window, is_near=is_near):
        return Series(slug, far)
    if near is None and is_near:
        if not await need_unless(detail, brought=stored):
            far = _known(stored, await have(stored, max_age_s=JUST_NOW_S))
            if _serves(far, window, is_near=is_near):
                return Series(slug, far)
        try:
            near = recent((await need_of(name, detail)).value)
        except DataServiceError:
            return Series(slug, await _last_known(name, window, stored))
        if window.is_served_by(near):
            return Series(slug, near)
    return Series(slug, await _asked_for(name, window, near, stored, today, is_near=is_near))


async def _asked_for(
    name: str, window: Window, near: Known | None, stored: HistoryResource, today: date, *, is_near: bool
) -> Known:
    """The observations that the service gives; a recent history at hand, where it gives none and that is enough.

    A recent history that could not be relied on may count after that, because the window has said the same: then it
    tells the rhythm, as it does where it counts at once.
    """
    detail = SignalResource(stored.slug)
    try:
        far = await _fetched(name, window, await _likely_enough(window, near, stored, today))
    except DataServiceError:
        last = await have(detail, max_age_s=EVER)
        if last is None or not window.is_known(recent(last.value)):
            raise
    else:
        again = None if not is_near or window.tells_as_much(far) else await have(detail, max_age_s=LATELY_S)
        return recent(again.value) if again and window.is_served_by(recent(again.value)) else far
    return recent((await need_of(name, detail)).value)  # what was shown before is not lost


class NoObservationsError(NoDataError):
    """The signal is there, and has no observation in the window."""


def no_observations(
    series: Series, first: date | None, last: date | None, *, is_newest: bool = True
) -> NoObservationsError:
    """Return why a window is empty: what was asked for, and the observation beside it, as far as that is at hand.

    `is_newest` tells that nothing newer than the window exists. Then its last observation is told, else the one before
    the window, which does not depend on what else is at hand.
    """
    before = series.known.observations.between(None, last)
    what = "its last one" if is_newest else "the last one before"
    beside = f"; {what} is of {before.last_day}" if len(before) else ""
    return NoObservationsError(f"{series.slug} has no observations{span_of(first, last)}{beside}")


def only_a_part(series: Series, first: date | None, last: date | None) -> NoObservationsError | None:
    """Return that a window holds only a part of a period, which was left out; None where it holds no observation."""
    found = known_only(series.known.observations.between(first, last))
    if not len(found):
        return None
    what = f"{series.slug} has only a part of a period{span_of(first)}"
    return NoObservationsError(f"{what}, up to {found.last_day}; partial=keep shows it")


def latest(detail: SignalDetail, values: Values | None = None) -> Observed:
    """The latest observation, its value None where it is null; raises `NoDataError` where there is none.

    `values` may show others in place of the observations' own values.
    """
    near = by_day(detail)
    if not len(near):
        raise NoDataError(f"{detail.signal.slug} has no observations yet")
    return near.observed(len(near) - 1, near.places(len(near) - 1, 1), values)


async def observed_in_history(
    name: str, day: date | None, today: date, *, with_previous: bool, may_wait: bool = False
) -> Observed | None:
    """The latest observation, or the last one up to a `day`, out of a fresh history in memory; None without one.

    Nor where the signal's last detail reached further: windows of such a service come behind. Of a new signal,
    who `may_wait` for others of the batch that fetch such a window finds it there: one request for both. Else the
    detail is at hand after that, or why there is none. Raises `NoDataError` where there is no such signal.
    """
    window = _near(name, day, today)
    found = _known(window, await in_memory(window))
    if found is None and may_wait:
        name = await listed(name)
        window = _near(name, day, today)
        if (await ask((Question(SignalResource(name), unless=_near(name, None, today), if_new=True),)))[0] is None:
            found = _known(window, await have(window, max_age_s=JUST_NOW_S) or await have(window, max_age_s=FRESH))
    if found is None or not len(found.observations):
        return None
    detail = await have(SignalResource(name), max_age_s=EVER)
    shown = detail.value.last_day if detail and day is None else None
    if shown is not None and shown > found.observations.last_day:
        return None
    return _observed_in(found, day, with_previous=with_previous)


async def last_known_in_history(name: str, day: date | None, today: date, *, with_previous: bool) -> Observed | None:
    """The same out of a history however old, while no detail can be had: that is asked on to its end. None without one.

    Raises `DataServiceError` where nothing is known, and `NoDataError` where there is no such signal.
    """
    window = _near(await slug_of(name), day, today)
    if await have(window, max_age_s=EVER) is None:
        return None
    return _observed_in(await _needed(name, window), day, with_previous=with_previous)


def _near(slug: str, day: date | None, today: date) -> HistoryResource:
    """The days in which the latest observation likely lies, or the last one up to a `day`."""
    last = None if day is None or as_day(day) >= today else as_day(day)
    return HistoryResource(slug, days_before(last or today, NEAR_DAYS), last)


def _observed_in(found: Known, day: date | None, *, with_previous: bool) -> Observed | None:
    """The latest observation of a part of a history, or the last one up to a `day`; None where it does not show it."""
    if not len(found.observations):
        return None
    near, wanted = ByDay(found), 2 if with_previous else 1
    places = [len(near) - 1, *near.places(len(near) - 1, 1)] if day is None else near.last(day, wanted) or []
    return near.observed(places[0], places[1:]) if len(places) >= wanted else None


async def on_or_before(
    detail: SignalDetail, day: date, today: date, *, with_previous: bool, values: Values | None = None
) -> Observed:
    """The last observation up to a time or the end of a `day`, however long ago that was.

    The recent history answers where it reaches, then a stored one: first the block of years around the day, because
    that is one question for all days in it. Else one request brings this block; only where it is empty a second one
    asks for all that came before. Raises `NoDataError` where there is none.
    """
    slug = detail.signal.slug
    wanted = 2 if with_previous else 1
    near = by_day(detail)
    places = near.last(day, wanted)
    if places is None:
        step_days = _step_days(detail)
        block = _block(slug, day.year, 1.0 if _may_be_daily(detail, step_days) else step_days, today)
        near, places = await _stored_in(block, day, wanted)
        if places is None:
            near, places = await _stored_around(slug, day, step_days, wanted)
        if places is None:
            near, places = _last(await _needed(slug, block.years), day, wanted)
        if places is None:
            near, places = _last(await _needed(slug, block.past), day, wanted)
    if not places:
        raise NoDataError(f"{slug} has no observation on or before {day}")
    return near.observed(places[0], places[1:], values)


async def rhythm_of_signal(detail: SignalDetail, today: date) -> Rhythm:
    """The rhythm of a signal: told by its recent history, or by a window where that may leave rows out."""
    found = recent_rhythm(detail)
    if found is not None:
        return found
    window = Window(count=SURE)
    return window.rhythm((await known_series(detail.signal.slug, window, today)).known)


async def rhythm_at_hand(detail: SignalDetail) -> Rhythm | None:
    """The same by what is at hand; None where that does not tell it."""
    found = recent_rhythm(detail)
    if found is not None:
        return found
    slug = detail.signal.slug
    reply = (await ask(asked_at_hand(KnownDaysResource(slug), max_age_s=EVER)))[0]
    if not isinstance(reply, Answer) or not reply.value:
        return None
    start = max(reply.value, key=lambda days: days.end).start
    stored = HistoryResource(slug, None if start == date.min else start)
    known = _known(stored, await have(stored, max_age_s=EVER))
    is_told = known is not None and (known.since == date.min or len(known.observations) >= SURE)
    return Window().rhythm(known) if known is not None and is_told else None


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
    """The history from the service; all of it where the part that should be enough is not.

    Of a series that ended long ago a part may be too short to tell the rhythm: a recent history at hand tells it too.
    """
    far = await _needed(name, resource)
    if window.is_served_by(far):
        return far
    at_hand = await have(SignalResource(resource.slug), max_age_s=FRESH)
    near = recent(at_hand.value) if at_hand else None
    if near and window.is_served_by(near) and window.tells_as_much(near):
        return near
    return await _needed(name, replace(resource, start=None))


async def _last_known(name: str, window: Window, stored: HistoryResource) -> Known:
    """A stored history that holds the window, however old, while the detail is kept away: what was shown is not lost.

    Called where that has just failed; raises the same where no history is enough.
    """
    old = _known(stored, await have(stored, max_age_s=EVER))
    if old is None or not window.is_known(old):
        raise
    return await _needed(name, stored)


async def _likely_enough(window: Window, near: Known | None, stored: HistoryResource, today: date) -> HistoryResource:
    """The history to ask for: as long as what is known of the series says, else `stored`.

    Where rows are counted that may be old: they tell how far apart rows are, or that there are too few.
    """
    if window.count is not None and window.freq.is_raw:
        whole = replace(stored, start=None)
        for resource in (whole, stored):
            before = _known(resource, await have(resource, max_age_s=EVER))
            found = before and (
                window.counted_back(stored.slug, before, today) or (whole if before.since == date.min else None)
            )
            if found:
                return found
        detail = None if near else await have(SignalResource(stored.slug), max_age_s=EVER)
        near = recent(detail.value) if detail else near
    elif which_resource(window, today) == "history":
        return stored
    return window.resource(stored.slug, near.step_days, today, window.rhythm(near)) if near else stored


async def _needed(name: str, resource: HistoryResource) -> Known:
    return Known((await need_of(name, resource)).value, resource.start or date.min)


async def _stored(resource: HistoryResource) -> Known | None:
    return _known(resource, await have(resource, max_age_s=FRESH))


async def _stored_in(block: _Block, day: date, wanted: int) -> tuple[ByDay, list[int] | None]:
    """The last values up to `day` in the block, where that is stored; where it is empty, in all that came before."""
    reply = (await ask(block.years_at_hand))[0]
    found = _last(_known(block.years, reply), day, wanted)
    if reply is None or found[1] is not None:
        return found
    return _last(_known(block.past, (await ask(block.past_at_hand))[0]), day, wanted)


async def _stored_around(slug: str, day: date, step_days: float, wanted: int) -> tuple[ByDay, list[int] | None]:
    """The last values up to `day` in whatever was stored of the days before it; one that is old is asked for again."""
    last = as_day(day)
    window = HistoryResource(slug, days_before(last, int(step_days * NEAR_STEPS) + 1), last)
    known = (await ask(asked_at_hand(KnownDaysResource(slug), max_age_s=EVER)))[0]
    if not isinstance(known, Answer) or not _meets(known.value, window):
        return _NOTHING, None
    found = _last(_known(window, await have(window, max_age_s=EVER)), day, wanted)
    if found[1] is None:
        return found
    fresh = await _stored(window)  # else it is not lost if the service does not answer
    return _last(fresh or await _needed(slug, window), day, wanted)


def _meets(known: Sequence[Days], window: HistoryResource) -> bool:
    """Return whether any day of the window is known: else it is not looked for, one of 100,000 in a sheet."""
    days = window.days
    return any(each.meets(days) for each in known)


@lru_cache(maxsize=INTERNED)
def _block(slug: str, year: int, step_days: float, today: date) -> _Block:
    """The block around the days of a year: made once for all of them."""
    start, end = block_around(date(year, 1, 1), step_days)
    years = HistoryResource(slug, start, None if end >= today else end)
    past = replace(years, start=None)
    return _Block(years, past, asked_at_hand(years, max_age_s=FRESH), asked_at_hand(past, max_age_s=FRESH))


def _known(resource: HistoryResource, reply: Reply) -> Known | None:
    return Known(reply.value, resource.start or date.min) if isinstance(reply, Answer) else None


def _serves(known: Known | None, window: Window, *, is_near: bool) -> TypeGuard[Known]:
    """Return whether a stored history shows a window as the recent one would, or as it is asked for."""
    return known is not None and window.is_served_by(known) and (not is_near or window.tells_as_much(known))


def _may_be_daily(detail: SignalDetail, step_days: float) -> bool:
    """Return whether the recent history does not count, because weeks or so may be all that it shows of daily rows."""
    return recent(detail).since == date.max and step_days < WEEKS_DAYS


def _step_days(detail: SignalDetail) -> float:
    """The average distance of two recent observations."""
    step_days: float | None = detail.derived.get("step days")
    if step_days is None:
        step_days = detail.derived["step days"] = recent(detail).step_days
    return step_days


def _last(known: Known | None, day: date, wanted: int) -> tuple[ByDay, list[int] | None]:
    """The last values up to `day` in what is known."""
    found = _NOTHING if known is None else ByDay(known)
    return found, found.last(day, wanted)


_NOTHING = ByDay(Known(Observations.empty(), date.max))
