"""What the backend counts and measures, as Prometheus reads it; never a key, a formula or a user's name.

Several workers of a port count into files that they share. What is so at this moment, such as memory, each of them is
asked for; so whichever worker answers tells of all.
"""

from __future__ import annotations

import os
import re
from collections import Counter as Counts
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from addin.backend.operation.service_watch import Learned
from addin.protocol.encoding import CALLS_A_TURN
from udfs.engine import in_turns

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where the library looks for the folder that several processes share; it has to be set before it is imported."""

BATCH_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0)
"""Two seconds is what the objective of the alert rules promises."""

SERVICE_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

UNUSUAL = (b'{"error"', b'{"pending"')
"""How the answers to calls begin that have no value."""

MARK = 2
UNUSUAL_MARKS = frozenset(beginning[MARK] for beginning in UNUSUAL)
"""The letter by which they are told from all others, in half the time: {"value", {"rows"."""

_KIND = re.compile(rb',"kind":"([a-z_]+)"')


class WorkerMeasures(msgspec.Struct, frozen=True):
    """The measures of one worker; `users` are the hashes that name accepted keys."""

    users: list[str] = []
    users_bytes: int = 0
    requests_bytes: int = 0
    loads_bytes: int = 0
    memory_bytes: int = 0
    batches: int = 0
    service: Learned = Learned()


GAUGES = {
    "users_bytes": ("addin_users_bytes", "Memory of the answers of all users."),
    "requests_bytes": ("addin_requests_bytes", "Memory of requests and answers not sent yet."),
    "loads_bytes": ("addin_loads_bytes", "Memory of calls that are being loaded."),
    "memory_bytes": ("addin_memory_bytes", "Memory of the processes."),
    "batches": ("addin_batches_under_way", "Batches being answered now."),
}


class Metrics:
    """The counters of one backend."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.under_way = 0
        self.responses = Counter("addin_responses", "Responses by status.", ["status"], registry=registry)
        self.requests = Counter("addin_service_requests", "Requests of the month that were spent.", registry=registry)
        self._cells = Counter(
            "addin_cells", "Answers to calls: value, or the kind of error.", ["result"], registry=registry
        )
        self._batches = Counter(
            "addin_batches",
            "Batches that were answered, by whether the service was asked.",
            ["asked"],
            registry=registry,
        )
        self._batch_s = Histogram("addin_batch_seconds", "How long batches took.", buckets=BATCH_S, registry=registry)
        self._processor_s = Counter(
            "addin_processor_seconds",
            "Processor time of calls and books, by whether the service has accepted the caller's key.",
            ["key"],
            registry=registry,
        )
        self._service = Counter(
            "addin_service_responses",
            "Answers of the service by status, or the kind of failure.",
            ["status"],
            registry=registry,
        )
        self._service_s = Histogram(
            "addin_service_seconds",
            "How long the service took to begin its answers.",
            buckets=SERVICE_S,
            registry=registry,
        )

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Time a batch, which is answered inside the block."""
        began = perf_counter()
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
        self._batch_s.observe(perf_counter() - began)

    async def answered(self, answers: Sequence[bytes], requests: int) -> None:
        """Count the answers of a batch; those that are still to come are counted when they are there."""
        async for part in in_turns(answers, CALLS_A_TURN):
            unusual = [each for each in part if each[MARK] in UNUSUAL_MARKS]
            self._cells.labels("value").inc(len(part) - len(unusual))
            for result, count in results(unusual).items():
                self._cells.labels(result).inc(count)
        self._batches.labels("yes" if requests else "no").inc()

    def worked(self, seconds: float, is_proven: bool) -> None:
        """Count processor time of a caller."""
        self._processor_s.labels("accepted" if is_proven else "unknown").inc(seconds)

    def service(self, status: int | str, seconds: float) -> None:
        """Count an answer of the service, or that there was none."""
        self._service.labels(str(status)).inc()
        if isinstance(status, int):
            self._service_s.observe(seconds)

    def text(self, workers: Sequence[WorkerMeasures], facts: Mapping[str, float], version: str) -> bytes:
        """All metrics as text: with what the workers hold now, and further gauges by name."""
        folder = os.environ.get(FOLDER_VARIABLE)
        shared = CollectorRegistry()
        if folder:
            MultiProcessCollector(shared, folder)  # type: ignore[no-untyped-call]  # the library has no types here
        shared.register(_Now(workers, facts, version))
        return generate_latest(shared) if folder else generate_latest(self._registry) + generate_latest(shared)


class _Now(Collector):
    """The gauges of this moment."""

    def __init__(self, workers: Sequence[WorkerMeasures], facts: Mapping[str, float], version: str) -> None:
        self._workers, self._facts, self._version = workers, facts, version

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The gauges."""
        build = GaugeMetricFamily("addin_build_info", "The version that runs.", labels=["version"])
        build.add_metric([self._version], 1)
        yield build
        users = {name for worker in self._workers for name in worker.users}
        yield GaugeMetricFamily("addin_users", "Users whose key the service accepted, in memory now.", len(users))
        yield GaugeMetricFamily("addin_workers", "Processes that answer.", len(self._workers))
        for field, (name, told) in GAUGES.items():
            yield GaugeMetricFamily(name, told, sum(getattr(worker, field) for worker in self._workers))
        for name, value in self._facts.items():
            yield GaugeMetricFamily(f"addin_{name}", FACTS[name], value)


FACTS = {
    "store_up": "Whether the store can be written and read: 1 or 0.",
    "service_up": "Whether the service answers: 1 or 0.",
    "ledger_up": "Whether what must not be lost can be written: 1 or 0.",
    "provider_up": "Whether the sign-in provider answers: 1 or 0.",
    "disk_free_bytes": "Room on the disk of the cache folder.",
    "quota_remaining": "Requests that the backend's own key has left this month.",
    "quota_cap": "Requests that the backend's own key has each month.",
    "budget_remaining": "Requests of the month that may still be spent, by reserve and budget.",
    "certificate_end_seconds": "When the certificate that users see ends, in seconds since 1970.",
    "workers_wanted": "How many processes are to answer.",
    "started_seconds": "When the backend started, in seconds since 1970.",
}
"""Gauges that are there where they are known, and what they tell."""


def results(unusual: Iterable[bytes]) -> Counts[str]:
    """Return how many answers without a value there are of each kind of error; pending ones are none yet.

    >>> results([b'{"error":"#N/A","message":"x","kind":"quota"', b'{"pending":true}', b'{"error":"#VALUE!"'])
    Counter({'quota': 1, 'other': 1})
    """
    errors = [part for part in unusual if part.startswith(UNUSUAL[0])]
    kinds = (_KIND.search(part) for part in errors)
    return Counts(kind[1].decode() if kind else "other" for kind in kinds)
