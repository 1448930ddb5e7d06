"""The answers to earlier calls, encoded and ready to be sent, by the raw text of the call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

import msgspec

CLOCK_STEP_S = 5.0
"""A clock that goes back by less is only corrected."""

_OVERHEAD_BYTES = 200
"""What a cache entry needs besides its texts: objects, hash table and list links."""


class Ready(msgspec.Struct, frozen=True, gc=False):
    """An encoded answer up to its `fresh_s`, until when it may be sent, and when it was made (seconds since 1970)."""

    head: bytes
    fresh_until: float
    made_at: float = 0.0


class ResponseCache:
    """Encoded answers by the raw text of their call, at most `max_bytes` with these texts; the least used go first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, Ready] = OrderedDict()
        """The answers, the least recently used first."""
        self.held_bytes = 0
        """The bytes in use."""

    def __len__(self) -> int:
        return len(self._kept)

    def fresh(self, call: bytes, now: float) -> Ready | None:
        """The answer to a call, None if there is no fresh one."""
        return self.all_fresh((call,), now)[0]

    def all_fresh(self, calls: Sequence[bytes], now: float) -> list[Ready | None]:
        """The answers to many calls, None in the place of each that has no fresh one."""
        kept = self._kept
        latest = now + CLOCK_STEP_S  # answers of a later time are from before the clock was set back
        found = [
            each if each is not None and now < each.fresh_until and each.made_at <= latest else None
            for each in map(kept.get, calls)
        ]
        used = kept.move_to_end
        for call, ready in zip(calls, found, strict=True):
            if ready is not None:
                used(call)
        return found

    def put(self, call: bytes, ready: Ready) -> None:
        """Cache an answer; one larger than the whole cache is skipped."""
        self.put_all([(call, ready)])

    def put_all(self, answers: Iterable[tuple[bytes, Ready]]) -> None:
        """Cache many answers, each with its call."""
        kept, most, held = self._kept, self._max_bytes, self.held_bytes
        for call, ready in answers:
            size = len(call) + len(ready.head) + _OVERHEAD_BYTES
            if size > most:
                continue
            if call in kept:
                held -= _size(call, kept.pop(call))
            kept[call] = ready
            held += size
            while held > most:
                held -= _size(*kept.popitem(last=False))
        self.held_bytes = held

    def clear(self) -> None:
        """Forget all answers."""
        self._kept.clear()
        self.held_bytes = 0


def _size(call: bytes, ready: Ready) -> int:
    return len(call) + len(ready.head) + _OVERHEAD_BYTES
