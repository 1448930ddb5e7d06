"""Which days of what is known may still change."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.cache.spans import History, Newest, Span
from dataservice.client.contract.windows import Window, joined
from dataservice.observations import Observations

LAST = 30


def day(number: int) -> date:
    return date.max if number == LAST else date(2026, 1, 1) + timedelta(days=number)


def window(first: int, last: int) -> Window:
    return Window(day(first), day(last))


@given(st.lists(st.integers(0, LAST + 1), unique=True, max_size=8), st.integers(0, LAST), st.integers(0, LAST))
def test_the_newest_days_begin_where_spans_and_the_question_leave_no_hole_up_to_the_end(cuts, first, last):
    edges = sorted(cuts)
    windows = [window(start, end - 1) for start, end in zip(edges[::2], edges[1::2], strict=False)]
    wanted = window(min(first, last), max(first, last))
    newest = Newest.of(History(Observations.empty(), tuple(Span(each, 0.0, 0.0) for each in windows)), wanted)
    whole = joined([*windows, wanted])[-1]
    assert (newest and newest.known_from) == (whole.start if whole.end == date.max else None)
