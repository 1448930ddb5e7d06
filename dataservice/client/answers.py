"""An answer: a value, and all that a careful reader wants to know about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, Self, TypeVar

from dataservice.errors import DataServiceError

__all__ = ["Answer", "Source"]

T_co = TypeVar("T_co", covariant=True)


class Source(StrEnum):
    """Where an answer was taken from, nearest first."""

    MEMORY = "memory"
    SHELF = "shelf"
    REDIS = "redis"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
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

    def is_fresh(self, now: float) -> bool:
        """Whether no outer layer needs to ask again at `now`."""
        return now < self.fresh_until

    def fresh_for_s(self, now: float) -> float:
        """Seconds that an outer layer may keep this answer, 0 for a stale one."""
        return max(0.0, self.fresh_until - now)

    def age_s(self, now: float) -> float:
        """Seconds since the service gave this value."""
        return max(0.0, now - self.fetched_at)

    def stale(self, because: DataServiceError) -> Self:
        """The same value, marked as the last known one, with the reason."""
        return replace(self, stale_because=because, requests=0)
