"""Fitting a table touches exactly the cells that it gains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.calc.component.areas import Area, grown, is_ours

SIZES = st.integers(1, 6)


def cells(area: Area) -> set[tuple[int, int]]:
    return {(area.column + x, area.row + y) for x in range(area.columns) for y in range(area.rows)}


@given(SIZES, SIZES, SIZES, SIZES)
def test_what_grows_is_what_the_new_area_has_more(columns, rows, wanted_columns, wanted_rows):
    now = Area(2, 3, columns, rows)
    wanted = now.resized(wanted_columns, wanted_rows)
    parts = [cells(part) for part in grown(now, wanted)]
    assert set().union(*parts) == cells(wanted) - cells(now)
    assert sum(map(len, parts)) == len(cells(wanted) - cells(now))


def test_a_table_beyond_the_sheets_edge_does_not_fit():
    assert Area(0, 0, 2, 1000).fits(16384, 1048576)
    assert not Area(16383, 0, 2, 1).fits(16384, 1048576)
    assert not Area(0, 1048000, 1, 1000).fits(16384, 1048576)


@pytest.mark.parametrize("formula", ['{=DS.SIGNAL("x")}', "{=SORT(ds.Signals())}", '{=IFERROR(DS.WIRE();"")}'])
def test_a_formula_with_a_call_of_ours_is_found(formula):
    assert is_ours(formula, "DS")


@pytest.mark.parametrize("formula", ['{="DS.SIGNAL(1)"}', "{=ADS.SIGNAL(1)}", "{=DSX.SIGNAL(1)}", "{=SUM(DS.A1)}"])
def test_what_only_looks_like_one_is_not(formula):
    assert not is_ours(formula, "DS")
