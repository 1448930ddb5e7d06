"""Tables of random series against the conventions written down again: every rhythm, window, option and transform.

python -m tests.attack.series.conventions --cases 100000
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dataservice.client import HistoryResource
from tests.attack.parts.told import Told, conclude
from tests.attack.series.rules import Asked, table
from tests.attack.series.worlds import DAYS, KINDS, MONTHS, WEEKS, World, world
from udfs.arguments.dates import Last, Max
from udfs.errors import ArgumentError
from udfs.functions.signal_history import OPTIONS
from udfs.timeseries.compute import Columns, Ending, Series, series_of_table
from udfs.timeseries.coverage import Known, Window
from udfs.timeseries.frequency import Times
from udfs.timeseries.options import TableOptions
from udfs.timeseries.resample import known_only
from udfs.timeseries.rhythm import rhythm_of
from udfs.timeseries.table import Labelled, joined_windows, window_for, windows_of_common_rows, windows_to_share

EXACT = 1e-9

PART = 500
"""Tables that one process checks at a time."""

Shown = tuple[Times, list[NDArray[np.float64]]]
"""A table: the dates of its rows, and the values of each series."""

CHAINS = (
    *("pct", "pct(3)", "diff", "diff(2)", "lag", "lag(5)", "yoy", "mom", "yoydiff", "ann", "log", "log|diff"),
    *("ma(4)", "sum(3)", "median(5)", "std(6)", "rank(6)", "zscore(5)", "ewm(3)", "yoy|ma(3)", "lag(12M)", "ma(12M)"),
    *("pct(3M)", "ann(3)", "pct|std(8)", "diff|pct", "index(100)", "cum", "drawdown", "pct|cum", "index(50)|ma(3)"),
)
FREQS = ("raw", "raw", "D", "B", "W", "W-FRI", "W-TUE", "M", "M", "Q", "Q-JAN", "Y", "Y-MAR")
FILLS = ("none", "none", "prev", "next", "linear", "zero")


@dataclass
class Attack:
    """What was found so far."""

    figures: Counter[str] = field(default_factory=Counter)
    first_wrong: str = ""

    def check(self, asked: Asked, seed: str) -> None:
        """Compare one table, from all that there is and from what would have been fetched."""
        if asked.end is not None and any(told(each, asked.end) != each.kind for each in asked.worlds):
            self.figures["too few to tell"] += 1  # 1: before an early end, a slow series may not show its rhythm yet
            return
        try:
            whole = computed(asked, fetched=False)
        except ArgumentError as refusal:
            self._refused(asked, str(refusal), seed)
            return
        expected = table(asked)
        self.figures["tables"] += 1
        self.figures["values"] += sum(int((~np.isnan(values)).sum()) for values in expected[1])
        self._compare("table", whole, expected, asked, seed)
        self._compare("fetched", computed(asked, fetched=True), whole, asked, seed)

    def rhythm(self, found: World, seed: str) -> None:
        """Whether the dates of a series tell its rhythm."""
        self.figures["rhythms"] += 1
        if told(found) != found.kind:
            self.add_wrong(f"{seed}: a series that is {found.kind} is told to be {told(found)}")

    def _refused(self, asked: Asked, why: str, seed: str) -> None:
        """A span that is no whole number of periods is refused: 8; and a rate without a rhythm: 10."""
        self.figures["refused"] += 1
        if "no whole number of periods" not in why and "needs a rhythm" not in why:
            self.add_wrong(f"{seed}: {asked.options}: {why}")

    def _compare(self, what: str, found: Shown, expected: Shown, asked: Asked, seed: str) -> None:
        difference = difference_of(found, expected)
        if difference:
            self.figures[f"wrong {what}"] += 1
            kinds = [each.kind for each in asked.worlds]
            window = f"{asked.start} {asked.end} {asked.today}"
            self.add_wrong(f"{seed} {what}: {kinds} {window} {asked.options}: {difference}")

    def add_wrong(self, text: str) -> None:
        """Count what is not as it must be."""
        self.figures["wrong"] += 1
        self.first_wrong = self.first_wrong or text


def told(found: World, end: date | None = None) -> str:
    """The rhythm that the dates of a series tell up to a day, without its weekday."""
    return str(rhythm_of(known_only(found.observations.between(None, end)).times)).partition(" on ")[0]


def difference_of(found: Shown, expected: Shown) -> str:
    """Where two tables differ; empty where they do not."""
    (times, columns), (wanted, others) = found, expected
    if not np.array_equal(times, wanted):
        more, fewer = np.setdiff1d(times, wanted), np.setdiff1d(wanted, times)
        return f"rows {more[:3].tolist()} too many, {fewer[:3].tolist()} missing"
    one, other = np.array(columns), np.array(others)
    scale = max(1.0, float(np.nanmax(np.abs(other), initial=1.0)))
    wrong = (np.isnan(one) != np.isnan(other)) | (np.abs(one - other) > EXACT * scale)
    if not wrong.any():
        return ""
    column, row = np.argwhere(wrong)[0]
    return f"{int(wrong.sum())} values, first {times[row]} {column}: {one[column, row]} for {other[column, row]}"


def computed(asked: Asked, *, fetched: bool) -> Shown:
    """The table as the functions compute it, from the whole series or from the part that would be fetched."""
    options: dict[str, Any] = dict(OPTIONS.read(asked.options, "options", asked.today))
    shown = TableOptions(**options)
    start = Max() if asked.start is None else Last(asked.start) if isinstance(asked.start, int) else asked.start
    steps = shown.transform[0] if shown.transform else ()
    asked_for = [(str(place), steps) for place, _ in enumerate(asked.worlds)]
    window = joined_windows(
        [window_for(start, asked.end, asked.today, shown, steps)] * len(asked_for), asked_for, shown
    )[0]
    ending = Ending.of(asked.end, asked.today)
    wholes = [Known(each.observations) for each in asked.worlds]

    def found(window: Window) -> list[Series]:
        known = [part_of(each, window, asked.today) if fetched else each for each in wholes]
        return [series_of_table(str(place), each, window, steps, shown, ending) for place, each in enumerate(known)]

    series, count, first = found(window), window.count, window.first
    while count and (common := windows_of_common_rows([window], count, _labelled(series), shown, ending)):
        window = common[0]
        series = found(window)
    while wider := windows_to_share([window], _labelled(series), shown, ending):
        window = wider[0]
        series = found(window)
    columns = Columns(series, shown, ending, first)
    return columns.times, columns.values


def _labelled(series: Sequence[Series]) -> list[Labelled]:
    return [Labelled("", each) for each in series]


def part_of(known: Known, window: Window, today: date) -> Known:
    """What would be fetched: the days that the window asks for, and all where these are not enough."""
    asked: HistoryResource = window.resource("x", known.step_days, today, window.rhythm(known))
    part = Known(known.observations.between(asked.start, asked.end), asked.start or date.min)
    return part if window.is_served_by(part) else known


def case(dice: random.Random) -> Asked:
    """A random table of random series."""
    freq, fill = dice.choice(FREQS), dice.choice(FILLS)
    align = "intersect" if dice.random() < 0.25 else "union"
    kind = dice.choice(KINDS)
    if freq != "raw" and kind == "several a day":
        kind = "business daily"
    many = dice.choice((1, 1, 2)) if kind not in ("several a day", "irregular") else 1
    first = world(dice, kind)
    worlds = [first]
    if many == 2:
        # Of two series with raw rows, both have one rhythm: only then is it plain which one the rows have together.
        second = kind if freq == "raw" else dice.choice((kind, *DAYS, *WEEKS, *MONTHS))
        worlds.append(
            world(dice, second, first.days[0] + timedelta(days=7 * dice.randint(0, 3) if second in WEEKS else 0))
        )
    if freq == "raw" and many == 2 and (kind not in DAYS):
        align, fill = "union", "none"
    last = max(each.days[-1] for each in worlds)
    today = last + timedelta(days=dice.choice((0, 0, 1, 3, 9, 20)))
    end = None
    if dice.random() < 0.3:
        days = worlds[0].days
        middle = days[len(days) * 4 // 5]
        end = middle if dice.random() < 0.5 else (pd.Timestamp(middle) + pd.offsets.MonthEnd(0)).date()
        end = min(end, today)
    begin = worlds[0].days[dice.randrange(len(worlds[0].days) // 2)]
    is_counted = many == 1 or align == "intersect"
    start: date | int | None = dice.choice((None, begin, begin, dice.randint(2, 12) if is_counted else None))
    chain = dice.choice(CHAINS) if dice.random() < 0.8 else ""
    if many == 2 and dice.random() < 0.15:
        chain = dice.choice(("corr(6)", "pct|corr(8)", "yoy|corr(5)"))
    return Asked(
        worlds,
        today,
        start,
        end,
        freq,
        dice.choice(("last", "mean", "sum", "first", "min", "max")) if freq != "raw" else "last",
        dice.choice(("", "", "drop", "mark", "keep")),
        align if many == 2 else "union",
        fill,
        dice.choice(("filled", "filled", "own")),
        tuple(chain.split("|")) if chain else (),
        dice.choice((None, None, 7)),
        dice.choice(("periods", "periods", "periods", "rows")),
        "end" if fill == "prev" and dice.random() < 0.3 else "last",
    )


def attack(numbers: Iterable[int], seed: int) -> Attack:
    """Check the tables with these numbers."""
    found = Attack()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas, about its business days
        for number in numbers:
            name = f"{seed}/{number}"
            asked = case(random.Random(name))
            for each in asked.worlds:
                if number % 4 == 0:
                    found.rhythm(each, name)
            try:
                found.check(asked, name)
            except Exception as error:  # noqa: BLE001 - whatever breaks is a finding
                found.add_wrong(f"{name}: {asked.options}: {error!r}")
    return found


def whole_attack(cases: int, seed: int) -> Attack:
    """Check so many tables, on all cores."""
    found = Attack()
    parts = [range(start, min(start + PART, cases)) for start in range(0, cases, PART)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        for part in processes.map(partial(attack, seed=seed), parts):
            found.figures += part.figures
            found.first_wrong = found.first_wrong or part.first_wrong
    return found


def main() -> None:
    """Run it from the command line; the exit code is 1 where a table differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    found = whole_attack(given.cases, given.seed)
    sys.stdout.write(f"{dict(found.figures)} {found.first_wrong} {time.monotonic() - began:.0f} s\n")
    conclude(Told(given.cases, wrong=found.figures["wrong"]))


if __name__ == "__main__":
    main()
