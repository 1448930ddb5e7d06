"""Budgets that several processes share hold exactly, also where answers are lost."""

import asyncio
import multiprocessing

import httpx
import pytest

from dataservice.client import AsyncClient, Budget, SignalResource
from dataservice.errors import BudgetError, DataServiceError
from dataservice.stores import MemoryStore, SqliteStore
from tests.dataservice.client.clocks import Clock
from tests.dataservice.client.scripted import Scripted, answer, signal

DAY_S = 86_400
RESERVE = 100


def read_many(url, key, path, slugs, budget):
    """Read signals in a process of its own, as far as the budget allows."""

    async def work():
        store = SqliteStore(path)
        async with AsyncClient(url, key, store=store, budget=budget) as client:
            reads = (client.read(SignalResource(slug)) for slug in slugs)
            await asyncio.gather(*reads, return_exceptions=True)
        await store.aclose()

    asyncio.run(work())


@pytest.mark.parametrize("budget", [Budget(monthly=40), Budget(monthly=40, reserve=5)])
def test_four_processes_spend_a_budget_of_forty_to_the_last_request_and_no_more(service, tmp_path, budget):
    context = multiprocessing.get_context("spawn")
    names = [[f"unknown.{process}-{number}" for number in range(30)] for process in range(4)]
    given = [(service.url, service.key, tmp_path / "cache.sqlite", slugs, budget) for slugs in names]
    processes = [context.Process(target=read_many, args=each) for each in given]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert service.running.request_count == 40


@pytest.mark.parametrize("lost_every", [0, 3, 1])
async def test_over_a_month_the_reserve_loses_at_most_one_request_a_day(lost_every):
    clock, store, left = Clock(1_785_542_400.0), MemoryStore(), [300]  # the first of a month

    def handle(request):
        left[0] -= 1
        if lost_every and left[0] % lost_every == 0:
            raise httpx.ReadError("lost")
        return answer(signal(request.url.path.rpartition("/")[2]), remaining=left[0])

    service = Scripted(handle)
    for day in range(30):
        before = left[0]
        for process in range(2):
            async with service.client(clock, store=store, budget=Budget(reserve=RESERVE)) as client:
                slugs = [f"s.{day}-{process}-{number}" for number in range(16)]
                reads = (client.read(SignalResource(slug)) for slug in slugs)
                await asyncio.gather(*reads, return_exceptions=True)
        assert left[0] >= min(before - 1, RESERVE)
        clock.advance(DAY_S)
    assert left[0] >= RESERVE - 30


async def test_where_nothing_is_known_one_request_finds_out_and_the_others_wait_for_it():
    service = Scripted(lambda request: answer(signal(request.url.path.rpartition("/")[2]), remaining=RESERVE))
    async with service.client(budget=Budget(reserve=RESERVE)) as client:
        reads = (client.read(SignalResource(f"s.{number}")) for number in range(50))
        results = await asyncio.gather(*reads, return_exceptions=True)
    assert len(service.requests) == 1
    assert sum(isinstance(result, BudgetError) for result in results) == 49


async def test_a_probe_whose_answer_was_lost_is_the_only_one_until_refresh():
    def lost(_):
        raise httpx.ReadError("lost")

    service = Scripted(lost)
    async with service.client(budget=Budget(reserve=RESERVE)) as client:
        with pytest.raises(DataServiceError):
            await client.read(SignalResource("s.1"))
        with pytest.raises(BudgetError, match="Refresh asks once more"):
            await client.read(SignalResource("s.2"))
        assert len(service.requests) == 1
        await client.refresh()
        with pytest.raises(DataServiceError):
            await client.read(SignalResource("s.2"))
        assert len(service.requests) == 2
