"""A reader for one run over many books: what the run has asked once, it does not ask again, however long it takes."""

from __future__ import annotations

from typing import Any, TypeVar

from cachetools import LRUCache

from dataservice.client import Answer, AsyncClient, CatalogueCheck, Meter, Miss, Resource

T = TypeVar("T")

MAX_ANSWERS = 5_000
"""Answers that a run holds: those of hundreds of books. Any other lasts as long as it is fresh."""


class WithinRun:
    """Reads through a client; an answer that the run was given counts as fresh to its end, so that all books agree."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._answers: LRUCache[Resource[Any], Answer[Any]] = LRUCache(MAX_ANSWERS)

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer of this run, else the one in memory: a fresh one, or with `max_age_s` one that is not older."""
        given = self._answers.get(resource) if max_age_s is None else None
        return given or self._noted(resource, self._client.peek(resource, max_age_s=max_age_s), max_age_s)

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache, however old."""
        return self._answers.get(resource) or await self._client.last_known(resource)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """As the client."""
        return await self._client.catalogue_check(names)

    async def read(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer of this run, else that of the client."""
        if (given := self._answers.get(resource)) is not None:
            return given
        answer = await self._client.read(resource, known_miss=known_miss, meter=meter)
        return self._noted(resource, answer) or answer

    def _noted(
        self, resource: Resource[T], answer: Answer[T] | None, max_age_s: float | None = None
    ) -> Answer[T] | None:
        """The answer, held for the rest of the run if it was a fresh one."""
        if answer is not None and max_age_s is None and answer.stale_because is None:
            self._answers[resource] = answer
        return answer
