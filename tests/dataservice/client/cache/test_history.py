"""What is known of a series, against a service that goes on, revises, and forgets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataservice.client.cache.answer import Freshness
from dataservice.client.cache.codec import pack_history, unpack_history
from dataservice.client.cache.history import (
    FULL_PULL_S,
    after_pull,
    findings,
    pulls_needed,
    window_of,
)
from dataservice.client.cache.spans import OVERLAP, History
from dataservice.client.contract.windows import Window, utc_day
from dataservice.observations import Observations

RULES = Freshness(900.0)
TODAY = date(2026, 8, 17)
NOW = datetime(2026, 8, 17, 12, tzinfo=UTC).timestamp()


def daily(first: date, days: int, step: int = 1) -> Observations:
    times = np.array([np.datetime64(first + timedelta(days=n * step), "us") for n in range(days)], "datetime64[us]")
    return Observations(times, np.arange(days, dtype=np.float64))


def revised(series: Observations, index: int) -> Observations:
    values = series.values.copy()
    values[index] += 1_000.0
    return Observations(series.times, values)


def without(series: Observations, index: int) -> Observations:
    return Observations(np.delete(series.times, index), np.delete(series.values, index))


@dataclass
class Reader:
    """Answers questions about a series as the client does, counting what it pulls."""

    series: Observations
    now: float = NOW
    history: History = field(default_factory=History.nothing)
    pulls: list[Window] = field(default_factory=list)
    rows_at_once: int = 0

    def ask(self, start: date | None = None, end: date | None = None, rules: Freshness = RULES) -> Observations:
        wanted = window_of(start, end, utc_day(self.now))
        self.history = replace(self.history, not_before=rules.not_before)
        self.pulls = []
        for current in (rules, Freshness(float("inf"))):
            for pull in pulls_needed(self.history, wanted, self.now, current, rows_at_once=self.rows_at_once):
                self.pulls.append(pull)
                found = self.series.between(pull.start, pull.end)
                self.history = after_pull(self.history, pull, found, self.now)
        known = findings(self.history, wanted, self.now, rules)
        assert known is not None
        assert known.fresh_until > self.now
        return known.observations


LONG = daily(date(2000, 1, 1), (TODAY - date(2000, 1, 1)).days)


def test_the_first_question_pulls_what_was_asked_and_the_second_nothing():
    reader = Reader(LONG)
    assert reader.ask(date(2020, 1, 1)) == LONG.between(date(2020, 1, 1))
    assert reader.pulls == [Window(date(2020, 1, 1), date.max)]
    reader.ask(date(2024, 1, 1), date(2024, 12, 31))
    assert reader.pulls == []


def test_a_refresh_asks_from_thirty_observations_before_the_last_one_known():
    reader = Reader(LONG[:-3])
    reader.ask()
    reader.series, reader.now = LONG, NOW + 901
    assert reader.ask() == LONG
    assert reader.pulls == [Window(LONG[:-3][-1 - OVERLAP :].first_day, date.max)]


def test_a_value_that_changed_inside_the_overlap_is_a_revision_and_pulls_everything_again():
    reader = Reader(LONG)
    reader.ask()
    reader.series, reader.now = revised(LONG, -20), NOW + 901
    assert reader.ask() == reader.series
    assert len(reader.pulls) == 2
    assert reader.history.revised_at == reader.now


def test_an_observation_that_vanished_from_the_overlap_is_a_revision():
    reader = Reader(LONG)
    reader.ask()
    reader.series, reader.now = without(LONG, -20), NOW + 901
    assert reader.ask() == reader.series
    assert reader.history.revised_at == reader.now


def test_a_new_value_for_the_newest_observation_is_taken_without_a_full_pull():
    reader = Reader(LONG)
    reader.ask()
    reader.series, reader.now = revised(LONG, -1), NOW + 901
    assert reader.ask() == reader.series
    assert len(reader.pulls) == 1
    assert reader.history.revised_at is None


def test_after_thirty_days_everything_asked_is_pulled_again():
    reader = Reader(LONG)
    reader.ask()
    reader.series, reader.now = revised(LONG, 5), NOW + FULL_PULL_S
    assert reader.ask() == reader.series
    assert reader.pulls == [Window()]


def test_checks_in_between_do_not_put_the_full_pull_off():
    reader = Reader(LONG)
    reader.ask()
    for day in range(1, 30):
        reader.now = NOW + day * 86_400
        reader.ask()
        assert len(reader.pulls) == 1
    reader.now = NOW + FULL_PULL_S
    reader.ask()
    assert reader.pulls == [Window()]


def test_a_closed_window_in_the_far_past_is_pulled_once_and_alone():
    reader = Reader(LONG)
    wanted = Window(date(2010, 1, 1), date(2010, 3, 31))
    assert reader.ask(wanted.start, wanted.end) == LONG.between(wanted.start, wanted.end)
    assert reader.pulls == [wanted]
    reader.now += 86_400
    reader.ask(wanted.start, wanted.end)
    assert reader.pulls == []


def test_a_wider_question_pulls_only_the_days_that_are_missing():
    reader = Reader(LONG)
    reader.ask(date(2010, 1, 1), date(2010, 12, 31))
    reader.ask(date(2009, 1, 1), date(2011, 12, 31))
    assert reader.pulls == [Window(date(2009, 1, 1), date(2009, 12, 31)), Window(date(2011, 1, 1), date(2011, 12, 31))]


def test_a_window_that_ended_recently_is_asked_again_since_values_may_still_arrive():
    reader = Reader(LONG[:-5])
    reader.ask(date(2026, 1, 1), TODAY - timedelta(days=1))
    reader.series, reader.now = LONG, NOW + 901
    assert reader.ask(date(2026, 1, 1), TODAY - timedelta(days=1)) == LONG.between(date(2026, 1, 1))


def test_an_observation_that_comes_late_behind_the_newest_one_is_found_whichever_windows_were_asked():
    late = LONG[:-40]
    reader = Reader(LONG[:-60])
    reader.ask(date(2026, 1, 1), TODAY - timedelta(days=50))
    reader.now += 100 * 86_400
    reader.ask(TODAY - timedelta(days=49))  # empty: nothing came behind the windows before
    reader.now += 1
    reader.ask(date(2026, 1, 1))
    reader.series, reader.now = late, reader.now + 86_400
    assert reader.ask(date(2026, 1, 1)) == late.between(date(2026, 1, 1))


def test_the_last_thirty_observations_are_asked_again_also_where_they_lie_in_several_windows():
    reader = Reader(LONG)
    reader.ask(TODAY - timedelta(days=10))
    reader.now += 60 * 86_400
    reader.ask(TODAY - timedelta(days=9))
    reader.now += 1
    reader.ask(date(2026, 1, 1))
    reader.now += 901
    reader.ask(date(2026, 1, 1))
    assert reader.pulls == [Window(LONG[-1 - OVERLAP :].first_day, date.max)]


def test_the_window_until_yesterday_moves_on_with_one_pull_a_day():
    reader = Reader(LONG)
    reader.ask(date(2020, 1, 1), TODAY - timedelta(days=1))
    reader.now = NOW + 86_400
    reader.ask(date(2020, 1, 1), TODAY)
    assert len(reader.pulls) == 1
    assert reader.pulls[0].start > date(2026, 6, 1)


def test_after_a_forced_refresh_all_of_what_is_asked_is_pulled_again_and_nothing_else():
    reader = Reader(LONG)
    reader.ask(date(2010, 1, 1), date(2012, 12, 31))
    reader.now = NOW + 60
    rules = Freshness(900.0, not_before=reader.now)
    reader.ask(date(2011, 1, 1), date(2012, 12, 31), rules)
    assert reader.pulls == [Window(date(2011, 1, 1), date(2012, 12, 31))]
    reader.ask(date(2010, 1, 1), date(2012, 12, 31), rules)
    assert reader.pulls == [Window(date(2010, 1, 1), date(2010, 12, 31))]


@pytest.mark.parametrize("index", [0, 4_000, -100])
def test_what_changed_anywhere_is_seen_after_a_forced_refresh(index):
    reader = Reader(LONG)
    reader.ask()
    reader.series, reader.now = revised(LONG, index), NOW + 60
    assert reader.ask(rules=Freshness(900.0, not_before=reader.now)) == reader.series


def test_what_comes_with_one_request_is_pulled_whole_at_each_refresh():
    reader = Reader(LONG[-800:], rows_at_once=900)
    reader.ask()
    reader.series, reader.now = LONG, NOW + 901
    assert reader.ask() == LONG
    assert reader.pulls == [Window()]
    reader.now += 901
    reader.ask()
    assert reader.pulls == [Window(LONG[-1 - OVERLAP :].first_day, date.max)]


def test_a_forced_refresh_asks_once_however_many_windows_of_a_history_were_pulled():
    reader = Reader(LONG)
    for start in (date(2022, 1, 1), date(2018, 1, 1), date(2014, 1, 1)):
        reader.now += 1
        reader.ask(start, date(start.year + 1, 6, 30))
    reader.now += 1
    reader.ask(date(2010, 1, 1))
    assert len(reader.history.spans) == 7
    reader.now += 60
    rules = Freshness(900.0, not_before=reader.now)
    reader.ask(date(2010, 1, 1), rules=rules)
    assert reader.pulls == [Window(date(2010, 1, 1), date.max)]
    reader.ask(date(2022, 3, 1), rules=rules)
    assert reader.pulls == []


def test_the_end_today_and_an_open_end_are_the_same_question():
    assert window_of(None, TODAY, TODAY) == window_of(None, None, TODAY) == Window()


def test_a_window_with_its_end_before_its_start_is_empty_and_costs_nothing():
    reader = Reader(LONG)
    assert len(reader.ask(date(2020, 1, 2), date(2020, 1, 1))) == 0
    assert reader.pulls == []


def test_a_part_never_stands_for_a_window_that_goes_on_behind_it_or_begins_before_it():
    reader = Reader(LONG)
    reader.ask(date(2020, 1, 1), date(2021, 12, 31))
    assert findings(reader.history, Window(date(2021, 1, 1), date(2022, 6, 30)), NOW, RULES) is None
    assert findings(reader.history, Window(date(2021, 1, 1)), NOW, RULES) is None
    assert findings(reader.history, Window(date(2019, 1, 1), date(2020, 6, 30)), NOW, RULES) is None
    reader.ask(date(2024, 1, 1))
    assert findings(reader.history, Window(date(2021, 1, 1), date.max), NOW, RULES) is None


def test_what_was_known_up_to_the_end_of_the_series_stays_known_when_an_empty_window_behind_it_is_asked_later():
    reader = Reader(LONG)
    reader.now += 100 * 86_400
    reader.ask(TODAY + timedelta(days=50))
    reader.now += 1
    reader.ask(date(2026, 1, 1))
    reader.now += 100 * 86_400
    reader.ask(TODAY + timedelta(days=150))
    known = findings(reader.history, Window(date(2026, 1, 1)), reader.now, RULES)
    assert known is not None
    assert known.observations == LONG.between(date(2026, 1, 1))
    assert known.fresh_until < reader.now


def test_after_a_revision_the_rest_serves_as_last_known_value_until_it_is_pulled_again():
    history = after_pull(History.nothing(), Window(), LONG, NOW)
    changed = revised(LONG, -20)
    tail = Window(date(2026, 7, 17), date.max)
    history = after_pull(history, tail, changed.between(tail.start), NOW + 901)
    known = findings(history, Window(), NOW + 901, RULES)
    assert known is not None
    assert len(known.observations) == len(LONG)
    assert known.fresh_until <= NOW + 901


def test_answers_never_stay_fresh_longer_than_a_quarter_of_an_hour():
    reader = Reader(LONG)
    reader.ask(date(2010, 1, 1), date(2010, 3, 31))
    known = findings(reader.history, Window(date(2010, 1, 1), date(2010, 3, 31)), NOW + 86_400, RULES)
    assert known is not None
    assert known.fetched_at == NOW
    assert known.fresh_until == NOW + 86_400 + 900


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Steps in the life of a reader: questions, time that passes, and what the service does meanwhile."""
    kinds = st.sampled_from(["ask", "wait", "publish", "revise", "drop"])
    return draw(st.lists(st.tuples(kinds, st.integers(0, 400), st.integers(0, 400)), max_size=25))


