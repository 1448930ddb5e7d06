"""Formulas that only show another cell: which are known, and what they show."""

import pytest

from addin.formulas import Area
from addin.workbook.refresh.dependencies import CellReference, Substitute, cell_reference

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
        "=1",
        "",
    ],
)
def test_anything_else_is_not(formula: str):
    assert cell_reference(formula) is None
