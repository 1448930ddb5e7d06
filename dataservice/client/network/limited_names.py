"""How often the same may be refused for coming too soon: what is refused whatever the pace, is refused for itself."""

from __future__ import annotations

LIMITED_TIMES = 18
"""So often a request comes again that was refused for coming too soon: others may take whatever the service allows."""

TOGETHER_TIMES, TOGETHER_SUM = 5, 15
"""So often at least, where other requests about the same were refused, too, and all of them so often in sum."""

AGAIN_TIMES = 2
"""So often what was given up before, until it is answered."""


class LimitedNames:
    """Counts the refusals by what was asked about, such as a signal, since it was answered last."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._given_up: set[str] = set()

    def answered(self, about: str) -> None:
        """It was answered: what was refused before was the pace."""
        self._times.pop(about, None)
        self._given_up.discard(about)

    def is_enough(self, about: str, times: int) -> bool:
        """Count a refusal, the so many-th of one request; return whether to give this request up."""
        together = self._times[about] = self._times.get(about, 0) + 1
        most = AGAIN_TIMES if about in self._given_up else LIMITED_TIMES
        is_together = min(times, together - times) >= TOGETHER_TIMES and together >= TOGETHER_SUM
        if times < most and not is_together:
            return False
        self._given_up.add(about)
        return True
