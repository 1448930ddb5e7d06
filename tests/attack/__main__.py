"""Run every attack and write what they found into docs/trust.md.

python -m tests.attack                            all of them, one after another: about six hours
python -m tests.attack --jobs 2                   two at a time: about half of that; those that measure stay alone
python -m tests.attack --scale 0.01               a hundredth of each
python -m tests.attack --only faults kills        these only; the rows of the others stay as they are
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
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

ENDING_S = 5.0


@dataclass(frozen=True, slots=True)
class Planned:
    """One attack: what it does, the program with its options, and how much of it is the whole."""

    what: str
    command: str
    amount: str
    full: int
    usual_s: float
    """How long the whole takes on a laptop, in seconds."""
    is_alone: bool = False
    """Whether nothing else may run beside it: it measures time or memory."""

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
    Planned("The road: nginx, limits a second, losses, load", "client.road --seed 1", "--reads", 3_000, 600),
    Planned("Kills of the service and of readers", "client.kills --seed 1", "--kills", 900, 900),
    Planned("Kills while books are written", "workbooks.books_killed --seed 1", "--kills", 100, 600),
    Planned("Full disks, damaged and truncated cache files", "client.disks --seed 1", "--rounds", 500, 400),
    Planned("Cold sheets, which load in any order", "client.cold_sheets --seed 1", "--batches", 2_000, 300),
    Planned("Previews of costs, at any time", "client.previews --seed 1", "--previews", 5_000, 1200),
    Planned("Other services that fit the contract, every kind of cell", "services --seed 1", "--variants", 175, 500),
    Planned("… each probed before", "services --probe --seed 1", "--variants", 175, 400),
    Planned("… by two processes with one cache", "services --shared --seed 1", "--variants", 175, 700),
    Planned("Pages with impossible times and numbers", "client.decoders --seed 1", "--pages", 20_000, 120),
    Planned("Damaged workbooks", "workbooks.books --formulas 1 --seed 1", "--books", 20_000, 1200),
    Planned("Damaged formulas", "workbooks.books --books 1 --seed 2", "--formulas", 180_000, 900),
    Planned("Whole books worked out, against known results", "workbooks.calculation --seed 1", "--books", 10_000, 2400),
    Planned("Tables of random series, against the conventions", "series.conventions --seed 1", "--cases", 100_000, 600),
    Planned("Agents: malformed calls", "agents.malformed --seed 1", "--calls", 1_000, 60),
    Planned("Agents: hostile texts in every field", "agents.hostile --seed 1", "--answers", 5_000, 60),
    Planned("Agents: what is told is what was counted", "agents.counting --seed 1", "--calls", 2_000, 120),
    Planned("Agents: every row and character reached", "agents.paging", "--rows", 10_000, 120),
    Planned(
        "Lives of workbooks in Excel's page: told is counted", "pages.workbook_model --seed 1", "--steps", 10_000, 900
    ),
    Planned("Hostile texts in the task pane", "pages.pane_texts --seed 1", "--steps", 100_000, 200),
    Planned("Forged workbooks, read by five programs", "forgeries --seed 1", "--forgeries", 600, 600),
    Planned("Signed books altered in one place", "forgeries.alterations --seed 1", "--alterations", 1_000, 200),
    Planned("Signed numbers out of their evidence", "forgeries.again --seed 1", "--books", 100, 300),
    Planned("Edits in the browser's sheet", "pages.sheet_edits --seed 1", "--steps", 400, 200),
    Planned("Formulas typed there, against Excel's own results", "pages.typed_formulas", "--lines", 7_231, 900),
    Planned("Real books, edited there and read by others", "pages.sheet_books --seed 1", "--books", 300, 900),
    Planned("Refreshes in pages that are hidden or frozen", "pages.hidden_pages", "--rounds", 5, 250),
    Planned("Hostile pages: hosts, origins, methods, types", "pages.hostile_pages --seed 1", "--requests", 50_000, 300),
    Planned("Pages that load, stop, close and answer questions", "loads --seed 1", "--worlds", 2_000, 250),
    Planned("Users of one backend, interleaved", "hosted.foreign --seed 1", "--calls", 1_000_000, 900),
    Planned("Workers that are stopped while pages load", "hosted.stopping --seed 1", "--signals", 20_000, 300),
    Planned("Workers on a Redis that comes and goes", "hosted.shared_store --seed 1", "--signals", 2_000, 150),
    Planned("… behind Sentinels", "hosted.shared_store --kind sentinel --seed 2", "--signals", 1_000, 150),
    Planned("… in a cluster", "hosted.shared_store --kind cluster --seed 3", "--signals", 1_000, 150),
    Planned("Backends and workers restarted behind nginx", "hosted.rolling --seed 1", "--calls", 5_000, 200),
    Planned("Upgrades and rollbacks on a kept Redis", "hosted.operated.upgrade", "--users", 3, 120),
    Planned("Sign-outs and stops while stores fail", "hosted.revocations --seed 1", "--rounds", 45, 300),
    Planned(
        "Incidents of the operations page, ended by its commands",
        "hosted.operated.incidents",
        "--rounds",
        1,
        200,
        is_alone=True,
    ),
    Planned(
        "A deploy and a restore by the operations page, on empty machines",
        "hosted.operated.first_deploy",
        "--deploys",
        1,
        90,
    ),
    Planned(
        "Mornings foretold by few, and what Prometheus counts",
        "hosted.operated.mornings",
        "--users",
        300,
        300,
        is_alone=True,
    ),
    Planned("Callers who do not read their answers", "hosted.unread", "--callers", 400, 500, is_alone=True),
    Planned("Soak: one backend under load, in seconds", "hosted.soak --seed 1", "--seconds", 1800, 1800, is_alone=True),
]


class Runner:
    """Runs attacks as processes, `jobs` at a time; each with its children is ended when this is closed."""

    def __init__(self, scale: float, jobs: int, redis_url: str) -> None:
        self._scale = scale
        self._jobs = jobs
        self._redis_url = redis_url
        self._running: set[subprocess.Popen[str]] = set()
        self._ended = threading.Event()

    def run(self, plan: Sequence[Planned]) -> list[Done]:
        """What was found, in the order of the plan; what an attack prints is shown if it found something."""
        done: dict[Planned, Done] = {}
        groups = [[each for each in plan if each.is_alone is is_alone] for is_alone in (False, True)]
        for group, jobs in zip(groups, (self._jobs, 1), strict=True):
            with ThreadPoolExecutor(jobs) as threads:
                try:
                    for each in as_completed([threads.submit(self._one, planned) for planned in group]):
                        found = each.result()
                        done[found.planned] = found
                        says = "all zero" if found.told.is_clean else "BROKEN"
                        sys.stdout.write(
                            f"[{len(done)}/{len(plan)}] {found.planned.what} … {says}, {found.took_s:.0f} s\n"
                        )
                        sys.stdout.flush()
                except BaseException:
                    self.close()
                    raise
        return [done[planned] for planned in plan]

    def close(self) -> None:
        """End what is under way, and begin nothing more."""
        self._ended.set()
        for process in list(self._running):
            _end(process)

    def _one(self, planned: Planned) -> Done:
        began, limit_s = time.monotonic(), 120 + SLACK * self._jobs * planned.usual_s * self._scale
        if self._ended.is_set():
            return Done(planned, Told(0, hung=1), 0.0)
        arguments = [sys.executable, *planned.arguments(self._scale, self._redis_url)]
        process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        self._running.add(process)
        if self._ended.is_set():  # it was closed while this one began
            _end(process)
        try:
            output, _ = process.communicate(timeout=limit_s)
            told = heard(output) or Told(0, wrong=1)
        except subprocess.TimeoutExpired:
            told, output = Told(0, hung=1), f"not done after {limit_s:.0f} s"
        finally:
            _end(process)
            self._running.discard(process)
        if not told.is_clean and not self._ended.is_set():
            sys.stdout.write(f"\n{planned.what}:\n{output[-4_000:]}\n")
        return Done(planned, told, time.monotonic() - began)


def run(plan: Sequence[Planned], scale: float, jobs: int = 1) -> list[Done]:
    """Run the attacks, `jobs` at a time."""
    with ExitStack() as stack:
        url = ""
        if any("REDIS" in planned.command for planned in plan):
            url = stack.enter_context(redis_server(Path(stack.enter_context(TemporaryDirectory()))))
        return Runner(scale, jobs, url).run(plan)


def _end(process: subprocess.Popen[str]) -> None:
    """End an attack and all that it started, one group of processes: as by Ctrl-C first, so that it cleans up."""
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, ending)
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_S)


HEAD_LINES = 4
"""Of the table: when it was run, nothing, the names of the columns, the line below them."""


def machine() -> str:
    """What the attacks ran on."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    parts = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, {memory_gb:.0f} GB"
    return f"{parts}, Python {platform.python_version()}"


