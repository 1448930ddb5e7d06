"""Tenants: each key has its own client, session and response cache, so that no answer is shown to another key.

A key that the service has not accepted yet is one of a few unproven tenants, with little memory and small requests. So
whoever makes keys up evicts no user: only an accepted key gets a place among the users.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from math import ceil
from weakref import WeakValueDictionary

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from addin.backend.http import BusyError
from addin.backend.limits.new_keys import NewKeys
from addin.backend.workers.posts import ToldPosts
from addin.backend.workers.refreshes import Refreshed
from addin.config.consent import consent_for
from addin.config.settings import Settings
from addin.protocol.batch import Batches
from addin.protocol.messages import Quota
from addin.protocol.pending_batches import PendingBatches
from addin.protocol.response_cache import ResponseCache
from dataservice.client import AsyncClient
from udfs.engine import Session

DEADLINE_MARGIN_S = 2.0
"""A batch ends this much after the client's own deadline, because the client's errors say more."""

USER_SHARE = 16
"""A user's tenant gets one such part of the memory; most need far less."""

MAX_UNPROVEN = 32
"""Keys that wait for their first accepted answer, which takes a tenth of a second or two: three hundred users of an
office are let in as fast as with four times as many at once, beside which everybody else would wait twice as long."""

MAX_WAITING = 1_000
"""Batches of one key that wait for their turn: what a workbook sends cell by cell, on a slow connection."""

MAX_UNPROVEN_OF_ADDRESS = MAX_UNPROVEN // 2
"""Of these, one address has at most so many: who makes keys up there keeps new users out nowhere else."""

WEIGHED_EVERY_S = 1.0
"""How often it is looked at how much all hold: with hundreds of them that takes as long as a small batch."""

NEW_KEY_WAITS_S = 10.0
"""How long a new key waits for a place."""

LOOKS_EVERY_S = 0.1
"""How often a new key without a place looks for one: they become free as the service accepts others."""

UNPROVEN_IDLE_S = 30.0
"""A key that was not accepted by then is forgotten."""

IDLE_S = 3_600.0
"""A user who has asked for nothing in an hour is closed; the answers stay in the store."""


HasLeft = Callable[[], Awaitable[bool]]


async def stays() -> bool:
    """Return that a caller of whom nobody knows has not left."""
    return False


