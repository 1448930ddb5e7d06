"""Rows in order: highest and newest first, texts from A to Z, blanks last."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import NoDataError
from udfs.records.lookup import in_group, in_order

values = (
    st.none()
    | st.floats(allow_nan=False)
    | st.integers()
    | st.text()
    | st.dates()
    | st.datetimes(timezones=st.just(UTC))
)


def test_numbers_come_highest_first_and_blanks_last():
    assert in_order([1.5, None, 3, 2], lambda each: each) == [3, 2, 1.5, None]


def test_the_other_way_round_blanks_are_last_still():
    assert in_order([1.5, None, 3], lambda each: each, reverse=True) == [1.5, 3, None]


def test_texts_come_from_a_to_z_whatever_their_case():
    assert in_order(["b", "A", "c"], lambda each: each) == ["A", "b", "c"]


def test_times_come_newest_first():
    old, new = (datetime(year, 1, 1, tzinfo=UTC) for year in (2025, 2026))
    assert in_order([old, new], lambda each: each) == [new, old]


def test_a_date_counts_as_its_midnight_among_times():
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert in_order([date(2026, 1, 1), noon, date(2026, 1, 2)], lambda each: each) == [
        date(2026, 1, 2),
        noon,
        date(2026, 1, 1),
    ]


def test_a_group_is_meant_in_any_case():
    assert in_group(["Fx", "macro"], "fX", lambda each: each, "category") == ["Fx"]


def test_an_unknown_group_is_told_the_nearest_one():
    with pytest.raises(NoDataError, match=r"no category 'macor'; did you mean macro\?"):
        in_group(["fx", "macro", None], "macor", lambda each: each, "category")


@given(st.lists(values), st.booleans())
def test_sorting_loses_nothing_and_puts_every_blank_last(records, reverse):
    ordered = in_order(records, lambda each: each, reverse=reverse)
    assert sorted(map(repr, ordered)) == sorted(map(repr, records))
    blanks = records.count(None)
    assert ordered[len(ordered) - blanks :] == [None] * blanks
