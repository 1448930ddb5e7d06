"""Archives of before hold revisions that never happened: they stay, and are marked."""

from datetime import date

import numpy as np
import pytest

from dataservice.client.archive.codec import pack_vintages, unpack_vintages
from dataservice.client.archive.coverage import Coverage
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.looks import Look, of_one_source
from dataservice.client.archive.retold import retold
from dataservice.client.archive.vintages import RETOLD, Vintages
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations

DAYS = np.arange("2024-01-01", "2024-01-09", dtype="datetime64[D]").astype("datetime64[us]")
FINE = np.array([100.162, 101.337, 99.008, 102.111, 103.519, 98.276, 100.901, 97.443])
NEVER = np.iinfo(np.int64).min


def archive(*looks):
    """The facts of looks as a version before kept them: whatever differed from the look before."""
    facts, known = [], {}
    for moment, (times, values) in enumerate(looks, start=1):
        found = dict(zip(times.tolist(), values.tolist(), strict=True))
        changed = sorted(at for at in {*known, *found} if known.get(at) != found.get(at))
        told = np.array([found.get(at, np.nan) for at in changed])
        gone = np.array([at not in found for at in changed])
        seen = np.full(len(changed), moment)
        before = np.full(len(changed), moment - 1 if moment > 1 else NEVER)
        sources = np.zeros((2, len(told)), bool)
        facts.append(Facts(np.array(changed, "datetime64[us]"), told, gone, seen, before, *sources))
        known = found
    return Facts.together(facts)


def test_four_bytes_and_rounding_are_marked_and_a_revision_beside_them_is_not():
    told = FINE.astype(np.float32).astype(float)
    told[3] = 95.0
    facts = archive((DAYS, FINE), (DAYS, told), (DAYS, FINE))
    chosen = facts[retold(facts)]
    marked = {(str(at)[:10], moment) for at, moment in zip(chosen.times, chosen.first_seen, strict=True)}
    assert {moment for _, moment in marked} == {2, 3}
    assert "2024-01-04" not in {day for day, _ in marked}
    assert len(marked) == 2 * (len(FINE) - 1)


def test_another_time_of_the_same_day_is_marked_on_both_sides():
    evening = DAYS + np.timedelta64(21, "h")
    facts = archive((DAYS, FINE), (evening, FINE))
    assert retold(facts).sum() == 2 * len(FINE)


def test_what_vanished_or_came_is_not_marked():
    facts = archive((DAYS, FINE), (DAYS[1:], FINE[1:]), (DAYS, FINE))
    assert not retold(facts)[facts.first_seen > 1].any()


def test_the_table_of_revisions_says_which_are_none_and_has_no_such_column_without_them():
    looked = Coverage.never().at(Window(), 1)
    told = Vintages(archive((DAYS, FINE), (DAYS, FINE.astype(np.float32).astype(float))), looked).revision_columns()
    assert set(told["note"]) == {RETOLD}
    revised = Vintages(archive((DAYS, FINE), (DAYS, FINE + 1.5)), looked).revision_columns()
    assert "note" not in revised


WIDE = Window(date.min, date.max)
LAST = Observations(DAYS[-1:], FINE[-1:])
DETAIL = (Window(date(2024, 1, 3), date.max), Observations(DAYS[2:], FINE[2:]))


def revised(*looks, are_alike=False):
    """The changes that looks one after the other showed: days, what was found, and whether a detail told it."""
    known = Vintages.nothing()
    for moment, (window, found, by_detail) in enumerate(looks, start=1):
        look = Look(window, found, by_detail)
        news = look.news(known, moment)
        if look.crosses_sources(known):
            news = of_one_source(news, known, moment, behind=found[-1:] if are_alike else None)
        told = unpack_vintages(pack_vintages(Vintages(news.facts, known.looked.at(window, moment))))
        known = known.union(told)
    columns = known.revision_columns()
    return list(zip(columns["value_before"].tolist(), columns["value"].tolist(), strict=True)), known


@pytest.mark.parametrize("other", [FINE * 100, FINE + 0.5, np.round(FINE, 1), FINE.astype(np.float32)])
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)])
def test_what_one_source_tells_is_no_revision_of_what_the_other_told(other, order):
    looks = [(*DETAIL, True), (WIDE, Observations(DAYS, other.astype(float)), False)]
    assert revised(*(looks[each] for each in order))[0] == []


def test_another_day_of_the_week_is_no_revision_either_and_the_last_telling_is_what_was_known():
    fridays = Observations(DAYS[0] + np.arange(4, 60, 7) * np.timedelta64(1, "D"), FINE)
    moved = Observations(fridays.times - np.timedelta64(4, "D"), FINE)
    changes, known = revised((WIDE, fridays, True), (WIDE, moved, False))
    assert changes == []
    assert known.as_of(2) == moved
    assert known.first_values(2) == moved


def test_a_change_within_one_source_is_a_revision_also_after_the_other_one_told_something_else():
    percent, after = FINE * 100, FINE * 100
    after[4] = 10_500.0
    windows = [(WIDE, Observations(DAYS, values), False) for values in (percent, after)]
    assert revised((*DETAIL, True), *windows)[0] == [(percent[4], 10_500.0)]


def test_where_both_were_seen_to_agree_a_change_that_either_shows_is_a_revision():
    after = FINE.copy()
    after[4] = 95.0
    looks = (*DETAIL, True), (WIDE, Observations(DAYS, after), False)
    assert revised(*looks, are_alike=True)[0] == [(FINE[4], 95.0)]
    assert revised(*looks)[0] == []


