"""Counts the requests of one key before they are sent, together with all processes that share the store.

Every request takes a *ticket*: the next number of a counter that the store adds to in one step. So a budget holds for
any number of processes, and a request whose answer is lost is counted as well. A ticket is given back only for what the
service surely did not count.

For the reserve an answer's `remaining` is turned into the last ticket that may be sent: `remaining`, and the tickets
that the service had surely counted by then. That number stays true while further tickets are taken, whichever process
hears it first. Close to the reserve requests go one at a time, so that it is exact there.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar
from uuid import uuid4

import msgspec

from dataservice.client.contract.quota import Quota, month_of, newer
from dataservice.client.contract.windows import utc_day
from dataservice.client.network.budget import Budget
from dataservice.errors import BudgetError, DeadlineExceededError
from dataservice.flight import Flight
from dataservice.stores import Entry, ResilientStore

CLOSE = 64
"""From so many requests above the reserve on they go one at a time: the places of four busy processes."""

SAVE_S = 0.5
"""While requests are under way, others learn of what was told so often: each one writes all that came before."""

POLL_S = 0.05  # between two looks whether another process has ended its request: short beside a request


class Ticket(msgspec.Struct, frozen=True):
    """The right to send one request: its number in the month, and how many were under way, itself included."""

    number: int
    month: str
    under_way: int = 0
    """0 where no reserve is kept: then nobody counts."""
    day: str = ""
    is_probe: bool = False
    """Whether it is today's one request that may find out what is left."""


class Seen(msgspec.Struct, frozen=True):
    """What an answer told of the quota, and the last ticket of its month that leaves 0 or more requests."""

    quota: Quota
    month: str = ""
    last_ticket: int | None = None


def unpacked(payload: bytes) -> Seen | None:
    """Return what an entry of the store says was seen; None where it cannot be read."""
    try:
        return msgspec.json.decode(payload, type=Seen)
    except msgspec.MsgspecError:
        pass
    try:  # an earlier version kept the quota alone
        return Seen(msgspec.json.decode(payload, type=Quota))
    except msgspec.MsgspecError:
        return None


