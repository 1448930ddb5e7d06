"""Cells that go to the engine as a file are the same there as cells that are put in one by one."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from addin.formulas.areas import area_of
from addin.formulas.shape import ShapeReader, shape_of
from addin.workbook.calculation.engine.cells_file import MAX_EMPTY, as_file
from addin.workbook.calculation.engine.process import PLAIN, VALUE, EngineProcess, Kind

_SPOTS = st.tuples(st.integers(1, 6), st.integers(1, 5))
_CONSTANTS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=6),
    st.sampled_from(["", " a ", "<&>\"'", "_x0041_", "=1", "a\nb", "\x01", {"error": "#N/A"}, {"error": "#SPILL!"}]),
)
_FORMULAS = st.sampled_from(
    [
        '=A1&B2&"<x>\'"',
        "=SUM(A1:E6)-SUM(A1:E6)",
        "=COUNTA(A1:B6)",
        "=IF(A1>B2,1,2)",
        "=ISBLANK(C3)",
        "=LEN(A2)",
        '=INDIRECT("A"&2)',
        "=OFFSET(A1,1,1)",
        "=SEQUENCE(2)",
        "=1+",
    ]
)
_CELLS = st.dictionaries(_SPOTS, _CONSTANTS, max_size=12)
FORMULA_ROW = 8
_FILLED_DOWN = ["A{0}*2+1", "SUM($A{0}:C{0})/{0}", "A{0}7+$B$3+B1{0}", '"{0}"&x{0}!A{0}', "F1({0})+A:A"]


def _shown(cells: list[Any], *, at_once: bool) -> list[Any]:
    """What all cells show, and what was asked, before and after another value comes into A1."""
    everywhere = [("S", (row, column)) for row in range(1, 11) for column in range(1, 13)]
    found: list[Any] = []
    with EngineProcess(Kind.FORMUALIZER, now=0) as engine:
        failed = engine.load(["S"], cells if at_once else [])
        failed += [] if at_once else engine.set(cells)
        found.append(sorted(each[:3] for each in failed))
        for value in (3.0, -4.5):
            engine.set([("S", 1, 1, VALUE, value)])
            engine.evaluate()
            found.append(engine.values(everywhere))
    return found


@given(_CELLS, st.sets(_FORMULAS))
@settings(max_examples=40, deadline=None)
def test_cells_from_a_file_are_what_they_are_one_by_one(book: dict[tuple[int, int], Any], formulas: set[str]):
    cells = [("S", *spot, VALUE, content) for spot, content in sorted(book.items()) if spot != (1, 1)]
    cells += [("S", FORMULA_ROW, column, PLAIN, formula) for column, formula in enumerate(sorted(formulas), 1)]
    assert _shown(cells, at_once=True) == _shown(cells, at_once=False)


def test_cells_far_apart_are_put_in_one_by_one():
    cells = [("S", 1, 1, VALUE, 1.0), ("S", MAX_EMPTY, 16_384, PLAIN, "=A1+1")]
    _, others = as_file(["S"], cells, dates_from_1904=False)
    assert others == cells
    with EngineProcess(Kind.FORMUALIZER, now=0) as engine:
        engine.load(["S"], cells)
        engine.evaluate()
        assert engine.values([("S", (MAX_EMPTY, 16_384))]) == [2.0]


@given(st.lists(st.tuples(st.sampled_from(_FILLED_DOWN), st.integers(1, 30))))
def test_formulas_that_were_filled_down_have_the_shape_that_each_has_by_itself(formulas: list[tuple[str, int]]):
    reader = ShapeReader()
    for pattern, row in formulas:
        formula = pattern.format(row)
        shape, references = shape_of(formula)
        assert reader.read(formula, row) == (shape, references, [area_of(each) for each in references])
