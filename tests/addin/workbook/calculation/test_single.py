"""One formula without a book, as `addin eval` works it out."""

import pytest

from addin.workbook.calculation.engine.engine import EngineFailedError
from addin.workbook.calculation.single import read_single, worked_out


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ('=SUM (DS.SIGNAL ("x"), 1)', 42.0),
        ('=LET(rate, DS.SIGNAL("x"), rate*2)', 82.0),
        ('=LET(rate, DS.SIGNAL("x"), more, rate+1, IF(more>rate, LET(inner, more, inner*2), 0))', 84.0),
        ('=IF(DS.SIGNAL("x")>1,"a (b)","")', "a (b)"),
    ],
)
async def test_spaces_before_brackets_and_names_of_let_are_read(formula, value):
    async def ask(calls):
        return [41.0 for _ in calls]

    assert await worked_out(read_single(formula, "DS"), 1.8e9, ask) == [[value]]


@pytest.mark.parametrize("formula", ['=LET(rate,other,rate)&DS.SIGNAL("x")', '=rate*DS.SIGNAL("x")'])
def test_a_name_that_the_formula_does_not_give_means_nothing(formula):
    with pytest.raises(EngineFailedError, match=r"(other|rate) means nothing outside of a workbook"):
        read_single(formula, "DS")


def test_a_formula_that_grows_beyond_all_bounds_is_refused():
    formula = 'DS.SIGNAL("x")'
    for _ in range(60):
        formula = f"IFERROR({formula},0)"
    with pytest.raises(EngineFailedError, match="grows too long to be worked out"):
        read_single(f"={formula}", "DS")
