"""Ranges as arguments: one spills in its shape, names × fields a table, and a blank cell leaves one blank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.engine import registry
from udfs.engine.registry import single
from udfs.errors import ArgumentError


def combinations(raw, ranges):
    return [list(row) for row in registry.combinations(raw, ranges)]


items = st.integers(0, 99)
shapes = st.tuples(st.integers(1, 4), st.integers(1, 4))
line = st.lists(items, min_size=2, max_size=5)


@st.composite
def ranges(draw):
    height, width = draw(shapes)
    return draw(st.lists(st.lists(items, min_size=width, max_size=width), min_size=height, max_size=height))


@given(ranges())
def test_one_range_spills_in_its_own_shape(given_range):
    assert combinations(["x", given_range], [1]) == [[["x", item] for item in row] for row in given_range]


@given(line, line)
def test_names_down_and_fields_across_spill_a_table(names, fields):
    column, row = [[name] for name in names], [fields]
    assert combinations([column, row], [0, 1]) == [[[name, field] for field in fields] for name in names]


@given(line, line)
def test_names_across_and_fields_down_lie_as_in_the_sheet(names, fields):
    row, column = [names], [[field] for field in fields]
    assert combinations([row, column], [0, 1]) == [[[name, field] for name in names] for field in fields]


@given(line, line)
def test_two_columns_spill_the_first_down_and_the_second_across(names, fields):
    first, second = [[name] for name in names], [[field] for field in fields]
    assert combinations([first, second], [0, 1]) == [[[name, field] for field in fields] for name in names]


def test_a_blank_cell_of_a_range_asks_nothing():
    assert combinations([[["a"], [None], [" "]], 1], [0]) == [[["a", 1]], [None], [None]]


def test_two_blocks_or_three_ranges_are_refused():
    block = [[1, 2], [3, 4]]
    with pytest.raises(ArgumentError, match="at most two arguments can be ranges"):
        combinations([block, [[1], [2]]], [0, 1])
    with pytest.raises(ArgumentError, match="at most two arguments can be ranges"):
        combinations([[[1], [2]]] * 3, [0, 1, 2])


def test_a_range_of_one_cell_is_that_cell():
    assert single([["a"]]) == single(["a"]) == single("a") == "a"
    assert single([["a", "b"]]) == [["a", "b"]]


def test_rows_of_different_length_are_refused():
    with pytest.raises(ArgumentError, match="rows of a range must be of one length"):
        single([["a", "b"], ["c"]])
