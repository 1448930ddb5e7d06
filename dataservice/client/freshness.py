"""How long an answer of the service counts as fresh."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_TTL_S", "Freshness"]

DEFAULT_TTL_S = 900.0
"""Quarter of an hour from arrival, the age that users of the contract's own add-in are used to."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The rule: fresh for `ttl_s` seconds from arrival, unless it arrived before `not_before` (a forced refresh)."""

    ttl_s: float = DEFAULT_TTL_S
    not_before: float = float("-inf")

    def __post_init__(self) -> None:
        if not self.ttl_s >= 0:
            raise ValueError(f"ttl_s must be 0 or more seconds, not {self.ttl_s!r}")

    def is_fresh(self, fetched_at: float, now: float) -> bool:
        """Whether an answer that arrived at `fetched_at` needs no request at `now`."""
        return now < self.fresh_until(fetched_at)

    def fresh_until(self, fetched_at: float) -> float:
        """When an answer that arrived at `fetched_at` stops being fresh; at most `ttl_s` behind its arrival."""
        return fetched_at + self.ttl_s if fetched_at >= self.not_before else fetched_at
