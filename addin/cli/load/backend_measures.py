"""What a backend tells of itself while it is loaded."""

from __future__ import annotations

from dataclasses import dataclass

import httpx


@dataclass(frozen=True, slots=True)
class BackendMeasures:
    """The memory of its processes, and how many answers of the service began after how many seconds in all.

    Of a backend that does not tell, the memory is None.
    """

    memory_bytes: float | None
    answers: float = 0.0
    answers_s: float = 0.0

    def service_s_since(self, before: BackendMeasures) -> float:
        """Return how long an answer of the service took since then to begin; 0 where there was none."""
        count = self.answers - before.answers
        return (self.answers_s - before.answers_s) / count if count else 0.0


async def measured(http: httpx.AsyncClient) -> BackendMeasures:
    """Return what the backend tells now."""
    response = await http.get("/metrics")
    told = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if line.startswith("addin_"))
    if "addin_memory_bytes" not in told:
        return BackendMeasures(None)
    names = ("addin_memory_bytes", "addin_service_seconds_count", "addin_service_seconds_sum")
    return BackendMeasures(*(float(told.get(name, 0.0)) for name in names))