class Tenant:
    """One key's client and everything that depends on its answers, within one `share`-th of the memory."""

    def __init__(
        self,
        settings: Settings,
        client: AsyncClient,
        *,
        generation: int,
        since: float,
        share: int = 1,
        spent: Callable[[int], object] = lambda _: None,
    ) -> None:
        self.client = client
        self._spent = spent
        """Called with how many more requests the client has spent, whoever is told of them and when."""
        self._counted = 0
        self.session = Session(client)
        self.cache = ResponseCache(settings.memo_bytes // share)
        self.consent = consent_for(client, settings, since=since)
        deadline_s, limits = settings.deadline_s + DEADLINE_MARGIN_S, settings.batch_limits
        self.batches = Batches(self.session, self.cache, deadline_s=deadline_s, limits=limits, consent=self.consent)
        self.pending = PendingBatches(
            self.session, self.cache, self.consent, deadline_s=deadline_s, late=self.batches.late, limits=limits
        )
        self.told = ToldPosts()
        self.joining = asyncio.Lock()
        """Held by who takes part in a refresh of another process: until that is done no other batch begins."""
        self.generation = generation
        """A different number means that every earlier answer may be different now."""
        self.refreshed: Refreshed | None = None
        """The last refresh that this tenant took part in, where several processes share refreshes."""
        self.scope: str | None = None
        """The hash that names the key in the store, once it was looked up."""
        self._turns = asyncio.Semaphore(settings.max_user_batches)
        self._waiting = 0
        self.address = ""
        """Where an unknown key came from first."""
        self.users = 0
        self._is_closed = False
        self.used_at = 0.0
        self.retired = False

    @property
    def proven(self) -> bool:
        """Return whether the service is known to have accepted the key: only then it tells a quota."""
        return self.client.quota_now is not None

    @property
    def held_bytes(self) -> int:
        """The memory of the answers."""
        return self.cache.held_bytes + self.client.held_bytes

    @property
    def quota(self) -> Quota | None:
        """The quota as hosts show it, None until the service has reported one."""
        seen = self.client.quota_now
        return None if seen is None else Quota(seen.tier, seen.cap, seen.remaining, seen.used_here)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until few enough of this key's batches are worked on; raises `HTTPException` 429 for too many.

        All batches that are worked on get equal parts of the time. So nobody gets more than the others by sending many.
        """
        if self._waiting >= MAX_WAITING:
            raise BusyError(
                "too many batches of this key wait; try again in a few seconds (setting max_user_batches)", 429
            )
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turns.release()

    def join(self, refreshed: Refreshed) -> bool:
        """Take a refresh that all processes know for this tenant's last one; whether it is a later one."""
        if self.refreshed is not None and refreshed.generation <= self.refreshed.generation:
            return False
        self.refreshed, self.generation = refreshed, refreshed.generation
        return True

    async def refresh(self, *, force: bool) -> float:
        """Let requests be sent again after errors and after a no; `force`: nothing counts as fresh. When it began."""
        began_at = await self.client.refresh(force=force)
        self._forget()
        return began_at

    async def join_refresh(self, began_at: float, *, force: bool) -> None:
        """The same for a refresh that began in another process: what arrived since is fresh."""
        await self.client.join_refresh(began_at, force=force)
        self._forget()

    async def purge(self, signals: Mapping[str, float]) -> None:
        """Forget the values of signals that were purged at these times; other processes are told the same."""
        for slug, at in signals.items():
            await self.client.purge(slug, at)
        if signals:
            self._forget()

    def _forget(self) -> None:
        self.batches.forget()
        self.pending.forget()
        self.consent.reset()

    def count_spent(self) -> None:
        """Count what was spent since the last time."""
        sent = max(self._counted, self.client.requests_sent)  # what was sent and not counted is given back later
        self._spent(sent - self._counted)
        self._counted = sent

    async def aclose(self) -> None:
        """End what is under way."""
        await self.pending.aclose()
        self.count_spent()
        await self.client.aclose()

    async def retire(self) -> None:
        """Close the client as soon as the last batch has ended."""
        self.retired = True
        await self.close_if_done()

    async def close_if_done(self) -> None:
        """Close the client of a retired tenant if no batch uses it any more."""
        if self.retired and not self.users and not self._is_closed:
            self._is_closed = True
            await self.aclose()
            self.client.take_apart()

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[None]:
        """Keep the client open inside the block."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1
            await self.close_if_done()


class UserTenants:
    """The tenants of users' own keys. `open_tenant` makes one for a key; `clock` counts seconds."""

    def __init__(
        self,
        settings: Settings,
        open_tenant: Callable[[str], Tenant],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._open = open_tenant
        self._clock = clock
        self._proven: OrderedDict[str, Tenant] = OrderedDict()
        self._unproven: OrderedDict[str, Tenant] = OrderedDict()
        self._new_keys = NewKeys(settings.max_new_keys)
        self._lines = WeakValueDictionary[str, asyncio.Lock]()
        """By address, held by the first of those who wait for a place."""
        self._weighed_at = self._counted_at = float("-inf")
        self._in_use: Counter[str] | None = None
        """New keys in use by address, None where that has changed."""
        self.closed = 0
        """How many were closed so far."""

    def __len__(self) -> int:
        return len(self._proven) + len(self._unproven)

    def __iter__(self) -> Iterator[Tenant]:
        return iter((*self._proven.values(), *self._unproven.values()))

    def knows(self, key: str) -> bool:
        """Return whether the service has accepted the key, as far as is known here."""
        tenant = self._proven.get(key) or self._unproven.get(key)  # whose answers came after its last request
        return tenant is not None and tenant.proven

    @property
    def unproven(self) -> Iterator[Tenant]:
        """The tenants whose key was not accepted yet."""
        return iter(tuple(self._unproven.values()))

    @asynccontextmanager
    async def tenant(self, key: str, address: str, has_left: HasLeft = stays) -> AsyncIterator[Tenant]:
        """The tenant of `key`, open inside the block; raises `HTTPException` 429 or 503 for too many new keys.

        A caller who `has_left` while there was no place gets none: then `ClientDisconnect` is raised.
        """
        tenant = await self._find(key, address, has_left)
        tenant.used_at, self._in_use = self._clock(), None
        try:
            async with tenant.in_use():
                yield tenant
        finally:
            tenant.used_at, self._in_use = self._clock(), None
            self._admit(key, address)
            await self.close_idle()

    async def aclose(self) -> None:
        """Close every client."""
        for tenant in (*self._proven.values(), *self._unproven.values()):
            await tenant.aclose()
        self._proven.clear()
        self._unproven.clear()

    async def _find(self, key: str, address: str, has_left: HasLeft) -> Tenant:
        """The tenant of a key; a new one waits in the line of its address until there is a place for it.

        Places come free as others end or are accepted. Only the first of a line looks for one: four hundred that look
        ten times a second would keep everybody waiting.
        """
        line = self._lines.setdefault(address, asyncio.Lock())
        if (tenant := self._known(key)) or (not line.locked() and (tenant := self._opened(key, address))):
            return tenant
        try:
            async with asyncio.timeout(NEW_KEY_WAITS_S), line:
                while not await has_left():
                    if tenant := self._known(key) or self._opened(key, address):
                        return tenant
                    if not self._new_ones().total():
                        break
                    await asyncio.sleep(LOOKS_EVERY_S)
                else:
                    raise ClientDisconnect
        except TimeoutError:
            pass
        raise self._refusal(address) or too_many_new()

    def _known(self, key: str) -> Tenant | None:
        """The tenant of a key, if there is one, which then is the last to be closed."""
        for known in (self._proven, self._unproven):
            if key in known:
                known.move_to_end(key)
                return known[key]
        return None

    def _opened(self, key: str, address: str) -> Tenant | None:
        """A new tenant, if there is a place for it."""
        if self._refusal(address) is not None:
            return None
        tenant = self._unproven[key] = self._open(key)
        tenant.address = address
        return tenant

    def _refusal(self, address: str) -> HTTPException | None:
        """Return why there is no place for a new key; None where there is, which then is one of the address's."""
        waiting = self._new_ones()
        if waiting.total() >= MAX_UNPROVEN or waiting[address] >= MAX_UNPROVEN_OF_ADDRESS:
            return too_many_new()
        wait_s = self._new_keys.wait_s(address, self._clock())
        if wait_s > 0:
            return HTTPException(
                429,
                f"too many unknown keys from {address}; try again in {ceil(wait_s)} s (setting max_new_keys)",
                headers={"retry-after": str(ceil(wait_s))},
            )
        return None

    def _new_ones(self) -> Counter[str]:
        """Return how many keys of each address are new and in use: counted once for hundreds that wait for a place."""
        now = self._clock()
        if self._in_use is None or now - self._counted_at >= LOOKS_EVERY_S:
            for key, tenant in tuple(self._unproven.items()):
                self._admit(key, tenant.address)
            self._in_use = Counter(tenant.address for tenant in self._unproven.values() if tenant.users)
            self._counted_at = now
        return self._in_use

    def _admit(self, key: str, address: str) -> None:
        """Give a key that the service has accepted its place among the users."""
        tenant = self._unproven.get(key)
        if tenant is not None and tenant.proven:
            self._proven[key] = self._unproven.pop(key)
            self._new_keys.proven(address, self._clock())

    async def close_idle(self) -> None:
        """Close the least recently active tenants: beyond the limits, and those idle for an hour."""
        now = self._clock()
        pools = (
            (self._unproven, MAX_UNPROVEN, now - UNPROVEN_IDLE_S),
            (self._proven, self._settings.max_users, now - IDLE_S),
        )
        held_bytes = 0
        if now - self._weighed_at >= WEIGHED_EVERY_S:
            self._weighed_at = now
            held_bytes = sum(tenant.held_bytes for tenant in self)
        for pool, most, idle_since in pools:
            for key, tenant in list(pool.items()):
                too_much = held_bytes > self._settings.max_users_bytes
                if len(pool) <= most and not too_much and tenant.used_at > idle_since:
                    break
                if pool.get(key) is not tenant:
                    continue  # somebody else has closed it while another one was being closed here
                if not tenant.users or len(pool) > most:
                    del pool[key]
                    held_bytes -= tenant.held_bytes
                    self.closed += 1
                    await tenant.retire()


def too_many_new() -> BusyError:
    """Return what a caller is told whose new key finds no place."""
    return BusyError("too many keys are new at the moment; try again in a few seconds")
