"""What Calc was told lately, so that a recalculation asks nobody."""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple

from .calls import Call
from .values import DateColumn, Value, Verdict

HOLD_S = 10.0
"""How long any answer serves at least: the recalculation it was asked for must see it, or would ask for ever."""

MAX_CALLS = 200_000
"""Above this many the oldest are forgotten; a sheet of so many calls takes some 100 MB in Calc itself."""


class Known(NamedTuple):
    """A call's last value, and until when it may be shown without asking."""

    value: Value
    fresh_until: float
    message: str
    dates: tuple[DateColumn, ...]


class Memo:
    """The last value of every call; an injected clock says what is fresh."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: dict[Call, Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, call: Call) -> Known | None:
        """What is known of a call, fresh or not."""
        return self._known.get(call)

    def is_fresh(self, known: Known | None) -> bool:
        """Whether it may be shown without asking."""
        return known is not None and self._clock() < known.fresh_until

    def put(self, call: Call, verdict: Verdict) -> None:
        """Keep an answer for as long as it says."""
        self._known.pop(call, None)
        while len(self._known) >= MAX_CALLS:
            del self._known[next(iter(self._known))]
        until = self._clock() + max(verdict.fresh_s, HOLD_S)
        self._known[call] = Known(verdict.value, until, verdict.message, verdict.dates)

    def expire(self) -> None:
        """From now on everything is asked again; the last values stay, to be shown meanwhile."""
        self._known = {call: known._replace(fresh_until=0.0, message="") for call, known in self._known.items()}

    def messages(self) -> Iterator[str]:
        """The messages that came with values, the latest first."""
        return (known.message for known in reversed(list(self._known.values())) if known.message)
