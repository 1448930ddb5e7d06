"""How far loading is, and about how long the rest takes."""

from __future__ import annotations

from collections import deque

LOOK_BACK_S = 10.0
"""The rate is that of so many seconds: a service slows down and speeds up, and what caches knew came at once."""

LEAST_S = 1.0
LEAST = 10
"""Over less time, or of fewer that are done, no rate is told."""


class LoadProgress:
    """Counts what has begun and what is done; starts again when something begins after all is done."""

    def __init__(self) -> None:
        self.of = 0
        self.done = 0
        self._seen: deque[tuple[float, int]] = deque()

    def begin(self, count: int, now: float) -> None:
        """So many more begin."""
        if self.done == self.of:
            self.of = self.done = 0
            self._seen.clear()
        if not self._seen:
            self._seen.append((now, self.done))
        self.of += count

    def end(self) -> None:
        """One is done."""
        self.done += 1

    def give_up(self) -> None:
        """One is not wanted any more."""
        self.of -= 1

    def left_s(self, now: float) -> float | None:
        """Seconds until all is done, None where nobody can know."""
        seen = self._seen
        seen.append((now, self.done))
        while len(seen) > 2 and now - seen[1][0] >= LOOK_BACK_S:
            seen.popleft()
        then, done = seen[0]
        if now - then < LEAST_S or self.done - done < LEAST:
            return None
        return (self.of - self.done) * (now - then) / (self.done - done)
