"""What is known, and how many requests the rest would cost, without asking the service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from math import inf
from typing import Any

import numpy as np

from dataservice.client import cost
from dataservice.client.cache.answer import Answer, Freshness, Source
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.cache.history import findings, pulls_needed, window_of
from dataservice.client.cache.notes.window_only import DetailState, in_place_of_detail
from dataservice.client.cache.spans import History
from dataservice.client.contract.completeness.evidence import Evidence, Evidences
from dataservice.client.contract.paging import pages_for
from dataservice.client.contract.requests import CATALOGUE_LIMIT, can_exist, first_request
from dataservice.client.contract.resources import (
    CATALOGUE,
    CATALOGUE_AGE_S,
    CatalogueResource,
    HistoryResource,
    KnownDaysResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.contract.windows import Window, utc_day
from dataservice.client.cost import NOTHING, ONE, POSSIBLY_ONE, Cost, Refresh
from dataservice.client.network.breaker import CircuitBreaker
from dataservice.errors import (
    AuthenticationError,
    BudgetError,
    DataServiceError,
    MalformedAnswerError,
    MissingKeyError,
    NotFoundError,
    QuotaExceededError,
    TierError,
    UnavailableError,
)
from dataservice.observations import Observations

ASSUMED_START = date(1985, 1, 1)
"""Where a series is taken to begin when nobody knows: the long daily ones in common use begin in 1986."""

ASSUMED_SLOW_START = date(1830, 1, 1)
"""The same for one observed every `SLOW_DAYS` or more rarely: gold is known by months since 1833."""

SLOW_DAYS = 25.0

DAYS_PER_OBSERVATION = 1.4
"""How far apart observations are taken to lie when nobody knows: every working day, the costliest common case."""


class State(StrEnum):
    """fresh and stale: there is a value. Otherwise why there is none, or why it cannot be renewed now."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    LOCKED = "locked"
    SPENT = "spent"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class ResourceState:
    """One resource as this process knows it; `fetched_at` and `source` are None where there is no value.

    `revised_at` is when the service was last seen to have changed the past of a signal.
    """

    resource: Resource[Any]
    state: State
    fetched_at: float | None = None
    source: Source | None = None
    last_error: DataServiceError | None = None
    revised_at: float | None = None


def state_of(answer: Answer[Any] | None, blocking: DataServiceError | None, now: float) -> State:
    """The state of a resource with this last known `answer`, while `blocking` keeps the service from being asked."""
    if answer is not None and answer.is_fresh(now):
        return State.FRESH
    match blocking:
        case MissingKeyError() | AuthenticationError() | TierError():
            return State.LOCKED
        case QuotaExceededError() | BudgetError():
            return State.SPENT
        case UnavailableError():
            return State.OFFLINE
        case _:
            return State.MISSING if answer is None else State.STALE


