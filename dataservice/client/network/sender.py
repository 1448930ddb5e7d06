"""Sends requests under the rules of circuit breaker, budget, limiter and retries, and counts what they spend."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from dataservice.client.contract.body import Body
from dataservice.client.contract.quota import Quota, requests_at_once
from dataservice.client.contract.requests import Endpoint, Request
from dataservice.client.network.breaker import CircuitBreaker
from dataservice.client.network.call_context import CallContext, LimitedNames, Meter, Progress, RetryPolicy
from dataservice.client.network.connections import SendWatch
from dataservice.client.network.error_mapping import Failure, month_spent
from dataservice.client.network.transport import Exchange, Transport
from dataservice.client.network.usage import Reckoning, Ticket, UsageTracker
from dataservice.client.pacing.concurrency import FIRST_ROUND, Concurrency
from dataservice.client.pacing.pacer import Pacer
from dataservice.errors import (
    BoundReachedError,
    ConnectionFailedError,
    DataServiceError,
    DeadlineExceededError,
    MalformedAnswerError,
    UnavailableError,
)
from dataservice.limiter import PriorityLimiter
from dataservice.stores import ResilientStore

T = TypeVar("T")

RETRIES_OF_LOST = 1
"""A request whose answer broke off was counted by the service: one more may bring it, others are too dear."""

TURNS_TO_LEAVE = 6
"""In so many turns of the event loop a request leaves over an open connection; a connection to come is not awaited."""


RESENT_OVER_CLOSED = 3
"""So often a request is sent again at once that found its connection closed: it rarely happens twice in a row."""

LEAST_LATENCY_S = 0.1
"""At a pace so many requests may be under way as fit into the time of an answer, and two more."""


class RequestSender:
    """Sends requests one by one under the rules of breaker, budget, pace and retries; at most `most` are under way."""

    def __init__(
        self,
        transport: Transport,
        usage: UsageTracker,
        breaker: CircuitBreaker,
        store: ResilientStore,
        *,
        most: int,
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
        self._concurrency = Concurrency(most)
        self._limiter = PriorityLimiter(self._concurrency.places)
        self.pacer = Pacer(store, clock=clock, sleep=sleep, under_way=lambda: self._sent)
        self.progress = Progress()
        self.queued: Callable[[], int] = int
        """How many calls wait until they may take part: none where nobody counts them."""
        self._sent = 0
        """Requests that await their answer."""
        self._unread = 0
        """Answers that were received, and are not looked into yet."""
        self._prepared = FIRST_ROUND
        """Connections that were opened, or are opened by the first requests."""
        self._last_watch: SendWatch | None = None
        self._limited = LimitedNames()
        self._reckoning: Reckoning[tuple[Ticket, Meter]] = Reckoning()

    @property
    def places(self) -> int:
        """Return how many requests may be under way now."""
        return self._limiter.places

    @property
    def waiting(self) -> int:
        """Return how many calls wait for their turn, or for their answer."""
        return self.queued() + self._limiter.waiting + self._limiter.under_way

    async def fetch(self, request: Request, context: CallContext, decode: Callable[[bytes], T]) -> T:
        """Return what `decode` makes of the body of a 200; raises `DataServiceError` where there is none."""
        exchange = await self._last_exchange(request, context)
        outcome = exchange.outcome
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
                self._grow(exchange)
                return value
        self._note(outcome, request, context)
        raise outcome.error

    async def ask_once(self, request: Request, context: CallContext) -> Body:
        """Whatever is received, with its status and headers; raises `DataServiceError` where nothing is."""
        exchange = await self._send(request, context)
        if exchange.answer is None:
            raise exchange.outcome.error if isinstance(exchange.outcome, Failure) else MalformedAnswerError("nothing")
        return exchange.answer

    def check(self, request: Request, context: CallContext, now: float) -> None:
        """Raise at once what `fetch` would raise before it sent anything."""
        if (refusal := self._refusal(request, context, now)) is not None:
            raise refusal

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

    async def _last_exchange(self, request: Request, context: CallContext) -> Exchange:
        attempt, lost, limited, about = 0, 0, 0, request.subject or request.target
        while True:
            attempt += 1
            exchange = await self._send(request, context)
            outcome = exchange.outcome
            if not isinstance(outcome, Failure):
                self._limited.answered(about)
                return exchange
            if outcome.is_limited:
                limited += 1
                await self.pacer.conclude()
                if self._limited.is_enough(about, limited) or self._is_too_long(context):
                    return exchange
                continue
            if exchange.is_doubtful and attempt - limited <= RESENT_OVER_CLOSED:
                continue  # the service had most likely closed the connection before
            lost += exchange.spent and isinstance(outcome.error, ConnectionFailedError)
            wait_s = None if lost > RETRIES_OF_LOST else self._wait_s(outcome, attempt - limited, context)
            if wait_s is None:
                return exchange
            await self._sleep(wait_s)

    def _is_too_long(self, context: CallContext) -> bool:
        """Return whether the service asks to wait beyond the call's deadline."""
        now = self._clock()
        return self.pacer.pace.not_before - now > context.left_s(now)

    async def _send(self, request: Request, context: CallContext) -> Exchange:
        if context.before_request is not None:
            await context.before_request()
        while self._unread >= self._concurrency.most:  # noqa: ASYNC110 - they may show that no more is to be asked
            await asyncio.sleep(0)
        if not self._sent:
            self._limit()  # a month may have ended since the last answer
        if (arrival := context.arrival) is None:
            arrival = context.arrival = self._limiter.arrive()
            if self._concurrency.is_opening and self._limiter.under_way >= self._limiter.places:
                self._prepare()
        exchange = await self._in_turn(request, context, arrival)
        await self._next_has_left()
        await self._usage.save(is_quiet=not self._sent)
        await self.pacer.save()
        return exchange

    async def _in_turn(self, request: Request, context: CallContext, arrival: int) -> Exchange:
        """The exchange when it is its turn.

        Without a budget it is counted while it waits, so that no place stays empty while the store counts; a budget is
        asked as late as can be.
        """
        ticket = await self._usage.counted()
        try:
            await self._limiter.enter(request.priority, arrival)
            try:
                await self.pacer.turn()
                now = self._clock()
                guard = self._breaker.alike
                if refusal := self._refusal(request, context, now) or guard.turn_away(request.endpoint, now):
                    raise refusal
                if self._usage.is_unlimited:
                    counted, ticket = ticket or self._usage.count(now), None
                    return await self._exchange(request, context, counted, now)
                async with self._usage.admitted(until=now + context.left_s(now)) as admitted:
                    return await self._exchange(request, context, admitted, self._clock())
            finally:
                self._limiter.leave()
        finally:
            if ticket is not None:
                self._usage.give_back(ticket)

    def _prepare(self) -> None:
        """Open a connection for a call that waits until the first answers tell how many may be under way."""
        if self._prepared < self._concurrency.most:
            self._prepared += 1
            self._transport.prepare()

    async def _next_has_left(self) -> None:
        """Let the next requests leave first: answers are worked on while those are under way."""
        self._unread += 1
        try:
            for _ in range(TURNS_TO_LEAVE):
                await asyncio.sleep(0)
                if self._last_watch is None or self._last_watch.was_sent or not self._transport.is_watched:
                    return
        finally:
            self._unread -= 1

    async def _exchange(self, request: Request, context: CallContext, ticket: Ticket, now: float) -> Exchange:
        """The exchange, counted before it begins; what the service surely did not count is given back."""
        if (bound := context.meter.bound) is not None and bound.is_reached:
            self._usage.give_back(ticket)
            raise BoundReachedError(f"it takes more than the {bound.most:,} allowed for one call")
        context.meter.add(1)
        watch, is_spent = SendWatch(), False
        self._last_watch = watch
        context.begin_exchange(now)
        were_all_taken = self._limiter.under_way >= self._limiter.places
        self._sent += 1
        can_be_reckoned = self._reckoning.base is not None
        try:
            exchange = await self._transport.send(request, now, watch, within_s=context.left_s(now))
            if request.endpoint is Endpoint.DESCRIPTION:
                exchange.spent &= not self._is_free(exchange.quota)
            is_spent = exchange.spent
        except asyncio.CancelledError:
            is_spent = watch.was_sent
            raise
        finally:
            self._sent -= 1
            ended_at = self._clock()
            context.end_exchange(ended_at)
            if not is_spent:
                context.meter.add(-1)
                self._usage.give_back(ticket)
        exchange.latency_s, exchange.were_all_taken = watch.latency_s, were_all_taken
        exchange.is_doubtful = watch.is_reused and exchange.is_unanswered
        if exchange.is_doubtful and can_be_reckoned:
            self._reckoning.lost((ticket, context.meter))
        elif exchange.spent:
            self._reckoning.answered(exchange.quota.remaining if exchange.quota else None)
        for uncounted, meter in () if self._sent else self._reckoning.settle():
            meter.add(-1)
            self._usage.give_back(uncounted)
        self._heed(exchange, sent_at=now, now=ended_at)
        self._record(exchange, request, context, ticket, ended_at)  # before the limiter lets the next one pass
        return exchange

    def _is_free(self, quota: Quota | None) -> bool:
        """Return whether an answer shows that the description was not counted, which is no endpoint."""
        known = self._usage.last_told
        return known is None or quota is None or quota.remaining >= known.remaining

    def _heed(self, exchange: Exchange, *, sent_at: float, now: float) -> None:
        """Learn from an exchange how soon after each other the service takes requests."""
        outcome = exchange.outcome
        if exchange.is_doubtful:
            return
        if isinstance(outcome, Failure) and (outcome.is_limited or outcome.retryable):
            self._concurrency.troubled(sent_at, now)
            if outcome.is_limited:
                self.pacer.refused(sent_at, outcome.retry_after_s, outcome.gap_s)
            elif outcome.retry_after_s and not outcome.is_prepared:
                self.pacer.wait(outcome.retry_after_s)
            return
        self.progress.note(now)
        self.pacer.accepted(sent_at)
        if exchange.wait_s:
            self.pacer.wait(exchange.wait_s)

    def _grow(self, exchange: Exchange) -> None:
        """Let more be under way after an answer that could be used; one that is none says nothing of the next."""
        was_opening, places = self._concurrency.is_opening, self._concurrency.places
        waiting = self.waiting if was_opening else 0
        self._concurrency.answered(exchange.latency_s, were_all_taken=exchange.were_all_taken, waiting=waiting)
        if was_opening and not self._concurrency.is_opening:
            self.pacer.opened()
        if self._concurrency.places != places:
            self._limit()

    def _record(self, exchange: Exchange, request: Request, context: CallContext, ticket: Ticket, now: float) -> None:
        if exchange.quota is not None:
            self._usage.note(ticket, exchange.quota)
            self._breaker.tier_told(exchange.quota)
        self._limit(now)
        if exchange.quota is not None and exchange.quota.remaining == 0:
            self._note(Failure(month_spent(self._usage.last_told)), request, context)  # the next one would be refused
        match exchange.outcome:
            case Failure(is_limited=True):
                pass  # it waits for its turn again
            case Failure() if exchange.is_doubtful:
                pass  # it says nothing of the service
            case Failure(error, retryable=True):
                self._breaker.attempt_failed(error, context.resource, now)
            case Failure() as failure:
                self._note(failure, request, context)
            case _:
                pass

    def _limit(self, now: float | None = None) -> None:
        """Let no more requests be under way than the service takes, nor than are known to be left."""
        most = self._concurrency.places
        if self.pacer.pace.gap_s:
            latency_s = max(LEAST_LATENCY_S, self._concurrency.latency_s)
            most = min(self._concurrency.most, 2 + int(self.pacer.pace.a_second * latency_s))
        places = requests_at_once(self._usage.last_told, self._clock() if now is None else now, most=most)
        if places != self._limiter.places:
            self._limiter.resize(places)

    def _refusal(self, request: Request, context: CallContext, now: float) -> DataServiceError | None:
        """Return why the request must not be sent now; others may have failed while it waited for the limiter."""
        left_s, wait_s = context.left_s(now), self.pacer.pace.not_before - now
        if left_s <= 0:
            return self._no_turn(context).at(request.path)
        if wait_s > left_s:
            return UnavailableError(f"the service takes no request for {wait_s:,.0f} s: it limits them; refresh then")
        blocking = self._breaker.blocking_error(context.resource, request.endpoint, now)
        if blocking is not None:
            return blocking.afresh()
        return self._usage.refusal(now)

    def _no_turn(self, context: CallContext) -> DataServiceError:
        if self.pacer.pace.gap_s:
            return DeadlineExceededError(f"{self.pacer.pace.told}; no turn came within {context.deadline_s:g} s")
        return DeadlineExceededError(f"waited {context.deadline_s:g} s for a free connection")

    def _note(self, failure: Failure, request: Request, context: CallContext) -> None:
        self._breaker.note(failure.error, context.resource, request.endpoint, self._clock())

    def _wait_s(self, failure: Failure, attempt: int, context: CallContext) -> float | None:
        if not failure.retryable:
            return None
        policy = RetryPolicy(context.deadline_s) if failure.is_prepared else context.retry_policy
        return policy.wait_s(attempt, context.elapsed_s(self._clock()), self._jitter(), failure.retry_after_s)
