"""A reader in memory for tests of what drives functions: it counts what would have cost a request."""

from dataclasses import dataclass, field
from typing import Any

from dataservice.client import Answer, CatalogueCheck, Meter, Miss, Resource, Source
from dataservice.errors import NotFoundError

NOW = 1_000_000.0
TTL_S = 900.0


@dataclass
class MemoryReader:
    """Answers from `memory`, then `store`, then by "fetching" from `service`, where an exception is raised."""

    service: dict[Resource[Any], Any] = field(default_factory=dict)
    memory: dict[Resource[Any], Answer[Any]] = field(default_factory=dict)
    store: dict[Resource[Any], Answer[Any]] = field(default_factory=dict)
    reads: list[Resource[Any]] = field(default_factory=list)
    check: CatalogueCheck = CatalogueCheck.NONE
    look_ups: list[Resource[Any]] = field(default_factory=list)

    def peek(self, resource: Resource[Any], *, max_age_s: float | None = None) -> Answer[Any] | None:
        return _fitting(self.memory.get(resource), max_age_s)

    async def last_known(self, resource: Resource[Any]) -> Answer[Any] | None:
        self.look_ups.append(resource)
        return self.memory.get(resource) or self.store.get(resource)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        return self.check if names >= 3 else CatalogueCheck.NONE

    async def read(
        self, resource: Resource[Any], *, known_miss: Miss[Any] | None = None, meter: Meter | None = None
    ) -> Answer[Any]:
        self.reads.append(resource)
        (meter or Meter()).add(1)
        found = self.service.get(resource, NotFoundError("no such resource"))
        if isinstance(found, Exception):
            raise found
        answer = found if isinstance(found, Answer) else answered(found, source=Source.NETWORK, requests=1)
        self.memory[resource] = Answer(answer.value, answer.fetched_at, answer.fresh_until, Source.MEMORY)
        return answer


def answered(value: Any, *, age_s: float = 0.0, source: Source = Source.MEMORY, requests: int = 0) -> Answer[Any]:
    """An answer of that age, fresh for a quarter of an hour from its arrival."""
    return Answer(value, NOW - age_s, NOW - age_s + TTL_S, source, requests)


def _fitting(answer: Answer[Any] | None, max_age_s: float | None) -> Answer[Any] | None:
    if answer is None or (answer.fresh_until <= NOW if max_age_s is None else answer.age_s(NOW) > max_age_s):
        return None
    return answer
