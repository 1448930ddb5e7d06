"""What a call spends, told while it spends it."""

from __future__ import annotations


class Meter:
    """Counts the requests of one call, also of one that fails or goes on after its caller has left."""

    __slots__ = ("_heir", "requests")

    def __init__(self) -> None:
        self.requests = 0
        self._heir: Meter | None = None

    def add(self, requests: int) -> None:
        """Count so many more; fewer than 0 give back what was counted and never sent."""
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
