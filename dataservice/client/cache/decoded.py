"""The decoded answers of this process, bounded by size: cells are answered from here in well under a microsecond."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import islice
from math import inf
from operator import attrgetter
from typing import Any

from cachetools import LRUCache
from msgspec.structs import replace

from dataservice.client.cache.answer import Answer
from dataservice.client.contract.resources import Resource

MAX_WIDER = 64
"""Answers of a family that are looked through for a wider one: a sheet of a hundred thousand days has as many windows
of one signal, and each would be looked through for each."""

ANSWER_BYTES = 1_000  # of objects around a value: resource, answer, dictionary places


@dataclass(frozen=True, slots=True)
class _Sized:
    answer: Answer[Any]
    size: int


class MemoryCache:
    """The last known answer to each resource; the least recently fetched are evicted when `max_bytes` are held.

    Reading takes no lock and may happen in any thread: it is one look into a plain dictionary.
    """

    def __init__(self, max_bytes: int) -> None:
        self._answers: dict[Resource[Any], Answer[Any]] = {}
        self._families: dict[Hashable, dict[Resource[Any], None]] = {}
        self._by_age = _ByAge(max_bytes, self._evicted)
        self._lock = threading.Lock()
        self.get: Callable[[Resource[Any]], Answer[Any] | None] = self._answers.get
        """The last known answer to a resource, or None."""

    @property
    def held_bytes(self) -> int:
        """About how much memory the answers take."""
        return int(self._by_age.currsize)

    def resources(self) -> list[Resource[Any]]:
        """The resources with an answer."""
        return list(self._answers)

    def put(self, resource: Resource[Any], answer: Answer[Any], size: int) -> Answer[Any] | None:
        """Keep `answer`, whose value takes about `size` bytes, and return the one before.

        An answer larger than the whole memory is not kept.
        """
        with self._lock:
            before = self._by_age.pop(resource, None)
            sized = _Sized(answer, size + ANSWER_BYTES)
            if sized.size > self._by_age.maxsize:
                self._evicted(resource)
            else:
                self._by_age[resource] = sized
                self._answers[resource] = answer
                if resource.family != resource:
                    self._families.setdefault(resource.family, {})[resource] = None
        return None if before is None else before.answer

    def family(self, resource: Resource[Any]) -> list[tuple[Resource[Any], Answer[Any]]]:
        """The answers that could hold the one to `resource`: at most `MAX_WIDER`, the earliest fetched."""
        with self._lock:
            members = islice(self._families.get(resource.family, {}), MAX_WIDER)
            return [(member, self._answers[member]) for member in members]

    def drop(self, resource: Resource[Any]) -> None:
        """Forget the answer to `resource`, if there is one."""
        with self._lock:
            if self._by_age.pop(resource, None) is not None:
                self._evicted(resource)

    def drop_family(self, resource: Resource[Any]) -> None:
        """Forget all answers of the family of `resource`."""
        with self._lock:
            for member in list(self._families.get(resource.family, {})):
                del self._by_age[member]
                self._evicted(member)

    def expire(self, now: float, *, arrived_by: float = inf) -> None:
        """Let no answer that arrived up to `arrived_by` be fresh any more; none is lost."""
        with self._lock:
            for resource, sized in list(self._by_age.items()):
                if sized.answer.fetched_at > arrived_by:
                    continue
                answer = sized.answer.expired(now)
                self._answers[resource] = answer
                self._by_age[resource] = _Sized(answer, sized.size)

    def move(self, seconds: float) -> None:
        """Date all answers later by `seconds`."""
        with self._lock:
            for resource, sized in list(self._by_age.items()):
                old = sized.answer
                answer = replace(old, fetched_at=old.fetched_at + seconds, fresh_until=old.fresh_until + seconds)
                self._answers[resource] = answer
                self._by_age[resource] = _Sized(answer, sized.size)

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._by_age.clear()
            self._answers.clear()
            self._families.clear()

    def _evicted(self, resource: Resource[Any]) -> None:
        self._answers.pop(resource, None)
        members = self._families.get(resource.family)
        if members is not None:
            members.pop(resource, None)
            if not members:
                del self._families[resource.family]


class _ByAge(LRUCache[Resource[Any], _Sized]):
    """Evicts the least recently fetched entry, and reports which one that was."""

    def __init__(self, max_bytes: int, evicted: Callable[[Resource[Any]], None]) -> None:
        super().__init__(max_bytes, getsizeof=attrgetter("size"))
        self._report = evicted

    def popitem(self) -> tuple[Resource[Any], _Sized]:
        resource, sized = super().popitem()
        self._report(resource)
        return resource, sized
