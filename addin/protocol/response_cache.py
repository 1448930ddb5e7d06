"""Answers that are ready to send, by the raw text of the call, each no longer than it is fresh."""

from __future__ import annotations

from typing import NamedTuple

from cachetools import LRUCache

_OVERHEAD_BYTES = 200
"""What an entry takes besides its text: objects, hash table and list links."""


class Ready(NamedTuple):
    """An encoded answer up to its `fresh_s`, and until when it may be sent (seconds since the epoch)."""

    head: bytes
    fresh_until: float


class Memo:
    """At most `max_bytes` of ready answers; the least recently used go first."""

    def __init__(self, max_bytes: int) -> None:
        self._entries: LRUCache[bytes, Ready] = LRUCache(max_bytes, lambda ready: len(ready.head) + _OVERHEAD_BYTES)

    def get(self, call: bytes, now: float) -> Ready | None:
        """The ready answer to a call, None where there is no fresh one."""
        ready = self._entries.get(call)
        return ready if ready is not None and now < ready.fresh_until else None

    def put(self, call: bytes, ready: Ready) -> None:
        """Keep an answer; one larger than the whole memo is not kept."""
        if len(ready.head) + _OVERHEAD_BYTES <= self._entries.maxsize:
            self._entries[call] = ready

    def clear(self) -> None:
        """Forget every answer."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