class UsageTracker:
    """Counts the requests of one key at one service, and knows the quota, under one `budget`."""

    def __init__(
        self,
        store: ResilientStore,
        budget: Budget,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[Any]],
    ) -> None:
        self._store = store
        self._budget = budget
        self.is_unlimited = budget.is_unlimited
        """Whether there is no budget: then a request is counted at once, or while it waits for its turn."""
        self._clock = clock
        self._sleep = sleep
        self._scope: str | None = None
        self._seen: Seen | None = None
        self._values: Counter[str] = Counter()
        self._unsaved: Counter[str] = Counter()
        self._is_dirty = False
        self._saving = asyncio.Lock()
        self._saved_at = float("-inf")
        self._one_at_a_time = asyncio.Lock()
        self._counting: Flight[None] | None = None
        """Adds to the store's counter what is counted until it begins, after the one before it."""
        self._counted_last = asyncio.Lock()
        self._probed_on = ""
        self.sent = 0

    def quota(self, now: float) -> Quota | None:
        """The quota last seen, by whichever process that shares the store."""
        return None if self._seen is None else msgspec.structs.replace(self._seen.quota, used_here=self.used_here(now))

    @property
    def last_told(self) -> Quota | None:
        """The same as the service told it, without what was spent here."""
        return None if self._seen is None else self._seen.quota

    def used_here(self, now: float) -> int:
        """Requests this installation spent in the UTC month of `now`, as far as known."""
        return self._values[_used(month_of(now))]

    async def open(self, scope: str) -> None:
        """Begin with what the store knows of the key that `scope` names."""
        self._scope = scope
        await self.look_up()

    async def look_up(self) -> None:
        """Read what other processes have spent and were told meanwhile."""
        if self._scope is None:
            return
        kept = await self._store.get(f"{self._scope}/quota")
        seen = None if kept is None else unpacked(kept.payload)
        if seen is not None and (self._seen is None or seen.quota.seen_at > self._seen.quota.seen_at):
            self._seen = seen
        await self._add(_used(month_of(self._clock())), 0)

    async def allow_probe(self, *, is_joined: bool = False) -> None:
        """Let one request find out again what is left, though one of today found out nothing.

        `is_joined`: another process has allowed that one; this one may try to be it.
        """
        self._probed_on = ""
        if self._budget.reserve and not is_joined:
            counter = _probes(str(utc_day(self._clock())))
            await self._add(counter, -await self._add(counter, 0))

    def refusal(self, now: float) -> BudgetError | None:
        """Return why a request would be refused, by what this process knows; None where it has to be tried."""
        if self.is_unlimited:
            return None
        if self._budget.reserve and self._probed_on == str(utc_day(now)):
            return self._too_few(now)
        # Who is under way has taken a ticket: the count holds them.
        return self._budget.refusal(self.last_told, used_here=self.used_here(now), under_way=0, now=now)

    def require(self, requests: int, now: float) -> None:
        """Raise `BudgetError` unless so many requests may be sent and the reserve is still left, by what is known."""
        if (refusal := self.refusal(now)) is not None:
            raise refusal
        quota, reserve = self.last_told, self._budget.reserve
        if quota is not None and quota.remaining - requests < reserve:
            held = f", and {reserve:,} are held in reserve" if reserve else ""
            raise BudgetError(f"{quota.remaining:,} requests are left{held}; it may take {requests}")

    def count(self, now: float) -> Ticket:
        """The right to send one request where there is no budget; whoever does not send it gives it back.

        What is unsaved is told at the next quiet moment.
        """
        month = month_of(now)
        self.sent += 1
        self._count(_used(month), 1)
        return Ticket(0, month)

    async def counted(self) -> Ticket | None:
        """The same where others count, too, in the store as well; None where nobody does, and it need not wait.

        Those that come while others are counted are added to the store's counter together.
        """
        if not (self.is_unlimited and self._store.shared):
            return None
        ticket = self.count(self._clock())
        try:
            if self._counting is None:
                self._counting = Flight(self._count_together(ticket.month))
            await self._counting.landing()
        except asyncio.CancelledError:
            self.give_back(ticket)
            raise
        return ticket

    async def _count_together(self, month: str) -> None:
        async with self._counted_last:
            self._counting = None  # who comes from now on waits for the next one
            await self._add(_used(month), 0)

    @asynccontextmanager
    async def admitted(self, *, until: float) -> AsyncIterator[Ticket]:
        """The right to send one request inside the block; raises `BudgetError` where there is none.

        Who holds it says how it went: `note` what the answer told, and `give_back` what was not counted.
        """
        if await self._is_close():
            async with self._alone(until):
                await self.look_up()
                if await self._is_close():  # whoever was alone before may have found out that there is room
                    async with self._holding(await self._ticket()) as ticket:
                        yield await self._allowed(ticket)
                    return
        async with self._holding(await self._ticket()) as ticket:
            yield await self._allowed(ticket)

    @asynccontextmanager
    async def _holding(self, ticket: Ticket) -> AsyncIterator[Ticket]:
        """End the ticket after the block: what the answer told is written before others may count on it."""
        try:
            yield ticket
        finally:
            if ticket.day:
                await self._flush()
                self._count(_under_way(ticket.day), -1)
                await self._flush()

    async def _allowed(self, ticket: Ticket) -> Ticket:
        """The same ticket; one that may not be used is given back at once, so that others do not count it."""
        used = ticket.number - 1
        refusal = self._budget.refusal(None, used_here=used, under_way=0, now=self._clock())
        if refusal is None and self._budget.reserve:
            ticket, refusal = await self._above_reserve(ticket)
        self.sent += 1
        if refusal is not None:
            self.give_back(ticket)
            await self._flush()
            raise refusal
        return ticket

    async def _above_reserve(self, ticket: Ticket) -> tuple[Ticket, BudgetError | None]:
        """Let a ticket pass that leaves the reserve untouched, or one a day that finds out what is left."""
        last, now = self._last_ticket(ticket.month), self._clock()
        if last is not None and ticket.number + self._budget.reserve <= last:
            return ticket, None
        if last is not None and self._is_of_today(now):
            return ticket, self._too_few(now)
        ticket = msgspec.structs.replace(ticket, is_probe=True)
        if await self._add(_probes(ticket.day), 1) == 1:
            return ticket, None
        self._probed_on = ticket.day
        return ticket, self._too_few(now)

    def note(self, ticket: Ticket, quota: Quota) -> None:
        """Note what an answer said about the quota; `save` writes it."""
        if self._seen is None:
            self._seen = Seen(quota)
        month, last = self._seen.month, self._seen.last_ticket
        if ticket.under_way:
            month, last = ticket.month, quota.remaining + ticket.number - ticket.under_way + 1
        self._seen = Seen(newer(self._seen.quota, quota), month, last)
        self._is_dirty = True
        self._probed_on = ""

    def give_back(self, ticket: Ticket) -> None:
        """Take back the count of a request that the service did not count."""
        self.sent -= 1
        self._count(_used(ticket.month), -1)
        if ticket.is_probe:
            self._count(_probes(ticket.day), -1)

    async def save(self, *, is_quiet: bool = True) -> None:
        """Write what is unsaved, when all `is_quiet` or some time has passed; a call that is writing writes all."""
        is_due = self._is_dirty and (is_quiet or abs(self._clock() - self._saved_at) > SAVE_S)
        if is_due and not self._saving.locked():
            self._saved_at = self._clock()
            await self._flush()

    async def _flush(self) -> None:
        async with self._saving:
            while self._is_dirty and self._scope is not None:
                self._is_dirty = False
                if self._seen is not None:
                    entry = Entry(msgspec.json.encode(self._seen), self._seen.quota.seen_at)
                    await self._store.put(f"{self._scope}/quota", entry)
                for counter in [name for name, amount in self._unsaved.items() if amount]:
                    await self._add(counter, 0)

    async def _ticket(self) -> Ticket:
        """The next ticket; who counts who is under way does so first, so that it never counts too few."""
        now = self._clock()
        day = str(utc_day(now)) if self._budget.reserve else ""
        under_way = await self._add(_under_way(day), 1) if day else 0
        month = month_of(now)
        number = await self._add(_used(month), 1)
        return Ticket(number, month, under_way, day)

    def _too_few(self, now: float) -> BudgetError:
        if self._seen is None or not self._is_of_today(now):
            return self._budget.unknown()
        return self._budget.at_reserve(self._seen.quota.remaining)

    async def _is_close(self) -> bool:
        """Return whether the next request may be one that touches the reserve."""
        if not self._budget.reserve:
            return False
        month = month_of(self._clock())
        last = self._last_ticket(month)
        return last is None or await self._add(_used(month), 0) + self._budget.reserve + CLOSE >= last

    def _last_ticket(self, month: str) -> int | None:
        return self._seen.last_ticket if self._seen is not None and self._seen.month == month else None

    def _is_of_today(self, now: float) -> bool:
        return self._seen is not None and utc_day(self._seen.quota.seen_at) == utc_day(now)

    @asynccontextmanager
    async def _alone(self, until: float) -> AsyncIterator[None]:
        """Wait until no request of any process that waited here is under way; keep others waiting inside the block."""
        name, owner = f"{self._scope}/quota", uuid4().hex
        async with self._one_at_a_time:
            is_shared = self._store.shared and self._scope is not None
            while is_shared and not await self._store.lease(name, owner, max(1.0, until - self._clock() + 1.0)):
                if self._clock() >= until:
                    raise DeadlineExceededError("others have been asking for too long")
                await self._sleep(POLL_S)
            try:
                yield
            finally:
                if is_shared:
                    await self._store.release(name, owner)

    def _count(self, counter: str, amount: int) -> None:
        self._values[counter] += amount
        self._unsaved[counter] += amount
        self._is_dirty = True

    async def _add(self, counter: str, amount: int) -> int:
        """The counter's value in all processes after adding `amount`; in this one while the store fails."""
        self._values[counter] += amount
        amount += self._unsaved.pop(counter, 0)
        if self._scope is None:
            self._unsaved[counter] = amount
            return self._values[counter]
        value: int | None = None
        try:
            value = await self._store.add(f"{self._scope}/{counter}", amount)
        finally:
            if value is None:
                self._unsaved[counter] += amount
        if value is None:
            return self._values[counter]
        self._values[counter] = value + self._unsaved[counter]
        return value


