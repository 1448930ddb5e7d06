"""Budgets that several processes share hold exactly, also where answers are lost."""

import asyncio
import random

import httpx
import pytest

from dataservice.client import Budget, SignalResource
from dataservice.errors import BudgetError, DataServiceError
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, signal
from tests.forking import started_code

DAY_S = 86_400
RESERVE = 100


# What a process of its own does: it reads signals as far as the budget allows.
READER = """
import asyncio, sys
from dataservice.client import AsyncClient, Budget, SignalResource
from dataservice.stores import SqliteStore

url, key, path, monthly, reserve, *slugs = sys.argv[1:]
store = SqliteStore(path)
budget = Budget(monthly=int(monthly), reserve=int(reserve))
async with AsyncClient(url, key, store=store, budget=budget) as client:
    await asyncio.gather(*(client.read(SignalResource(slug)) for slug in slugs), return_exceptions=True)
await store.aclose()
"""


@pytest.mark.parametrize("reserve", [0, 5])
def test_four_processes_spend_a_budget_of_forty_to_the_last_request_and_no_more(service, tmp_path, reserve):
    names = [[f"unknown.{process}-{number}" for number in range(30)] for process in range(4)]
    given = [service.url, service.key, str(tmp_path / "cache.sqlite"), "40", str(reserve)]
    processes = [started_code(READER, *given, *slugs) for slugs in names]
    for process in processes:
        assert process.communicate(60) == ("", "")
    assert service.running.request_count == 40


@pytest.mark.parametrize(
    ("lost", "begins_with"), [(0.0, 300), (0.3, 300), (0.7, 300), (1.0, 300), (0.3, 101), (0.0, 100), (0.7, 100)]
)
async def test_over_a_month_nothing_is_spent_of_the_reserve_but_one_probe_a_day(lost, begins_with):
    clock, store, chance = Clock(1_785_542_400.0), MemoryStore(), random.Random(begins_with + lost)
    left, of_the_reserve = begins_with, [0] * 31  # the month begins at that second and has 31 days

    def handle(request):
        nonlocal left
        of_the_reserve[day] += left <= RESERVE
        left -= 1
        if chance.random() < lost:
            raise httpx.ReadError("lost")
        return answer(signal(request.url.path.rpartition("/")[2]), remaining=left)

    service = Scripted(handle)
    for day in range(31):
        for process in range(4):
            async with service.client(clock, store=store, budget=Budget(reserve=RESERVE)) as client:
                slugs = [f"s.{day}-{process}-{number}" for number in range(16)]
                reads = (client.read(SignalResource(slug)) for slug in slugs)
                await asyncio.gather(*reads, return_exceptions=True)
                clock.advance(DAY_S / 4)
    probed = sum(of_the_reserve)
    assert of_the_reserve == [0] * (31 - probed) + [1] * probed  # once it is reached, one a day
    if lost < 1.0:
        assert left == RESERVE - probed
    else:  # no answer ever says what is left: one request a day tries to find out
        assert (probed, left) == (0, begins_with - 31)


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
