"""What a backend tells of itself while it is loaded."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp


@dataclass(frozen=True, slots=True)
class BackendMeasures:
    """The memory of its processes, their number, and how many answers of the service began after how long in all.

    Of a backend that does not tell, the memory is None.
    """

    memory_bytes: float | None
    workers: float = 1.0
    answers: float = 0.0
    answers_s: float = 0.0

    def service_s_since(self, before: BackendMeasures) -> float:
        """Return how long an answer of the service took since then to begin; 0 where there was none."""
        count = self.answers - before.answers
        return (self.answers_s - before.answers_s) / count if count else 0.0


async def measured(http: aiohttp.ClientSession) -> BackendMeasures:
    """Return what the backend tells now."""
    async with http.get("metrics") as response:
        text = await response.text()
    told = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("addin_"))
    if "addin_memory_bytes" not in told:
        return BackendMeasures(None)
    names = ("addin_memory_bytes", "addin_workers", "addin_service_seconds_count", "addin_service_seconds_sum")
    return BackendMeasures(*(float(told.get(name, 0.0)) for name in names))
