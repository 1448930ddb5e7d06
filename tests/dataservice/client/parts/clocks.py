"""Time that tests move: nobody waits for it."""

import time


class Clock:
    """Seconds since the epoch that pass only when told, or when someone sleeps on it."""

    def __init__(self, now: float = 1_787_000_000.0) -> None:  # 2026-08-17, in the afternoon
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def advance(self, seconds: float) -> None:
        self.now += seconds


class ShiftedClock:
    """The real time, and as much more as told: for what takes real time while hours seem to pass."""

    def __init__(self) -> None:
        self._shift = 0.0

    def __call__(self) -> float:
        return time.time() + self._shift

    def advance(self, seconds: float) -> None:
        self._shift += seconds
