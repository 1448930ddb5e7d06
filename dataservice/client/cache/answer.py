"""Answers: a value with its age and source, the rule for how long it stays fresh, and the memory of this process."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from math import inf
from typing import Any, Generic, Self, TypeVar

import msgspec

from dataservice.client.contract.resources import Resource
from dataservice.errors import DataServiceError
from dataservice.key_text import quoted
from dataservice.shown import answer_html

T_co = TypeVar("T_co", covariant=True)

DEFAULT_TTL_S = 900.0
"""A quarter of an hour from arrival: the age that users of the contract's own add-in are used to."""

CLOCK_SKEW_S = 60.0
"""Clocks of machines that share a cache may differ by so much; later times come from a wrong clock."""


EXPIRED_S = 1.0
"""So long before it came an answer stopped being fresh where a forced refresh came after it: a mark, and no time."""


class Source(StrEnum):
    """The source of an answer, nearest first."""

    MEMORY = "memory"
    SHELF = "shelf"
    REDIS = "redis"
    NETWORK = "network"


class Answer(msgspec.Struct, Generic[T_co], frozen=True):
    """A value of the service with its age, and the reason when it is not a fresh one.

    Times are seconds since the epoch (UTC). `requests` is what this answer cost the caller who fetched it:
    0 from a cache, 1 or more from the network.
    """

    value: T_co
    fetched_at: float
    fresh_until: float
    source: Source
    requests: int = 0
    stale_because: DataServiceError | None = None
    is_of_windows: bool = False
    """Whether it is a signal's detail that shows what windows told: then it does not say whether the two agree."""

    def _repr_html_(self) -> str:
        """The value as it shows itself, and below it when and from where it came."""
        stale = f"the last known value: {self.stale_because}" if self.stale_because else None
        return answer_html(self.value, self.fetched_at, f"from the {self.source}", stale)

    def is_fresh(self, now: float) -> bool:
        """Return whether no outer layer needs to ask again at `now`."""
        return now < self.fresh_until

    def fresh_for_s(self, now: float) -> float:
        """Seconds that an outer layer may keep this answer, 0 for a stale one."""
        return max(0.0, self.fresh_until - now)

    def age_s(self, now: float) -> float:
        """Seconds since the service gave this value."""
        return max(0.0, now - self.fetched_at)

    @property
    def is_expired(self) -> bool:
        """Return whether a forced refresh asked for everything anew after this came."""
        return self.fresh_until < self.fetched_at

    def expired(self, now: float) -> Self:
        """The same value, which came before a forced refresh at `now`."""
        return msgspec.structs.replace(self, fresh_until=min(self.fresh_until, self.fetched_at - EXPIRED_S, now))

    def is_within(self, max_age_s: float | None, now: float) -> bool:
        """Return whether it is no older than that, and no refresh has asked for everything anew since; None: fresh."""
        if max_age_s is None:
            return now < self.fresh_until
        return max_age_s == inf or (now - self.fetched_at <= max_age_s and not self.is_expired)

    def stale(self, because: DataServiceError) -> Self:
        """The same value, marked as the last known one, with the reason."""
        return msgspec.structs.replace(self, stale_because=because, requests=0)


@dataclass(frozen=True, slots=True)
class Miss(Generic[T_co]):
    """No cache holds a fresh answer; `last_known` is the old one, if there is any."""

    last_known: Answer[T_co] | None


@dataclass(frozen=True, slots=True)
class Freshness:
    """The rule: fresh for `ttl_s` seconds from arrival, unless it arrived before `not_before` (a forced refresh)."""

    ttl_s: float = DEFAULT_TTL_S
    not_before: float = float("-inf")

    def __post_init__(self) -> None:
        if not self.ttl_s >= 0:
            raise ValueError(f"ttl_s must be 0 or more seconds, not {quoted(self.ttl_s)}")

    def is_fresh(self, fetched_at: float, now: float) -> bool:
        """Return whether an answer that arrived at `fetched_at` needs no request at `now`."""
        return now < self.fresh_until(fetched_at, now)

    def fresh_until(self, fetched_at: float, now: float) -> float:
        """When an answer that arrived at `fetched_at` stops being fresh: `ttl_s` later, or no later than `now`.

        One that another clock dates a little after `now` has arrived by then.
        """
        if self.not_before <= fetched_at <= now + CLOCK_SKEW_S:
            return min(fetched_at, now) + self.ttl_s
        return min(fetched_at - EXPIRED_S, now)

    def arrival(self, now: float) -> float:
        """The time of arrival of what the service gives `now`: never before a forced refresh that came before it."""
        return max(now, self.not_before)

    def forced(self, now: float) -> Self:
        """The rule from `now` on, when nothing that arrived up to now counts as fresh any more.

        A clock that went back a little must not make fresh what an earlier refresh made old.
        """
        return replace(self, not_before=math.nextafter(max(now, self.not_before), math.inf))


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
                self._answers[resource] = msgspec.structs.replace(old, fetched_at=fetched_at, fresh_until=fresh_until)

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
