"""What a call spends, told while it spends it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Bound:
    """The most requests that some meters together may count, and what they have counted."""

    most: int
    requests: int = 0

    @property
    def is_reached(self) -> bool:
        """Whether not one more request may be sent."""
        return self.requests >= self.most


class Meter:
    """Counts the requests of one call, also of one that fails or goes on after its caller has left.

    With a `bound` no request is sent beyond it.
    """

    __slots__ = ("_heir", "bound", "requests")

    def __init__(self, bound: Bound | None = None) -> None:
        self.requests = 0
        self.bound = bound
        self._heir: Meter | None = None

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
        """What was counted since the last time."""
        taken = max(0, self.requests)
        self.requests -= taken
        return taken
