"""Requests that arrive together are counted together, each gets its own count, and a failure fails only its group."""

import asyncio

import pytest

from dataservice.server import Store
from dataservice.server.db.keys import Keys
from dataservice.server.http.grouped_counts import GroupedCounts
from tests.dataservice.server.db import counted_together


class Watched(Keys):
    """Keys that note the groups, and fail where they are told."""

    def __init__(self, store):
        super().__init__(store.database)
        self.groups = []
        self.failure = None

    def count_together(self, wanted):
        self.groups.append(sum(wanted.values()))
        if self.failure is not None:
            raise self.failure
        return super().count_together(wanted)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "service.db") as store:
        yield store


async def test_what_arrives_while_a_group_is_counted_makes_up_the_next_one(store):
    keys = Watched(store)
    counts, account = GroupedCounts(keys), keys.account(keys.find(store.create_key(cap=25)))
    counted = await asyncio.gather(*(counts.count(account) for _ in range(30)))
    assert [each and each.used for each in counted] == [*range(1, 26), *[None] * 5]
    assert keys.groups == [30]
    assert await counts.count(account) is None
    assert keys.groups == [30, 1]


async def test_a_failure_fails_those_of_its_group_only(store):
    keys = Watched(store)
    counts, account = GroupedCounts(keys), keys.account(keys.find(store.create_key(cap=25)))
    keys.failure = OSError("the disk is gone")
    failed = await asyncio.gather(*(counts.count(account) for _ in range(3)), return_exceptions=True)
    assert failed == [keys.failure] * 3
    keys.failure = None
    assert (await counts.count(account)).used == 1


async def test_a_caller_who_goes_away_harms_no_other(store):
    keys = Watched(store)
    counts, account = GroupedCounts(keys), keys.account(keys.find(store.create_key(cap=25)))
    waiting = [asyncio.create_task(counts.count(account)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [found[0].used, found[2].used] == [1, 2]


def test_requests_counted_together_get_what_they_get_one_by_one(store):
    counted_together.check(store)


def test_no_key_gets_more_than_its_cap_whoever_counts(store):
    counted_together.check_side_by_side(store)
