"""Requests leave before answers are worked on."""

import asyncio
import time

from dataservice.client import SignalResource
from dataservice.client.contract.requests import first_request
from dataservice.client.network.breaker import CircuitBreaker
from dataservice.client.network.budget import Budget
from dataservice.client.network.call_context import CallContext, RetryPolicy
from dataservice.client.network.sender import RequestSender
from dataservice.client.network.transport import Exchange
from dataservice.client.network.usage import UsageTracker
from dataservice.client.pacing.concurrency import FIRST_ROUND
from dataservice.stores import MemoryStore, ResilientStore


class Leaving:
    """A transport over which a request takes three turns of the event loop to leave; all answers come together."""

    def __init__(self):
        self.left = 0
        self.is_watched = True
        self.are_all_under_way = asyncio.Event()
        self.answers = asyncio.Event()

    def prepare(self):
        """Its connections are open."""

    async def send(self, request, now, watch, *, within_s):
        for _ in range(3):
            await asyncio.sleep(0)
        watch.was_sent = True
        self.left += 1
        if self.left == FIRST_ROUND:
            self.are_all_under_way.set()
        await self.answers.wait()
        return Exchange(b"", spent=True)


async def test_when_answers_arrive_together_the_next_requests_leave_before_the_first_is_worked_on():
    transport, left_before = Leaving(), []
    usage = UsageTracker(ResilientStore(MemoryStore()), Budget(), clock=time.time, sleep=asyncio.sleep)
    breaker = CircuitBreaker(has_key=True)
    store = ResilientStore(MemoryStore())
    sender = RequestSender(
        transport, usage, breaker, store, most=FIRST_ROUND, clock=time.time, sleep=asyncio.sleep, jitter=lambda: 0.5
    )

    async def fetch(number):
        context = CallContext(None, time.time(), 20.0, RetryPolicy(20.0))
        request = first_request(SignalResource(f"s{number}"))
        await sender.fetch(request, context, lambda _: left_before.append(transport.left))

    fetches = [asyncio.create_task(fetch(number)) for number in range(2 * FIRST_ROUND)]
    await transport.are_all_under_way.wait()
    transport.answers.set()
    await asyncio.gather(*fetches)
    assert left_before == 2 * FIRST_ROUND * [2 * FIRST_ROUND]