def table(done: Sequence[Done], when: datetime, took_s: float) -> str:
    """What the page shows after a run of all attacks."""
    lines = [
        f"Run in {took_s / 60:.0f} minutes: {machine()}.",
        "",
        f"| attack | {' | '.join(COLUMNS)} | seconds | on |",
        f"|---|{'--:|' * (len(COLUMNS) + 1)}---|",
    ]
    return "\n".join([*lines, *(row(each, when) for each in done)])


def row(done: Done, when: datetime) -> str:
    """One attack in the table."""
    figures = " | ".join(f"{getattr(done.told, name):,}" for name in COLUMNS)
    return f"| {done.planned.what} | {figures} | {done.took_s:,.0f} | {when:%Y-%m-%d} |"


def with_rows(content: str, done: Sequence[Done], when: datetime) -> str | None:
    """The table after some attacks were run again; None if it is of another machine."""
    if f": {machine()}." not in content:
        return None
    again, lines, at = {each.planned: each for each in done}, content.splitlines(), HEAD_LINES - 1
    for planned in PLAN:  # "… with Redis" is there twice: each is looked for behind the one before it
        name = f"| {planned.what} |"
        found = next((n for n in range(at + 1, len(lines)) if lines[n].startswith(name)), None)
        if found is None:
            lines.insert(at + 1, f"{name}{' – |' * (len(COLUMNS) + 1)} not run yet |")
        at = at + 1 if found is None else found
        if planned in again:
            lines[at] = row(again[planned], when)
    seconds = (line.split(" | ")[-2].replace(",", "") for line in lines[HEAD_LINES:])
    took_s = sum(int(each) for each in seconds if each.isdecimal())
    lines[0] = f"Run in parts, {took_s / 60:.0f} minutes in all: {machine()}."
    return "\n".join(lines)


