"""Running lines through a refresh, and counting what became of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from addin.formulas import Area
from addin.formulas.shape import shape_of
from addin.workbook.calculation.engine.process import EngineFailedError
from addin.workbook.calculation.single import read_single, worked_out
from addin.workbook.freeze import freeze
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from addin.workbook.template.build import example_session
from tests.attack.workbooks.excel_lines.lines import Line, Way, is_right, spot_of_name, write_book
from udfs.cells import Scalar

LINES_A_BOOK = 150
NOT_YET = ({"error": "#NAME?"}, {"error": "#GETTING_DATA"}, {"error": "#BUSY!"})
"""What a cell shows whose function nobody knows, or that waits."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A line that does not show Excel's result."""

    line: Line
    shown: Scalar
    why: str

    def __str__(self) -> str:
        cells = ", ".join(f"{name}={value!r}" for name, value in list(self.line.cells.items())[:10])
        return f"{self.line.formula} [{cells}] excel {self.line.excel!r}, shown {self.shown!r} {self.why}"


@dataclass
class Found:
    """What was counted."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[Outcome] = field(default_factory=list)
    left: list[Outcome] = field(default_factory=list)


def sample(lines: Sequence[Line], count: int | None) -> list[Line]:
    """As many lines, evenly spaced; all of them without a number."""
    if count is None or count >= len(lines):
        return list(lines)
    return [lines[place * len(lines) // count] for place in range(count)]


async def measure(
    lines: Sequence[Line], way: Way, folder: Path, *, is_dynamic: bool = False, freezes: bool = False
) -> Found:
    """What a refresh makes of the lines in books of this kind, and a frozen copy of it."""
    found = Found()
    if freezes:  # a book with a formula that was not worked out yet is not frozen
        lines = [line for line in lines if line.excel not in NOT_YET]
    async with example_session() as session:
        for begin in range(0, len(lines), LINES_A_BOOK):
            part = lines[begin : begin + LINES_A_BOOK]
            path = folder / f"lines-{begin}.xlsx"
            write_book(path, part, way, is_dynamic=is_dynamic)
            report = await refresh_book(session, path, path)
            _count(path, part, way, report, found)
            if not freezes:
                continue
            frozen = path.with_suffix(".frozen.xlsx")
            await freeze(path, frozen, allow_stale=True)
            _compare_frozen(path, frozen, part, found)
    return found


def _compare_frozen(live: Path, frozen: Path, lines: Sequence[Line], found: Found) -> None:
    """Count the lines that a frozen copy shows otherwise than the book that it was made of."""
    with Package(live) as before, Package(frozen) as after:
        books = Book(before), Book(after)
        for number, line in enumerate(lines):
            spot = spot_of_name(line.place)
            shown, kept = (book.sheet(f"L{number}").value(spot) for book in books)
            if str(shown) != str(kept):
                found.counts["frozen otherwise"] += 1
                found.wrong.append(Outcome(line, kept, f"frozen, and {shown!r} before"))


async def measure_eval(lines: Sequence[Line]) -> Found:
    """What `addin eval` makes of the lines that refer to no cell, with a call of ours inside."""
    found = Found()
    for line in lines:
        if line.cells or shape_of(line.formula)[1]:
            continue
        try:
            formula = read_single(line.inside_of(Way.INSIDE), "DS")
            rows = await worked_out(formula, time.time(), _answered)
        except EngineFailedError as error:
            found.counts["left"] += 1
            found.left.append(Outcome(line, None, str(error).removeprefix(line.inside_of(Way.INSIDE)[:80])))
            continue
        is_wrong = not is_right(rows[0][0], line.excel)
        found.counts["written wrong" if is_wrong else "right"] += 1
        if is_wrong:
            found.wrong.append(Outcome(line, rows[0][0], ""))
    return found


async def _answered(asked: Sequence[list[Any]]) -> list[float]:
    return [1.0 for _ in asked]


def _count(path: Path, lines: Sequence[Line], way: Way, report: Refreshed, found: Found) -> None:
    unproven = {cell.cell: cell.unproven for cell in report.unproven}
    reasons = {note.where: note.why for note in (*report.skipped, *report.kept)}
    with Package(path) as package:
        book = Book(package)
        for number, line in enumerate(lines):
            name, spot = f"L{number}", spot_of_name(line.place)
            sheet = book.sheet(name)
            shown = sheet.value(spot)
            why = unproven.get((name, spot)) or reasons.get(str(Area(*spot, *spot, sheet=name)))
            is_left = why is not None or not sheet.is_calculated(spot)
            if is_right(shown, line.excel) and (not is_left or way.is_stored):
                found.counts["right"] += 1
                found.counts["of these left"] += is_left
            elif is_left:
                found.counts["left"] += 1
                found.left.append(Outcome(line, shown, why or "not listed"))
            else:
                found.counts["written wrong"] += 1
                found.wrong.append(Outcome(line, shown, ""))
