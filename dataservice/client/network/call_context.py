"""One call of the client: what it is about, how long it may take, and what it spends."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from dataservice.client.contract.resources import Resource
from dataservice.client.network.meter import Meter
from dataservice.client.pacing.retry_policy import RetryPolicy


class Progress:
    """When a client was last answered anything."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self.at = float("-inf")
        """By the client's clock."""
        self._timer = timer
        self._timer_at = float("-inf")

    def note(self, now: float) -> None:
        """There was an answer."""
        self.at, self._timer_at = now, self._timer()

    def ago_s(self) -> float:
        """The seconds since then, also where the client's clock stands still."""
        return self._timer() - self._timer_at


@dataclass(slots=True)
class CallContext:
    """One call. Its deadline counts its own exchanges, and of its waiting only the time in which nobody is answered."""

    resource: Resource[Any] | None
    waiting_since: float
    deadline_s: float
    retry_policy: RetryPolicy
    meter: Meter = field(default_factory=Meter)
    """Counts what the call spends, while it spends it."""
    progress: Progress = field(default_factory=Progress)
    """Of all calls of the client."""
    before_request: Callable[[], Awaitable[None]] | None = None
    """Awaited before each request: a call of many requests has to renew its lease."""
    hand_over: Callable[[], str] = str
    """Who holds the lease of the call; whoever asks ends it, in the step in which the answer is kept."""
    arrival: int | None = None
    """Its number among all that wait for a turn: it keeps its turn when it has to wait again."""
    _used_s: float = 0.0
    _sent_at: float | None = None

    def left_s(self, now: float) -> float:
        """Seconds until the deadline."""
        since = max(self.waiting_since, self.progress.at) if self._sent_at is None else self._sent_at
        return self.deadline_s - self._used_s - (now - since)

    def elapsed_s(self, now: float) -> float:
        """Seconds that count so far."""
        return self.deadline_s - self.left_s(now)

    def begin_exchange(self, now: float) -> None:
        """Its turn has come."""
        self._used_s, self._sent_at = self.elapsed_s(now), now

    def end_exchange(self, now: float) -> None:
        """It waits again."""
        if self._sent_at is not None:
            self._used_s += now - self._sent_at
        self._sent_at, self.waiting_since = None, now

    def begin_again(self, now: float) -> None:
        """Give it the whole deadline once more."""
        self._used_s, self.waiting_since = 0.0, now
