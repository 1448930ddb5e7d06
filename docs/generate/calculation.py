"""Which spreadsheet functions the calculation works out as LibreOffice does: `python -m docs.generate.calculation`.

Needs LibreOffice and the extra `calc`. It writes `addin/workbook/calculation/functions.json`, by which the refresh
decides what it may work out without a value to compare with; `make reference` makes the table in the pages of it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
from openpyxl.utils import FORMULAE
from openpyxl.worksheet.formula import ArrayFormula

from addin.calc.soffice import convert
from addin.workbook.calculation.book_formulas import FormulaReader
from addin.workbook.calculation.engine.engine import FormualizerEngine
from addin.workbook.calculation.functions import DIFFERS, EQUAL, REFUSED
from addin.workbook.calculation.results import is_reproduced, to_engine
from addin.workbook.calculation.shapes import DEPENDS_ON_THE_PROGRAM
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package

CASES = Path(__file__).with_name("function_cases.txt")
MEASURED = Path(__file__).parents[2] / "addin" / "workbook" / "calculation" / "functions.json"
COLUMN = 11
_NAME = re.compile(r"\b([A-Z][A-Z0-9.]*)\(")
_IN_SHEETS = {"SORT", "FILTER"}


@dataclass(frozen=True, slots=True)
class Case:
    """A formula, the function that it measures, and what it must give where LibreOffice cannot tell."""

    formula: str
    expected: Any = None

    @property
    def function(self) -> str:
        """The first function that is not only there to look at the result of another."""
        names = _NAME.findall(self.formula)
        return str(names[1] if self.expected is not None and len(names) > 1 and "LAMBDA" not in names else names[0])


def cases() -> list[Case]:
    """The cases in their order."""
    found = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            formula, _, expected = line.partition(" => ")
            value = json.loads(expected) if expected else None
            found.append(Case(formula, float(value) if type(value) is int else value))
    return found


def measure() -> dict[str, str]:
    """Each function with its outcome over all its cases."""
    known = cases()
    with TemporaryDirectory() as folder:
        book = _write(Path(folder) / "cases.xlsx", known)
        theirs = _stored(convert(book, to="xlsx", into=Path(folder) / "out"), len(known))
        ours = _worked_out(book, len(known))
    outcomes: dict[str, str] = {}
    for case, one, other in zip(known, ours, theirs, strict=True):
        outcome = _outcome(one, other if case.expected is None else case.expected)
        if case.function in DEPENDS_ON_THE_PROGRAM:  # whatever it gives here
            outcome = REFUSED
        worst = max(outcomes.get(case.function, EQUAL), outcome, key=(EQUAL, DIFFERS, REFUSED).index)
        outcomes[case.function] = worst
        if outcome != EQUAL:
            print(f"{outcome}: {case.formula}: {one!r}, expected {other if case.expected is None else case.expected!r}")  # noqa: T201
    return dict(sorted(outcomes.items()))


def _outcome(one: Any, other: Any) -> str:
    if isinstance(one, dict) and (not isinstance(other, dict) or one["error"] != other["error"]):
        return REFUSED
    return EQUAL if is_reproduced([[other]], [[one]]) else DIFFERS


def _write(path: Path, known: Sequence[Case]) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    flows = (-1000, 200, 300, 400, 300, 150)
    for row in range(1, 11):
        sheet.cell(row, 1, row)
        sheet.cell(row, 2, ("apple", "pear", "plum")[(row - 1) % 3])
        sheet.cell(row, 3, 45_000 + 37 * row)
        sheet.cell(row, 5, row * 1.5 if row % 2 == 0 else row**2 / 4 + 1.25)
    sheet["E4"], sheet["E1"] = 1.5, 1.5
    for row, value in enumerate((1, "x", None, 2.5, "7"), 1):
        sheet.cell(row, 4, value)
    for row, flow in enumerate(flows, 1):
        sheet.cell(row, 6, flow)
        sheet.cell(row, 7, 45_000 + 90 * row)
    for row, line in enumerate((("k", "m", "n"), ("a", 1, 10), ("b", 2, 20), ("a", 3, 30)), 12):
        for column, value in enumerate(line, 1):
            sheet.cell(row, column, value)
    sheet["E12"], sheet["E13"] = "k", "a"
    for row, case in enumerate(known, 1):
        cell = sheet.cell(row, COLUMN).coordinate
        sheet[cell] = ArrayFormula(cell, f"={_as_stored(case.formula)}")
    book.save(path)
    return path


def _as_stored(formula: str) -> str:
    """The formula as files hold it: newer functions and local names have a prefix."""
    text = _NAME.sub(lambda match: _prefix(match[1]) + match[0], formula)
    if "LET(" in text or "LAMBDA(" in text:
        text = re.sub(r"(?<![\w.\"$])([xabrc])(?![\w.(\"])", r"_xlpm.\1", text)
    return text


def _prefix(name: str) -> str:
    if name in _IN_SHEETS:
        return "_xlfn._xlws."
    return "" if name in FORMULAE or name in ("TRUE", "FALSE") else "_xlfn."


def _stored(path: Path, count: int) -> list[Any]:
    with Package(path) as package:
        sheet = Book(package).sheet("Sheet")
        return [to_engine(sheet.value((row, COLUMN))) for row in range(1, count + 1)]


def _worked_out(path: Path, count: int) -> list[Any]:
    """What the engine makes of the formulas as the refresh hands them over, without any proof."""
    with Package(path) as package, FormualizerEngine(now=time.time()) as engine:
        book = Book(package)
        sheet = book.sheet("Sheet")
        spots = [spot for spot in sheet.filled() if spot[1] != COLUMN]
        engine.load(["Sheet"], [("Sheet", *spot, False, to_engine(sheet.value(spot))) for spot in spots])
        found = []
        for formula in FormulaReader(book, "DS").all():
            if formula.shape.refused:
                found.append({"error": formula.shape.refused})
                continue
            # One after the other in the same cell, so that no result spills over another.
            engine.set([("Sheet", 1, 30, True, formula.engine_text({}))])
            engine.evaluate({})
            found += engine.values([("Sheet", (1, 30))])
            engine.set([("Sheet", 1, 30, False, None)])
    return found[:count]


def main() -> None:
    """Measure and write."""
    outcomes = measure()
    MEASURED.write_text(json.dumps(outcomes, indent=0) + "\n", encoding="utf-8")
    counts = {outcome: list(outcomes.values()).count(outcome) for outcome in (EQUAL, DIFFERS, REFUSED)}
    print(MEASURED, counts)  # noqa: T201 - a program for the terminal


if __name__ == "__main__":
    main()
