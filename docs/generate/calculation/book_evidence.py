"""Results that Excel stored in real books, worked out again from the other values in them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from addin.errors import AddinError
from addin.workbook.calculation.book_formulas import BookFormula, FormulaReader
from addin.workbook.calculation.calculation import BookCalculation
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.reading.shapes import RANDOM, TIMES, Shape
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from tests.attack.workbooks.excel_books.corpus import is_saved_by_excel

MAX_FORMULAS = 5_000
"""Of one book: more of the same tell nothing new."""


def judged_in(folder: Path) -> Iterator[tuple[Shape, bool]]:
    """What each formula does, and whether it comes to what Excel stored."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if is_saved_by_excel(path.read_bytes()):
            yield from _judged(path)


def _judged(path: Path) -> Iterator[tuple[Shape, bool]]:
    try:
        with Package(path) as package:
            book = Book(package)
            formulas = [each for each in FormulaReader(book, "DS").all() if _tells(each)][:MAX_FORMULAS]
            with Engines(now=time.time(), dates_from_1904=book.counts_from_1904) as engines:
                calculation = BookCalculation(book, formulas, engines)
                calculation.prove()
                reproduced = calculation.reproduced()
    except AddinError as error:
        print(f"{path.name}: {error}")  # noqa: T201
        return
    # One function that is wrong in hundreds of cells of one book is one finding.
    yield from {(id(each.shape), is_same): (each.shape, is_same) for each, is_same in reproduced}.values()


def _tells(formula: BookFormula) -> bool:
    return formula.formula.is_calculated and not formula.shape.functions & (RANDOM | TIMES)