def test_a_newer_observation_is_new_whoever_shows_it_first():
    newer = Observations(np.append(DAYS, DAYS[-1:] + np.timedelta64(1, "D")), np.append(FINE * 100, 9.0))
    changes, _ = revised((*DETAIL, True), (WIDE, newer, False))
    assert [value for _, value in changes] == [9.0]


FIRST = (WIDE, Observations(DAYS, FINE), False)


def changed(at, value):
    """What is told once the value in one place is another one; without that row where there is none."""
    if value is None:
        return Observations(np.delete(DAYS, at), np.delete(FINE, at))
    values = FINE.copy()
    values[at] = value
    return Observations(DAYS, values)


@pytest.mark.parametrize(("value", "shown"), [(95.0, 95.0), (None, np.nan), (np.nan, np.nan)])
def test_a_change_that_the_other_source_told_is_one_as_soon_as_this_one_tells_it_too(value, shown):
    now = changed(4, value)
    by_detail = (DETAIL[0], Observations(now.times[2:], now.values[2:]), True)
    assert revised(FIRST, by_detail)[0] == []
    told, known = revised(FIRST, by_detail, (WIDE, now, False))
    np.testing.assert_equal(told, [(FINE[4], shown)])
    (row,) = known.revisions().itertuples()
    assert (row.not_before.value, row.first_seen.value) == (1_000, 2_000)
    assert known.as_of(1) == FIRST[1]
    assert known.as_of(2) == known.as_of(3) == now


def test_it_is_told_once_however_often_both_are_asked_again():
    now = changed(4, 95.0)
    by_window, by_detail = (WIDE, now, False), (DETAIL[0], Observations(DAYS[2:], now.values[2:]), True)
    changes, known = revised(FIRST, by_detail, by_window, by_detail, by_window)
    assert changes == [(FINE[4], 95.0)]
    assert len(known.facts) == len(revised(FIRST, by_detail, by_window)[1].facts)


def test_a_source_that_goes_back_after_both_told_a_change_has_changed_again():
    now = changed(4, 95.0)
    by_detail = (DETAIL[0], Observations(DAYS[2:], now.values[2:]), True)
    assert revised(FIRST, by_detail, (WIDE, now, False), FIRST)[0] == [(FINE[4], 95.0), (95.0, FINE[4])]


def test_a_change_of_one_source_is_a_revision_although_the_other_one_was_looked_at_between():
    percent, after = FINE * 100, FINE * 100
    after[4] = 10_500.0
    windows = [(WIDE, Observations(DAYS, values), False) for values in (percent, after)]
    changes, known = revised(windows[0], (*DETAIL, True), windows[1], (*DETAIL, True))
    assert changes == [(percent[4], 10_500.0)]
    assert known.as_of(1) == windows[0][1]


def test_a_row_between_others_that_this_source_told_is_new_and_else_once_both_tell_it():
    without, last = changed(4, None), Observations(DAYS[-2:], FINE[-2:])
    recent = (Window(last.first_day, date.max), last, True)
    again = (WIDE, Observations(DAYS, FINE), False)
    assert [value for _, value in revised(recent, (WIDE, without, False), again)[0]] == [FINE[4]]
    detail = (DETAIL[0], Observations(DAYS[2:], FINE[2:]), True)
    assert revised((WIDE, without, False), detail)[0] == []
    changes, known = revised((WIDE, without, False), detail, again)
    assert [value for _, value in changes] == [FINE[4]]
    day = DAYS[4].astype("datetime64[D]").item()
    assert len(known.revisions(observed_at=day)) == 1


@pytest.mark.parametrize("order", [(np.nan, None), (None, np.nan), (np.nan, None, np.nan)])
def test_a_row_without_a_value_in_place_of_none_is_the_same_also_at_the_edge_of_a_window(order):
    days = Window(date(2024, 1, 5), date.max)
    told = [changed(4, value).between(days.start) for value in order]
    looks = [FIRST, *((days, each, False) for each in told)]
    np.testing.assert_equal(revised(*looks)[0], [(FINE[4], np.nan)])
    by_detail = (*DETAIL, True)
    assert revised(by_detail, *looks[1:])[0] == []


@pytest.mark.parametrize("order", [(np.nan, None), (None, np.nan)])
def test_a_row_without_a_value_and_none_confirm_each_other(order):
    at = len(DAYS) - 1
    one, other = (changed(at, value) for value in order)
    by_detail = (DETAIL[0], Observations(other.times[2:], other.values[2:]), True)
    told, known = revised((*DETAIL, True), FIRST, (WIDE, one, False), by_detail, (WIDE, one, False), by_detail)
    np.testing.assert_equal(told, [(FINE[at], np.nan)])
    assert known.revisions().first_seen.tolist()[0].value == 3_000


@pytest.mark.parametrize("first_by_detail", [True, False])
def test_a_newest_row_that_one_of_two_sources_has_later_did_not_vanish_and_one_that_both_lack_did(first_by_detail):
    looks = {
        (by_detail, is_last): (DETAIL[0], Observations(DAYS[2 : 8 - lacks], FINE[2 : 8 - lacks]), by_detail)
        for by_detail in (True, False)
        for is_last, lacks in ((True, 0), (False, 1))
    }
    shows, lacks_it = looks[first_by_detail, True], looks[not first_by_detail, False]
    assert revised(shows, lacks_it, shows, lacks_it, are_alike=True)[0] == []
    told, _ = revised(shows, lacks_it, looks[first_by_detail, False], are_alike=True)
    np.testing.assert_equal(told, [(FINE[-1], np.nan)])
