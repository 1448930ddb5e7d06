"""Sends requests under the rules of circuit breaker, budget, limiter and retries, and counts what they spend."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from dataservice.client.contract.body import Body
from dataservice.client.contract.quota import requests_at_once
from dataservice.client.contract.requests import Request
from dataservice.client.contract.resources import Resource
from dataservice.client.network.breaker import CircuitBreaker
from dataservice.client.network.connections import SendWatch
from dataservice.client.network.error_mapping import Failure, month_spent
from dataservice.client.network.limiter import PriorityLimiter
from dataservice.client.network.meter import Meter
from dataservice.client.network.ticket import Ticket
from dataservice.client.network.transport import CONNECTIONS, Exchange, Transport
from dataservice.client.network.usage import UsageTracker
from dataservice.errors import ConnectionFailedError, DataServiceError, DeadlineExceededError, MalformedAnswerError

T = TypeVar("T")

BASE_S = 0.25
CAP_S = 4.0
ATTEMPTS = 5  # with the doubling above, the fifth comes on average 2 s after the first

RETRIES_OF_LOST = 1
"""A request whose answer broke off was counted by the service: one more may bring it, others are too dear."""

TURNS_TO_LEAVE = 6
"""In so many turns of the event loop a request leaves over an open connection; a connection to come is not awaited."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to try again: full-jitter backoff within `limit_s` seconds in all and at most `attempts` requests."""

    limit_s: float
    attempts: int = ATTEMPTS

    def wait_s(self, attempt: int, elapsed_s: float, chance: float, retry_after_s: float | None = None) -> float | None:
        """The seconds to wait after failed `attempt` (1 is the first), or None to give up.

        `chance` is uniform in [0, 1): callers that failed together do not come back together. A wait the service asked
        for is never cut short; if it does not fit into the limit, the call gives up at once.
        """
        if attempt >= self.attempts:
            return None
        backoff_s = chance * min(CAP_S, BASE_S * 2.0 ** (attempt - 1))
        wait_s = max(backoff_s, retry_after_s or 0.0)
        return wait_s if elapsed_s + wait_s < self.limit_s else None


@dataclass(slots=True)
class CallContext:
    """One call of the client: what it is about, how long it may take, and what it has spent so far."""

    resource: Resource[Any] | None
    began_at: float
    deadline_s: float
    retry_policy: RetryPolicy
    meter: Meter = field(default_factory=Meter)
    """Counts what the call spends, while it spends it."""
    before_request: Callable[[], Awaitable[None]] | None = None
    """Awaited before each request: a call of many requests has to renew its lease."""
    hand_over: Callable[[], str] = str
    """Who holds the lease of the call; whoever asks ends it, in the step in which the answer is kept."""

    def left_s(self, now: float) -> float:
        """Seconds until the deadline."""
        return self.began_at + self.deadline_s - now


