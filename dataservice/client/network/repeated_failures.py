"""Answers that end alike for one resource after another: when to stop asking for the others.

A refusal such as 403 may concern one signal, or the key with all its signals. Each answer costs a request, so after
several with no good one between them only a few more are tried: the 1st, 2nd, 4th, 8th … that comes, and one every few
minutes. As soon as one is good, all may be asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dataservice.client.contract.requests import Endpoint
from dataservice.client.contract.resources import HistoryResource, Resource, SignalResource
from dataservice.errors import DataServiceError, UnavailableError

PATIENCE = 8
"""So many resources of an endpoint may end badly in a row, before the others are asked one here and there."""

PATIENCE_WHERE_ANSWERED = 32
"""The same where the endpoint has answered before: then it rather is about the resources."""

TRY_AGAIN_S = 300.0


@dataclass(slots=True)
class _Row:
    """What an endpoint said since its last good answer."""

    bad: set[str | Resource[Any] | None] = field(default_factory=set)
    error: DataServiceError | None = None
    turned_away: int = 0
    try_at: float = 0.0


class RepeatedFailureGuard:
    """Which endpoints have given only bad answers lately; reads no clock."""

    def __init__(self) -> None:
        self._rows: dict[Endpoint, _Row] = {}
        self._has_answered: set[Endpoint] = set()

    def note(self, error: DataServiceError, resource: Resource[Any] | None, endpoint: Endpoint, now: float) -> None:
        """Remember that `resource` ended in `error`."""
        row = self._rows.setdefault(endpoint, _Row())
        if len(row.bad) < PATIENCE_WHERE_ANSWERED:
            row.bad.add(resource.slug if isinstance(resource, SignalResource | HistoryResource) else resource)
        row.error, row.try_at = error, now + TRY_AGAIN_S

    def answered(self, endpoint: Endpoint) -> None:
        """The endpoint gave a good answer."""
        self._rows.pop(endpoint, None)
        self._has_answered.add(endpoint)

    def turn_away(self, endpoint: Endpoint, now: float) -> DataServiceError | None:
        """Why the next request to `endpoint` is not sent; None where it is. Each call is counted."""
        row = self._rows.get(endpoint)
        if row is None or row.error is None:
            return None
        patience = PATIENCE_WHERE_ANSWERED if endpoint in self._has_answered else PATIENCE
        if len(row.bad) < patience:
            return None
        if now >= row.try_at:
            row.try_at = now + TRY_AGAIN_S
            return None
        row.turned_away += 1
        if row.turned_away.bit_count() == 1:  # a power of two
            return None
        return UnavailableError(f"not asked, as {patience} or more others in a row failed: {row.error.message}")

    def reset(self) -> None:
        """Let all be asked again; that an endpoint has answered before stays known."""
        self._rows.clear()
