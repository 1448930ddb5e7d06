"""The decoded answers of this process, bounded by size: what a cell is answered from in well under a microsecond."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from cachetools import LRUCache

from dataservice.client.cache.answer import Answer
from dataservice.client.contract.resources import Resource

ANSWER_BYTES = 1_000  # of objects around a value: resource, answer, dictionary places


@dataclass(frozen=True, slots=True)
class _Sized:
    answer: Answer[Any]
    size: int


class MemoryCache:
    """The last known answer to each resource; the least recently fetched go first when `max_bytes` are held.

    Reading takes no lock and may happen in any thread: it is one look into a plain dictionary.
    """

    def __init__(self, max_bytes: int) -> None:
        self.by_resource: dict[Resource[Any], Answer[Any]] = {}
        self._families: dict[Hashable, dict[Resource[Any], None]] = {}
        self._order = _Order(max_bytes, self)
        self._lock = threading.Lock()

    def put(self, resource: Resource[Any], answer: Answer[Any], size: int) -> None:
        """Keep `answer`, whose value takes about `size` bytes; one larger than the whole memory is not kept."""
        with self._lock:
            self._order.pop(resource, None)
            sized = _Sized(answer, size + ANSWER_BYTES)
            if sized.size > self._order.maxsize:
                self._dropped(resource)
                return
            self._order[resource] = sized
            self.by_resource[resource] = answer
            if resource.family != resource:
                self._families.setdefault(resource.family, {})[resource] = None

    def family(self, resource: Resource[Any]) -> list[tuple[Resource[Any], Answer[Any]]]:
        """The answers that could hold the one to `resource`."""
        with self._lock:
            members = self._families.get(resource.family, {})
            return [(member, self.by_resource[member]) for member in members]

    def drop_family(self, resource: Resource[Any]) -> None:
        """Forget all answers of the family of `resource`."""
        with self._lock:
            for member in list(self._families.get(resource.family, {})):
                del self._order[member]
                self._dropped(member)

    def expire(self, now: float) -> None:
        """Let no answer be fresh any more; none is lost."""
        with self._lock:
            for resource, sized in list(self._order.items()):
                answer = replace(sized.answer, fresh_until=min(sized.answer.fresh_until, now))
                self.by_resource[resource] = answer
                self._order[resource] = replace(sized, answer=answer)

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._order.clear()
            self.by_resource.clear()
            self._families.clear()

    def _dropped(self, resource: Resource[Any]) -> None:
        self.by_resource.pop(resource, None)
        members = self._families.get(resource.family)
        if members is not None:
            members.pop(resource, None)
            if not members:
                del self._families[resource.family]


class _Order(LRUCache[Resource[Any], _Sized]):
    """Who goes next; tells its owner who went."""

    def __init__(self, max_bytes: int, owner: MemoryCache) -> None:
        super().__init__(max_bytes, getsizeof=lambda sized: sized.size)
        self._owner = owner

    def popitem(self) -> tuple[Resource[Any], _Sized]:
        resource, sized = super().popitem()
        self._owner._dropped(resource)  # noqa: SLF001 - the two are one concept
        return resource, sized
