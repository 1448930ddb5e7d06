"""Answers: a value with its age and source, and the rule for how long it stays fresh."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import Generic, Self, TypeVar

import msgspec

from dataservice.errors import DataServiceError
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
            raise ValueError(f"ttl_s must be 0 or more seconds, not {self.ttl_s!r}")

    def is_fresh(self, fetched_at: float, now: float) -> bool:
        """Return whether an answer that arrived at `fetched_at` needs no request at `now`."""
        return now < self.fresh_until(fetched_at, now)

    def fresh_until(self, fetched_at: float, now: float) -> float:
        """When an answer that arrived at `fetched_at` stops being fresh: `ttl_s` later, or no later than `now`."""
        if self.not_before <= fetched_at <= now + CLOCK_SKEW_S:
            return fetched_at + self.ttl_s
        return min(fetched_at - EXPIRED_S, now)

    def arrival(self, now: float) -> float:
        """The time of arrival of what the service gives `now`: never before a forced refresh that came before it."""
        return max(now, self.not_before)

    def forced(self, now: float) -> Self:
        """The rule from `now` on, when nothing that arrived up to now counts as fresh any more.

        A clock that went back a little must not make fresh what an earlier refresh made old.
        """
        return replace(self, not_before=math.nextafter(max(now, self.not_before), math.inf))
