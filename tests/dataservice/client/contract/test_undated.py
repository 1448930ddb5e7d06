"""Posts and items without a time keep their place, pass each `since`, and are shown with no time."""

from datetime import date

import pytest

from dataservice.client.contract.results import newest_first, published_since
from dataservice.models import WireItem
from tests.dataservice.client.parts.scripted import Scripted, answer


def item(name, published_at=""):
    return WireItem(id=name, published_at=published_at)


def names(items):
    return "".join(each.id for each in items)


def test_one_without_a_time_stays_behind_the_one_before_it():
    items = [item("a", "2026-08-03T00:00:00Z"), item("b"), item("c", "2026-08-02T00:00:00Z"), item("d", "just now")]
    assert names(newest_first(items)) == "abcd"
    assert names(newest_first([items[2], items[3], items[0], items[1]])) == "abcd"


def test_those_at_the_beginning_go_with_the_first_that_has_a_time():
    assert names(newest_first([item("a"), item("b", "2026-08-02"), item("c", "2026-08-03")])) == "cab"
    assert names(newest_first([item("a"), item("b")])) == "ab"


def test_one_without_a_time_may_be_from_any_day():
    assert published_since(item("a"), date(2026, 1, 1))
    assert not published_since(item("a", "2025-12-31T23:00:00Z"), date(2026, 1, 1))


@pytest.mark.parametrize("told", [None, "", "absent"])
async def test_numbers_and_a_time_that_is_missing_stand_in_one_list(told):
    times = [{"published_at": 1_786_000_000}, {"published_at": told}, {"published_at": 1_785_000_000}]
    items = [
        {"id": name, **({} if time["published_at"] == "absent" else time)}
        for name, time in zip("abc", times, strict=True)
    ]
    async with Scripted(lambda _: answer(items)).client() as client:
        page = await client.wire()
    assert names(page) == "abc"
    assert [each.published_at[:7] for each in page] == ["2026-08", "", "2026-07"]
