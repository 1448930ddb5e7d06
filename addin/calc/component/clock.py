"""The time that has passed, as it matters for what is fresh: also while the machine slept."""

from __future__ import annotations

import threading
import time
from typing import Callable


class PassedTime:
    """Seconds since it was made; threads may share it.

    A clock that only runs while the machine is awake would call yesterday's values fresh in the morning, and the clock
    on the wall may be set back. So each step is the longer of both, and never backwards.
    """

    def __init__(
        self, awake: Callable[[], float] = time.monotonic, on_the_wall: Callable[[], float] = time.time
    ) -> None:
        self._clocks = (awake, on_the_wall)
        self._last = (awake(), on_the_wall())
        self._passed = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """The seconds that have passed."""
        with self._lock:
            awake, on_the_wall = self._clocks[0](), self._clocks[1]()
            self._passed += max(awake - self._last[0], on_the_wall - self._last[1], 0.0)
            self._last = (awake, on_the_wall)
            return self._passed
