"""Running lines through a refresh, and counting what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from addin.formulas import Area
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from addin.workbook.template.build import example_session
from tests.attack.workbooks.excel_lines.lines import FORMULA, Line, Way, is_right, spot_of_name, write_book
from udfs.cells import Scalar

LINES_A_BOOK = 150


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


async def measure(lines: Sequence[Line], way: Way, folder: Path, *, is_dynamic: bool = False) -> Found:
    """What a refresh makes of the lines in books of this kind."""
    found = Found()
    async with example_session() as session:
        for begin in range(0, len(lines), LINES_A_BOOK):
            part = lines[begin : begin + LINES_A_BOOK]
            path = folder / f"lines-{begin}.xlsx"
            write_book(path, part, way, is_dynamic=is_dynamic)
            report = await refresh_book(session, path, path)
            _count(path, part, way, report, found)
    return found


def _count(path: Path, lines: Sequence[Line], way: Way, report: Refreshed, found: Found) -> None:
    spot = spot_of_name(FORMULA)
    unproven = {cell.cell: cell.unproven for cell in report.unproven}
    reasons = {note.where: note.why for note in (*report.skipped, *report.kept)}
    with Package(path) as package:
        book = Book(package)
        for number, line in enumerate(lines):
            name = f"L{number}"
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
