"""What hosts asked for of late: what is worth keeping fresh."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Asked"]

ASKED_WITHIN_S = 3_600.0
"""A workbook that has asked nothing for an hour is closed or forgotten: nothing more is spent on it."""


class Asked:
    """The calls that hosts made of late."""

    def __init__(self) -> None:
        self._at: dict[bytes, float] = {}

    def note(self, calls: Iterable[bytes], now: float) -> None:
        """Take down that `calls` were asked for at `now`."""
        self._at.update(dict.fromkeys(calls, now))

    def lately(self, now: float) -> list[bytes]:
        """The calls asked for within the last hour; older ones are forgotten."""
        self._at = {call: at for call, at in self._at.items() if now - at <= ASKED_WITHIN_S}
        return list(self._at)
