"""What is known and what the rest would cost, without asking the service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dataservice.client.costing import catalogue_cost, history_cost, uncovered
from dataservice.client.latches import Latches
from dataservice.client.requests import can_exist, first_request
from dataservice.client.resources import CatalogueResource, HistoryResource, Resource, SignalResource
from dataservice.client.states import ResourceState, state_of
from dataservice.client.tiers import Tiers
from dataservice.errors import DataServiceError

__all__ = ["Overview"]


class Overview:
    """Looks at the tiers and the latches of one client."""

    def __init__(self, tiers: Tiers, latches: Latches, *, clock: Callable[[], float]) -> None:
        self._tiers = tiers
        self._latches = latches
        self._clock = clock

    async def cost(self, resources: Iterable[Resource[Any]]) -> int:
        """How many requests reading all of `resources` now would spend at most."""
        return sum([await self._cost(resource) for resource in uncovered(resources)])

    def states(self, last_errors: Mapping[Resource[Any], DataServiceError]) -> list[ResourceState]:
        """The state of every resource with an answer in memory, and of those that have only an error."""
        resources = {**self._tiers.known.by_resource, **last_errors}
        return [self._state(resource, last_errors.get(resource)) for resource in resources]

    async def _cost(self, resource: Resource[Any]) -> int:
        now = self._clock()
        if not can_exist(resource) or self._closed(resource, now) is not None:
            return 0
        known = await self._tiers.find(resource, now)
        if known is not None and known.is_fresh(now):
            return 0
        match resource:
            case CatalogueResource():
                return catalogue_cost(known)
            case HistoryResource(slug):
                detail = await self._tiers.find(SignalResource(slug), now)
                history = await self._tiers.history(resource)
                return history_cost(resource, history, detail.value if detail else None, now, self._tiers.rules)
            case _:
                return 1

    def _state(self, resource: Resource[Any], last_error: DataServiceError | None) -> ResourceState:
        now, answer = self._clock(), self._tiers.known.by_resource.get(resource)
        closed = self._closed(resource, now)
        return ResourceState(
            resource,
            state_of(answer, closed, now),
            None if answer is None else answer.fetched_at,
            None if answer is None else answer.source,
            closed or last_error,
            self._tiers.revised.get(resource.slug) if isinstance(resource, HistoryResource) else None,
        )

    def _closed(self, resource: Resource[Any], now: float) -> DataServiceError | None:
        return self._latches.closed(resource, first_request(resource).endpoint, now)
