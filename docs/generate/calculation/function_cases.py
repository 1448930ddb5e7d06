"""Functions of which Excel's own results are not at hand: compared with LibreOffice, or with how they are defined."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
from openpyxl.utils import FORMULAE
from openpyxl.worksheet.formula import ArrayFormula

from addin.calc.soffice import convert
from addin.workbook.calculation.engine.process import VALUE, EngineProcess, Kind
from addin.workbook.calculation.results import is_reproduced, to_engine
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package

CASES = Path(__file__).with_name("function_cases.txt")
COLUMN = 11
_NAME = re.compile(r"\b([A-Z][A-Z0-9.]*)\(")
_IN_SHEETS = {"SORT", "FILTER"}


@dataclass(frozen=True, slots=True)
class Case:
    """A formula, and what it must give where LibreOffice cannot tell."""

    formula: str
    expected: Any = None


def cases() -> list[Case]:
    """The cases in their order."""
    found = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            formula, _, expected = line.partition(" => ")
            value = json.loads(expected) if expected else None
            found.append(Case(formula, float(value) if type(value) is int else value))
    return found


def compared() -> Iterator[tuple[str, bool]]:
    """Each case, and whether the engine comes to the same as LibreOffice, or to what is expected."""
    known = cases()
    with TemporaryDirectory() as folder:
        book = _write(Path(folder) / "cases.xlsx", known)
        theirs = _stored(convert(book, to="xlsx", into=Path(folder) / "out"), len(known))
        ours = _worked_out(book, known)
    for case, one, other in zip(known, ours, theirs, strict=True):
        yield case.formula, is_reproduced([[other if case.expected is None else case.expected]], [[one]])


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


def _worked_out(path: Path, known: Sequence[Case]) -> list[Any]:
    """The first value of each formula."""
    with Package(path) as package, EngineProcess(Kind.FORMULON, now=time.time()) as engine:
        sheet = Book(package).sheet("Sheet")
        spots = [spot for spot in sheet.filled() if spot[1] != COLUMN]
        engine.load(["Sheet"], [("Sheet", *spot, VALUE, to_engine(sheet.value(spot))) for spot in spots])
        engine.evaluate()
        found = engine.arrays([("Sheet", row, COLUMN, f"={case.formula}") for row, case in enumerate(known, 1)])
    return [rows[0][0] if rows else {"error": "#NAME?"} for rows in found]
