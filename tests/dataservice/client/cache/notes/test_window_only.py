"""Signals with a dot in their name of which a service has no detail: learned once, told before, asked again in time."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from dataservice.client import Refresh, SignalResource
from dataservice.errors import NotFoundError
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page, refusal
from udfs.engine.session import Call, Session

NAMES = ("a.b", "c.d.e")


class Dotted:
    """A service with daily series; the detail of any name among `without` is a 404."""

    def __init__(self, clock, without=NAMES, ends=None):
        self.clock, self.without, self.ends = clock, set(without), ends
        self.names = ["plain", *NAMES]
        self.service = Scripted(self.say)

    def rows(self):
        last = np.datetime64(self.ends or datetime.fromtimestamp(self.clock(), UTC).date())
        return [{"observed_at": f"{day}T00:00:00Z", "value": 2.0} for day in np.arange(last - 899, last + 1)]

    def say(self, request):
        parts = request.url.path.split("/")[3:]
        if not parts:
            return page([{"slug": name, "name": name} for name in self.names])
        if parts[0] not in self.names or (len(parts) == 1 and parts[0] in self.without):
            return refusal(404)
        if len(parts) == 1:
            rows = self.rows()
            return answer({"slug": parts[0], "latest": rows[-1] if rows else None, "history": rows[-365:]})
        first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
        return page([row for row in self.rows() if first <= row["observed_at"] <= last])


async def spent(session, service, calls, after=None):
    """What is shown, and what it costs, which the preview holds."""
    cost = (await session.cost(calls, after=after)).cost
    if after is Refresh.FORCE:
        await session.client.refresh(force=True)
    before = len(service.requests)
    outcomes = await session.answer(calls)
    count = len(service.requests) - before
    assert cost.at_least <= count == sum(outcome.requests for outcome in outcomes)
    assert cost.at_most is None or count <= cost.at_most
    return [outcome.result for outcome in outcomes], count


CALLS = [Call("SIGNAL", (name,)) for name in NAMES]


async def test_that_there_is_no_detail_is_paid_for_once_and_previews_hold_it():
    clock, store = Clock(), MemoryStore()
    world = Dotted(clock)
    async with world.service.client(clock, store=store) as client:
        session = Session(client, clock=clock)
        assert await spent(session, world.service, CALLS) == ([2.0, 2.0], 5)
        for _ in range(3):
            clock.advance(1_000)
            assert await spent(session, world.service, CALLS) == ([2.0, 2.0], 2)
    async with world.service.client(clock, store=store) as client:
        clock.advance(1_000)
        assert await spent(Session(client, clock=clock), world.service, CALLS) == ([2.0, 2.0], 2)


@pytest.mark.parametrize(("wait", "after"), [(86_401, None), (1_000, Refresh.FORCE)])
async def test_after_a_day_or_a_forced_refresh_the_detail_is_asked_for_again(wait, after):
    clock = Clock()
    world = Dotted(clock)
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer(CALLS)
        clock.advance(wait)
        assert await spent(session, world.service, CALLS, after) == ([2.0, 2.0], 4)
        world.without.clear()
        clock.advance(86_401)
        assert await spent(session, world.service, CALLS) == ([2.0, 2.0], 2)
        clock.advance(1_000)
        assert str((await session.cost(CALLS)).cost) == "2 requests"


async def test_where_one_name_with_a_dot_has_a_detail_others_are_taken_to_have_one_in_all_processes():
    clock, store = Clock(), MemoryStore()
    world = Dotted(clock, without=())
    world.names += [f"s.{number}" for number in range(20)]
    calls = [Call("SIGNAL", (f"s.{number}",)) for number in range(20)]
    async with world.service.client(clock, store=store) as client:
        session = Session(client, clock=clock)
        await session.answer([Call("SIGNALS", ())])
        assert str((await session.cost(calls)).cost) == "at least 20 requests"
        await session.answer(CALLS[:1])
        assert str((await session.cost(calls)).cost) == "20 requests"
    async with world.service.client(clock, store=store) as client:
        session = Session(client, clock=clock)
        assert str((await session.cost(calls)).cost) == "20 requests"
        assert await spent(session, world.service, calls) == ([2.0] * 20, 20)


async def test_one_without_a_detail_beside_others_that_have_one_is_shown_by_windows_at_the_second_look():
    clock = Clock()
    world = Dotted(clock, without=["c.d.e"])
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer([Call("SIGNALS", ()), CALLS[0]])
        (first,), count = await spent(session, world.service, CALLS[1:])
        assert (first.code, count) == ("#N/A", 1)
        clock.advance(1_000)
        assert await spent(session, world.service, CALLS[1:]) == ([2.0], 2)


async def test_a_name_that_was_removed_costs_what_is_told():
    clock = Clock()
    world = Dotted(clock, without=())
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer([Call("SIGNALS", ()), *CALLS])
        world.names.remove("a.b")
        clock.advance(1_000)
        (shown, other), count = await spent(session, world.service, CALLS)
        assert (shown, other, count) == (2.0, 2.0, 2)  # the last known value


async def test_a_removed_name_of_which_only_windows_answered_costs_what_is_told():
    clock = Clock()
    world = Dotted(clock)
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer([Call("SIGNALS", ()), *CALLS])
        world.names.remove("a.b")
        for _ in range(3):
            clock.advance(1_000)
            await spent(session, world.service, CALLS)


async def test_a_detail_that_vanishes_is_made_up_for_by_windows_at_the_second_look():
    clock = Clock()
    world = Dotted(clock, without=())
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer([Call("SIGNALS", ()), *CALLS])
        world.without |= set(NAMES)
        clock.advance(1_000)
        assert (await spent(session, world.service, CALLS))[1] == 2
        clock.advance(1_000)
        assert (await spent(session, world.service, CALLS))[1] == 4
        clock.advance(1_000)
        assert (await spent(session, world.service, CALLS))[1] == 2
        assert (await client.read(SignalResource("a.b"))).stale_because is None


@pytest.mark.parametrize("ends", ["2026-08-17", "2025-08-20", "2025-08-10", "2019-03-01"])
async def test_a_series_that_ended_long_ago_shows_its_last_value_and_costs_one_request_then(ends):
    clock = Clock()
    world = Dotted(clock, ends=ends)
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        await spent(session, world.service, CALLS)
        for _ in range(2):
            clock.advance(40_000)
            assert await spent(session, world.service, CALLS) == ([2.0, 2.0], 2)


async def test_a_series_known_by_its_windows_only_is_shown_as_empty_once_it_was_emptied():
    clock = Clock()
    world = Dotted(clock)
    async with world.service.client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer(CALLS)
        world.rows = list
        clock.advance(timedelta(days=2).total_seconds())
        (shown, _), _ = await spent(session, world.service, CALLS)
        assert shown.message == "a.b has no observations yet"
        del world.rows
        clock.advance(1_000)
        assert (await spent(session, world.service, CALLS))[0] == [2.0, 2.0]


async def test_a_name_that_is_nothing_is_no_signal_with_and_without_details():
    clock = Clock()
    async with Dotted(clock).service.client(clock) as client:
        with pytest.raises(NotFoundError):
            await client.read(SignalResource("no.such"))