def _used(month: str) -> str:
    return f"used/{month}"


def _under_way(day: str) -> str:
    return f"under_way/{day}"


def _probes(day: str) -> str:
    return f"probes/{day}"


T = TypeVar("T")


class Reckoning(Generic[T]):
    """The requests since the last quiet moment: those answered, and those that may or may not have been counted.

    A connection that the service had closed before takes a request with it that nobody has read: the remaining number
    tells, once all others are answered.
    """

    def __init__(self) -> None:
        self.base: int | None = None
        """What was left before them; None until an answer told it: only what is sent after that can be reckoned."""
        self._lowest: int | None = None
        self._answered = 0
        self._doubtful: list[T] = []
        self._is_sound = True

    def answered(self, remaining: int | None) -> None:
        """A request was answered and counted; the answer told that so many are left."""
        self._answered += 1
        if remaining is None:
            self._is_sound = False
            return
        self._lowest = remaining if self._lowest is None else min(self._lowest, remaining)
        if self.base is None or remaining >= self.base:  # the first of all, or one that was overtaken
            self.base = remaining + 1

    def lost(self, request: T) -> None:
        """A request, sent after the first answer, ended without one over a connection that had served others."""
        self._doubtful.append(request)

    def settle(self) -> list[T]:
        """No request is under way: those that were not counted. Then it begins anew."""
        doubtful, base, lowest = self._doubtful, self.base, self._lowest
        uncounted: list[T] = []
        if doubtful and self._is_sound and base is not None and lowest is not None:
            counted = max(0, base - lowest - self._answered)  # also by others who use the key
            uncounted = doubtful[counted:]
        self.base = base if lowest is None else lowest
        self._lowest, self._answered, self._doubtful, self._is_sound = None, 0, [], True
        return uncounted
