"""Who may do what, decided before any work: the key first, then the size, and only then what the request holds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import UNSET, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from addin.backend.http import (
    BodyLimits,
    BusyError,
    address_of,
    declared_bytes,
    is_on_this_machine,
    read_body,
    user_key,
)
from addin.backend.limits.accounts import UNPROVEN_WAITS_S, VALUE_BYTES, WAITS_S, account_of
from addin.backend.sign_in.person import person_in
from addin.backend.state import BackendState
from addin.backend.tenants import HasLeft, Tenant, stays
from addin.protocol.batch import calls_in_turns
from addin.protocol.messages import PersonReport
from dataservice.errors import AuthenticationError, DataServiceError, MissingKeyError
from udfs.errors import reason

GUEST_BYTES = 2**16
"""The largest batch without any key, where one is needed: a sheet whose user has not entered theirs yet."""

UNPROVEN_BYTES = 2**20
UNPROVEN_VALUES = 10_000
"""The largest batch with a key that the service never accepted, or without any: some thousand formulas."""


@asynccontextmanager
async def admitted_tenant(request: Request, backend: BackendState) -> AsyncIterator[Tenant]:
    """The tenant of the request's key, or of the one that who signed in has stored.

    Raises `HTTPException` or `SettingsError` if the key may not be used.
    """
    async with backend.tenant(await _key(request, backend), address_of(request)) as tenant:
        yield tenant


async def _key(request: Request, backend: BackendState) -> str | None:
    """The key that the request is answered with; None for the backend's own, or a guest."""
    key, person = user_key(request, backend.settings), person_in(request)
    if key is None and person is not None and backend.people is not None and backend.settings.per_user_keys:
        return await backend.people.key(person)
    return key


async def who_is_there(request: Request, backend: BackendState) -> PersonReport | UnsetType:
    """Return who signed in, UNSET where nobody has to."""
    person = person_in(request)
    return UNSET if person is None or backend.people is None else await backend.people.report(person)


async def note_spent(request: Request, backend: BackendState, requests: int) -> None:
    """Count what a batch has spent for who signed in."""
    person = person_in(request)
    if person is not None and backend.people is not None:
        await backend.people.note(person, requests)


@asynccontextmanager
async def admitted_batch(request: Request, backend: BackendState) -> AsyncIterator[tuple[Tenant, list[bytes]]]:
    """The tenant and the calls of a batch, whose bytes and values the request's account then holds.

    Raises `HTTPException`, `BadBatchError` or `BatchTooLargeError` for what must not be worked on.
    """
    limits, settings = backend.settings.batch_limits, backend.settings
    body_limits = BodyLimits(settings.max_body_bytes, "setting max_body_bytes", settings.receive_timeout_s)
    async with admitted_body(request, backend, body_limits, limits.check_values) as (tenant, body):
        if await request.is_disconnected():
            raise ClientDisconnect  # while there was no room for it
        yield tenant, await calls_in_turns(body, limits)


async def _entered() -> None:
    """Where there is room for all."""


@asynccontextmanager
async def admitted_body(
    request: Request,
    backend: BackendState,
    limits: BodyLimits,
    values_in: Callable[[bytes], int] = lambda _: 0,
    *,
    needs_proof: bool = False,
    enter: Callable[[], Awaitable[None]] = _entered,
) -> AsyncIterator[tuple[Tenant, bytes]]:
    """The tenant and the body of a request, which its account then holds.

    A key that is not known to work takes a place only when the request has arrived, so that who sends slowly keeps
    nobody out; what is large in bytes, or in values by `values_in`, is worked on only once the service has accepted it.
    So is everything that `needs_proof`, because it takes much time, and what finds no room among the keys that are not
    known yet, as when an office opens its books at nine. `enter` is called once it is known who pays, where
    possible before the body is read; it waits or raises where there is no place.
    """
    key = await _key(request, backend)
    is_guest = key is None and backend.settings.per_user_keys
    if is_guest:
        _refuse_to_guests(request, needs_proof=needs_proof)
    async with AsyncExitStack() as stack:
        entry = _Entry(request, backend, key, stack)
        if backend.knows(key) or declared_bytes(request) > UNPROVEN_BYTES:
            tenant = await entry.proven()
            await enter()
            body = await read_body(request, limits, entry.hold)
            await entry.hold(VALUE_BYTES * values_in(body))
            yield tenant, body
            return
        most = min(GUEST_BYTES if is_guest else UNPROVEN_BYTES, limits.max_bytes)
        small = BodyLimits(most, "larger ones need a key that the service accepts", limits.timeout_s)
        body = await read_body(request, small, entry.hold)
        entry.has_left = request.is_disconnected  # not before: to look for that takes what arrives of the body
        values = values_in(body)
        tenant = await (entry.proven() if needs_proof or values > UNPROVEN_VALUES else entry.opened())
        await enter()
        await entry.hold(VALUE_BYTES * values)
        yield tenant, body


