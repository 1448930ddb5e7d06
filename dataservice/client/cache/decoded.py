"""The decoded answers of this process, bounded by size: cells are answered from here in well under a microsecond."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from itertools import islice
from math import inf
from typing import Any

from msgspec.structs import replace

from dataservice.client.cache.answer import Answer
from dataservice.client.contract.resources import Resource

MAX_WIDER = 64
"""Answers of a family that are looked through for a wider one: a sheet of a hundred thousand days has as many windows
of one signal, and each would be looked through for each."""

ANSWER_BYTES = 1_000  # of objects around a value: resource, answer, dictionary places


class MemoryCache:
    """The last known answer to each resource; the least recently fetched are evicted when `max_bytes` are held.

    Reading takes no lock and may happen in any thread: it is one look into a plain dictionary.
    """

    def __init__(self, max_bytes: int) -> None:
        self.held_bytes = 0
        """About how much memory the answers take."""
        self._max_bytes = max_bytes
        self._answers: dict[Resource[Any], Answer[Any]] = {}
        self._sizes: dict[Resource[Any], int] = {}
        """Of all answers, the one that was put longest ago first."""
        self._families: dict[Hashable, dict[Resource[Any], None]] = {}
        self._lock = threading.Lock()
        self.get: Callable[[Resource[Any]], Answer[Any] | None] = self._answers.get
        """The last known answer to a resource, or None."""

    def resources(self) -> list[Resource[Any]]:
        """The resources with an answer."""
        return list(self._answers)

    def put(self, resource: Resource[Any], answer: Answer[Any], size: int) -> Answer[Any] | None:
        """Keep `answer`, whose value takes about `size` bytes, and return the one before.

        An answer larger than the whole memory is not kept.
        """
        size += ANSWER_BYTES
        with self._lock:
            before, size_before = self._answers.get(resource), self._sizes.pop(resource, 0)
            self._sizes[resource] = size
            self._answers[resource] = answer  # at no moment is there none for those who read meanwhile
            self.held_bytes += size - size_before
            family = resource.family
            if family is not resource:
                self._families.setdefault(family, {})[resource] = None
            if size > self._max_bytes:
                self._drop(resource)
            while self.held_bytes > self._max_bytes:
                self._drop(next(iter(self._sizes)))
        return before

    def family(self, resource: Resource[Any]) -> list[tuple[Resource[Any], Answer[Any]]]:
        """The answers that could hold the one to `resource`: at most `MAX_WIDER`, the earliest fetched."""
        with self._lock:
            members = islice(self._families.get(resource.family, {}), MAX_WIDER)
            return [(member, self._answers[member]) for member in members]

    def drop(self, resource: Resource[Any]) -> None:
        """Forget the answer to `resource`, if there is one."""
        with self._lock:
            if resource in self._answers:
                self._drop(resource)

    def drop_family(self, family: Hashable) -> None:
        """Forget all answers of a family."""
        if family in self._families:
            with self._lock:
                for member in list(self._families.get(family, {})):
                    self._drop(member)

    def expire(self, now: float, *, arrived_by: float = inf) -> None:
        """Let no answer that arrived up to `arrived_by` be fresh any more; none is lost."""
        with self._lock:
            for resource, answer in self._answers.items():
                if answer.fetched_at <= arrived_by:
                    self._answers[resource] = answer.expired(now)

    def move(self, seconds: float) -> None:
        """Date all answers later by `seconds`."""
        with self._lock:
            for resource, old in self._answers.items():
                fetched_at, fresh_until = old.fetched_at + seconds, old.fresh_until + seconds
                self._answers[resource] = replace(old, fetched_at=fetched_at, fresh_until=fresh_until)

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self.held_bytes = 0
            self._sizes.clear()
            self._answers.clear()
            self._families.clear()

    def _drop(self, resource: Resource[Any]) -> None:
        del self._answers[resource]
        self.held_bytes -= self._sizes.pop(resource)
        if members := self._families.get(resource.family):
            members.pop(resource, None)
            if not members:
                del self._families[resource.family]
