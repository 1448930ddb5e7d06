"""Results as cells: any value or table becomes what a cell can hold, and nothing is lost or made up on the way."""

from datetime import date, datetime, time, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.cells import (
    EPOCH,
    MAX_TEXT,
    Grid,
    Kind,
    Table,
    cells_of,
    midnights,
    objects,
    restyled,
    scalar,
    serial,
    serials,
    whole_serials,
)
from udfs.errors import CellError, ErrorCode

FAILED = CellError(ErrorCode.NA, "no signal 'x'")


def grid(shown):
    found = cells_of(shown)
    assert isinstance(found, Grid)
    return found


@pytest.mark.parametrize("value", [None, True, 0, 2**60, 1.5, "text", "=1+1", date(2024, 1, 1), FAILED])
def test_what_a_cell_can_hold_stays_as_it_is(value):
    assert cells_of(value) == value


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -np.inf, np.float64("nan"), np.datetime64("NaT"), pd.NaT]
)
def test_what_is_no_value_is_blank(value):
    assert scalar(value) is None


def test_numpy_values_become_plain_ones():
    found = [scalar(value) for value in (np.float64(1.5), np.int64(7), np.bool_(1), np.str_("a"))]
    assert found == [1.5, 7, True, "a"]
    assert [type(value) for value in found] == [float, int, bool, str]


def test_times_are_in_utc_without_a_zone():
    there = datetime(2024, 5, 6, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    expected = datetime(2024, 5, 5, 23, 30)  # noqa: DTZ001 - cells are naive UTC
    assert scalar(there) == scalar(pd.Timestamp(there)) == expected
    assert scalar(np.datetime64("2024-05-05T23:30")) == expected


def test_text_is_cut_to_what_a_cell_holds():
    assert scalar("x" * MAX_TEXT) == "x" * MAX_TEXT
    cut = scalar("x" * (MAX_TEXT + 1))
    assert len(cut) == MAX_TEXT
    assert cut.endswith("x…")


def test_lists_and_objects_become_text():
    assert scalar(["a", 1]) == "a, 1"
    assert scalar({"a": 1, "b": "c"}) == "a: 1, b: c"


def test_what_no_cell_can_hold_is_an_error_that_says_so():
    assert scalar(object()) == CellError(ErrorCode.NA, "a result of the type object cannot be shown in a cell")


@given(st.dates(date(1, 1, 1)))
def test_a_serial_number_counts_days_from_its_epoch(day):
    assert EPOCH + timedelta(days=serial(day)) == day
    assert serial(datetime(day.year, day.month, day.day, 12)) == serial(day) + 0.5  # noqa: DTZ001 - cells are naive UTC


@given(st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), max_size=20))  # noqa: DTZ001 - naive on purpose
def test_serial_numbers_of_an_array_are_those_of_its_items(moments):
    found = serials(np.array(moments, "datetime64[us]"))
    np.testing.assert_allclose(found, [serial(moment) for moment in moments], rtol=1e-15)


@given(st.lists(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)), max_size=20))  # noqa: DTZ001 - naive on purpose
def test_whole_days_have_whole_serial_numbers(moments):
    days = midnights(np.array(moments, "datetime64[us]"))
    assert days.tolist() == [datetime.combine(moment, time.min) for moment in moments]
    assert whole_serials(days).tolist() == [serial(moment.date()) for moment in moments]


def test_a_missing_time_has_no_serial_number():
    assert np.isnan(serials(np.array(["NaT"], "datetime64[us]"))).all()


def test_a_table_becomes_columns_of_one_kind_each():
    shown = Table(
        ("day", "at", "n", "x", "mixed", "flag"),
        (
            np.array(["2024-01-01", "NaT"], "datetime64[us]"),
            np.array(["2024-01-01T10:00", "2024-01-02"], "datetime64[us]"),
            np.array([1, 2]),
            np.array([1.5, np.inf]),
            objects(["a", FAILED]),
            objects([True, False]),
        ),
    )
    found = grid(shown)
    assert [column.kind for column in found.columns] == [
        Kind.DATE,
        Kind.DATETIME,
        Kind.NUMBER,
        Kind.NUMBER,
        Kind.ANY,
        Kind.ANY,
    ]
    assert (found.height, found.width) == (3, 6)
    header, first, second = found.rows()
    assert header == ("day", "at", "n", "x", "mixed", "flag")
    assert first == (date(2024, 1, 1), datetime(2024, 1, 1, 10), 1, 1.5, "a", True)  # noqa: DTZ001 - cells are naive UTC
    assert second[:1] + second[3:] == (None, None, FAILED, False)


def test_a_header_row_can_be_left_out():
    found = grid(Table(("x",), (np.array([1.0]),), shows_header=False))
    assert (list(found.rows()), found.height) == ([(1.0,)], 1)


def test_columns_may_share_a_name():
    found = grid(Table(("x", "x"), (np.array([1]), np.array([2]))))
    assert list(found.rows()) == [("x", "x"), (1, 2)]


def test_a_table_without_rows_is_its_header():
    assert list(grid(Table(("a", "b"), (np.empty(0), objects([])))).rows()) == [("a", "b")]


def test_rows_of_values_are_a_grid_without_a_header():
    assert list(cells_of([[1, None], [FAILED, "a"]]).rows()) == [(1, None), (FAILED, "a")]


def test_a_table_is_left_as_it_was():
    values = np.array([1.0, np.inf])
    grid(Table(("x",), (values,)))
    assert values.tolist() == [1.0, np.inf]


@pytest.mark.parametrize(("style", "shown"), [("text", "no signal 'x'"), ("blank", None)])
def test_errors_are_text_or_blank_wherever_they_stand(style, shown):
    given = Table(("x", "y"), (objects([FAILED, 1]), np.array([1.0, 2.0])))
    assert restyled(FAILED, style) == shown
    assert restyled([[FAILED, 1]], style) == [[shown, 1]]
    assert restyled(given, style).columns[0].tolist() == [shown, 1]
    assert given.columns[0].tolist() == [FAILED, 1]
    assert restyled(1.5, style) == 1.5
