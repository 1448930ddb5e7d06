"""Formulas that wait for each other are found, wherever they stand."""

from pathlib import Path

import pytest

from addin.workbook.calculation.book_formulas import FormulaReader
from addin.workbook.calculation.circles import in_circles
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from tests.addin.workbook.books import make_book


@pytest.mark.parametrize(
    ("cells", "circle"),
    [
        ({"A1": 1, "A2": "=A1", "B1": "=SUM(A1:A2)"}, set()),
        ({"A1": "=A2", "A2": "=B2", "B2": 3}, set()),
        ({"B1": "=SUM(A1:B1)"}, {(1, 2)}),
        ({"A1": "=A2", "A2": "=A1"}, {(1, 1), (2, 1)}),
        ({"A1": "=Other!A1", "B1": "=A1"}, {(1, 1), (1, 2)}),
    ],
)
def test_circles_are_found(tmp_path: Path, cells: dict[str, str | int], circle: set[tuple[int, int]]):
    path = make_book(tmp_path / "book.xlsx", cells, Other={"A1": "=Sheet1!A1"})
    with Package(path) as package:
        formulas = {each.place: each for each in FormulaReader(Book(package), "DS").all()}
        assert {spot for sheet, spot in in_circles(formulas) if sheet == "Sheet1"} == circle