def parted(page: str) -> tuple[str, str, str]:
    """The page before its table, the table, and the page behind it."""
    before, _, rest = page.partition(BEGIN)
    content, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{PAGE.name} has no place for the table: {BEGIN} … {END}")
    return before, content.strip(), after


def written(page: str, content: str) -> str:
    """The page with this table in the place of the one it had."""
    before, _, after = parted(page)
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="how much of each attack; 1 is all of it")
    programs = sorted({planned.program for planned in PLAN})
    parser.add_argument("--only", nargs="+", choices=programs, help="these attacks only; whole ones replace their rows")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time; those that measure run alone")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    given = parser.parse_args(arguments)
    plan = [planned for planned in PLAN if not given.only or planned.program in given.only]
    began = time.monotonic()
    for ending in (signal.SIGINT, signal.SIGTERM):  # a shell lets what it starts in the background ignore Ctrl-C
        signal.signal(ending, signal.default_int_handler)
    try:
        done = run(plan, given.scale, max(1, given.jobs))
    except KeyboardInterrupt:
        sys.stdout.write("\nbroken off; the page stays as it is\n")
        return 130
    if not given.no_page and (not given.only or given.scale >= 1):
        now, page = datetime.now(UTC), PAGE.read_text(encoding="utf-8")
        content = with_rows(parted(page)[1], done, now) if given.only else table(done, now, time.monotonic() - began)
        if content is None:
            sys.stdout.write("• the page is of another machine and stays as it is\n")
        else:
            PAGE.write_text(written(page, content), encoding="utf-8")
            sys.stdout.write(f"• {PAGE.relative_to(PAGE.parents[1])} is written\n")
    return int(not all(each.told.is_clean for each in done))


if __name__ == "__main__":
    sys.exit(main())
