"""The latest answers, so that a recalculation sends no request."""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple

from .calls import Call
from .values import Answer, DateColumn, Value

HOLD_S = 10.0
"""The least time that an answer counts as fresh: the recalculation that asked for it must see it."""

MAX_CALLS = 200_000
"""Above this number the oldest answers are dropped; in Calc itself so many calls take some 100 MB."""


class CachedAnswer(NamedTuple):
    """A call's last value, and until when it counts as fresh."""

    value: Value
    fresh_until: float
    message: str
    dates: tuple[DateColumn, ...]


class ResponseCache:
    """The last answer of every call; the clock decides what is fresh."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._answers: dict[Call, CachedAnswer] = {}

    def get(self, call: Call) -> CachedAnswer | None:
        """The last answer of a call, fresh or not."""
        return self._answers.get(call)

    def is_fresh(self, cached: CachedAnswer | None) -> bool:
        """Whether there is an answer that may be shown without a new request."""
        return cached is not None and self._clock() < cached.fresh_until

    def put(self, call: Call, answer: Answer) -> None:
        """Cache an answer for as long as it stays fresh."""
        self._answers.pop(call, None)
        while len(self._answers) >= MAX_CALLS:
            del self._answers[next(iter(self._answers))]
        until = self._clock() + max(answer.fresh_s, HOLD_S)
        self._answers[call] = CachedAnswer(answer.value, until, answer.message, answer.dates)

    def expire(self) -> None:
        """Let no answer count as fresh; the last values stay, to be shown meanwhile."""
        self._answers = {call: old._replace(fresh_until=0.0, message="") for call, old in self._answers.items()}

    def messages(self) -> Iterator[str]:
        """The messages that came with answers, the latest first."""
        return (answer.message for answer in reversed(list(self._answers.values())) if answer.message)
