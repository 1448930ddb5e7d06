"""Which styles show a number as a day or a time."""

import openpyxl
import pytest

from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package


@pytest.mark.parametrize(
    ("code", "is_day"),
    [
        ("General", False),
        ("0.00", False),
        ("#,##0;[Red]-#,##0", False),
        ('0 "days"', False),
        ("0\\d", False),
        ("0.00E+00", False),
        ("@", False),
        ("yyyy-mm-dd", True),
        ("mm-dd-yy", True),
        ("[$-407]d. mmmm yyyy", True),
        ("[h]:mm", False),
        ("hh:mm:ss", False),
        ("mmm", True),
        ("d.m. hh:mm", True),
        ("[Magenta]0", False),
    ],
)
def test_a_format_of_days_is_told_from_those_of_times_and_numbers(code, is_day, tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"] = 5
    book.active["A1"].number_format = code
    book.save(tmp_path / "book.xlsx")
    with Package(tmp_path / "book.xlsx") as package:
        made = Book(package)
        assert made.styles is not None
        assert made.styles.is_day(made.sheet("Sheet").style((1, 1))) is is_day
