"""The answers to earlier calls, encoded and ready to be sent, by the raw text of the call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import not_

import msgspec

CLOCK_STEP_S = 5.0
"""A clock that goes back by less is only corrected."""

_OVERHEAD_BYTES = 200
"""What a cache entry needs besides its texts: objects and hash table."""


class Ready(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An encoded answer up to its `fresh_s`, until when it may be sent, and when it was made (seconds since 1970).

    Equal calls share one, so it is known by its identity.
    """

    head: bytes
    fresh_until: float
    made_at: float = 0.0
    is_report: bool = False
    """Whether it tells what other calls did: it is made anew whenever it is asked for, as it may differ by then."""


class ResponseCache:
    """Encoded answers by the raw text of their call, at most `max_bytes` with these texts.

    Two dictionaries, of which the older one is dropped when the newer one is half of `max_bytes`; what is used moves to
    the newer one. So whatever was used within the last half of `max_bytes` is there. A cache that keeps the order of
    every single use, as those of cachetools do, would take four times as long for a batch of a hundred thousand.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._newer: dict[bytes, Ready] = {}
        self._older: dict[bytes, Ready] = {}
        self._newer_bytes = self._older_bytes = 0

    def __len__(self) -> int:
        return len(self._newer.keys() | self._older.keys())

    @property
    def held_bytes(self) -> int:
        """The bytes in use; what was replaced or has moved counts until its dictionary is dropped."""
        return self._newer_bytes + self._older_bytes

    def fresh(self, call: bytes, now: float) -> Ready | None:
        """The answer to a call, None if there is no fresh one."""
        return self.all_fresh((call,), now)[0]

    def all_fresh(self, calls: Sequence[bytes], now: float) -> list[Ready | None]:
        """The answers to many calls, None in the place of each that has no fresh one."""
        found = list(map(self._newer.get, calls))
        if self._older and not all(found):
            others = list(compress(calls, map(not_, found)))
            older = list(map(self._older.get, others))
            if any(older):
                self.put_all(list(compress(others, older)), [ready for ready in older if ready is not None])
                rest = iter(older)
                found = [ready or next(rest) for ready in found]
        if not any(found):
            return found
        latest = now + CLOCK_STEP_S  # answers of a later time are from before the clock was set back
        return [
            ready if ready is not None and now < ready.fresh_until and ready.made_at <= latest else None
            for ready in found
        ]

    def put(self, call: bytes, ready: Ready) -> None:
        """Cache an answer; one larger than the whole cache is skipped."""
        self.put_all([call], [ready])

    def put_all(self, calls: Sequence[bytes], answers: Sequence[Ready]) -> None:
        """Cache the answers to many calls."""
        size, half = _size(calls, answers), self._max_bytes // 2
        if size > half and len(calls) > 1:
            middle = len(calls) // 2
            self.put_all(calls[:middle], answers[:middle])
            self.put_all(calls[middle:], answers[middle:])
            return
        if size > self._max_bytes:
            return
        if self._newer_bytes + size > half:
            self._older, self._older_bytes = self._newer, self._newer_bytes
            self._newer, self._newer_bytes = {}, 0
        self._newer.update(zip(calls, answers, strict=True))
        self._newer_bytes += size
        if self.held_bytes > self._max_bytes:  # one answer is larger than half of it
            self._older, self._older_bytes = {}, 0

    def clear(self) -> None:
        """Forget all answers."""
        self._newer, self._older = {}, {}
        self._newer_bytes = self._older_bytes = 0


def _size(calls: Sequence[bytes], answers: Sequence[Ready]) -> int:
    return sum(map(len, calls)) + sum([len(ready.head) for ready in answers]) + _OVERHEAD_BYTES * len(calls)
