"""Timing, and the table every benchmark prints."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

REPEATS = 7
"""Runs of each measurement; the median of seven shrugs off three bad moments of a busy machine."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what was measured, the seconds it took, its floor, and the ratio or the seconds to reach."""

    what: str
    seconds: float
    floor_s: float | None = None
    reach: float | None = None
    note: str = ""
    reach_s: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the floor."""
        return self.seconds / self.floor_s if self.floor_s else None

    @property
    def missed(self) -> bool:
        """Whether what is to be reached was not."""
        too_many_times = self.reach is not None and self.ratio is not None and self.ratio > self.reach
        return too_many_times or (self.reach_s is not None and self.seconds > self.reach_s)

    @property
    def goal(self) -> str:
        """What is to be reached."""
        return f"≤ {self.reach:g}×" if self.reach is not None else f"≤ {_shown(self.reach_s)}" if self.reach_s else ""

    def cells(self) -> tuple[str, ...]:
        """The line as texts."""
        floor = "" if self.floor_s is None else _shown(self.floor_s)
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}×"
        return self.what, _shown(self.seconds), floor, ratio, self.goal, self.note


@dataclass(frozen=True, slots=True)
class Reported:
    """A table of this run."""

    title: str
    rows: tuple[Row, ...]


REPORTED: list[Reported] = []
"""All tables of this run, in their order."""


def median_s(work: Callable[[], object], *, repeats: int = REPEATS) -> float:
    """The median seconds of one run of `work`, after one that is not counted."""
    return alternating({"work": work}, repeats=repeats)["work"]


def alternating(
    works: Mapping[str, Callable[[], object]], *, repeats: int = REPEATS, warm_up: bool = True
) -> dict[str, float]:
    """The median seconds of several works, measured in turns, so that a busy moment hits all of them alike."""
    for work in works.values() if warm_up else ():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            gc.collect()
            begun = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}


def report(title: str, rows: Sequence[Row]) -> None:
    """Print the table; a line that misses what is to be reached stands out."""
    table = Table(title=title, title_justify="left")
    for name in ("", "median", "floor", "ratio", "to reach"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_column("", style="dim")
    for row in rows:
        table.add_row(*row.cells(), style="bold red" if row.missed else "")
    REPORTED.append(Reported(title, tuple(rows)))
    Console().print(table)


def _shown(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"