def lived(steps: list[tuple[str, int, int]], step_days: int) -> Reader:
    """A reader after those steps, of a series with an observation every so many days."""
    whole = daily(date(2025, 1, 1), 500 // step_days + 2, step_days)
    reader = Reader(whole[: len(whole) // 2])
    for kind, a, b in steps:
        match kind:
            case "ask":
                reader.now += 1
                reader.ask(date(2025, 1, 1) + timedelta(days=a), date(2025, 1, 1) + timedelta(days=b))
            case "wait":
                reader.now += a * 600
            case "publish":
                reader.series = reader.series.merged(whole[: len(reader.series) + a % 5])
            case "revise" if len(reader.series):
                reader.series = revised(reader.series, a % len(reader.series))
            case "drop" if len(reader.series) > 1:
                reader.series = without(reader.series, a % len(reader.series))
    return reader


@settings(deadline=None, max_examples=150)
@given(lives(), st.integers(1, 40))
def test_a_full_check_always_ends_in_what_the_service_has(steps, step_days):
    """Whatever happened before: 30 days on, every window is again exactly what the service says."""
    reader = lived(steps, step_days)
    reader.now += FULL_PULL_S
    assert reader.ask() == reader.series
    reader.ask()
    assert reader.pulls == []


@settings(deadline=None, max_examples=150)
@given(lives(), st.integers(1, 40), st.integers(0, 400))
def test_an_open_window_always_ends_in_what_the_service_has(steps, step_days, start):
    reader = lived(steps, step_days)
    reader.now += RULES.ttl_s + 1
    first_day = date(2025, 1, 1) + timedelta(days=start)
    told = reader.ask(first_day)
    assert told[-OVERLAP:] == reader.series.between(first_day)[-OVERLAP:]
    reader.ask(first_day)
    assert reader.pulls == []


@settings(deadline=None)
@given(lives())
def test_spans_stay_in_order_apart_and_survive_being_kept(steps):
    reader = Reader(daily(date(2025, 1, 1), 400))
    for kind, a, b in steps:
        if kind == "ask":
            reader.ask(date(2025, 1, 1) + timedelta(days=a), date(2025, 1, 1) + timedelta(days=b))
        else:
            reader.now += a * 3_600
    spans = [span.window for span in reader.history.spans]
    assert all(spans)
    assert all(earlier.end < later.start for earlier, later in itertools.pairwise(spans))
    kept = unpack_history(pack_history(reader.history))
    assert kept == reader.history
