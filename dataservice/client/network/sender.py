"""Brings the body that answers a request: waits its turn, asks, tries again where that may help, and keeps account."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from dataservice.client.contract.quota import requests_at_once
from dataservice.client.contract.requests import Request
from dataservice.client.contract.resources import Resource
from dataservice.client.network.breaker import CircuitBreaker
from dataservice.client.network.budget import Budget
from dataservice.client.network.error_mapping import Failure, month_spent
from dataservice.client.network.limiter import PriorityLimiter
from dataservice.client.network.retry import RetryPolicy
from dataservice.client.network.transport import CONNECTIONS, Exchange, Transport
from dataservice.client.network.usage import UsageTracker
from dataservice.errors import DataServiceError, DeadlineExceededError, MalformedAnswerError

T = TypeVar("T")


@dataclass(slots=True)
class CallContext:
    """One call's dealings with the service: what it is about, how long it may take, and what it spent so far."""

    resource: Resource[Any] | None
    began_at: float
    deadline_s: float
    retry_policy: RetryPolicy
    requests: int = 0
    before_request: Callable[[], Awaitable[None]] | None = None
    """Awaited before each request: who works on one context for long has to say that it is still alive."""

    def left_s(self, now: float) -> float:
        """Seconds until the deadline."""
        return self.began_at + self.deadline_s - now


class RequestSender:
    """Sends requests one by one under the rules of breaker, budget and retries."""

    def __init__(
        self,
        transport: Transport,
        account: UsageTracker,
        breaker: CircuitBreaker,
        budget: Budget,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[Any]],
        jitter: Callable[[], float],
    ) -> None:
        self._transport = transport
        self._usage = account
        self._breaker = breaker
        self._budget = budget
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._limiter = PriorityLimiter(CONNECTIONS)

    async def fetch(self, request: Request, context: CallContext, decode: Callable[[bytes], T]) -> T:
        """What `decode` makes of the body of a 200; raises the `DataServiceError` that kept it away."""
        outcome = await self._last_outcome(request, context)
        if not isinstance(outcome, Failure):
            try:
                value = decode(outcome)
            except MalformedAnswerError as error:
                outcome = Failure(error.at(request.path))
            else:
                self._breaker.answered(context.resource)
                return value
        self._note(outcome, request, context)
        raise outcome.error

    def check(self, request: Request, context: CallContext) -> None:
        """Raise at once what `fetch` would raise before it sent anything."""
        refusal = self._refusal(request, context, self._clock(), under_way=self._limiter.under_way)
        if refusal is not None:
            raise refusal

    def late(self, request: Request, context: CallContext) -> DataServiceError:
        """The error of an context that was ended from outside; it counts as an outage like any other."""
        failure = Failure(DeadlineExceededError(f"no answer within {context.deadline_s:g} s", path=request.path))
        self._note(failure, request, context)
        return failure.error

    async def _last_outcome(self, request: Request, context: CallContext) -> bytes | Failure:
        for attempt in count(1):
            outcome = (await self._send(request, context)).outcome
            wait_s = self._wait_s(outcome, attempt, context) if isinstance(outcome, Failure) else None
            if wait_s is None:
                return outcome
            await self._sleep(wait_s)
        raise AssertionError("counting never ends")

    async def _send(self, request: Request, context: CallContext) -> Exchange:
        if context.before_request is not None:
            await context.before_request()
        self._fit_gate()
        async with self._limiter.pass_through(request.priority):
            now = self._clock()
            refusal = self._refusal(request, context, now, under_way=self._limiter.under_way - 1)
            if refusal is not None:
                raise refusal
            exchange = await self._transport.send(request, now, within_s=context.left_s(now))
            self._take_down(exchange, request, context)  # before the next one passes the gate
        await asyncio.sleep(0)  # whose turn comes now sends first; this answer is worked on while that is under way
        await self._usage.save(self._clock())
        return exchange

    def _take_down(self, exchange: Exchange, request: Request, context: CallContext) -> None:
        context.requests += exchange.spent
        self._usage.spent(exchange.quota, self._clock(), requests=int(exchange.spent))
        self._fit_gate()
        if exchange.quota is not None and exchange.quota.remaining == 0:
            self._note(Failure(month_spent(exchange.quota)), request, context)  # the next one would be refused
        match exchange.outcome:
            case Failure(error, retryable=True):
                self._breaker.attempt_failed(error, context.resource, self._clock())
            case Failure() as failure:
                self._note(failure, request, context)
            case _:
                pass

    def _fit_gate(self) -> None:
        """Let no more requests be under way than are known to be left."""
        now = self._clock()
        self._limiter.resize(requests_at_once(self._usage.quota(now), now, most=CONNECTIONS))

    def _refusal(
        self, request: Request, context: CallContext, now: float, *, under_way: int
    ) -> DataServiceError | None:
        """Why the request must not be sent now; asked again at the gate, because others may have failed meanwhile."""
        if context.left_s(now) <= 0:
            return DeadlineExceededError("no turn in time", path=request.path)
        closed = self._breaker.closed(context.resource, request.endpoint, now)
        if closed is not None:
            return closed.afresh()
        quota, used = self._usage.quota(now), self._usage.used_here(now)
        return self._budget.refusal(quota, used_here=used, under_way=under_way, now=now)

    def _note(self, failure: Failure, request: Request, context: CallContext) -> None:
        self._breaker.note(failure.error, context.resource, request.endpoint, self._clock())

    def _wait_s(self, failure: Failure, attempt: int, context: CallContext) -> float | None:
        if not failure.retryable:
            return None
        elapsed_s = self._clock() - context.began_at
        return context.retry_policy.wait_s(attempt, elapsed_s, self._jitter(), failure.retry_after_s)
