"""What is known of each resource, in one word, for people who ask why a cell shows what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dataservice.client.answers import Answer, Source
from dataservice.client.resources import Resource
from dataservice.errors import (
    AuthenticationError,
    BudgetError,
    DataServiceError,
    MissingKeyError,
    QuotaExceededError,
    TierError,
    UnavailableError,
)

__all__ = ["ResourceState", "State", "state_of"]


class State(StrEnum):
    """fresh and stale: there is a value. Otherwise why there is none, or why it cannot be renewed now."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    LOCKED = "locked"
    SPENT = "spent"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class ResourceState:
    """One resource as this process knows it; `fetched_at` and `source` are None where there is no value.

    `revised_at` is when the service was last seen to have changed the past of a signal.
    """

    resource: Resource[Any]
    state: State
    fetched_at: float | None = None
    source: Source | None = None
    last_error: DataServiceError | None = None
    revised_at: float | None = None


def state_of(answer: Answer[Any] | None, closed: DataServiceError | None, now: float) -> State:
    """The state of a resource with this last known `answer`, while `closed` keeps the service from being asked."""
    if answer is not None and answer.is_fresh(now):
        return State.FRESH
    match closed:
        case MissingKeyError() | AuthenticationError() | TierError():
            return State.LOCKED
        case QuotaExceededError() | BudgetError():
            return State.SPENT
        case UnavailableError():
            return State.OFFLINE
        case _:
            return State.MISSING if answer is None else State.STALE
