"""What the answers of the service tell of it: whether it is away, since when, and when it answered last."""

from __future__ import annotations

import time
from collections.abc import Callable

from addin.backend.operation.events import tell

FAILURES = 3
"""So many requests in a row without an answer are an outage: one alone may have met a restart."""


class ServiceWatch:
    """Notes each answer of the service, and tells in the log when an outage begins and ends."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._began_at = 0.0
        self._told_at = float("-inf")
        self.problem: str | None = None
        """Why it is taken to be away; None while it is not."""

    def was_told_within(self, seconds: float) -> bool:
        """Return whether something was learned of the service so recently."""
        return self._clock() - self._told_at < seconds

    @property
    def is_in_doubt(self) -> bool:
        """Return whether the last request had no answer, which may have been a restart: it is to be asked."""
        return self._failures > 0 and self.problem is None

    def answered(self, status: int) -> None:
        """Note the status of an answer."""
        if status >= 500:
            self.failed(f"status {status}")
            return
        self._told_at, self._failures = self._clock(), 0
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
