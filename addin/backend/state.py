"""What all requests of one backend share: its tenants, its own key, and the calls that hosts made recently.

Where several processes share a port or a Redis, they are one backend to their users: the last refresh of a key is kept
in the store, and a change of the stored key is told to the other workers of the port.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, cast

from starlette.requests import Request

from addin.backend.http import KEY_HEADER
from addin.backend.limits.accounts import PAYER_PART, UNPROVEN_PART, Account, MemoryBudget
from addin.backend.limits.aside import Lanes
from addin.backend.operation.allocator import memory_bytes
from addin.backend.operation.events import tell
from addin.backend.operation.metrics import Metrics, WorkerMeasures
from addin.backend.operation.public_certificate import PublicCertificate
from addin.backend.operation.readiness import ReadinessCheck
from addin.backend.operation.service_watch import ServiceWatch
from addin.backend.service_connections import ServiceConnections
from addin.backend.tenants import USER_SHARE, HasLeft, Tenant, UserTenants, stays
from addin.backend.workers.consent_store import ConsentStore
from addin.backend.workers.directory import WorkerDirectory
from addin.backend.workers.posts import SharedPosts
from addin.backend.workers.refreshes import SharedRefreshes
from addin.config.api_key import ConfiguredKey, KeyStore
from addin.config.authorities import trusted
from addin.config.connect import cache_folder, open_client, open_store
from addin.config.secrets import secret_named
from addin.config.settings import Settings
from addin.protocol.messages import KeyState
from dataservice.client import Cost, Quota
from dataservice.stores import ResilientStore

if TYPE_CHECKING:
    from addin.backend.sign_in.people import People  # cryptography takes a while to load
    from addin.backend.sign_in.rechecking import Rechecking

PROBES = ("/health", "/live", "/ready", "/metrics")
"""What those ask for who watch the backend."""

RECENT_S = 3_600.0
"""A workbook that has asked for nothing in an hour is closed or forgotten: nothing more is spent on it."""

RECENT_BYTES = 16 * 2**20
"""Texts of recent calls: a hundred thousand formulas of a usual length."""

SHEET_BYTES = 2 * 2**20
"""Calls of a sheet that wait for answers: a thousand."""

GUEST_SHARE = 256
"""A request without any key is answered from nothing and keeps nothing."""


class RecentCalls:
    """The calls that hosts made within the last hour; those first made longest ago go beyond `max_bytes`."""

    def __init__(self, max_bytes: int = RECENT_BYTES) -> None:
        self._called_at: dict[bytes, float] = {}
        self._max_bytes = max_bytes
        self.held_bytes = 0

    def add(self, calls: Iterable[bytes], now: float) -> None:
        """Record that `calls` were made at `now`."""
        for call in calls:
            self.held_bytes += 0 if call in self._called_at else len(call)
            self._called_at[call] = now
        while self.held_bytes > self._max_bytes:
            self._drop(next(iter(self._called_at)))

    def at(self, now: float) -> list[bytes]:
        """The calls made within the hour before `now`; older ones are forgotten."""
        for call in [call for call, then in self._called_at.items() if now - then > RECENT_S]:
            self._drop(call)
        return list(self._called_at)

    def _drop(self, call: bytes) -> None:
        del self._called_at[call]
        self.held_bytes -= len(call)


class BackendState:
    """The settings, the backend's own key, the tenants, and the room that all requests share.

    `keys` is where the backend's own key is stored; `key` is the one to begin with; `place` is where the workers of the
    port meet, if there are several. Raises `SettingsError` if the settings are not sufficient.
    """

    def __init__(
        self, settings: Settings, keys: KeyStore, key: ConfiguredKey | None, place: WorkerDirectory | None = None
    ) -> None:
        self.settings = settings
        self.keys = keys
        self.key = self._usable(key)
        self.place = place
        self._key_version = place.key_version if place else 0
        self._changing_key = asyncio.Lock()
        self._opened_at = time.time()
        self.started_at = place.started_at if place else self._opened_at
        self.requests_total = 0
        """Requests spent on formulas since the start."""
        self.metrics = Metrics()
        self.recent_calls = RecentCalls()
        """The calls made with the backend's own key, for the background refresh."""
        self.memory = MemoryBudget(settings.requests_bytes)
        self.memory.processor.counted = self.metrics.worked
        self.store = open_store(settings)
        is_shared = place is not None or settings.is_store_shared
        self._refreshes = SharedRefreshes(ResilientStore(self.store)) if is_shared else None
        self._answers = ConsentStore(ResilientStore(self.store)) if is_shared else None
        self._posts = SharedPosts(ResilientStore(self.store)) if is_shared else None
        self._connections = ServiceConnections(
            settings.url, settings.max_service_connections, verify=trusted(settings.ca_file)
        )
        self._connections.observed = self._observed
        self._watch = ServiceWatch()
        self.lanes = Lanes(self.memory)
        """Where large work is done, in processes apart."""
        self.at_end: list[Callable[[], None]] = []
        """What is called when the backend closes."""
        self.people: People | None = None
        """Who signed in, where that is set up."""
        self.rechecking: Rechecking | None = None
        """Asks the provider again about them."""
        self.session_secrets: Sequence[bytes] = ()
        """What sessions, and what is kept of people, are sealed with; two while that is being changed."""
        self.readiness = ReadinessCheck(self.store, settings.base_url, self._connections, self._watch)
        self.cache_folder = cache_folder(settings)
        self.certificate = PublicCertificate(settings.public_url)
        self.metrics_token = secret_named("metrics_token")
        """With it a monitor may read the metrics."""
        self.is_draining = False
        """Whether it was told to stop: new callers are to go elsewhere."""
        # Counted from the current time, so that hosts also notice a backend that was restarted.
        self._generations = count(int(1000 * self.started_at))
        self._users = UserTenants(settings, lambda user_key: self._open(user_key, share=USER_SHARE))
        self.own = self._open_own()

    @classmethod
    def of(cls, request: Request) -> BackendState:
        """The state of the backend that a request arrived at."""
        return cast("BackendState", request.app.state.backend)

    @asynccontextmanager
    async def tenant(
        self, user_key: str | None = None, address: str = "", has_left: HasLeft = stays
    ) -> AsyncIterator[Tenant]:
        """The tenant of a user's key, or the backend's own; it stays open inside the block.

        Where users have keys of their own, a request without one is a guest's: it spends nothing, not even where a key
        was left on the server, and nobody learns what others without a key asked for.
        """
        await self._look_up_key()
        if user_key is not None:
            async with self._users.tenant(user_key, address, has_left) as user:
                await self._join(user)
                yield user
        elif self.settings.per_user_keys:
            await self._join(self.own)
            guest = self._open(None, share=GUEST_SHARE)
            guest.generation = self.own.generation
            try:
                yield guest
            finally:
                await guest.aclose()
        else:
            own = self.own
            async with own.in_use():
                await self._join(own)
                yield own

    def drain(self) -> None:
        """Tell whoever asks that new callers are to go elsewhere."""
        if self.settings.drain_s:  # else it goes at once, and whoever ended it knows
            tell("draining")
        self.is_draining = True

    def knows(self, user_key: str | None) -> bool:
        """Return whether the key that a request is answered with is known to work, or is the backend's own."""
        return not self.settings.per_user_keys if user_key is None else self._users.knows(user_key)

    def goes_first(self, request: Request) -> bool:
        """Return whether a request waits for no other: a probe, one with a known key, or any on a user's machine."""
        key = request.headers.get(KEY_HEADER)
        return (
            not self.settings.is_shared
            or request.url.path.startswith(PROBES)
            or (key is not None and self._users.knows(key))
        )

    def has_room_to_load(self, tenant: Tenant, account: Account, held_bytes: int) -> bool:
        """Return whether calls of so many bytes may wait in memory for answers, beside those that do already.

        They share the room of requests, of which each key has a part with its other requests; what is alone always
        fits, and so does a sheet of a key for which nothing is pending.
        """
        if not held_bytes:
            return True
        most, own = self.memory.capacity, tenant.pending.held_bytes
        if not self.trusts(tenant):
            waiting = sum(each.pending.held_bytes for each in self._users.unproven)
            return waiting + held_bytes <= most // UNPROVEN_PART
        waiting, of_each = self.loads_bytes, most // (PAYER_PART if self.settings.per_user_keys else 1)
        own += self.memory.held_beside(account)
        has_room = own + held_bytes <= of_each and self.memory.held + waiting + held_bytes <= most
        return has_room or waiting == own == 0 or (own == 0 and held_bytes <= SHEET_BYTES)

    @property
    def loads_bytes(self) -> int:
        """Return what calls that are pending hold."""
        return sum(each.pending.held_bytes for each in (self.own, *self._users))

    async def close_idle(self) -> None:
        """Close the tenants that nobody has used for a while."""
        await self._users.close_idle()

    @property
    def closed_users(self) -> int:
        """Return how many tenants were closed so far."""
        return self._users.closed

    def trusts(self, tenant: Tenant) -> bool:
        """Return whether a tenant may send large requests: the backend's own, and those with an accepted key."""
        return tenant is self.own or tenant.proven

    async def own_quota(self) -> Quota | None:
        """The quota of the backend's own key, as all processes that share the store have last seen it; no request."""
        await self._look_up_key()
        return await self.own.client.look_up_quota()

    async def use_key(self, key: ConfiguredKey | None) -> None:
        """Use `key` as the backend's own from now on, in all workers: it has just been stored, or forgotten."""
        if self.place is not None:
            self.place.tell_key_changed()
            self._key_version = self.place.key_version
        await self._begin_with(key)

    async def refresh(self, tenant: Tenant, *, force: bool) -> None:
        """Let `tenant` send requests again after errors; `force`: nothing counts as fresh. No value is lost."""
        began_at = await tenant.refresh(force=force)
        if self._refreshes is None:
            tenant.generation = next(self._generations)
        else:
            tenant.join(await self._refreshes.add(tenant.scope, began_at, force=force))

    async def tell(self, tenant: Tenant, post: str, lost: Collection[str], requests: int) -> int:
        """Return what to tell a post that spent `requests`, with what its own lost answer and those of `lost` told."""
        if self._posts is None or tenant.scope is None:
            return tenant.told.tell(post, lost, requests)
        return await self._posts.tell(tenant.scope, post, lost, requests) if post or lost else requests

    async def keep_answer(self, tenant: Tenant, requests: int, *, yes: bool) -> None:
        """Let processes that start later know the user's answer to the question about so many requests."""
        if self._answers is not None:
            await self._answers.keep(tenant.scope, requests, load=yes)

    def tenant_of(self, scope: str | None) -> Tenant | None:
        """The tenant whose key the store names `scope`, if one is open here."""
        return next((each for each in (self.own, *self._users) if each.scope == scope), None)

    async def _join(self, tenant: Tenant) -> None:
        """Take part in refreshes that began in another process."""
        if self._refreshes is None:
            return
        tenant.scope = await tenant.client.scope()
        latest = await self._refreshes.latest(tenant.scope, tenant.refreshed)
        if tenant.refreshed is None and self._answers is not None:
            answered = await self._answers.last(tenant.scope, latest.began_at)
            if answered is not None:
                tenant.consent.learn(answered.requests, yes=answered.load)
        async with tenant.joining:
            before = tenant.refreshed
            if not tenant.join(latest):
                return  # a batch beside this one has joined
            is_forced = latest.forced_at is not None and latest.forced_at != (before.forced_at if before else None)
            if before is not None or is_forced:
                began_at = latest.forced_at if is_forced and latest.forced_at is not None else latest.began_at
                await tenant.join_refresh(began_at, force=is_forced)
            await tenant.purge(latest.purged_since(before))

    async def _look_up_key(self) -> None:
        """Use the stored key if another worker has changed it."""
        if self.place is None or self.place.key_version == self._key_version:
            return
        async with self._changing_key:
            version = self.place.key_version
            if version != self._key_version:
                await self._begin_with(await asyncio.to_thread(self.keys.load))
                self._key_version = version

    async def _begin_with(self, key: ConfiguredKey | None) -> None:
        self.key = self._usable(key)
        before, self.own = self.own, self._open_own()
        await before.retire()

    @property
    def key_state(self) -> KeyState:
        """Return what may be shown of the key."""
        if self.key is None:
            return KeyState(set=False, source="none", id=None)
        return KeyState(set=True, source=str(self.key.source), id=self.key.id)

    async def measures(self) -> WorkerMeasures:
        """Return what this process holds now."""
        tenants, users = [self.own, *self._users], [each for each in self._users if each.proven]
        for each in tenants:
            each.count_spent()
        return WorkerMeasures(
            users=[each.scope or await each.client.scope() or "" for each in users],
            users_bytes=sum(each.held_bytes for each in tenants),
            requests_bytes=self.memory.held,
            loads_bytes=self.loads_bytes,
            memory_bytes=memory_bytes(),
            batches=self.metrics.under_way,
            service=self._watch.learned(),
        )

    def _observed(self, told: int | str, seconds: float, has_key: bool) -> None:
        """Note an answer of the service, or why there was none."""
        self.metrics.service(told, seconds)
        if isinstance(told, int):
            self._watch.answered(told, has_key=has_key)
        else:
            self._watch.failed(told)

    async def aclose(self) -> None:
        """Close every client and the store."""
        for end in self.at_end:
            end()
        await self.own.aclose()
        await self._users.aclose()
        await self._connections.close_all()
        await self.store.aclose()
        if self.people is not None:
            await self.people.aclose()

    def _usable(self, key: ConfiguredKey | None) -> ConfiguredKey | None:
        """The backend's own key; none where each user has one: what is not there cannot be spent by others."""
        return None if self.settings.per_user_keys else key

    def _open_own(self) -> Tenant:
        return self._open(self.key.value if self.key else None)

    def _open(self, key: str | None, *, share: int = 1) -> Tenant:
        client = open_client(self.settings, key, self.store, share=share, transport=self._connections)
        spent, generation = self.metrics.requests.inc, next(self._generations)
        return Tenant(self.settings, client, generation=generation, since=self._opened_at, share=share, spent=spent)


def quota_shortfall(cost: Cost, quota: Quota | None, settings: Settings) -> str | None:
    """Return why not even the fewest requests of `cost` can be sent; None if they can, or the quota is unknown."""
    requests = cost.at_least
    if requests == 0 or quota is None:
        return None
    needed = f"{cost} needed"
    reserve, budget = settings.reserve, settings.monthly_budget
    spendable = max(0, quota.remaining - reserve)
    if requests > spendable:
        held = f" ({reserve:,} more are held in reserve)" if reserve else ""
        return f"{needed}, {spendable:,} left this month{held}"
    if budget is not None and quota.used_here + requests > budget:
        return f"{needed}, {max(0, budget - quota.used_here):,} left of the budget of {budget:,} a month"
    return None
