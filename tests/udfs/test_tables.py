"""Tables: columns of one kind are arrays, and a null is an empty cell."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from udfs.cells import Kind, cells_of, in_python, table

NOON = datetime(2026, 8, 18, 12, tzinfo=UTC)


def column_of(values):
    (column,) = cells_of(table(["x"], [[value] for value in values])).columns
    return column.kind, column.scalars()


@pytest.mark.parametrize(
    ("values", "kind", "scalars"),
    [
        ([1, 2], Kind.NUMBER, [1, 2]),
        ([1.5, None, 2], Kind.NUMBER, [1.5, None, 2]),
        ([NOON, None], Kind.DATETIME, [NOON.replace(tzinfo=None), None]),
        ([NOON, NOON.date()], Kind.DATETIME, [NOON.replace(tzinfo=None), datetime.fromisoformat("2026-08-18")]),
        ([None, NOON.date()], Kind.DATE, [None, NOON.date()]),
        (["a", None, 1.5, True], Kind.ANY, ["a", None, 1.5, True]),
        ([True, False], Kind.ANY, [True, False]),
        ([None, None], Kind.ANY, [None, None]),
        ([10**400, 1], Kind.ANY, [10**400, 1]),
    ],
)
def test_a_column_has_the_kind_of_its_values(values, kind, scalars):
    assert column_of(values) == (kind, scalars)


def test_times_at_midnight_are_dates():
    kind, _ = column_of([NOON.replace(hour=0)])
    assert kind is Kind.DATE


def test_a_table_without_rows_shows_its_header():
    grid = cells_of(table(["a", "b"], []))
    assert list(grid.rows()) == [("a", "b")]


def test_a_hidden_header_leaves_the_rows():
    grid = cells_of(replace(table(["a"], [["x"]]), shows_header=False))
    assert list(grid.rows()) == [("x",)]


def test_python_has_a_dated_table_as_a_frame_with_its_index():
    dated = replace(table(["date", "x", "date"], [[NOON, 1, "a"]]), dated_by="date", shows_header=False)
    frame = in_python(dated)
    assert (frame.index.name, list(frame.index)) == ("observed_at", [NOON])
    assert (list(frame.columns), frame.values.tolist()) == (["x", "date"], [[1, "a"]])
    assert frame.attrs == {"header": False}


def test_times_have_their_zone_in_python():
    frame = in_python(table(["at", "x"], [[NOON, "a"]]))
    assert (frame["at"].tolist(), frame["x"].tolist()) == ([NOON], ["a"])


def test_what_is_no_table_is_the_same_in_python():
    assert in_python(1.5) == 1.5
