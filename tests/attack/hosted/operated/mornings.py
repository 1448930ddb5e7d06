"""Mornings of many users before workers: what a few foretell, and what Prometheus tells, against what then happens.

python -m tests.attack.hosted.operated.mornings --users 300

Each user has a key of their own and opens a book that the backend knows nothing of; then all recalculate. A few who
come at once foretell the waits of all; then all come, to a backend that was just started. Of 120 users on four workers
the counts and the memory that Prometheus has are compared with those of keys, cells, requests and processes.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from addin.backend.limits.aside import processes_of
from addin.cli.load.own_backend import OwnBackend, own_backend
from addin.cli.load.report import LoadPlan, LoadReport, run
from tests.attack.parts.firm import until
from tests.attack.parts.redis_process import free_port
from tests.attack.parts.told import Told, conclude

FEW = 81
"""Users who foretell: eighty at once, after one alone."""

ROUNDS = 3
"""Recalculations of each morning: one alone differs from the next by a fifth."""

CELLS = 500
WITHIN_S = 60.0
MISSES_AT_MOST = 0.30
NOTICED_S = 0.25
"""A difference that nobody notices."""

COUNTED_USERS, COUNTED_WORKERS = 120, 4
DIFFERS_AT_MOST = 0.02
PERCENTILES = (50, 95, 99)


@dataclass
class Seen:
    """What was seen."""

    users: int = 0
    wrong: list[str] = field(default_factory=list)
    misses: list[float] = field(default_factory=list)
    """How far off each time was that was foretold, as a part of what it was."""


def predicted(users: int, few: int, workers: int, within_s: float, seen: Seen, *, cells: int = CELLS) -> None:
    """Let a few foretell how long so many wait, and let these come."""
    told = _loaded(few, workers, cells, within_s, predicts=users)
    mornings = [_loaded(users, workers, cells, within_s) for _ in range(2)]
    seen.users += len(mornings) * users
    for name in mornings[0].rounds:
        times = mornings[0].rounds[name].plus(mornings[1].rounds[name])
        if times.errors:
            seen.wrong.append(f"{times.errors} cells failed {name}: {times.reasons.most_common(2)}")
        for percent in PERCENTILES:
            foretold_s, real_s = told.predicted[name].percentile(percent), times.percentile(percent)
            line = f"{users} users within {within_s:g} s, {workers} workers, {name}: p{percent}"
            line += f" foretold {foretold_s:.2f} s, was {real_s:.2f} s"
            sys.stdout.write(f"{line}\n")
            seen.misses.append(abs(foretold_s - real_s) / real_s)
            if abs(foretold_s - real_s) > max(MISSES_AT_MOST * real_s, NOTICED_S):
                seen.wrong.append(line)
        sys.stdout.write(f"{name}: {mornings[0].queues.get(name, 'no queue')}\n")


def _loaded(users: int, workers: int, cells: int, within_s: float, predicts: int = 0) -> LoadReport:
    with own_backend(users + 1, workers) as made:
        plan = LoadPlan(made.url, made.keys[:-1], made.keys[-1:], cells, 0, ROUNDS, within_s, predicted=predicts)
        return asyncio.run(run(plan, lambda _: None))


def counted(users: int, workers: int, seen: Seen, *, cells: int = CELLS) -> None:
    """Compare what Prometheus tells after a morning with what was."""
    with ExitStack() as stack:
        folder, made = stack.enter_context(TemporaryDirectory()), stack.enter_context(own_backend(users, workers))
        ask = stack.enter_context(prometheus(Path(folder), made.url))
        report = asyncio.run(run(LoadPlan(made.url, made.keys, (), cells, 0, 1), lambda _: None))
        truth = {
            "addin_users": users,
            "addin_workers": workers,
            "sum(addin_cells_total)": report.cells,
            "addin_service_requests_total": sum(made.store.usage(key) for key in made.keys),
        }
        if report.errors:
            seen.wrong.append(f"{users} users, {workers} workers: {report.errors:,} cells failed")
        with suppress(TimeoutError):  # cells that nobody waited for are missing, which is told below
            until(lambda: ask("sum(addin_cells_total)") >= report.cells, "Prometheus asks once more", within_s=15)
        truth["addin_memory_bytes"] = _memory_bytes(made, workers)
        for query, was in truth.items():
            told = ask(query)
            line = f"{users} users, {workers} workers: {query} tells {told:,.0f}, was {was:,.0f}"
            sys.stdout.write(f"{line}\n")
            if abs(told - was) > DIFFERS_AT_MOST * was:
                seen.wrong.append(line)
    seen.users += users


def _memory_bytes(made: OwnBackend, workers: int) -> float:
    """The memory of the processes that answer: with several, those that the first one has started."""
    pids = [*processes_of(made.pid)]
    held = sorted(psutil.Process(pid).memory_info().rss for pid in (pids[1:] if workers > 1 else pids))
    return sum(held[-workers:])


@contextmanager
def prometheus(folder: Path, url: str) -> Iterator[Callable[[str], float]]:
    """A Prometheus that asks the backend every second, inside the block; the function tells a query's value."""
    target, own = url.partition("//")[2], f"http://127.0.0.1:{free_port()}"
    jobs = f"[{{job_name: addin, static_configs: [{{targets: ['{target}']}}]}}]"
    text = f"global: {{scrape_interval: 1s}}\nscrape_configs: {jobs}\n"
    (folder / "prometheus.yml").write_text(text, encoding="utf-8")
    command = [
        str(shutil.which("prometheus")),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={own.partition('//')[2]}",
    ]

    def ask(query: str) -> float:
        found = httpx.get(f"{own}/api/v1/query", params={"query": query}, trust_env=False, timeout=5).json()
        return sum(float(each["value"][1]) for each in found["data"]["result"])

    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: httpx.get(f"{own}/-/ready", trust_env=False).is_success, "Prometheus starts")
            yield ask
        finally:
            process.terminate()


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=300)
    given = parser.parse_args()
    seen = Seen()
    counted(COUNTED_USERS, COUNTED_WORKERS, seen)
    for within_s in (0.0, WITHIN_S):
        predicted(given.users, min(FEW, given.users), 2, within_s, seen)
    sys.stdout.write("".join(f"WRONG: {line}\n" for line in seen.wrong))
    conclude(Told(seen.users, wrong=len(seen.wrong)))


if __name__ == "__main__":
    main()
