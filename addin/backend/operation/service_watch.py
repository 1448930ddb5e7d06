"""What the answers of the service tell of it: whether it is away, since when, and when it answered last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from math import inf
from operator import attrgetter

import msgspec

from addin.backend.operation.events import tell

FAILURES = 3
"""So many requests in a row without an answer are an outage: one alone may have met a restart."""


AWAY_FOR_S = 70.0
"""So long an outage stands against good answers to questions without a key, which prove less: a service may refuse them
with its database away. While somebody works a request with a key is tried each minute."""


class Learned(msgspec.Struct, frozen=True):
    """What one worker knows of the service: whether it is away, and how long ago that was learned."""

    is_away: bool = False
    ago_s: float | None = None
    """None for a worker that has learned nothing yet: a failure or two say nothing."""


def is_away(workers: Iterable[Learned]) -> bool:
    """Return whether the service is away, by what was learned last."""
    last = min((each for each in workers if each.ago_s is not None), key=attrgetter("ago_s"), default=Learned())
    return last.is_away


class ServiceWatch:
    """Notes each answer of the service, and tells in the log when an outage begins and ends."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._began_at = 0.0
        self._told_at = self._answered_at = -inf
        self.problem: str | None = None
        """Why it is taken to be away; None while it is not."""

    def learned(self) -> Learned:
        """Return what is known now, for all workers to know."""
        at = self._told_at if self.is_away else self._answered_at
        return Learned() if at == -inf else Learned(self.is_away, self._clock() - at)

    @property
    def is_away(self) -> bool:
        """Return whether requests with a key failed several times in a row, and not long ago."""
        return self.problem is not None and self.was_told_within(AWAY_FOR_S)

    def was_told_within(self, seconds: float) -> bool:
        """Return whether something was learned of the service so recently."""
        return self._clock() - self._told_at < seconds

    @property
    def is_in_doubt(self) -> bool:
        """Return whether the last request had no answer, which may have been a restart: it is to be asked."""
        return self._failures > 0 and self.problem is None

    def answered(self, status: int, *, has_key: bool = True) -> None:
        """Note the status of an answer; `has_key`: to a request with a key."""
        if status >= 500:
            self.failed(f"status {status}")
            return
        if not has_key and self._failures and self.was_told_within(AWAY_FOR_S):
            return
        self._told_at = self._answered_at = self._clock()
        self._failures = 0
        if self.problem is not None:
            self.problem = None
            tell("outage_ended", seconds=round(self._clock() - self._began_at, 1))

    def failed(self, reason: str) -> None:
        """Note that there was no answer."""
        if not self._failures:
            self._began_at = self._clock()
        self._failures += 1
        self._told_at = self._clock()
        if self.problem is None and self._failures >= FAILURES:
            tell("outage_begun", reason=reason)
        if self._failures >= FAILURES:
            self.problem = reason
