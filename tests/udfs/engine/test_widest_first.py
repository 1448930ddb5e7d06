"""What a fetch of the same round may bring along is asked apart, however many questions there are."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from dataservice.client import HistoryResource, SignalResource, WireResource
from udfs.engine.effects import FRESH, Question
from udfs.engine.scheduler import Round, widest_first

DAYS = st.none() | st.integers(0, 6).map(lambda n: date(2026, 1, 1) + timedelta(n))
WINDOWS = st.builds(HistoryResource, st.sampled_from("ab"), DAYS, DAYS)
SELECTIONS = st.builds(WireResource, st.sampled_from([None, "A", "B"]), st.sampled_from([None, "filing"]), since=DAYS)
QUESTIONS = st.builds(Question, WINDOWS | SELECTIONS, st.sampled_from([None, FRESH]))


@given(st.lists(QUESTIONS, unique=True, max_size=12))
def test_a_question_is_apart_exactly_if_another_one_that_is_fetched_covers_it(questions):
    wide, narrow = widest_first(questions)
    assert sorted(map(id, wide + narrow)) == sorted(map(id, questions))
    for question in questions:
        fetched = [one for one in questions if one is not question and one.cached_max_age_s is None]
        assert (question in narrow) is any(one.resource.covers(question.resource) for one in fetched)


def test_of_many_selections_those_without_a_filter_of_others_are_found():
    wide_ones = [Question(WireResource(ticker=f"T{n}")) for n in range(200)]
    narrow_ones = [Question(WireResource(ticker=f"T{n}", kind="filing")) for n in range(200)]
    wide, narrow = widest_first([*narrow_ones, *wide_ones])
    assert (set(wide), set(narrow)) == (set(wide_ones), set(narrow_ones))


def test_a_sheet_of_windows_is_ordered_in_no_time_to_speak_of():
    # Pair by pair these would be ten thousand million comparisons, which no test run would see the end of.
    first = date(1900, 1, 1)
    windows = [HistoryResource("us-10y", first + timedelta(n), first + timedelta(n + 30)) for n in range(40_000)]
    wide, narrow = widest_first([Question(each, max_age) for each in windows for max_age in (None, FRESH)])
    assert (len(wide), len(narrow)) == (40_000, 40_000)


DETAIL = Question(SignalResource("a"))
THREE_YEARS = Question(HistoryResource("a", date(2023, 1, 1)))
OTHER = Question(HistoryResource("b", date(2023, 1, 1)))


def test_windows_of_a_signal_wait_for_its_detail():
    plan = Round([THREE_YEARS, DETAIL, OTHER])
    assert (plan.later, plan.spared) == ({THREE_YEARS}, set())


def test_a_detail_is_spared_where_a_window_of_this_round_holds_what_it_was_wanted_for():
    one_year = Question(SignalResource("a"), unless=HistoryResource("a", date(2025, 1, 1)))
    ten_years = Question(SignalResource("a"), unless=HistoryResource("a", date(2016, 1, 1)))
    assert Round([THREE_YEARS, one_year]).spared == {one_year}
    assert Round([THREE_YEARS, one_year]).later == set()
    for needed in (DETAIL, ten_years):
        plan = Round([THREE_YEARS, one_year, needed])
        assert (plan.later, plan.spared) == ({THREE_YEARS}, set())
    assert Round([OTHER, one_year]).spared == set()
