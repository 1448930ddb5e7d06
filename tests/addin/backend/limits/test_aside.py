"""Work in a process apart ends within its time and memory, in turns that are fair, and takes nobody else with it."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from addin.backend.limits.accounts import MemoryBudget
from addin.backend.limits.aside import HUGE_BYTES, LARGE_BYTES, MEMORY_BYTES, MOST_OF_ONE, Lane, Lanes
from addin.errors import AddinError
from tests.addin.backend.limits import heavy_work


class Caller:
    """A request with an account, whose caller may leave."""

    def __init__(self, budget, name):
        self._budget, self._name, self._gone = budget, name, asyncio.Event()

    async def ask(self, lane, work, options="", body=b"body"):
        with self._budget.account(self._name) as account:
            account.pay_as(self._name, is_only=False)
            headers = [(b"content-length", str(len(body)).encode())]
            request = Request({"type": "http", "headers": headers, "state": {"account": account}}, self._receive)
            async with lane.entrance(request) as enter:
                await enter()
                account.grow(len(body))
                return await lane.run(work, body, options, request)

    def leave(self):
        self._gone.set()

    async def _receive(self):
        await self._gone.wait()
        return {"type": "http.disconnect"}


@asynccontextmanager
async def lane(memory_bytes=MEMORY_BYTES, lanes=None, **limits):
    lanes = lanes or Lanes(MemoryBudget(2**30), memory_bytes)
    opened = Lane(lanes, **limits)
    try:
        yield opened, lambda name: Caller(lanes.memory, name)
    finally:
        opened.close()


async def test_the_process_that_opens_books_by_others_holds_no_secret(monkeypatch):
    for name in ("API_KEY", "SESSION_SECRET", "REDIS_URL", "METRICS_TOKEN", "PORT"):
        monkeypatch.setenv(f"DATA_SERVICE_{name}", "8766")
    async with lane() as (opened, caller):
        names = (await caller("ada").ask(opened, heavy_work.names_of_variables)).decode().split()
    assert [name for name in names if name.startswith("DATA_SERVICE_")] == ["DATA_SERVICE_PORT"]


async def test_one_process_does_one_piece_after_another_and_says_what_it_refuses():
    async with lane() as (opened, caller):
        first = await caller("ada").ask(opened, heavy_work.process_id)
        with pytest.raises(AddinError, match="no books"):
            await caller("ada").ask(opened, heavy_work.refuse, "books")
        assert await caller("bob").ask(opened, heavy_work.process_id) == first
        assert int(first) != os.getpid()


async def test_large_work_ends_the_process_of_a_lane_that_has_none_and_small_work_does_not():
    lanes = Lanes(MemoryBudget(2**30))
    async with lane(lanes=lanes) as (books, caller), lane(lanes=lanes) as (formulas, _):
        first = await caller("ada").ask(formulas, heavy_work.process_id)
        of_books = await caller("ada").ask(books, heavy_work.process_id)
        assert await caller("ada").ask(formulas, heavy_work.process_id) == first
        assert await caller("ada").ask(books, heavy_work.process_id, body=b"x" * (LARGE_BYTES + 1)) == of_books
        assert await caller("ada").ask(formulas, heavy_work.process_id) != first


async def test_a_lane_without_work_keeps_no_process_while_requests_hold_much():
    budget = MemoryBudget(2**30)
    async with lane(lanes=Lanes(budget)) as (opened, caller):
        first = await caller("ada").ask(opened, heavy_work.process_id)
        with budget.account("bob") as account:
            account.pay_as("bob", is_only=False)
            account.grow(2**27)
            assert opened.held_bytes > 0
            account.grow(2**27)
            assert opened.held_bytes == 0
            assert await caller("ada").ask(opened, heavy_work.process_id) != first
            assert opened.held_bytes == 0
        second = await caller("ada").ask(opened, heavy_work.process_id)
        assert await caller("ada").ask(opened, heavy_work.process_id) == second


async def test_what_takes_too_long_or_too_much_or_ends_its_process_is_told_and_the_next_is_served():
    async with lane(limit_s=3.0, memory_bytes=150 * 2**20) as (opened, caller):
        with pytest.raises(HTTPException, match="took longer than 3 s"):
            await caller("ada").ask(opened, heavy_work.sleep, "30")
        with pytest.raises(HTTPException, match="more than 150 MB of memory"):
            await caller("ada").ask(opened, heavy_work.fill, "300 20")
        with pytest.raises(RuntimeError, match="the process ended"):
            await caller("ada").ask(opened, heavy_work.die)
        assert await caller("ada").ask(opened, heavy_work.sleep, "0", b"x" * 2**21) == b"x" * 2**21


@pytest.mark.skipif(sys.platform != "linux", reason="the system limits no memory in use")
async def test_what_would_take_too_much_for_a_moment_between_two_looks_does_not_get_it():
    lanes = Lanes(MemoryBudget(2**30), memory_bytes=200 * 2**20)
    async with lane(lanes=lanes) as (opened, caller):
        assert await caller("ada").ask(opened, heavy_work.take_shortly, "100") == b"body"
        with pytest.raises(HTTPException, match="more than 200 MB of memory") as refused:
            await caller("ada").ask(opened, heavy_work.take_shortly, "220")
        assert refused.value.status_code == 413
        with lanes.memory.account("bob") as unread:
            unread.pay_as("bob", is_only=True)
            unread.hold(2**29)
            with pytest.raises(HTTPException, match="busy") as refused:
                await caller("ada").ask(opened, heavy_work.take_shortly, "115")
        assert refused.value.status_code == 503
        assert await caller("ada").ask(opened, heavy_work.take_shortly, "115") == b"body"
        with pytest.raises(HTTPException, match="more than 200 MB of memory"):
            await caller("ada").ask(opened, heavy_work.sleep, "0", b"x" * (220 * 2**20))


async def test_who_takes_long_is_ended_when_somebody_else_waits_and_not_for_themselves():
    async with lane(beside_others_s=1.0) as (opened, caller):
        await caller("ada").ask(opened, heavy_work.process_id)
        own = [asyncio.ensure_future(caller("ada").ask(opened, heavy_work.sleep, "1.5")) for _ in range(2)]
        assert await asyncio.gather(*own) == [b"body", b"body"]
        greedy = asyncio.ensure_future(caller("ada").ask(opened, heavy_work.sleep, "15"))
        await asyncio.sleep(0)
        assert await asyncio.wait_for(caller("bob").ask(opened, heavy_work.sleep, "0"), 8) == b"body"
        with pytest.raises(HTTPException, match="longer than 1 s"):
            await greedy


async def test_who_has_used_least_goes_first_and_who_has_gone_is_not_worked_for():
    async with lane() as (opened, caller):
        await caller("ada").ask(opened, heavy_work.sleep, "0.3")
        done, gone = [], caller("ada")

        async def ask(name, options="0.05"):
            await caller(name).ask(opened, heavy_work.sleep, options)
            done.append(name)

        running = asyncio.ensure_future(ask("ada", "0.5"))
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(ask(name)) for name in ("ada", "ada", "bob")]
        left = asyncio.ensure_future(gone.ask(opened, heavy_work.sleep, "20"))
        await asyncio.sleep(0)
        gone.leave()
        await asyncio.wait_for(asyncio.gather(running, *waiting), 10)
        assert done == ["ada", "bob", "ada", "ada"]
        await asyncio.gather(left, return_exceptions=True)


async def test_of_one_payer_only_so_many_have_a_place():
    async with lane() as (opened, caller):
        asked = [
            asyncio.ensure_future(caller("ada").ask(opened, heavy_work.sleep, "0")) for _ in range(MOST_OF_ONE + 2)
        ]
        ended = await asyncio.gather(*asked, return_exceptions=True)
        assert [each.status_code for each in ended if isinstance(each, HTTPException)] == [503, 503]


async def test_of_one_payer_one_large_request_is_under_way_and_nobody_else_waits_for_it(tmp_path):
    lanes = Lanes(MemoryBudget(2**30))
    async with lane(lanes=lanes) as (books, caller), lane(lanes=lanes) as (formulas, _):
        large = b"x" * (LARGE_BYTES + 1)
        first = asyncio.ensure_future(caller("ada").ask(books, heavy_work.wait_for, str(tmp_path / "end"), large))
        second = asyncio.ensure_future(caller("ada").ask(formulas, heavy_work.sleep, "0", large))
        await caller("bob").ask(formulas, heavy_work.sleep, "0", large)
        await caller("ada").ask(formulas, heavy_work.sleep, "0")
        assert not second.done()
        assert lanes.memory.held == len(large)
        (tmp_path / "end").touch()
        await asyncio.gather(first, second)


async def test_one_huge_request_at_all_is_under_way_and_large_ones_of_others_do_not_wait_for_it(tmp_path):
    lanes = Lanes(MemoryBudget(2**30))
    async with lane(lanes=lanes) as (books, caller), lane(lanes=lanes) as (formulas, _):
        large, huge = b"x" * (LARGE_BYTES + 1), b"x" * (HUGE_BYTES + 1)
        first = asyncio.ensure_future(caller("ada").ask(books, heavy_work.wait_for, str(tmp_path / "end"), huge))
        second = asyncio.ensure_future(caller("bob").ask(formulas, heavy_work.sleep, "0", huge))
        await caller("bob").ask(formulas, heavy_work.sleep, "0", large)
        assert not second.done()
        assert lanes.memory.held == len(huge)
        (tmp_path / "end").touch()
        await asyncio.gather(first, second)


async def test_work_that_fills_memory_while_requests_hold_much_is_ended_and_may_be_tried_again():
    lanes = Lanes(MemoryBudget(2**30), memory_bytes=200 * 2**20)
    async with lane(lanes=lanes) as (opened, caller):
        assert len(await caller("ada").ask(opened, heavy_work.fill, "130 0.3")) == len(b"body")
        with lanes.memory.account("bob") as unread:
            unread.pay_as("bob", is_only=True)
            unread.hold(2**29)
            with pytest.raises(HTTPException, match="busy") as refused:
                await caller("ada").ask(opened, heavy_work.fill, "130 20")
        assert refused.value.status_code == 503
        lanes.memory.left_bytes = lambda: 2**29
        with pytest.raises(HTTPException, match="busy"):
            await caller("ada").ask(opened, heavy_work.fill, "130 20")
