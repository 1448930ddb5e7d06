"""Run every attack, one after another, and write what they found into docs/trust.md.

python -m tests.attack                            all of them, about three hours
python -m tests.attack --scale 0.01               a hundredth of each
python -m tests.attack --only faults kills        these only; the page stays as it is
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attack.parts.told import Told, heard
from tests.dataservice.stores.stores import redis_server

PAGE = Path(__file__).resolve().parents[2] / "docs" / "trust.md"
BEGIN, END = "<!-- written by make attack -->", "<!-- end of what make attack wrote -->"
COLUMNS = [field.name for field in fields(Told)]
SLACK = 5
"""How many times its usual length an attack may take before it counts as hung: the machine may be busy."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One attack: what it does, the program with its options, and how much of it is the whole."""

    what: str
    command: str
    amount: str
    full: int
    usual_s: float
    """How long the whole takes on a laptop, in seconds."""

    @property
    def program(self) -> str:
        """The name of its module."""
        return self.command.split()[0].rpartition(".")[2]

    def arguments(self, scale: float, redis_url: str) -> list[str]:
        """What Python is started with."""
        amount = max(1, round(self.full * scale))
        command = f"{self.command} {self.amount} {amount}".replace("REDIS", redis_url).split()
        return ["-m", f"tests.attack.{command[0]}", *command[1:]]


@dataclass(frozen=True, slots=True)
class Done:
    """One attack that has ended."""

    planned: Planned
    told: Told
    took_s: float


PLAN = [
    Planned("Faults of network and service, over client and batch", "client.faults --seed 1", "--steps", 100_000, 1200),
    Planned("Revisions, failures, restarts: in memory", "client.truth --store memory --seed 1", "--steps", 34_000, 120),
    Planned("… with SQLite", "client.truth --store sqlite --seed 2", "--steps", 34_000, 300),
    Planned("… with Redis", "client.truth --store redis --redis-url REDIS --seed 3", "--steps", 34_000, 300),
    Planned(
        "Questions about the past: in memory", "client.vintages --store memory --seed 1", "--questions", 34_000, 60
    ),
    Planned("… with SQLite", "client.vintages --store sqlite --seed 2", "--questions", 34_000, 80),
    Planned("… with Redis", "client.vintages --store redis --seed 3", "--questions", 34_000, 80),
    Planned("Revisions, one value in every host", "client.one_value --seed 1", "--revisions", 10_000, 200),
    Planned("Kills of the service and of readers", "client.kills --seed 1", "--kills", 900, 900),
    Planned("Kills while books are written", "workbooks.books_killed --seed 1", "--kills", 100, 600),
    Planned("Full disks, damaged and truncated cache files", "client.disks --seed 1", "--rounds", 500, 400),
    Planned("Damaged workbooks", "workbooks.books --formulas 1 --seed 1", "--books", 20_000, 1200),
    Planned("Damaged formulas", "workbooks.books --books 1 --seed 2", "--formulas", 180_000, 900),
    Planned("Whole books worked out, against known results", "workbooks.calculation --seed 1", "--books", 10_000, 2400),
    Planned("Hostile texts in the task pane", "pages.pane_texts --seed 1", "--steps", 100_000, 200),
    Planned("Edits in the browser's sheet", "pages.sheet_edits --seed 1", "--steps", 400, 200),
    Planned("Hostile pages: hosts, origins, methods, types", "pages.hostile_pages --seed 1", "--requests", 50_000, 300),
    Planned("Pages that load, stop, close and answer questions", "loads --seed 1", "--worlds", 2_000, 250),
    Planned("Users of one backend, interleaved", "hosted.foreign --seed 1", "--calls", 1_000_000, 900),
    Planned("Workers that are stopped while pages load", "hosted.stopping --seed 1", "--signals", 20_000, 300),
    Planned("Workers on a Redis that comes and goes", "hosted.shared_store --seed 1", "--signals", 2_000, 150),
    Planned("… behind Sentinels", "hosted.shared_store --kind sentinel --seed 2", "--signals", 1_000, 150),
    Planned("… in a cluster", "hosted.shared_store --kind cluster --seed 3", "--signals", 1_000, 150),
    Planned("Soak: one backend under load, in seconds", "hosted.soak --seed 1", "--seconds", 1800, 1800),
]


def run(plan: Sequence[Planned], scale: float) -> Iterator[Done]:
    """Run the attacks; what each prints is shown when it found something."""
    with ExitStack() as stack:
        url = ""
        if any("REDIS" in planned.command for planned in plan):
            url = stack.enter_context(redis_server(Path(stack.enter_context(TemporaryDirectory()))))
        for number, planned in enumerate(plan, 1):
            sys.stdout.write(f"[{number}/{len(plan)}] {planned.what} … ")
            sys.stdout.flush()
            done = _one(planned, scale, url)
            sys.stdout.write(f"{'all zero' if done.told.is_clean else 'BROKEN'}, {done.took_s:.0f} s\n")
            yield done


def _one(planned: Planned, scale: float, redis_url: str) -> Done:
    began, limit_s = time.monotonic(), 120 + SLACK * planned.usual_s * scale
    arguments = [sys.executable, *planned.arguments(scale, redis_url)]
    try:
        ended = subprocess.run(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit_s, check=False
        )
        told = heard(ended.stdout)
        output = ended.stdout
    except subprocess.TimeoutExpired:
        told, output = Told(0, hung=1), f"not done after {limit_s:.0f} s"
    told = told or Told(0, wrong=1)
    if not told.is_clean:
        sys.stdout.write(f"\n{output[-4_000:]}\n")
    return Done(planned, told, time.monotonic() - began)


def table(done: Sequence[Done], when: datetime) -> str:
    """What the page shows."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    minutes = sum(each.took_s for each in done) / 60
    machine = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, {memory_gb:.0f} GB"
    lines = [
        f"Run on {when:%Y-%m-%d} in {minutes:.0f} minutes: {machine}, Python {platform.python_version()}.",
        "",
        f"| attack | {' | '.join(COLUMNS)} | seconds |",
        f"|---|{'--:|' * (len(COLUMNS) + 1)}",
    ]
    for each in done:
        figures = " | ".join(f"{getattr(each.told, name):,}" for name in COLUMNS)
        lines.append(f"| {each.planned.what} | {figures} | {each.took_s:,.0f} |")
    return "\n".join(lines)


def written(page: str, content: str) -> str:
    """The page with this table in the place of the one it had."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{PAGE.name} has no place for the table: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="how much of each attack; 1 is all of it")
    programs = sorted({planned.program for planned in PLAN})
    parser.add_argument("--only", nargs="+", choices=programs, help="these attacks only, and leave the page as it is")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    given = parser.parse_args(arguments)
    plan = [planned for planned in PLAN if not given.only or planned.program in given.only]
    try:
        done = list(run(plan, given.scale))
    except KeyboardInterrupt:
        sys.stdout.write("\nbroken off; the page stays as it is\n")
        return 130
    if not given.only and not given.no_page:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(written(page, table(done, datetime.now(UTC))), encoding="utf-8")
        sys.stdout.write(f"• {PAGE.relative_to(PAGE.parents[1])} is written\n")
    return int(not all(each.told.is_clean for each in done))


if __name__ == "__main__":
    sys.exit(main())
