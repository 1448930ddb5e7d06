"""Paging by documented parameters, against services that page in every way."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataservice.client.contract.completeness.evidence import AskedDays, Evidence
from dataservice.client.contract.decode import ObservationsPage, observations_page
from dataservice.client.contract.paging import Pulled, fewest, pages_for
from dataservice.client.contract.windows import Window
from dataservice.errors import MalformedAnswerError
from dataservice.observations import Observations

FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def series(hours: list[int]) -> Observations:
    """Observations of these hours, each of which has its own value."""
    hours = sorted(set(hours))
    times = np.array([np.datetime64(FIRST.replace(tzinfo=None) + timedelta(hours=h), "us") for h in hours])
    return Observations(times.astype("datetime64[us]"), np.array(hours, dtype=np.float64))


def serve(whole: Observations, window: Window, start: date, size: int, *, says_total: bool) -> ObservationsPage:
    """One page as a service gives it."""
    found = whole.between(None if start == date.min else start, None if window.end == date.max else window.end)
    page = found[:size]
    return ObservationsPage(page, len(page), len(found) - len(page) if says_total else None, size)


def pull(whole: Observations, window: Window, size: int, *, says_total: bool) -> Pulled:
    pulled = Pulled.begin(window)
    while pulled.next is not None:
        pulled = pulled.with_page(serve(whole, window, pulled.next.start, size, says_total=says_total))
    return pulled


hours = st.lists(st.integers(0, 24 * 60), max_size=120)
ends = st.none() | st.integers(0, 60)


@settings(deadline=None)
@given(hours, ends, ends, st.integers(25, 60), st.booleans())
def test_pages_together_are_the_window_where_no_day_fills_a_page(whole, start, end, size, says_total):
    window = Window(_day(start, date.min), _day(end, date.max))
    known = series(whole)
    assert pull(known, window, size, says_total=says_total).observations == known.between(
        None if start is None else window.start, None if end is None else window.end
    )


@settings(deadline=None)
@given(hours, st.integers(1, 10), st.booleans())
def test_paging_ends_also_where_days_are_larger_than_pages(whole, size, says_total):
    pulled = pull(series(whole), Window(), size, says_total=says_total)
    assert pulled.complete
    assert pulled.pages <= 2 * len(set(whole)) + 2


def test_a_service_that_says_how_many_there_are_is_not_asked_for_an_empty_page():
    assert pull(series(list(range(0, 24 * 50, 24))), Window(), 25, says_total=True).pages == 3
    assert pull(series(list(range(0, 24 * 24, 24))), Window(), 25, says_total=True).pages == 1


def test_a_service_that_ignores_start_is_found_out():
    page = ObservationsPage(series([0, 24, 48]), 3, left=5)
    pulled = Pulled.begin(Window()).with_page(page)
    assert "2024-01-01" in pulled.with_page(page).problem
    with pytest.raises(MalformedAnswerError, match="2024-01-01"):
        Pulled.begin(Window(date(2024, 1, 9))).with_page(page)


def test_of_a_pull_that_broke_off_nothing_is_known_where_all_that_came_lies_behind_its_end():
    pulled = Pulled.begin(window := Window(date.min, date(2023, 12, 31)))
    behind = pulled.with_page(ObservationsPage(series([48, 72, 96]), 3, left=5))
    assert not behind.known_window()
    inside = pulled.with_page(ObservationsPage(series([-48, -24, 48, 72, 96]), 5, left=5))
    assert inside.known_window() == window


def test_one_row_before_a_window_is_left_out_as_services_send_it_for_charts_to_begin_at_their_edge():
    window = Window(date(2024, 1, 10), date(2024, 1, 20))
    found = series([24 * day for day in (4, *range(9, 20))])
    pulled = Pulled.begin(window).with_page(ObservationsPage(found, 12, left=0), asked=date(2024, 1, 9))
    assert pulled.observations.first_day == date(2024, 1, 10)
    early = series([24 * day for day in (3, 4, *range(9, 20))])
    with pytest.raises(MalformedAnswerError, match="2024-01-04"):
        Pulled.begin(window).with_page(ObservationsPage(early, 13, left=0), asked=date(2024, 1, 9))


def test_values_that_change_while_pages_are_read_are_not_put_together():
    first, second = series([0, 24, 48]), series([48, 72])
    turned = Observations(second.times, second.values * 1.25 + 1.0)
    pulled = Pulled.begin(Window()).with_page(ObservationsPage(first, 3, left=1))
    assert pulled.with_page(ObservationsPage(second, 2, left=0), asked=date(2024, 1, 3)).complete
    with pytest.raises(MalformedAnswerError, match="2024-01-03 changed while pages were read"):
        pulled.with_page(ObservationsPage(turned, 2, left=0), asked=date(2024, 1, 3))


def test_the_newest_value_of_all_may_change_while_pages_are_read():
    newest = series([48])
    pulled = Pulled.begin(Window()).with_page(ObservationsPage(series([0, 24, 48]), 3, limit=3))
    live = Observations(newest.times, newest.values + 1.0)
    assert pulled.with_page(ObservationsPage(live, 1, left=0), asked=date(2024, 1, 3)).complete


def test_of_a_pull_that_broke_off_all_days_before_the_last_one_seen_are_known():
    whole = series(list(range(0, 24 * 50, 24)))
    pulled = Pulled.begin(Window()).with_page(serve(whole, Window(), date.min, 25, says_total=False))
    assert not pulled.complete
    assert pulled.known_window() == Window(date.min, date(2024, 1, 24))


@pytest.mark.parametrize(("observations", "pages"), [(0, 1), (1_000, 1), (1_001, 2), (1_999, 2), (10_226, 11)])
def test_the_number_of_requests_follows_from_the_number_of_observations(observations, pages):
    assert pages_for(observations) == pages


def _day(offset: int | None, otherwise: date) -> date:
    return otherwise if offset is None else FIRST.date() + timedelta(days=offset)


def test_parts_are_pulled_as_one_where_that_takes_fewer_requests():
    parts = [Window(date(2020, month, 1), date(2020, month, 5)) for month in (1, 3, 5)]
    rows = {days: (days.end - days.start).days + 1 for days in [*parts, Window(parts[0].start, parts[-1].end)]}
    assert fewest(parts, rows.__getitem__) == [Window(date(2020, 1, 1), date(2020, 5, 5))]
    assert fewest(parts, lambda window: 1_000 * rows[window]) == parts
    assert fewest(parts[:1], rows.__getitem__) == parts[:1]


@pytest.mark.parametrize("size", [50, 100, 365, 500, 1_000])
def test_pages_of_a_common_size_are_followed_where_the_service_says_nothing_of_size_and_rest(size):
    whole, pulled = series([24 * day for day in range(1_234)]), Pulled.begin(Window())
    while pulled.next is not None:
        page = whole.between(pulled.next.start, None)[:size]
        pulled = pulled.with_page(ObservationsPage(page, len(page)))
    assert pulled.observations == whole


def pull_silent(whole: Observations, window: Window, cut: Callable[[Observations], Observations]) -> Pulled:
    """Windows that come `cut`, of a service that says nothing of what it left out."""
    pulled, evidence = Pulled.begin(window, last=whole.last_day), Evidence()
    while (position := pulled.next) is not None:
        shown = cut(whole.between(position.start, min(position.end or date.max, window.end)))
        page = ObservationsPage(shown, len(shown))
        evidence = evidence.after(page, position.start, None)
        pulled = pulled.with_page(page, evidence)
    return pulled


CUTS = {
    "newest 700": lambda found: found[-700:],
    "last year": lambda found: found.between(found.last_day - timedelta(days=366), None) if len(found) else found,
    "first year": lambda found: found.between(None, found.first_day + timedelta(days=366)) if len(found) else found,
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("step", [1, 30])
def test_a_window_that_was_cut_without_a_word_is_asked_on_until_it_is_whole(cut, step):
    whole = series([24 * day for day in range(0, 2_500, step)])
    assert pull_silent(whole, Window(), cut).observations == whole
    assert pull_silent(whole, Window(date(2024, 3, 1), date(2030, 1, 5)), cut).observations == whole.between(
        date(2024, 3, 1), date(2030, 1, 5)
    )


def test_a_whole_window_of_a_service_that_says_nothing_costs_one_look_before_it_and_later_ones_none():
    whole = series([24 * day for day in range(800)])
    page = ObservationsPage(whole, len(whole))
    pulled = Pulled.begin(Window(), last=whole.last_day).with_page(page, Evidence().after(page, date.min, None))
    assert pulled.next is not None
    assert pulled.next.end == whole.first_day - timedelta(days=1)
    nothing = ObservationsPage(Observations.empty(), 0)
    assert pulled.with_page(nothing).complete
    known = Evidence().after(page, date.min, None).after_window(whole)
    assert Pulled.begin(Window(), last=whole.last_day).with_page(page, known).complete


def test_older_rows_that_do_not_reach_to_the_newest_ones_are_refused():
    whole = series([24 * day for day in range(2_500)])
    newest, oldest = whole[2_400:], whole[:100]
    pulled = Pulled.begin(Window(), last=whole.last_day).with_page(ObservationsPage(newest, 100), Evidence())
    with pytest.raises(MalformedAnswerError, match="came behind a later day"):
        pulled.with_page(ObservationsPage(oldest, 100), Evidence())


@pytest.mark.parametrize("said", [{"pagination": {"limit": 100, "offset": 0, "total": 300}}, {"next_cursor": "x"}, {}])
def test_a_full_page_in_no_order_is_refused_because_its_last_day_says_nothing_of_the_next(said):
    rows = [{"observed_at": f"2026-{1 + n * 7 % 12:02}-{1 + n // 12:02}", "value": 1.0} for n in range(200)]
    rows = rows[:100] if "pagination" in said else rows
    with pytest.raises(MalformedAnswerError, match="in no order"):
        Pulled.begin(Window()).with_page(observations_page(msgspec.json.encode({"data": rows, **said})))


def test_a_few_rows_in_no_order_are_a_window_and_so_are_moments_that_only_look_so():
    few = [{"observed_at": f"2026-01-{day:02}", "value": 1.0} for day in (1, 3, 2)]
    assert observations_page(msgspec.json.encode({"data": few})).is_in_no_order
    assert len(Pulled.begin(Window()).with_page(observations_page(msgspec.json.encode({"data": few}))).arrived) == 3
    zones = [{"observed_at": f"2026-01-01T{hour}", "value": 1.0} for hour in ("10:00+09:00", "02:00Z", "12:00+09:00")]
    assert not observations_page(msgspec.json.encode({"data": zones})).is_in_no_order


@pytest.mark.parametrize("said", [{"pagination": {"limit": 100, "offset": 0, "total": 300}}, {}])
def test_pages_that_begin_with_the_newest_are_refused_because_the_oldest_would_never_come(said):
    days = [(FIRST + timedelta(days=300 - day)).isoformat() for day in range(300)]
    whole = [{"observed_at": day, "value": 1.0} for day in days]
    first = observations_page(msgspec.json.encode({"data": whole[:100], **said}))
    with pytest.raises(MalformedAnswerError, match="came newest first"):
        Pulled.begin(Window()).with_page(first)
    at_once = observations_page(msgspec.json.encode({"data": whole[:99], "has_more": False}))
    assert Pulled.begin(Window()).with_page(at_once).complete


def test_a_page_that_says_nothing_is_asked_on_and_ends_where_nothing_comes():
    page = ObservationsPage(series([0, 24, 48]), 3)
    pulled = Pulled.begin(Window()).with_page(page)
    assert pulled.next.start == date(2024, 1, 3)
    again = ObservationsPage(series([48]), 1)
    assert pulled.with_page(again).complete


@pytest.mark.parametrize(
    ("said", "complete"),
    [
        ({"left": 0, "limit": 1_000}, True),
        ({"left": 0, "limit": 3}, False),  # a total that counts its own page only
        ({"left": 2}, False),
        ({"more": True}, False),
        ({"more": False}, True),
        ({"limit": 1_000}, False),
        ({}, False),
    ],
)
def test_a_page_is_the_last_one_only_where_that_is_shown(said, complete):
    page = ObservationsPage(series([0, 24, 48]), 3, **said)
    assert Pulled.begin(Window()).with_page(page).complete is complete


def test_what_shows_that_nothing_follows_needs_no_request():
    page = ObservationsPage(series([0, 24, 48]), 3)
    assert Pulled.begin(Window(end=date(2024, 1, 2))).with_page(page).complete, "a row behind the window"
    assert Pulled.begin(Window(), last=date(2024, 1, 3)).with_page(page).complete, "nothing is newer"
    assert Pulled.begin(Window()).with_page(page, Evidence(most_rows=4)).complete, "other pages held more"


def test_a_newer_observation_that_is_known_contradicts_a_page_that_says_it_is_the_last():
    page = ObservationsPage(series([0, 24, 48]), 3, left=0, limit=1_000)
    assert not Pulled.begin(Window(), newest=date(2024, 1, 9)).with_page(page).complete


def test_a_day_that_fills_more_than_a_page_is_read_on_by_the_service_s_own_words_or_refused():
    whole, day = series(list(range(12))), Window(date(2024, 1, 1), date(2024, 1, 1))
    pulled, offset = Pulled.begin(day), 0
    while pulled.next is not None:
        left, further = max(0, 12 - offset - 5), (("offset", str(offset + 5)),)
        page = ObservationsPage(whole[offset : offset + 5], len(whole[offset : offset + 5]), left, further=further)
        pulled = pulled.with_page(page)
        offset = int(dict(pulled.next.further)["offset"]) if pulled.next else 0
    assert (pulled.observations == whole, pulled.pages) == (True, 3)
    unnamed = Pulled.begin(day).with_page(ObservationsPage(whole[:5], 5, 7))
    assert unnamed.next is not None
    assert unnamed.next.further == (("offset", "5"),)  # as the catalogue has it
    with pytest.raises(MalformedAnswerError, match="more than 5 observations on 2024-01-01"):
        unnamed.with_page(ObservationsPage(whole[:5], 5, 7))


def test_whether_the_first_day_belongs_to_a_window_is_learned_and_minded():
    unknown = Evidence()
    assert unknown.asked_window(date(2024, 1, 5), date(2024, 2, 1), is_first=True) == AskedDays(
        date(2024, 1, 4), date(2024, 2, 3)
    )
    included = unknown.after(ObservationsPage(series([0, 24]), 2), date(2024, 1, 1), None)
    assert included.asked_window(date(2024, 1, 5), date.max, is_first=True).start == date(2024, 1, 5)
    excluded = unknown.after(ObservationsPage(series([24]), 1), date(2024, 1, 1), date(2024, 1, 1))
    assert excluded.asked_window(date(2024, 1, 5), date.max, is_first=False).start == date(2024, 1, 3)


def test_rows_later_on_the_first_day_do_not_show_that_it_belongs_to_a_window():
    of_a_zone = Evidence().after(ObservationsPage(series([4, 5]), 2), date(2024, 1, 1), None)
    assert of_a_zone.start_included is None


def counted(first: int, days: int, total: int) -> ObservationsPage:
    """A page of daily rows that says how many there are from the day on that was asked for."""
    page = series([24 * day for day in range(first, first + days)])
    return ObservationsPage(page, days, total - days, 1_000)


WINDOW = Window(date(2024, 1, 1), date(2024, 2, 29))


def after(pages: list[tuple[date, ObservationsPage]]) -> Pulled:
    pulled, seen = Pulled.begin(WINDOW), Evidence()
    for asked, page in pages:
        seen = seen.after(page, asked, None)
        pulled = pulled.with_page(page, seen, asked)
    return pulled


@pytest.mark.parametrize(
    "pages",
    [
        [(date(2024, 1, 1), counted(0, 30, 31)), (date(2024, 1, 30), counted(29, 1, 2))],  # the last one never comes
        [(date(2024, 1, 1), counted(0, 30, 60)), (date(2024, 1, 30), counted(29, 30, 30))],  # one was left out before
    ],
)
def test_rows_that_are_told_and_do_not_come_are_a_problem(pages):
    pulled = after(pages)
    assert pulled.complete
    assert pulled.problem


@pytest.mark.parametrize(
    "pages",
    [
        [(date(2024, 1, 1), counted(0, 30, 59)), (date(2024, 1, 30), counted(29, 30, 30))],
        [(date(2024, 1, 1), counted(0, 30, 59)), (date(2024, 1, 30), counted(29, 31, 31))],  # another came meanwhile
        [(date(2024, 1, 1), counted(0, 30, 900)), (date(2024, 1, 30), counted(29, 1, 900))],  # it counts something else
    ],
)
def test_totals_that_hold_or_count_something_else_are_none(pages):
    assert not after(pages).problem
