"""A detail beside a history: what an older one may say after a revision was noticed."""

from dataclasses import replace
from datetime import date

import pytest

from dataservice.client.cache.answer import Freshness
from dataservice.client.cache.history import after_pull, gaps, pulls_needed
from dataservice.client.cache.recent import is_whole, settled, with_detail
from dataservice.client.cache.spans import History, Span
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.windows import Window
from dataservice.models import Observation, Signal
from dataservice.observations import Observations
from tests.dataservice.client.cache.test_history import LONG, NOW, revised

CLOSED = Window(date(2010, 1, 1), date(2010, 6, 30))
RECENT = Window(date(2026, 8, 1), date.max)
DETAIL = SignalDetail(Signal(slug="x", name="x"), None, LONG[-365:])
RULES = Freshness(900.0)


def pulled(history: History, window: Window, series, at: float) -> History:
    return after_pull(history, window, series.between(window.start, window.end), at)


@pytest.mark.parametrize(
    ("rows", "whole"), [(28, True), (29, False), (30, False), (252, False), (254, True), (364, False), (365, False)]
)
def test_as_many_rows_as_a_service_may_cut_a_recent_history_to_are_no_whole_series(rows, whole):
    months = [f"{1990 + number // 12}-{number % 12 + 1:02}-01" for number in range(rows)]
    assert is_whole(Observations.from_columns(months, [1.0] * rows)) is whole


def test_days_without_a_value_behind_the_latest_one_are_no_observations_yet():
    history = Observations.from_columns(["2026-08-03", "2026-08-04", "2026-08-05"], [None, 1.5, None])
    told = SignalDetail(Signal(slug="x", name="x"), Observation(observed_at="2026-08-04T00:00:00Z", value=1.5), history)
    assert settled(told).history == history[:2]
    assert settled(told).latest == told.latest


def test_a_detail_from_before_a_revision_was_noticed_is_as_doubtful_as_all_else():
    known = pulled(History.nothing(), Window(date.min, date.max), LONG, NOW)
    changed = revised(LONG, LONG.times.searchsorted(LONG.between(CLOSED.start).times[0]))
    noticed = pulled(known, CLOSED, changed, NOW + 20)
    assert noticed.revised_at == NOW + 20
    joined = with_detail(noticed, DETAIL, NOW + 10)
    assert gaps(joined, RECENT, NOW + 30) != []


def test_days_that_were_doubtful_already_make_nothing_else_doubtful_when_they_have_changed():
    doubtful = Span(Window(date.min, date(2025, 8, 13)), NOW - 9e6, NOW - 9e6, revised=True)
    known = History(revised(LONG, 4_000), (doubtful,), NOW)
    known = with_detail(replace(known, revised_at=NOW), DETAIL, NOW)
    changed = pulled(known, CLOSED, revised(known.observations, 3_700), NOW + 20)
    assert changed.revised_at == NOW
    assert pulls_needed(with_detail(changed, DETAIL, NOW), RECENT, NOW + 30, RULES) == []
