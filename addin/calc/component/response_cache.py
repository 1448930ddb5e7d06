"""The latest answers, so that a recalculation sends no request."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, NamedTuple

from .calls import Call
from .values import Answer, DateColumn, Value

HOLD_S = 10.0
"""The least time that an answer counts as fresh: the recalculation that asked for it must see it."""

MAX_BYTES = 200_000_000
"""Above this size the oldest answers are dropped: some 200,000 single values, or fifty tables of 40,000 rows."""

CALL_BYTES, CELL_BYTES = 700, 40
"""What Python needs for a call with its answer, and for each cell of a table besides its text."""


class CachedAnswer(NamedTuple):
    """A call's last value, and until when it counts as fresh."""

    value: Value
    fresh_until: float
    message: str
    dates: tuple[DateColumn, ...]
    bytes: int = 0


class ResponseCache:
    """The last answer of every call; the clock decides what is fresh."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._answers: dict[Call, CachedAnswer] = {}
        self._bytes = 0

    def get(self, call: Call) -> CachedAnswer | None:
        """The last answer of a call, fresh or not."""
        return self._answers.get(call)

    def is_fresh(self, cached: CachedAnswer | None) -> bool:
        """Return whether there is an answer that may be shown without a new request."""
        return cached is not None and self._clock() < cached.fresh_until

    def put(self, call: Call, answer: Answer) -> None:
        """Cache an answer for as long as it stays fresh."""
        until = self._clock() + max(answer.fresh_s, HOLD_S)
        size = _size(call, answer)
        self._drop(call)
        while self._answers and self._bytes + size > MAX_BYTES:
            self._drop(next(iter(self._answers)))
        self._answers[call] = CachedAnswer(answer.value, until, answer.message, answer.dates, size)
        self._bytes += size

    def _drop(self, call: Call) -> None:
        dropped = self._answers.pop(call, None)
        self._bytes -= dropped.bytes if dropped else 0

    def expire(self) -> None:
        """Let no answer count as fresh; the last values stay, to be shown meanwhile."""
        self._answers = {call: old._replace(fresh_until=0.0, message="") for call, old in self._answers.items()}

    def expire_some(self, calls: Iterable[Call]) -> None:
        """Let the answers of these calls not count as fresh."""
        for call in calls:
            if call in self._answers:
                self._answers[call] = self._answers[call]._replace(fresh_until=0.0)

    def messages(self) -> Iterator[str]:
        """The messages that came with answers, the latest first."""
        return (answer.message for answer in reversed(list(self._answers.values())) if answer.message)


def _size(call: Call, answer: Answer) -> int:
    """About how many bytes a call and its answer take."""
    return CALL_BYTES + len(answer.message) + sum(map(_cells_size, (*call, answer.value)))


def _cells_size(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(CELL_BYTES * len(row) + sum(len(cell) for cell in row if isinstance(cell, str)) for row in value)
    return len(value) if isinstance(value, str) else 0
