"""What the backend counts and measures, as Prometheus reads it; never a key, a formula or a user's name.

Several workers of a port write into files that they share, so that whichever is asked tells of all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where the library looks for the folder that several processes share; it has to be set before it is imported."""

BATCH_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0)


class Metrics:
    """The metrics of one backend."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.responses = Counter("addin_responses", "Responses by status.", ["status"], registry=registry)
        self.cells = Counter("addin_cells", "Calls of functions that were answered.", registry=registry)
        self.requests = Counter("addin_service_requests", "Requests of the month that were spent.", registry=registry)
        self._batch_s = Histogram("addin_batch_seconds", "How long batches took.", buckets=BATCH_S, registry=registry)
        self._under_way = _sum("addin_batches_under_way", "Batches being answered now.", registry)
        self._users = _sum("addin_users", "Users whose key the service accepted, in memory now.", registry)
        self._users_bytes = _sum("addin_users_bytes", "Memory of the answers of all users.", registry)
        self._requests_bytes = _sum("addin_requests_bytes", "Memory of requests and answers not sent yet.", registry)
        self._loads_bytes = _sum("addin_loads_bytes", "Memory of calls that are being loaded.", registry)
        self._memory_bytes = _sum("addin_memory_bytes", "Memory of the process.", registry)

    @contextmanager
    def batch(self, calls: int) -> Iterator[None]:
        """Count and time a batch of so many calls, which is answered inside the block."""
        began = perf_counter()
        with self._under_way.track_inprogress():
            yield
        self._batch_s.observe(perf_counter() - began)
        self.cells.inc(calls)

    def text(self, *, users: int, users_bytes: int, requests_bytes: int, loads_bytes: int) -> bytes:
        """All metrics as text; of this process with so many users now."""
        self._requests_bytes.set(requests_bytes)
        self._loads_bytes.set(loads_bytes)
        self._users.set(users)
        self._users_bytes.set(users_bytes)
        self._memory_bytes.set(memory_bytes())
        folder = os.environ.get(FOLDER_VARIABLE)
        if not folder:
            return generate_latest(self._registry)
        forget_ended(Path(folder))
        shared = CollectorRegistry()
        MultiProcessCollector(shared, folder)  # type: ignore[no-untyped-call]  # the library has no types here
        return generate_latest(shared)


def forget_ended(folder: Path) -> None:
    """Leave out what processes are now that have ended: they have no users and no memory any more."""
    for file in folder.glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        if not _is_running(pid):
            mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]  # as above


def memory_bytes() -> int:
    """The memory that this process holds now; 0 where the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _sum(name: str, help_text: str, registry: CollectorRegistry) -> Gauge:
    return Gauge(name, help_text, registry=registry, multiprocess_mode="livesum")


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
