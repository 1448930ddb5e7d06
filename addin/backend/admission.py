"""Who may do what, decided before any work: the key first, then the size, and only then what the request holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException
from starlette.requests import Request

from addin.backend.http import BodyLimits, address_of, declared_bytes, is_on_this_machine, read_body, user_key
from addin.backend.sign_in.person import person_in
from addin.backend.state import BackendState
from addin.backend.tenants import Tenant, limits_of
from addin.protocol.batch import calls_in_turns
from dataservice.errors import AuthenticationError, DataServiceError, MissingKeyError
from udfs.errors import reason

UNPROVEN_BYTES = 2**20
"""The largest batch with a key that the service never accepted, or without any: about ten thousand formulas."""


@asynccontextmanager
async def admitted_tenant(request: Request, backend: BackendState) -> AsyncIterator[Tenant]:
    """The tenant of the request's key, or of the one that who signed in has stored.

    Raises `HTTPException` or `SettingsError` if the key may not be used.
    """
    key, person = user_key(request, backend.settings), person_in(request)
    if key is None and person is not None and backend.people is not None and backend.settings.per_user_keys:
        key = await backend.people.key(person)
    async with backend.tenant(key, address_of(request)) as tenant:
        yield tenant


async def note_spent(request: Request, backend: BackendState, requests: int) -> None:
    """Count what a batch has spent for who signed in."""
    person = person_in(request)
    if person is not None and backend.people is not None:
        await backend.people.note(person, requests)


@asynccontextmanager
async def admitted_batch(request: Request, backend: BackendState) -> AsyncIterator[tuple[Tenant, list[bytes]]]:
    """The tenant and the calls of a batch. While the block runs, the room for its bytes and values is taken.

    Raises `HTTPException`, `BadBatchError` or `BatchTooLargeError` for what must not be worked on.
    """
    limits = limits_of(backend.settings)
    async with admitted_tenant(request, backend) as tenant:
        with backend.body_bytes.share() as held_bytes, backend.values.share() as held_values:
            body = await read_body(request, await _body_limits(request, backend, tenant), held_bytes)
            held_values.grow(limits.check_values(body))
            yield tenant, await calls_in_turns(body, limits)


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


async def _body_limits(request: Request, backend: BackendState, tenant: Tenant) -> BodyLimits:
    """The limits of a batch; a key that announces a large one is first tried at the service."""
    settings = backend.settings
    if not backend.trusts(tenant) and declared_bytes(request) > UNPROVEN_BYTES:
        await _prove(tenant)
    if backend.trusts(tenant):
        return BodyLimits(settings.max_body_bytes, "setting max_body_bytes", settings.receive_timeout_s)
    most = min(UNPROVEN_BYTES, settings.max_body_bytes)
    return BodyLimits(most, "larger ones need a key that the service accepts", settings.receive_timeout_s)


async def _prove(tenant: Tenant) -> None:
    """Ask the service for the quota unless the store knows it, which then is at most one request."""
    try:
        await tenant.client.quota()
    except (AuthenticationError, MissingKeyError) as error:
        raise HTTPException(401, reason(error, "This")) from None
    except DataServiceError as error:
        raise HTTPException(
            503, f"a large batch needs a key that is known to work, and {reason(error, 'This')}"
        ) from None
