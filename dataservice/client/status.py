"""What is known and what the rest would cost, without asking the service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dataservice.client.cache.answer import Answer, Source
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.contract.requests import can_exist, first_request
from dataservice.client.contract.resources import CatalogueResource, HistoryResource, Resource, SignalResource
from dataservice.client.cost import catalogue_cost, history_cost, uncovered
from dataservice.client.network.breaker import CircuitBreaker
from dataservice.errors import (
    AuthenticationError,
    BudgetError,
    DataServiceError,
    MissingKeyError,
    QuotaExceededError,
    TierError,
    UnavailableError,
)


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


def state_of(answer: Answer[Any] | None, closed: DataServiceError | None, now: float) -> State:
    """The state of a resource with this last known `answer`, while `closed` keeps the service from being asked."""
    if answer is not None and answer.is_fresh(now):
        return State.FRESH
    match closed:
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

    def __init__(self, cache: AnswerCache, breaker: CircuitBreaker, *, clock: Callable[[], float]) -> None:
        self._cache = cache
        self._breaker = breaker
        self._clock = clock

    async def cost(self, resources: Iterable[Resource[Any]]) -> int:
        """How many requests reading all of `resources` now would spend at most."""
        return sum([await self._cost(resource) for resource in uncovered(resources)])

    def states(self, last_errors: Mapping[Resource[Any], DataServiceError]) -> list[ResourceState]:
        """The state of every resource with an answer in memory, and of those that have only an error."""
        resources = {**self._cache.known.by_resource, **last_errors}
        return [self._state(resource, last_errors.get(resource)) for resource in resources]

    async def _cost(self, resource: Resource[Any]) -> int:
        now = self._clock()
        if not can_exist(resource) or self._closed(resource, now) is not None:
            return 0
        known = await self._cache.find(resource, now)
        if known is not None and known.is_fresh(now):
            return 0
        match resource:
            case CatalogueResource():
                return catalogue_cost(known)
            case HistoryResource(slug):
                detail = await self._cache.find(SignalResource(slug), now)
                history = await self._cache.history(resource)
                return history_cost(resource, history, detail.value if detail else None, now, self._cache.rules)
            case _:
                return 1

    def _state(self, resource: Resource[Any], last_error: DataServiceError | None) -> ResourceState:
        now, answer = self._clock(), self._cache.known.by_resource.get(resource)
        closed = self._closed(resource, now)
        return ResourceState(
            resource,
            state_of(answer, closed, now),
            None if answer is None else answer.fetched_at,
            None if answer is None else answer.source,
            closed or last_error,
            self._cache.revised.get(resource.slug) if isinstance(resource, HistoryResource) else None,
        )

    def _closed(self, resource: Resource[Any], now: float) -> DataServiceError | None:
        return self._breaker.closed(resource, first_request(resource).endpoint, now)
