"""Leases inside one process: who may do a piece of work, and until when."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Lease", "may_take"]


@dataclass(frozen=True, slots=True)
class Lease:
    """`owner` may work until `expires_at`."""

    owner: str
    expires_at: float


def may_take(held: Lease | None, owner: str, now: float) -> bool:
    """Whether `owner` may take a lease that is `held`: free, expired, or its own."""
    return held is None or held.owner == owner or now >= held.expires_at