class Overview:
    """Looks at the cache and the breaker of one client."""

    def __init__(
        self, cache: AnswerCache, breaker: CircuitBreaker, evidence: Evidences, *, clock: Callable[[], float]
    ) -> None:
        self._cache = cache
        self._evidence = evidence
        self._breaker = breaker
        self._clock = clock

    async def cost(self, resources: Iterable[Resource[Any]]) -> int:
        """Return how many requests reading all of `resources` now would likely spend."""
        return sum([await self._cost(resource) for resource in uncovered(resources)])

    async def known_after(
        self, resource: Resource[Any], shown_from: date, after: Refresh | None = None
    ) -> Answer[Any] | None:
        """Return what will be known of a signal's past when its next detail shows the days `shown_from` on."""
        if not isinstance(resource, HistoryResource | KnownDaysResource):
            raise TypeError(f"{resource!r} is not about the past of a signal")
        now = self._clock()
        history = await self._cache.signals.history_after(resource.slug, shown_from, now)
        if isinstance(resource, KnownDaysResource):
            return Answer(tuple(span.window for span in history.spans), now, inf, Source.MEMORY)
        wanted = window_of(resource.start, resource.end, utc_day(now))
        rules = self._rules(after, now)
        found = findings(replace(history, not_before=rules.not_before), wanted, now, rules)
        if found is None:
            return None
        return Answer(found.observations, found.fetched_at, found.fresh_until, Source.MEMORY)

    async def cost_of(
        self, resource: Resource[Any], after: Refresh | None = None, shown_from: date | None = None
    ) -> Cost:
        """From how many to how many requests reading one resource now, or `after` a refresh, would spend.

        With `shown_from`: when the signal's next detail has arrived, which shows the days from then on.
        """
        bounds = await self._bounds(resource, after, shown_from)
        return bounds if bounds.at_most is not None else replace(bounds, likely=await self._cost(resource))

    async def _bounds(self, resource: Resource[Any], after: Refresh | None, shown_from: date | None) -> Cost:
        now = self._clock()
        if not can_exist(resource) or (after is None and self._blocking_error(resource, now) is not None):
            return NOTHING
        if shown_from is None:
            known = await self._cache.last_known(resource, now)
        else:
            known = await self.known_after(resource, shown_from, after)
        if after is not Refresh.FORCE and known is not None and known.is_fresh(now):
            return NOTHING
        if after is None and self._cache.answers.missing.holds(resource, now):
            return NOTHING
        rules = self._rules(after, now)
        match resource:
            case CatalogueResource():
                return cost.catalogue_cost(known)
            case HistoryResource(slug):
                detail = await self._cache.last_known(SignalResource(slug), now)
                if shown_from is None:
                    history = await self._cache.signals.history_at_hand(slug, now)
                else:
                    history = await self._cache.signals.history_after(slug, shown_from, now)
                known_detail = detail.value if detail else None
                return cost.history_cost(resource, history, known_detail, now, rules, self._evidence.now)
            case SignalResource() if resource.may_be_refused:
                return await self._detail_cost(resource, after, now)
            case WireResource() if not self._breaker.is_wire_open:
                return POSSIBLY_ONE  # another answer may tell before that the key's tier does not open it
            case _:
                return ONE

    async def _detail_cost(self, resource: SignalResource, after: Refresh | None, now: float) -> Cost:
        """Return what the answer about a signal costs whose detail may be a 404: then a window tells the same."""
        slug = resource.slug
        others_have = self._evidence.now.details_of_dots
        state = await self._cache.signals.window_only.state(slug, now, self._rules(after, now), others_have=others_have)
        listed = None if state is DetailState.ANSWERED else await self._cache.last_known(CATALOGUE, now)
        if state is DetailState.ANSWERED or (listed is not None and listed.value.find(slug) is None):
            return ONE
        known = await self._cache.last_known(resource, now)
        year = in_place_of_detail(slug, known.value if known else None, utc_day(now))
        window = await self.cost_of(year, after)
        if state is not DetailState.LACKING:
            return ONE + replace(window, at_least=0)
        return POSSIBLY_ONE if window == NOTHING else window

    def _rules(self, after: Refresh | None, now: float) -> Freshness:
        return self._cache.answers.rules.forced(now) if after is Refresh.FORCE else self._cache.answers.rules

    def states(self, last_errors: Mapping[Resource[Any], DataServiceError]) -> list[ResourceState]:
        """The state of every resource with an answer in memory, and of those that have only an error."""
        resources = dict.fromkeys([*self._cache.answers.memory.resources(), *last_errors])
        return [self._state(resource, last_errors.get(resource)) for resource in resources]

    async def _cost(self, resource: Resource[Any]) -> int:
        now = self._clock()
        if not can_exist(resource) or self._blocking_error(resource, now) is not None:
            return 0
        known = await self._cache.last_known(resource, now)
        if (known is not None and known.is_fresh(now)) or self._cache.answers.missing.holds(resource, now):
            return 0
        match resource:
            case CatalogueResource():
                return catalogue_cost(known)
            case HistoryResource(slug):
                detail = await self._cache.last_known(SignalResource(slug), now)
                history = await self._cache.signals.history_at_hand(slug, now)
                known_detail = detail.value if detail else None
                return history_cost(resource, history, known_detail, now, self._cache.answers.rules, self._evidence.now)
            case _:
                return 1

    def _state(self, resource: Resource[Any], last_error: DataServiceError | None) -> ResourceState:
        now, answer = self._clock(), self._cache.answers.memory.get(resource)
        blocking = self._blocking_error(resource, now)
        is_recent = isinstance(resource, CatalogueResource) and answer and answer.is_within(CATALOGUE_AGE_S, now)
        return ResourceState(
            resource,
            State.FRESH if is_recent else state_of(answer, blocking, now),
            None if answer is None else answer.fetched_at,
            None if answer is None else answer.source,
            blocking or last_error or self._note_on(resource),
            self._cache.signals.revised.get(resource.slug) if isinstance(resource, HistoryResource) else None,
        )

    def _note_on(self, resource: Resource[Any]) -> DataServiceError | None:
        note = self._cache.signals.note_on(resource)
        return MalformedAnswerError(note) if note else None

    def _blocking_error(self, resource: Resource[Any], now: float) -> DataServiceError | None:
        try:
            endpoint = first_request(resource).endpoint
        except NotFoundError:  # a name that no service can have, which is never asked for
            return None
        return self._breaker.blocking_error(resource, endpoint, now)


def uncovered(resources: Iterable[Resource[Any]]) -> list[Resource[Any]]:
    """The resources without histories whose window lies inside another's: one pull brings both."""
    distinct = list(dict.fromkeys(resources))
    histories = [one for one in distinct if isinstance(one, HistoryResource)]
    return [one for one in distinct if not any(wide != one and wide.covers(one) for wide in histories)]


def catalogue_cost(known: Answer[Catalogue] | None) -> int:
    """The pages of the catalogue as it was last seen; 1 where it never was."""
    return 1 if known is None else max(1, -(-len(known.value) // CATALOGUE_LIMIT))


def history_cost(
    resource: HistoryResource,
    history: History,
    detail: SignalDetail | None,
    now: float,
    rules: Freshness,
    evidence: Evidence,
) -> int:
    """The pages of all pulls that the window needs, from how often the series is observed."""
    today = utc_day(now)
    wanted = window_of(resource.start, resource.end, today)
    known = history.observations if len(history.observations) > 1 or detail is None else detail.history
    is_whole = any(span.window.start == date.min for span in history.spans)
    pulls = pulls_needed(history, wanted, now, rules, rows_at_once=evidence.rows_at_once)
    return sum(pages_for(_expected(known, pull, today, is_whole=is_whole)) for pull in pulls)


def _expected(known: Observations, pull: Window, today: date, *, is_whole: bool) -> float:
    """Return how many observations a pull is likely to bring; `is_whole`: none are known to lie before the first."""
    step_days = _step_days(known)
    start = max(pull.start, known.first_day if is_whole and len(known) else date.min)
    if start == date.min:
        start = _assumed_start(known, step_days)
    days = (min(pull.end, today) - start).days + 1
    return max(0.0, days / step_days)


def _assumed_start(known: Observations, step_days: float) -> date:
    assumed = ASSUMED_SLOW_START if step_days >= SLOW_DAYS else ASSUMED_START
    return min(known.first_day, assumed) if len(known) else assumed


def _step_days(known: Observations) -> float:
    if len(known) < 2:
        return DAYS_PER_OBSERVATION
    days = float((known.times[-1] - known.times[0]) / np.timedelta64(1, "D"))
    return max(days / (len(known) - 1), 1e-6)
