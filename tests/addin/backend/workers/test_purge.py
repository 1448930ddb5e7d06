"""A purge of some signals reaches every worker of every machine, whoever's key it is, and nothing else."""

import asyncio
from ast import literal_eval
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from addin.backend.workers.refreshes import MAX_PURGED, Refreshed, SharedRefreshes
from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.server import DailySample
from dataservice.stores import MemoryStore, ReplicatedStore, ResilientStore
from tests.addin.backend.workers.workers import workers_of
from tests.addin.commands import addin, environment
from tests.dataservice.stores.stores import redis_url  # noqa: F401  found by being imported here

WRONG, RIGHT = "us-cpi", "cboe.vix"
CALLS = [["SIGNAL", WRONG], ["SIGNAL", RIGHT], ["SIGNAL_HISTORY", WRONG, "-2Y"]]


def publish(service):
    """Let the service give other values from now on."""
    DailySample(service.store, clock=lambda: datetime(2026, 10, 20, 12, tzinfo=UTC)).update()


def shown(workers):
    """What each of many batches shows, which workers take in turn: the wrong signal, the right one, a history."""
    replies = workers.at_once(*[CALLS] * 8)
    assert all(answer for reply in replies for answer in reply["answers"])
    return {str([answer.get("value", answer.get("rows")) for answer in reply["answers"]]) for reply in replies}


def machine(stack, service, folder, redis, key):
    """Two workers of another machine, and what its commands are run with."""
    folder.mkdir()
    settings = {"redis_url": redis, "ask_above": "1000"}
    workers = stack.enter_context(workers_of(service, folder, 2, api_key=key, **settings))
    return workers, environment(folder, service, api_key=key, **settings)


def test_a_purged_signal_is_asked_for_again_by_all_workers_of_all_machines_and_others_are_not(
    service,
    tmp_path,
    redis_url,  # noqa: F811
):
    with ExitStack() as stack:
        here, environ = machine(stack, service, tmp_path / "here", redis_url, service.key)
        there, _ = machine(stack, service, tmp_path / "there", redis_url, service.key)
        other, _ = machine(stack, service, tmp_path / "other", redis_url, service.free_key)
        [before] = {each for workers in (here, there) for each in shown(workers)}
        [before_of_other] = shown(other)
        publish(service)
        assert shown(here) | shown(there) == {before}, "answers are fresh for a while"
        sent = service.running.request_count
        done = addin("cache", "clear", WRONG, "--yes", environ=environ)
        one, both = "Deleted 1 cached entry of 1 signal.\n", "Deleted 2 cached entries of 1 signal.\n"
        assert done.stdout in (one, both), f"the history, and a value that a worker asked for beside it: {done.stderr}"
        [now] = shown(here) | shown(there)
        old, new = literal_eval(before), literal_eval(now)
        assert (new[0] != old[0], new[1] == old[1], new[2] != old[2]) == (True, True, True)
        assert 1 <= service.running.request_count - sent <= 2 * 4, "each process may have to ask"
        assert shown(other) == {before_of_other}
        assert "delete theirs" in addin("cache", "clear", WRONG, "--all-keys", "--yes", environ=environ).stdout
        [of_other] = shown(other)
        assert literal_eval(of_other) == new
        sent = service.running.request_count
        assert shown(here) | shown(there) == {now}
        assert shown(other) == {of_other}
        assert service.running.request_count - sent <= 2 * 4
        assert shown(here) | shown(there) | shown(other) == {now}


class SlowStore(MemoryStore):
    """A shared store that answers later than anybody waits who has a copy and a `hedge_s` of 0."""

    async def get(self, name):
        for _ in range(10):
            await asyncio.sleep(0)
        return await super().get(name)


async def test_a_purge_is_heard_of_where_the_copy_of_a_slow_store_knows_nothing_of_it():
    far = SlowStore()
    here, there = (SharedRefreshes(ResilientStore(ReplicatedStore(far, MemoryStore(), hedge_s=0.0))) for _ in range(2))
    known = await here.add("key", 1_000.0)
    await there.add("key", 1_001.0, purge=["a"])
    assert (await here.latest("key", known)).purged_since(known) == {"a": 1_001.0}


@pytest.mark.parametrize("resource", [SignalResource(WRONG), HistoryResource(WRONG, "2024-01-01")], ids=str)
async def test_no_copy_of_a_slow_store_brings_a_purged_value_back(service, resource):
    far = SlowStore()
    here, there = (
        AsyncClient(service.url, service.key, store=ReplicatedStore(far, MemoryStore(), hedge_s=0.0)) for _ in range(2)
    )
    async with here, there:
        before = str((await here.read(resource)).value)
        await there.refresh(force=True)
        assert str((await there.read(resource)).value) == before  # now the store has another one
        publish(service)
        now = datetime.now(UTC).timestamp()
        for client in (here, there):
            await client.purge(WRONG, now)
            assert str((await client.read(resource)).value) != before


async def test_purges_are_remembered_beside_refreshes_the_newest_ones_only():
    marks = SharedRefreshes(ResilientStore(MemoryStore()), clock=lambda: 1_000.0)
    first = await marks.add("key", 1_000.0, purge=["a", "b"])
    forced = await marks.add("key", 1_001.0, force=True)
    assert forced.purged_since(first) == {}
    assert forced.purged_since(None) == {"a": 1_000.0, "b": 1_000.0}
    again = await marks.add("key", 1_002.0, purge=["a"])
    assert (again.purged_since(forced), again.forced_at) == ({"a": 1_002.0}, 1_001.0)
    many = await marks.add("key", 1_003.0, purge=[f"s{number}" for number in range(MAX_PURGED)])
    assert len(many.purged) == MAX_PURGED
    assert Refreshed(1, 1.0).purged_since(None) == {}


def test_what_cannot_be_purged_is_told(service, tmp_path):
    environ = environment(tmp_path, service)
    assert addin("eval", '=DS.SIGNAL("us-cpi")', environ=environ).returncode == 0
    done = addin("cache", "clear", "us-cpi", "--archive", "--yes", environ=environ)
    assert (done.returncode, "the archive is cleared as a whole" in done.stderr) == (1, True), done.stderr
    nothing = addin("cache", "clear", "..", "--yes", environ=environ)
    assert nothing.stdout == "Deleted 0 cached entries of 1 signal.\n", nothing.stderr
    assert addin("cache", "clear", "us-cpi", "--yes", environ=environ).stdout == "Deleted 1 cached entry of 1 signal.\n"
    sent = service.running.request_count
    assert addin("eval", '=DS.SIGNAL("us-cpi")', environ=environ).returncode == 0
    assert service.running.request_count == sent + 1
