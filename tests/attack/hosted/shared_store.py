"""Workers that share a Redis which is paused, killed and started again, empty: every cell is right, and paid once.

    python -m tests.attack.hosted.shared_store --workers 4 --signals 1000 --kind sentinel

First all workers are asked for the same signals at once. Then they are asked for others, in small batches that all of
them get at once, while Redis is paused for 1.5 s, killed, and started again without what it held; or, behind Sentinels
and in a cluster, while masters are killed, and replicas take over.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx

from tests.addin.backend.workers.workers import Workers, workers_of
from tests.attack.hosted.troubles import KINDS, deployment
from tests.attack.parts.many_signals import service_of, slug_of, value_of
from tests.attack.parts.told import Told, conclude
from tests.embedded import EmbeddedService

A_BATCH = 10
AT_MOST = 1.2
"""Requests for each one that is needed, while Redis comes and goes."""


SETTINGS = {"deadline_s": "60", "ask_above": "1000000"}
"""Workers, service and whoever asks share a machine, which may be busy; and nobody is there to be asked."""


@dataclass
class Report:
    """What a run found."""

    workers: int
    cells: int = 0
    errors: int = 0
    wrong: int = 0
    at_once: int = 0
    """Signals that all workers were asked for at once."""
    requests_at_once: int = 0
    troubles: int = 0
    """How often Redis came and went, or a server took over."""
    needed: int = 0
    """Signals that were first asked for while Redis came and went."""
    requests: int = 0
    slowest_s: float = 0.0
    seconds: float = 0.0
    first: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        paid_once = self.requests_at_once == self.at_once and self.requests <= AT_MOST * self.needed
        return paid_once and not (self.errors or self.wrong)


class Attack:
    """Connections to each worker, and what their answers are checked against."""

    def __init__(self, workers: Workers, service: EmbeddedService, connections: Sequence[httpx.Client]) -> None:
        self.report = Report(len(connections))
        self._service = service
        self._workers = workers
        self._connections = connections
        self._threads = ThreadPoolExecutor(len(connections))

    def ask_all(self, numbers: Sequence[int]) -> None:
        """Ask all workers for the same signals at the same time, and check what they answer."""
        began = time.monotonic()
        calls = [["SIGNAL", slug_of(number)] for number in numbers]
        for answers in [self._threads.submit(answered, each, calls) for each in self._connections]:
            for number, answer in zip(numbers, answers.result(), strict=True):
                self._check(number, answer)
        self.report.slowest_s = round(max(self.report.slowest_s, time.monotonic() - began), 2)

    def spent(self) -> int:
        """What the service has counted so far."""
        return self._service.store.usage(self._service.key)

    def _check(self, number: int, answer: dict[str, object]) -> None:
        self.report.cells += 1
        if "value" not in answer:
            self.report.errors += 1
        elif answer["value"] != value_of(number):
            self.report.wrong += 1
        else:
            return
        self.report.first.append(f"{slug_of(number)}: {answer}")


def answered(http: httpx.Client, calls: Sequence[list[str]]) -> list[dict[str, object]]:
    """The answers to all calls, in their order; what is pending is posted again, as the pages do."""
    found: dict[int, dict[str, object]] = {}
    while waiting := [place for place in range(len(calls)) if place not in found]:
        content = {"calls": [calls[place] for place in waiting]}
        answers = http.post("/functions/call?pending=yes", json=content).json()["answers"]
        found |= {place: each for place, each in zip(waiting, answers, strict=True) if "pending" not in each}
    return [found[place] for place in range(len(calls))]


def connections_to(workers: Workers, count: int, stack: ExitStack) -> list[httpx.Client]:
    """A connection to each worker: one that is kept open stays with the worker that accepted it."""
    found: dict[int, httpx.Client] = {}
    while len(found) < count:
        http = stack.enter_context(httpx.Client(base_url=workers.url, timeout=90, trust_env=False))
        found.setdefault(http.get("/health").json()["worker"], http)
    return list(found.values())


def attack(workers: int, signals: int, seed: int, *, rounds_s: float, kind: str = "single") -> Report:
    """The report on one run: half of the signals at once, the others while Redis comes and goes for `rounds_s`."""
    began, chance = time.monotonic(), random.Random(seed)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        service = stack.enter_context(service_of(folder, signals))
        redis_url, trouble_of = stack.enter_context(deployment(kind, folder))
        running = stack.enter_context(workers_of(service, folder, workers, **SETTINGS, redis_url=redis_url))
        run = Attack(running, service, connections_to(running, workers, stack))
        at_once = signals // 2
        run.ask_all(range(at_once))
        run.report.at_once, run.report.requests_at_once = at_once, run.spent()
        ended = threading.Event()
        trouble = stack.enter_context(ThreadPoolExecutor(1)).submit(trouble_of, chance, ended)
        ends = time.monotonic() + rounds_s
        for number in range(at_once, signals, A_BATCH):
            run.ask_all(range(number, min(signals, number + A_BATCH)))
            if time.monotonic() > ends:
                break
        run.report.needed = min(signals, number + A_BATCH) - at_once
        ended.set()
        run.report.troubles = trouble.result()
        run.report.requests = run.spent() - run.report.requests_at_once
        run.ask_all(range(at_once))  # Redis has lost them, the machine has not
        run.report.requests += run.spent() - run.report.requests_at_once - run.report.requests
        run.report.seconds = round(time.monotonic() - began, 1)
        return run.report


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--signals", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, default="single", help="how Redis is run")
    given = parser.parse_args()
    report = attack(given.workers, given.signals, given.seed, rounds_s=given.seconds, kind=given.kind)
    print(json.dumps(asdict(report) | {"first": report.first[:10]}, indent=1))  # noqa: T201
    over = max(0, report.requests_at_once - report.at_once) + max(0, report.requests - int(AT_MOST * report.needed))
    conclude(Told(report.cells, hung=report.errors, wrong=report.wrong, over=over))


if __name__ == "__main__":
    main()