class RequestSender:
    """Sends requests one by one under the rules of breaker, budget and retries."""

    def __init__(
        self,
        transport: Transport,
        usage: UsageTracker,
        breaker: CircuitBreaker,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[Any]],
        jitter: Callable[[], float],
    ) -> None:
        self._transport = transport
        self._usage = usage
        self._breaker = breaker
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._limiter = PriorityLimiter(CONNECTIONS)
        self._last_watch: SendWatch | None = None

    async def fetch(self, request: Request, context: CallContext, decode: Callable[[bytes], T]) -> T:
        """What `decode` makes of the body of a 200; raises `DataServiceError` where there is none."""
        outcome = await self._last_outcome(request, context)
        if not isinstance(outcome, Failure):
            try:
                value = decode(outcome)
            except MalformedAnswerError as error:
                outcome = Failure(error.received(outcome, self._transport.redact).at(request.path))
            except DataServiceError as error:
                outcome = Failure(error.at(request.path))
            except Exception as error:  # noqa: BLE001 - whatever a decoder trips over, the answer is to blame
                problem = f"an answer that cannot be read ({type(error).__name__})"
                outcome = Failure(MalformedAnswerError(problem, path=request.path))
            else:
                self._breaker.answered(context.resource, request.endpoint)
                return value
        self._note(outcome, request, context)
        raise outcome.error

    async def ask_once(self, request: Request, context: CallContext) -> Body:
        """Whatever is received, with its status and headers; raises `DataServiceError` where nothing is."""
        exchange = await self._send(request, context)
        if exchange.answer is None:
            raise exchange.outcome.error if isinstance(exchange.outcome, Failure) else MalformedAnswerError("nothing")
        return exchange.answer

    def check(self, request: Request, context: CallContext) -> None:
        """Raise at once what `fetch` would raise before it sent anything."""
        self._raise_refusal(request, context)

    def pardon(self, request: Request, context: CallContext) -> None:
        """Forget that a request was refused: it is asked in another way."""
        self._breaker.answered(context.resource, request.endpoint)

    def refused(self, error: DataServiceError, request: Request, context: CallContext) -> DataServiceError:
        """The same error, remembered for the resource: asking again would end the same way."""
        self._note(Failure(error.at(request.path)), request, context)
        return error

    def late(self, request: Request, context: CallContext) -> DataServiceError:
        """The error of a call that was cancelled from outside; it counts as an outage like any other."""
        failure = Failure(DeadlineExceededError(f"no answer within {context.deadline_s:g} s", path=request.path))
        self._note(failure, request, context)
        return failure.error

    async def _last_outcome(self, request: Request, context: CallContext) -> bytes | Failure:
        lost = 0
        for attempt in count(1):
            exchange = await self._send(request, context)
            outcome = exchange.outcome
            if not isinstance(outcome, Failure):
                return outcome
            lost += exchange.spent and isinstance(outcome.error, ConnectionFailedError)
            wait_s = None if lost > RETRIES_OF_LOST else self._wait_s(outcome, attempt, context)
            if wait_s is None:
                return outcome
            await self._sleep(wait_s)
        raise AssertionError("counting never ends")

    async def _send(self, request: Request, context: CallContext) -> Exchange:
        if context.before_request is not None:
            await context.before_request()
        self._limit_to_quota()
        if self._usage.is_unlimited:
            exchange = await self._counted(request, context)
        else:
            exchange = await self._admitted(request, context)
        await self._next_has_left()
        await self._usage.save()
        return exchange

    async def _next_has_left(self) -> None:
        """Let the next requests leave first: answers are worked on while those are under way."""
        for _ in range(TURNS_TO_LEAVE):
            await asyncio.sleep(0)
            if self._last_watch is None or self._last_watch.was_sent:
                return

    async def _admitted(self, request: Request, context: CallContext) -> Exchange:
        """The exchange, counted when it is its turn: the budget is asked as late as can be."""
        async with self._limiter.pass_through(request.priority):
            self._raise_refusal(request, context, is_its_turn=True)
            async with self._usage.admitted(until=context.began_at + context.deadline_s) as ticket:
                return await self._recorded(request, context, ticket)

    async def _counted(self, request: Request, context: CallContext) -> Exchange:
        """The exchange, counted while it waits for its turn: no place stays empty while the store counts."""
        ticket = await self._usage.counted()
        has_begun = False
        try:
            async with self._limiter.pass_through(request.priority):
                self._raise_refusal(request, context, is_its_turn=True)
                has_begun = True
                return await self._recorded(request, context, ticket)
        finally:
            if not has_begun:
                self._usage.give_back(ticket)

    def _raise_refusal(self, request: Request, context: CallContext, *, is_its_turn: bool = False) -> None:
        now = self._clock()
        refusal = self._refusal(request, context, now)
        if refusal is None and is_its_turn:
            refusal = self._breaker.turn_away(request.endpoint, now)
        if refusal is not None:
            raise refusal

    async def _recorded(self, request: Request, context: CallContext, ticket: Ticket) -> Exchange:
        exchange = await self._exchange(request, context, ticket)
        self._record(exchange, request, context, ticket)  # before the limiter lets the next one pass
        return exchange

    async def _exchange(self, request: Request, context: CallContext, ticket: Ticket) -> Exchange:
        """The exchange, counted before it begins; what the service surely did not count is given back."""
        context.meter.add(1)
        watch, is_spent = SendWatch(), False
        self._last_watch = watch
        try:
            now = self._clock()
            exchange = await self._transport.send(request, now, watch, within_s=context.left_s(now))
            is_spent = exchange.spent
        except asyncio.CancelledError:
            is_spent = watch.was_sent
            raise
        finally:
            if not is_spent:
                context.meter.add(-1)
                self._usage.give_back(ticket)
        return exchange

    def _record(self, exchange: Exchange, request: Request, context: CallContext, ticket: Ticket) -> None:
        self._usage.note(ticket, exchange.quota)
        self._limit_to_quota()
        if exchange.quota is not None and exchange.quota.remaining == 0:
            self._note(Failure(month_spent(exchange.quota)), request, context)  # the next one would be refused
        match exchange.outcome:
            case Failure(error, retryable=True):
                self._breaker.attempt_failed(error, context.resource, self._clock())
            case Failure() as failure:
                self._note(failure, request, context)
            case _:
                pass

    def _limit_to_quota(self) -> None:
        """Let no more requests be under way than are known to be left."""
        now = self._clock()
        self._limiter.resize(requests_at_once(self._usage.last_told, now, most=CONNECTIONS))

    def _refusal(self, request: Request, context: CallContext, now: float) -> DataServiceError | None:
        """Why the request must not be sent now; others may have failed while it waited for the limiter."""
        if context.left_s(now) <= 0:
            return DeadlineExceededError("no turn in time", path=request.path)
        blocking = self._breaker.blocking_error(context.resource, request.endpoint, now)
        if blocking is not None:
            return blocking.afresh()
        return self._usage.refusal(now)

    def _note(self, failure: Failure, request: Request, context: CallContext) -> None:
        self._breaker.note(failure.error, context.resource, request.endpoint, self._clock())

    def _wait_s(self, failure: Failure, attempt: int, context: CallContext) -> float | None:
        if not failure.retryable:
            return None
        elapsed_s = self._clock() - context.began_at
        return context.retry_policy.wait_s(attempt, elapsed_s, self._jitter(), failure.retry_after_s)
