"""One call of the client: what it is about, how long it may take and how often be tried, and what it spends."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from dataservice.client.contract.resources import Resource


@dataclass(slots=True)
class Bound:
    """The most requests that some meters together may count, and what they have counted."""

    most: int
    requests: int = 0

    @property
    def is_reached(self) -> bool:
        """Return whether not one more request may be sent."""
        return self.requests >= self.most


@dataclass(slots=True, eq=False)
class Meter:
    """Counts the requests of one call, also of one that fails or goes on after its caller has left.

    With a `bound` no request is sent beyond it.
    """

    bound: Bound | None = None
    requests: int = 0
    _heir: Meter | None = None

    def add(self, requests: int) -> None:
        """Count so many more; fewer than 0 give back what was counted and never sent."""
        if self.bound is not None:
            self.bound.requests += requests
        if self._heir is not None:
            self._heir.add(requests)
        else:
            self.requests += requests

    def pass_to(self, heir: Meter) -> None:
        """Let `heir` count what comes from now on: this meter has been read for the last time."""
        self._heir = heir

    def take(self) -> int:
        """Return what was counted since the last time."""
        taken = max(0, self.requests)
        self.requests -= taken
        return taken


BASE_S = 0.25
CAP_S = 4.0
ATTEMPTS = 5  # with the doubling above, the fifth comes on average 2 s after the first


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A policy of retries: full-jitter backoff within `limit_s` seconds in all and at most `attempts` requests."""

    limit_s: float
    attempts: int = ATTEMPTS

    def wait_s(self, attempt: int, elapsed_s: float, chance: float, retry_after_s: float | None = None) -> float | None:
        """The seconds to wait after failed `attempt` (1 is the first), or None to give up.

        `chance` is uniform in [0, 1): callers that failed together do not come back together. A wait the service asked
        for is never cut short; if it does not fit into the limit, the call gives up at once.
        """
        if attempt >= self.attempts:
            return None
        backoff_s = chance * min(CAP_S, BASE_S * 2.0 ** (attempt - 1))
        wait_s = max(backoff_s, retry_after_s or 0.0)
        return wait_s if elapsed_s + wait_s < self.limit_s else None


class Progress:
    """The moment at which a client was last answered anything."""

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
        self._used_s, self._sent_at = self.deadline_s - self.left_s(now), now

    def end_exchange(self, now: float) -> None:
        """It waits again."""
        if self._sent_at is not None:
            self._used_s += now - self._sent_at
        self._sent_at, self.waiting_since = None, now

    def begin_again(self, now: float) -> None:
        """Give it the whole deadline once more."""
        self._used_s, self.waiting_since = 0.0, now


LIMITED_TIMES = 18
"""So often a request comes again that was refused for coming too soon: others may take whatever the service allows."""

TOGETHER_TIMES, TOGETHER_SUM = 5, 15
"""So often at least, where other requests about the same were refused, too, and all of them so often in sum."""

AGAIN_TIMES = 2
"""So often what was given up before, until it is answered."""


class LimitedNames:
    """Counts the refusals by what was asked about, such as a signal, since it was answered last."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._given_up: set[str] = set()

    def answered(self, about: str) -> None:
        """It was answered: what was refused before was the pace."""
        self._times.pop(about, None)
        self._given_up.discard(about)

    def is_enough(self, about: str, times: int) -> bool:
        """Count a refusal, the so many-th of one request; return whether to give this request up."""
        together = self._times[about] = self._times.get(about, 0) + 1
        most = AGAIN_TIMES if about in self._given_up else LIMITED_TIMES
        is_together = min(times, together - times) >= TOGETHER_TIMES and together >= TOGETHER_SUM
        if times < most and not is_together:
            return False
        self._given_up.add(about)
        return True
