"""A client at one moment, for a preview: each thing is looked up once."""

from __future__ import annotations

from datetime import date
from math import inf
from typing import Any, TypeVar

from dataservice.client import Answer, AsyncClient, CatalogueCheck, Cost, Meter, Miss, Refresh, Resource

T = TypeVar("T")


class Snapshot:
    """A client at one moment: as it is, or as it will be right after a refresh.

    After a refresh nothing is blocked, and by force nothing is fresh. What was looked up once is not looked up again:
    each guess asks for the same, and a look into the store costs more than all that is made of it.
    """

    def __init__(self, client: AsyncClient, mode: Refresh | None, now: float) -> None:
        self._client = client
        self._mode = mode
        self._now = now
        self._last_known: dict[Resource[Any], Answer[Any] | None] = {}
        self._known_after: dict[tuple[Resource[Any], date], Answer[Any] | None] = {}
        self._costs: dict[tuple[Resource[Any], date | None], Cost] = {}

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory."""
        found = self._client.peek(resource, max_age_s=max_age_s)
        if self._mode is not Refresh.FORCE:
            return found
        found = self._aged(found)
        return found if found is not None and found.is_within(max_age_s, self._now) else None

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache."""
        if resource not in self._last_known:
            self._last_known[resource] = self._aged(await self._client.last_known(resource))
        return self._last_known[resource]

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """How so many names are to be tried, as far as is known now."""
        return await self._client.catalogue_check(names, waits=False)

    async def cost_of(self, resource: Resource[Any], *, shown_from: date | None = None) -> Cost:
        """Return what reading `resource` would spend."""
        asked = resource, shown_from
        if asked not in self._costs:
            self._costs[asked] = await self._client.cost_of(resource, after=self._mode, shown_from=shown_from)
        return self._costs[asked]

    async def known_after(self, resource: Resource[T], shown_from: date) -> Answer[T] | None:
        """Return what will be known of a signal's past when its next detail shows the days `shown_from` on."""
        asked = resource, shown_from
        if asked not in self._known_after:
            self._known_after[asked] = await self._client.known_after(resource, shown_from, after=self._mode)
        return self._known_after[asked]

    def complete_wider(self, resource: Resource[Any]) -> Resource[Any] | None:
        """The list that is asked for again in place of a stale narrower one."""
        return self._client.complete_wider(resource)

    async def read(
        self,
        resource: Resource[T],  # noqa: ARG002 - a reader's signature
        *,
        known_miss: Miss[T] | None = None,  # noqa: ARG002
        meter: Meter | None = None,  # noqa: ARG002
    ) -> Answer[T]:
        """Nothing is read for a preview."""
        raise AssertionError("a preview reads nothing")

    def _aged(self, answer: Answer[T] | None) -> Answer[T] | None:
        if answer is None or self._mode is not Refresh.FORCE or answer.fresh_until == inf:
            return answer  # what is known of the past no refresh makes old
        return answer.expired(self._now)
