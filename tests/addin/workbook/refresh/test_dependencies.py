"""Formulas that only show another cell: which are known, and what they show."""

from pathlib import Path

import pytest

from addin.formulas import Area
from addin.formulas.shown_cells import CellReference, Substitute, cell_reference
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.plan import referenced_value
from tests.addin.workbook.books import make_book

B5 = Area(5, 2, 5, 2)


@pytest.mark.parametrize(
    ("formula", "reference"),
    [
        ("=B5", CellReference(B5)),
        ("=$B$5", CellReference(B5)),
        ("='My sheet'!B5", CellReference(Area(5, 2, 5, 2, sheet="My sheet"))),
        ('=B5&""', CellReference(B5, as_text=True)),
        ("=HYPERLINK(B5)", CellReference(B5, as_text=True)),
        ('=HYPERLINK(B5,"Open")', CellReference(B5, as_text=True, label="Open")),
        (
            '=IF(B5="","",HYPERLINK(B5,"Say ""hi"""))',
            CellReference(B5, as_text=True, label='Say "hi"', substitute=Substitute("", "")),
        ),
        ('=IF(B5="","",B5)', CellReference(B5, substitute=Substitute("", ""))),
        (
            '=IF(ISERR(B5),"",IF(B5&""="","",B5))',
            CellReference(B5, substitute=Substitute("", ""), blank_if_failed=True),
        ),
        ('=IF(B5="",$C$4,B5)', CellReference(B5, substitute=Substitute("", Area(4, 3, 4, 3)))),
        ('=IF(B5&""="name","Name",B5)', CellReference(B5, substitute=Substitute("name", "Name"))),
        ('=IF(B5="","","More")', CellReference(B5, as_text=True, label="More", substitute=Substitute("", ""))),
    ],
)
def test_a_formula_that_only_shows_a_cell_is_known(formula: str, reference: CellReference):
    assert cell_reference(formula) == reference


@pytest.mark.parametrize(
    "formula",
    [
        "=B5+1",
        "=B5:B6",
        '=B5&"x"',
        '=IF(B5="","",HYPERLINK(B6,"Open"))',
        "=SUM(B5)",
        "=Name",
        '=IF(B5="","",B6)',
        '=IF(B5=0,"",B5)',
        '=IF(B5&""="12","twelve",B5)',
        "=1",
        "",
    ],
)
def test_anything_else_is_not(formula: str):
    assert cell_reference(formula) is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [(True, "TRUE"), (1e-7, "0.0000001"), (1e20, "1E+20"), (123456789012345680.0, "123456789012346000"), (12, "12")],
)
def test_a_cell_shown_as_text_reads_as_a_spreadsheet_writes_it(tmp_path: Path, value: object, shown: str):
    path = make_book(tmp_path / "book.xlsx", {"A1": value})
    reference = cell_reference('=A1&""')
    assert reference is not None
    with Package(path) as package:
        assert referenced_value(Book(package), reference, "Sheet1") == shown
