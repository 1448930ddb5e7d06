"""Which calculations depend on our values: the same as by following every reference, for any sheet of formulas."""

import time

from hypothesis import given
from hypothesis import strategies as st

from addin.formulas import Area
from addin.workbook.calculation.influence import Calculation, Influence, Place
from addin.workbook.ooxml.positions import CellIndex

_SPOTS = st.tuples(st.integers(1, 7), st.integers(1, 5))
_AREAS = st.builds(
    lambda one, other: Area(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])),
    _SPOTS,
    _SPOTS,
)
_SHEETS = st.sampled_from("XY")


@given(
    st.dictionaries(
        st.tuples(_SHEETS, _SPOTS), st.tuples(st.lists(st.tuples(_SHEETS, _AREAS), max_size=3), st.booleans())
    ),
    st.sets(_SPOTS, max_size=3),
)
def test_influence_is_what_following_every_reference_finds(
    formulas: dict[Place, tuple[list[tuple[str, Area]], bool]], ours: set[tuple[int, int]]
):
    calculations: list[Calculation] = [
        (place, areas, calls and place[1][0] == 1)
        for place, (areas, calls) in formulas.items()
        if not (place[0] == "X" and place[1] in ours)
    ]
    influence = Influence(calculations, {"X": CellIndex(ours)})
    reached = {("X", spot) for spot in ours}
    expected: set[Place] = set()
    while True:
        new = {
            place
            for place, areas, calls in calculations
            if calls or any(sheet == s and area.contains(*spot) for sheet, area in areas for s, spot in reached)
        } - expected
        if not new:
            break
        expected |= new
        reached |= new
    for place, _, _ in calculations:
        found = influence.first_inside(place[0], Area(*place[1], *place[1]))
        assert (found is not None) == (place in expected)


@given(st.sets(_SPOTS), _AREAS)
def test_an_index_finds_the_cells_inside_an_area(spots: set[tuple[int, int]], area: Area):
    index = CellIndex(spots)
    assert sorted(index.inside(area)) == sorted(spot for spot in spots if area.contains(*spot))
    assert (index.first_inside(area) is not None) == any(area.contains(*spot) for spot in spots)


def test_a_running_total_over_ten_thousand_rows_takes_no_time():
    calculations: list[Calculation] = [
        (("X", (row, 2)), [("X", Area(1, 2, row - 1, 2))], False) for row in range(2, 10_001)
    ]
    begun = time.perf_counter()
    influence = Influence(calculations, {"X": CellIndex([(1, 2)])})
    assert influence.first_inside("X", Area(10_000, 2, 10_000, 2)) is not None
    assert time.perf_counter() - begun < 10  # comparing each formula with each cell takes minutes
