"""Brings the body that answers a request: waits its turn, asks, tries again where that may help, and keeps account."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from dataservice.client.account import Account
from dataservice.client.budget import Budget
from dataservice.client.failures import Failure, month_spent
from dataservice.client.gate import Gate
from dataservice.client.latches import Latches
from dataservice.client.quota import requests_at_once
from dataservice.client.requests import Request
from dataservice.client.resources import Resource
from dataservice.client.retry import Patience
from dataservice.client.transport import CONNECTIONS, Exchange, Transport
from dataservice.errors import DataServiceError, DeadlineExceededError, MalformedAnswerError

__all__ = ["Courier", "Errand"]

T = TypeVar("T")


@dataclass(slots=True)
class Errand:
    """One call's dealings with the service: what it is about, how long it may take, and what it spent so far."""

    resource: Resource[Any] | None
    began_at: float
    deadline_s: float
    patience: Patience
    requests: int = 0
    before_request: Callable[[], Awaitable[None]] | None = None
    """Awaited before each request: who works on one errand for long has to say that it is still alive."""

    def left_s(self, now: float) -> float:
        """Seconds until the deadline."""
        return self.began_at + self.deadline_s - now


class Courier:
    """Sends requests one by one under the rules of latches, budget and retries."""

    def __init__(
        self,
        transport: Transport,
        account: Account,
        latches: Latches,
        budget: Budget,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[Any]],
        jitter: Callable[[], float],
    ) -> None:
        self._transport = transport
        self._account = account
        self._latches = latches
        self._budget = budget
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._gate = Gate(CONNECTIONS)

    async def fetch(self, request: Request, errand: Errand, decode: Callable[[bytes], T]) -> T:
        """What `decode` makes of the body of a 200; raises the `DataServiceError` that kept it away."""
        outcome = await self._last_outcome(request, errand)
        if not isinstance(outcome, Failure):
            try:
                value = decode(outcome)
            except MalformedAnswerError as error:
                outcome = Failure(error.at(request.path))
            else:
                self._latches.answered(errand.resource)
                return value
        self._note(outcome, request, errand)
        raise outcome.error

    def check(self, request: Request, errand: Errand) -> None:
        """Raise at once what `fetch` would raise before it sent anything."""
        refusal = self._refusal(request, errand, self._clock(), under_way=self._gate.under_way)
        if refusal is not None:
            raise refusal

    def late(self, request: Request, errand: Errand) -> DataServiceError:
        """The error of an errand that was ended from outside; it counts as an outage like any other."""
        failure = Failure(DeadlineExceededError(f"no answer within {errand.deadline_s:g} s", path=request.path))
        self._note(failure, request, errand)
        return failure.error

    async def _last_outcome(self, request: Request, errand: Errand) -> bytes | Failure:
        for attempt in count(1):
            outcome = (await self._send(request, errand)).outcome
            wait_s = self._wait_s(outcome, attempt, errand) if isinstance(outcome, Failure) else None
            if wait_s is None:
                return outcome
            await self._sleep(wait_s)
        raise AssertionError("counting never ends")

    async def _send(self, request: Request, errand: Errand) -> Exchange:
        if errand.before_request is not None:
            await errand.before_request()
        self._fit_gate()
        async with self._gate.pass_through(request.priority):
            now = self._clock()
            refusal = self._refusal(request, errand, now, under_way=self._gate.under_way - 1)
            if refusal is not None:
                raise refusal
            exchange = await self._transport.send(request, now, within_s=errand.left_s(now))
            self._take_down(exchange, request, errand)  # before the next one passes the gate
        await asyncio.sleep(0)  # whose turn comes now sends first; this answer is worked on while that is under way
        await self._account.save(self._clock())
        return exchange

    def _take_down(self, exchange: Exchange, request: Request, errand: Errand) -> None:
        errand.requests += exchange.spent
        self._account.spent(exchange.quota, self._clock(), requests=int(exchange.spent))
        self._fit_gate()
        if exchange.quota is not None and exchange.quota.remaining == 0:
            self._note(Failure(month_spent(exchange.quota)), request, errand)  # the next one would be refused
        match exchange.outcome:
            case Failure(error, retryable=True):
                self._latches.attempt_failed(error, errand.resource, self._clock())
            case Failure() as failure:
                self._note(failure, request, errand)
            case _:
                pass

    def _fit_gate(self) -> None:
        """Let no more requests be under way than are known to be left."""
        now = self._clock()
        self._gate.resize(requests_at_once(self._account.quota(now), now, most=CONNECTIONS))

    def _refusal(self, request: Request, errand: Errand, now: float, *, under_way: int) -> DataServiceError | None:
        """Why the request must not be sent now; asked again at the gate, because others may have failed meanwhile."""
        if errand.left_s(now) <= 0:
            return DeadlineExceededError("no turn in time", path=request.path)
        closed = self._latches.closed(errand.resource, request.endpoint, now)
        if closed is not None:
            return closed.afresh()
        quota, used = self._account.quota(now), self._account.used_here(now)
        return self._budget.refusal(quota, used_here=used, under_way=under_way, now=now)

    def _note(self, failure: Failure, request: Request, errand: Errand) -> None:
        self._latches.note(failure.error, errand.resource, request.endpoint, self._clock())

    def _wait_s(self, failure: Failure, attempt: int, errand: Errand) -> float | None:
        if not failure.retryable:
            return None
        elapsed_s = self._clock() - errand.began_at
        return errand.patience.wait_s(attempt, elapsed_s, self._jitter(), failure.retry_after_s)
