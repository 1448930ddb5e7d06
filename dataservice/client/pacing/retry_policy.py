"""When to try again, and when to give up: a pure policy."""

from __future__ import annotations

from dataclasses import dataclass

BASE_S = 0.25
CAP_S = 4.0
ATTEMPTS = 5  # with the doubling above, the fifth comes on average 2 s after the first


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to try again: full-jitter backoff within `limit_s` seconds in all and at most `attempts` requests."""

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
