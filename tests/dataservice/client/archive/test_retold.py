"""Archives of before hold revisions that never happened: they stay, and are marked."""

from datetime import date

import numpy as np

from dataservice.client.archive.codec import pack_vintages, unpack_vintages
from dataservice.client.archive.coverage import Coverage
from dataservice.client.archive.facts import Facts
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
        facts.append(Facts(np.array(changed, "datetime64[us]"), told, gone, seen, before, np.zeros(len(told), bool)))
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
ROUNDED = Observations(DAYS, np.round(FINE, 1))


def looked(*looks):
    """The changes that looks one after the other showed, each brief or not."""
    known = Vintages.nothing()
    for moment, (window, found, is_brief) in enumerate(looks, start=1):
        facts = known.changes(window, found, moment, is_brief=is_brief)
        known = known.union(Vintages(facts, known.looked.at(window, moment)))
    return known.revision_columns()["value"].tolist()


def test_a_detail_of_one_observation_and_windows_that_round_it_tell_one_value_in_any_order():
    detail, window = (Window(LAST.first_day, date.max), LAST, True), (WIDE, ROUNDED, False)
    short = (Window(LAST.first_day, date.max), ROUNDED[-1:], False)
    assert looked(detail, window, short, detail) == []
    assert looked(window, detail, short, detail, window) == []


def test_what_changes_by_more_than_rounding_is_a_revision_whoever_tells_it():
    detail = (Window(LAST.first_day, date.max), LAST, True)
    revised = Observations(LAST.times, LAST.values + 0.2)
    assert looked(detail, (WIDE, ROUNDED, False), (Window(LAST.first_day, date.max), revised, False)) == [
        *revised.values
    ]
    assert looked((WIDE, ROUNDED, False), (Window(LAST.first_day, date.max), revised, True)) == [*revised.values]


def test_an_archive_keeps_what_was_told_briefly():
    facts = Facts.found(LAST, LAST.times[:0], 1, is_brief=True)
    kept = unpack_vintages(pack_vintages(Vintages(facts, Coverage.never().at(WIDE, 1))))
    assert kept.facts.brief.tolist() == [True]
    assert kept.facts.gone.tolist() == [False]
