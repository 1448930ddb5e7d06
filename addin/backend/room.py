"""Room for what requests hold in memory at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException

RETRY_AFTER_S = 5
"""When a refused caller may try again: most batches are done by then."""


class Room:
    """At most `capacity` of something (`what`) for all requests under way; one more is refused at once."""

    def __init__(self, capacity: int, what: str) -> None:
        self._capacity = capacity
        self._what = what
        self.held = 0

    @contextmanager
    def share(self) -> Iterator[Share]:
        """A share that is given back at the end of the block."""
        share = Share(self)
        try:
            yield share
        finally:
            self.held -= share.amount

    def take(self, amount: int) -> None:
        """Take so much more; raises `HTTPException` 503 if it does not fit."""
        if self.held + amount > self._capacity:
            raise HTTPException(
                503,
                f"the backend is busy with too many {self._what} of other requests; try again in a few seconds",
                headers={"retry-after": str(RETRY_AFTER_S)},
            )
        self.held += amount


class Share:
    """What one request holds of a room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.amount = 0

    def grow(self, amount: int) -> None:
        """Hold so much more; raises `HTTPException` 503 if the room is full."""
        self._room.take(amount)
        self.amount += amount
