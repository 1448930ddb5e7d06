"""A clock that notices when it is set back: what is dated by it would otherwise stay fresh until it catches up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

NOTICED_S = 5.0
"""Smaller steps are the clock's own corrections."""


class SteadyClock:
    """The time of `clock`; calls `set_back` with the seconds by which it was set back, found by `monotonic`.

    A clock that was set forward needs no notice: what is dated by it only gets old too soon. Nothing tells how fast
    another clock than the system's should go; such a one is set back when it is behind what it has shown before.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        set_back: Callable[[float], None],
        *,
        monotonic: Callable[[], float] | None = None,
    ) -> None:
        self._clock = clock
        self._set_back = set_back
        self._monotonic = monotonic or (time.monotonic if clock is time.time else lambda: 0.0)
        self._ahead_s = clock() - self._monotonic()
        self._lock = threading.Lock()

    def __call__(self) -> float:
        now = self._clock()
        ahead_s = now - self._monotonic()
        if ahead_s > self._ahead_s:
            self._ahead_s = ahead_s
        elif ahead_s < self._ahead_s - NOTICED_S:
            self._notice(ahead_s)
        return now

    def _notice(self, ahead_s: float) -> None:
        with self._lock:
            seconds, self._ahead_s = self._ahead_s - ahead_s, ahead_s
        if seconds > 0:
            self._set_back(seconds)
