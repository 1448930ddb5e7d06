"""The answers to earlier calls, encoded and ready to be sent, by the raw text of the call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec

CLOCK_STEP_S = 5.0
"""A clock that goes back by less is only corrected."""

_OVERHEAD_BYTES = 200
"""What a cache entry needs besides its texts: objects, hash table and list links."""


class Ready(msgspec.Struct, frozen=True, gc=False):
    """An encoded answer up to its `fresh_s`, and until when it may be sent (seconds since the epoch)."""

    head: bytes
    fresh_until: float


class ResponseCache:
    """Encoded answers by the raw text of their call, at most `max_bytes` with these texts; the least used go first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, tuple[Ready, float]] = OrderedDict()
        """Each answer with the time of its arrival, the least recently used first."""
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
            each[0] if each is not None and now < each[0].fresh_until and each[1] <= latest else None
            for each in map(kept.get, calls)
        ]
        used = kept.move_to_end
        for call, ready in zip(calls, found, strict=True):
            if ready is not None:
                used(call)
        return found

    def put(self, call: bytes, ready: Ready, now: float) -> None:
        """Cache an answer of the time `now`; one larger than the whole cache is skipped."""
        self.put_all({call: ready}, now)

    def put_all(self, answers: Mapping[bytes, Ready], now: float) -> None:
        """Cache many answers of the time `now`."""
        kept, most = self._kept, self._max_bytes
        held = self.held_bytes
        for call, ready in answers.items():
            size = _size(call, ready)
            if size > most:
                continue
            before = kept.pop(call, None)
            if before is not None:
                held -= _size(call, before[0])
            kept[call] = (ready, now)
            held += size
            while held > most:
                oldest, (dropped, _) = kept.popitem(last=False)
                held -= _size(oldest, dropped)
        self.held_bytes = held

    def clear(self) -> None:
        """Forget all answers."""
        self._kept.clear()
        self.held_bytes = 0


def _size(call: bytes, ready: Ready) -> int:
    return len(call) + len(ready.head) + _OVERHEAD_BYTES
