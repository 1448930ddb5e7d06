"""What functions would cost: they run as they do when they are answered, on guesses in place of what is not known.

A function may ask for more once it has seen an answer. So each is run on several guesses that lead it different ways:
from the cheapest of them to the dearest is what it may cost.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import lru_cache
from math import inf, nextafter
from typing import Any, TypeVar, cast

import numpy as np

from dataservice.client import (
    Answer,
    Catalogue,
    CatalogueCheck,
    CatalogueResource,
    Cost,
    Currents,
    CurrentsResource,
    HistoryResource,
    Indices,
    IndicesResource,
    KnownDaysResource,
    Meter,
    Miss,
    Page,
    Resource,
    SignalDetail,
    SignalResource,
    Source,
    WireResource,
)
from dataservice.client.cache.recent import is_whole, newest_alone, with_history
from dataservice.client.contract import HISTORY_LIMIT, NOTHING_SEEN, SEVERAL, detail_may_be_thin, narrowed
from dataservice.client.cost import NOTHING, POSSIBLY_ONE, UNKNOWN
from dataservice.errors import DataServiceError, NotFoundError
from dataservice.models import Observation, Signal
from dataservice.observations import Observations
from udfs.engine.costs.snapshot import Snapshot

T = TypeVar("T")

_logger = logging.getLogger("udfs")

CATALOGUE = CatalogueResource()

THIN_LOOKS = Cost(0, 2)
"""A window that looks as if it left days out is looked at twice; a series that is doubted so has few rows."""
FIRST_YEAR = 1900
DAY_S = 86_400.0

SHORTER = 0.05
SHORTER_BY = np.timedelta64(7, "D")
"""By how much less a detail may reach back than the one before it: holidays and holes lie elsewhere by then."""


ROUND = 10
"""Rows of a round number may be all that a service sends."""


class Guess(Enum):
    """What the unknown answers are taken to be."""

    USUAL = "series of working days that began long ago, names that exist, complete lists"
    DAILY = "the same for series of every day"
    MONTHLY = "monthly series, lists with more behind them"
    THIN = "recent histories that may leave days out, so that only their newest row counts"
    EMPTY = "series without an observation, lists without a record"
    MISSING = "nothing of that name"


_LEFT = {Guess.EMPTY: 1, Guess.MISSING: 0}
"""How many observations of a known signal are taken to be left where most were taken back."""


class CostEstimator:
    """A reader that sends nothing: it notes what each read would cost, and answers what is not known with a guess."""

    def __init__(self, client: Snapshot, guess: Guess, now: float, *, left_out: int = 0) -> None:
        self._client = client
        self._guess = guess
        self._now = now
        self._left_out = left_out
        """Names that are asked for beside those that are run, which stand for them."""
        self._foreseen: dict[Resource[Any], Answer[Any]] = {}
        self._is_unsure = False
        self.costs: dict[Resource[Any], Cost] = {}

    def begin_reports(self) -> None:
        """Note that what is asked from now on, by functions that report what others did, these may have brought.

        They may even have shown that it is the signal of theirs, under another name.
        """
        self._is_unsure = bool(self.costs)

    def by_subject(self) -> dict[Hashable, Cost]:
        """The costs, put together for each signal and each list: one does not depend on another."""
        subjects: dict[Hashable, list[tuple[Resource[Any], Cost]]] = {}
        for resource, each in self.costs.items():
            # Only another answer could tell before the wire is asked that the key's tier does not open it.
            is_sure = isinstance(resource, WireResource) and len(self.costs) == 1
            cost = replace(each, at_least=max(each.at_least, 1)) if is_sure and each.at_most else each
            slug = resource.slug if isinstance(resource, SignalResource | HistoryResource) else ""
            subjects.setdefault(slug or type(resource).__name__, []).append((resource, cost))
        return {subject: _together(reads) + self._again(reads) for subject, reads in subjects.items()}

    def _again(self, reads: Sequence[tuple[Resource[Any], Cost]]) -> Cost:
        """Return what an empty window may cost beside: the old detail that contradicts it is asked for once more."""
        windows = [resource for resource, _ in reads if isinstance(resource, HistoryResource)]
        if self._guess is not Guess.EMPTY or not windows or len(windows) < len(reads):
            return NOTHING
        detail = self._client.peek(SignalResource(windows[0].slug), max_age_s=inf)
        may_contradict = detail is not None and len(detail.value.history) >= SEVERAL and not detail.is_fresh(self._now)
        return POSSIBLY_ONE if may_contradict else NOTHING

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer at hand, or the one a read before this would have brought."""
        found = self._brought(resource)
        if found is not None or self._shown_from(resource) is not None:
            return found
        return self._client.peek(resource, max_age_s=max_age_s)

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The same, however old."""
        return self._brought(resource) or await self._at_hand(resource)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """As in earnest; should one of the names not exist, the catalogue is needed as well.

        The least that is told takes it that the names exist: who mistypes some spends less.
        """
        check = await self._client.catalogue_check(names + self._left_out)
        if check is CatalogueCheck.PROBE and CATALOGUE not in self.costs:
            self.costs[CATALOGUE] = replace(await self._cost_of(CATALOGUE), at_least=0, likely=0)
        return check

    async def read(
        self,
        resource: Resource[T],
        *,
        known_miss: Miss[T] | None = None,
        meter: Meter | None = None,  # noqa: ARG002 - a reader's signature: nothing is spent here
    ) -> Answer[T]:
        """The answer at hand, or a guess; the requests it would take are noted."""
        known = self._brought(resource) or (known_miss.last_known if known_miss else None)
        known = known or await self._at_hand(resource)
        if known is not None and known.is_fresh(self._now):
            return known
        cost = await self._cost_of(resource)
        if cost == NOTHING:
            return _blocked(known)
        wide = self._client.complete_wider(resource)
        if wide is not None and wide not in self.costs:
            self.costs[wide] = cost
        if isinstance(resource, HistoryResource) and self._is_thin(resource.slug):
            cost = THIN_LOOKS if cost.at_most is None else cost + POSSIBLY_ONE
        if resource not in self.costs:  # two questions may want one resource
            self.costs[resource] = replace(cost, at_least=0) if self._is_unsure else cost
        value = await self._value(resource, known)
        answer = Answer(value, self._now, nextafter(self._now, inf), Source.NETWORK)
        self._foreseen[resource] = answer
        return answer

    async def _value(self, resource: Resource[T], known: Answer[T] | None) -> T:
        """Return what a read may bring, in place of an old answer or of none."""
        if isinstance(resource, HistoryResource) and self._guess is Guess.DAILY:
            return cast("T", guessed(resource, self._guess, self._now))  # enough, however old what is known
        if isinstance(resource, HistoryResource) and self._guess is Guess.EMPTY:
            found = Observations.empty() if known is None else cast("Observations", known.value)
            return cast("T", await self._taken_back(resource.slug, found))
        if isinstance(resource, SignalResource) and self._guess is Guess.THIN and known is not None:
            detail = cast("SignalDetail", known.value)
            may_be_thin = len(detail.history) < SEVERAL or detail_may_be_thin(detail.history, NOTHING_SEEN)
            return cast("T", newest_alone(detail) if may_be_thin else detail)
        if isinstance(resource, SignalResource) and self._guess in _LEFT and known is not None:
            detail = cast("SignalDetail", known.value)
            left = len(detail.history) and _LEFT[self._guess]
            return cast("T", with_history(detail, detail.history[len(detail.history) - left :]))
        if isinstance(resource, SignalResource) and self._guess is Guess.DAILY:
            return cast("T", await self._moved_on(resource, cast("Answer[SignalDetail] | None", known)))
        if isinstance(resource, CatalogueResource) and self._guess is Guess.DAILY and known is not None:
            return cast("T", _AnyName(cast("Catalogue", known.value).signals))
        return guessed(resource, self._guess, self._now) if known is None else known.value

    def _is_thin(self, slug: str) -> bool:
        """Return whether a detail was read before that tells no more than its newest row."""
        detail = self._foreseen.get(SignalResource(slug)) if self._guess is Guess.THIN else None
        return detail is not None and not len(detail.value.history)

    async def _taken_back(self, slug: str, found: Observations) -> Observations:
        """The part of a history that may be left: of a short one nothing, of the beginning of a long series less."""
        if len(found) <= HISTORY_LIMIT:
            return found[:0]
        whole = await self._client.last_known(HistoryResource(slug))
        begins = whole is not None and len(whole.value) > 0 and whole.value.first_day == found.first_day
        return _shorter(found) if begins else found

    async def _moved_on(self, resource: SignalResource, known: Answer[SignalDetail] | None) -> SignalDetail:
        """A detail as it may be now: what was known has moved on with the days, and reaches back less far."""
        detail: SignalDetail = guessed(resource, Guess.DAILY, self._now) if known is None else known.value
        past = await self._client.last_known(HistoryResource(resource.slug)) if known is None else None
        found = detail.history if past is None else past.value[-HISTORY_LIMIT:]
        at = past.fetched_at if past else known.fetched_at if known else None
        if at is None or not len(found):
            return detail
        days = np.timedelta64(int((self._now - at) // DAY_S), "D")
        return SignalDetail(detail.signal, detail.latest, _shorter(Observations(found.times + days, found.values)))

    async def _cost_of(self, resource: Resource[Any]) -> Cost:
        """Return what reading `resource` would spend; an estimate that fails is unknown, and never nothing."""
        try:
            return await self._client.cost_of(resource, shown_from=self._shown_from(resource))
        except Exception:
            _logger.exception("the cost of a %s could not be estimated", type(resource).__name__)
            return UNKNOWN

    async def _at_hand(self, resource: Resource[T]) -> Answer[T] | None:
        """What any cache will hold: days that only the detail at hand shows are forgotten when the next one arrives."""
        since = self._shown_from(resource)
        if since is None:
            return await self._client.last_known(resource)
        return await self._client.known_after(resource, since)

    def _shown_from(self, resource: Resource[Any]) -> date | None:
        """The first day of the detail that a read before this would have brought, if it is of the same signal."""
        if not isinstance(resource, HistoryResource | KnownDaysResource) or self._guess is Guess.MONTHLY:
            return None  # this guess lets known series stand as they are
        detail = cast("Answer[SignalDetail] | None", self._foreseen.get(SignalResource(resource.slug)))
        return None if detail is None or not len(detail.value.history) else detail.value.history.first_day

    def _brought(self, resource: Resource[T]) -> Answer[T] | None:
        """Return what an earlier read, of this or of a wider resource, would have brought."""
        found = self._foreseen.get(resource)
        if found is not None or resource.family == resource:
            return found
        for wide, answer in self._foreseen.items():
            if wide.family == resource.family and wide.covers(resource):
                value = narrowed(resource, wide, answer.value)
                if value is not None:
                    return Answer(value, answer.fetched_at, answer.fresh_until, answer.source)
        return None


def _together(reads: Sequence[tuple[Resource[Any], Cost]]) -> Cost:
    """Return what the reads about one subject cost together, in whichever order they come.

    Any of them may bring what another asks for; and each may cut the days that are still unknown in two.
    """
    has_detail = any(isinstance(resource, SignalResource) for resource, _ in reads)
    total, at_least = NOTHING, 0
    for resource, cost in reads:
        is_window = isinstance(resource, HistoryResource)
        cuts = len(reads) - 1 + has_detail if is_window else 0
        total += cost + Cost(0, cuts)
        at_least = max(at_least, 0 if is_window and has_detail else cost.at_least)
    return replace(total, at_least=at_least)


def _shorter(history: Observations) -> Observations:
    """The newer part of a history: as little as the next one may hold, and no proof that it is the whole."""
    if not len(history):
        return history
    first, last = history.times[0], history.times[-1]
    since = first + (last - first) * SHORTER + SHORTER_BY
    shorter = history[min(len(history) - 1, int(np.searchsorted(history.times, since))) :]
    return shorter[len(shorter) % ROUND :] if is_whole(shorter) else shorter


def _blocked(known: Answer[T] | None) -> Answer[T]:
    """Return what a read gives that the client refuses to send."""
    error = DataServiceError("not asked")
    if known is None:
        raise error
    return known.stale(error)


def spread(found: Iterable[Mapping[Hashable, Cost]]) -> Cost:
    """Return what the subjects cost together, whichever of the guesses holds for each of them."""
    guesses = list(found)
    total = NOTHING
    for subject in dict.fromkeys(subject for costs in guesses for subject in costs):
        each = [costs.get(subject, NOTHING) for costs in guesses]
        widest = each[0]
        for cost in each[1:]:
            widest = widest | cost
        total += replace(widest, likely=each[0].usual)
    return total


def guessed(resource: Resource[Any], guess: Guess, now: float) -> Any:
    """A value of the kind that answers `resource`; raises `NotFoundError` where the guess is that there is none."""
    if guess is Guess.MISSING:
        raise NotFoundError("no such resource")
    today = datetime.fromtimestamp(now, UTC).date()
    match resource:
        case CatalogueResource():
            return _AnyName(()) if guess in (Guess.USUAL, Guess.DAILY, Guess.THIN) else Catalogue(())
        case SignalResource(slug):
            return _detail(slug, guess, today)
        case HistoryResource(_, start, end):
            return _series(guess, max(start or date.min, date(FIRST_YEAR, 1, 1)), min(end or today, today))
        case IndicesResource():
            return Indices()
        case CurrentsResource():
            return Currents()
        case _:
            return Page((), complete=guess in (Guess.USUAL, Guess.DAILY))


class _AnyName(Catalogue):
    """A catalogue that knows every name, also those that were added since it was last read."""

    def find(self, name: str) -> Signal | None:
        return super().find(name) or Signal(slug=name, name=name)


def _detail(slug: str, guess: Guess, today: date) -> SignalDetail:
    signal = Signal(slug=slug, name=slug)
    reach = timedelta(days=HISTORY_LIMIT * {Guess.USUAL: 2, Guess.DAILY: 1}.get(guess, 31))
    history = _series(guess, today - reach, today)[-HISTORY_LIMIT:]
    latest = Observation(observed_at=f"{today}T00:00:00Z", value=1.0) if len(history) else None
    return SignalDetail(signal, latest, history[:0] if guess is Guess.THIN else history)


@lru_cache(maxsize=256)
def _series(guess: Guess, start: date, end: date) -> Observations:
    if guess is Guess.EMPTY or end < start:
        return Observations.empty()
    step_days = 1 if guess in (Guess.USUAL, Guess.DAILY) else 30
    days = np.arange(np.datetime64(start, "D"), np.datetime64(end, "D") + 1, step_days)
    days = days[np.is_busday(days)] if guess is Guess.USUAL else days
    return Observations(days.astype("datetime64[us]"), np.ones(len(days)))