class _Entry:
    """The way in of a request: its tenant, opened once and for as long as `stack`, and what its account may hold."""

    def __init__(self, request: Request, backend: BackendState, key: str | None, stack: AsyncExitStack) -> None:
        self._request, self._backend, self._key, self._stack = request, backend, key, stack
        self._account = account_of(request)
        self._tenant: Tenant | None = None
        self.has_left: HasLeft = stays

    async def opened(self) -> Tenant:
        """Return the tenant."""
        if self._tenant is None:
            opening = self._backend.tenant(self._key, address_of(self._request), self.has_left)
            tenant = self._tenant = await self._stack.enter_async_context(opening)
            if self._backend.settings.per_user_keys and self._key is not None:
                payer = _payer(self._request, tenant)
                self._account.turns.pay_later_as(lambda: payer if tenant.proven else "")
        return self._tenant

    async def proven(self) -> Tenant:
        """Return the tenant, whose key pays from now on."""
        tenant = await self.opened()
        if not self._account.is_proven:
            await _proven(self._request, self._backend, tenant)
        return tenant

    async def hold(self, amount: int) -> None:
        """Let the account hold so much more. Where keys that are not proven have no room, the key is proven first."""
        try:
            await self._account.grow_in_turn(amount, WAITS_S if self._account.is_proven else UNPROVEN_WAITS_S)
        except BusyError:
            if self._account.is_proven or (self._key is None and self._backend.settings.per_user_keys):
                raise
            await self.proven()
            await self._account.grow_in_turn(amount)


def _refuse_to_guests(request: Request, *, needs_proof: bool) -> None:
    """Raise what only users with a key may have: much time, and large requests."""
    if needs_proof:
        raise HTTPException(401, "no API key was sent; this backend works on books and formulas for users with a key")
    if declared_bytes(request) > GUEST_BYTES:
        raise HTTPException(401, f"no API key was sent; a request of more than {GUEST_BYTES:,} bytes needs one")


async def _proven(request: Request, backend: BackendState, tenant: Tenant) -> None:
    """Let the key pay once the service has accepted it."""
    if not backend.trusts(tenant):
        await _prove(tenant)
    _pay(request, backend, tenant)


def _pay(request: Request, backend: BackendState, tenant: Tenant) -> None:
    """Let the key, or who signed in, have the account."""
    is_only = person_in(request) is None and not backend.settings.per_user_keys
    account_of(request).pay_as(_payer(request, tenant), is_only=is_only)


def _payer(request: Request, tenant: Tenant) -> str:
    person = person_in(request)
    return f"tenant {id(tenant)}" if person is None else f"person {person.id}"


def owned_backend(request: Request) -> BackendState:
    """The backend, if the caller may change its key: on this machine, and shared with nobody."""
    backend = BackendState.of(request)
    if backend.settings.per_user_keys:
        raise HTTPException(403, "this backend is shared: each user sends a key along, none is stored here")
    if backend.settings.public_url:
        raise HTTPException(403, "this backend is shared: its key is set on the server, with addin key set")
    if not is_on_this_machine(request):
        raise HTTPException(403, "the key can be changed only on the backend's own machine, such as by addin key set")
    return backend


async def _prove(tenant: Tenant) -> None:
    """Ask the service for the quota unless the store knows it, which then is at most one request."""
    try:
        await tenant.client.quota(meter=tenant.batches.late)  # told with the next answer
    except (AuthenticationError, MissingKeyError) as error:
        raise HTTPException(401, reason(error, "This")) from None
    except DataServiceError as error:
        raise HTTPException(503, f"this needs a key that is known to work, and {reason(error, 'This')}") from None
