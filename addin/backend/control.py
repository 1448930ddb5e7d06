"""The backend about itself: its state, its key, and the functions it offers."""

from __future__ import annotations

import time
from functools import cache
from importlib.metadata import version

import orjson
from starlette.requests import Request
from starlette.responses import Response

from addin.backend.http import JsonResponse, Refusal, read_members, user_key
from addin.backend.state import Backend, quota_members
from addin.config.api_key import checked_key
from addin.errors import SettingsError
from addin.protocol.describe import describe
from dataservice.client import ResourceState
from dataservice.errors import DataServiceError
from udfs import REGISTRY
from udfs.errors import error_kind, reason
from udfs.functions.status import label


async def health(_: Request) -> Response:
    """GET /health: whether the backend answers at all."""
    return JsonResponse({"ok": True})


async def registry(_: Request) -> Response:
    """GET /registry.json: every function with its help, arguments and options."""
    return JsonResponse(_registry())


async def status(request: Request) -> Response:
    """GET /status: version, key, quota, budget, and the state of everything that was asked."""
    backend = Backend.of(request)
    settings = backend.settings
    async with backend.accounts.lent(user_key(request, settings)) as account:
        now = time.time()
        return JsonResponse(
            {
                "version": version("dataservice-addin"),
                "service": settings.url,
                "namespace": settings.namespace,
                "ttl_s": settings.ttl_s,
                "shared": settings.per_user_keys,
                "key": backend.key_members(),
                "quota": quota_members(account.client),
                "budget": {"reserve": settings.reserve, "monthly": settings.monthly_budget},
                "resources": [_resource(state, now) for state in account.client.states()],
                "generation": account.generation,
                "requests_total": backend.requests_total,
                "started_at": backend.started_at,
            }
        )


async def set_key(request: Request) -> Response:
    """POST /key: keep a key and use it from now on."""
    backend = _own(request)
    backend.key = backend.keys.save(await _key_in(request, backend))
    await backend.accounts.use_key(backend.key.value)
    return JsonResponse({"key": backend.key_members(), "generation": backend.accounts.own.generation})


async def forget_key(request: Request) -> Response:
    """DELETE /key: forget the kept key and use none."""
    backend = _own(request)
    backend.keys.forget()
    backend.key = None
    await backend.accounts.use_key(None)
    return JsonResponse({"key": backend.key_members(), "generation": backend.accounts.own.generation})


async def test_key(request: Request) -> Response:
    """POST /key/test: ask the service once, with the key given or the one in use."""
    backend = _own(request)
    given = (await read_members(request, backend.settings)).get("key")
    used = backend.key.value if backend.key else None
    key = used if given is None else _checked(given)
    async with backend.accounts.open_apart(key) as client:
        try:
            quota = await client.quota()
        except DataServiceError as error:
            refusal = {"message": reason(error, "This"), "kind": error_kind(error)}
            return JsonResponse({"ok": False, "tier": None, **refusal})
    left = f"{quota.remaining:,} of {quota.cap:,} requests are left this month"
    return JsonResponse({"ok": True, "tier": quota.tier, "message": f"The key works ({quota.tier} tier): {left}."})


def _own(request: Request) -> Backend:
    """The backend, whose own key only its own user may change."""
    backend = Backend.of(request)
    if backend.settings.per_user_keys:
        raise Refusal(403, "this backend is shared: each user sends a key along, none is kept here")
    return backend


async def _key_in(request: Request, backend: Backend) -> str:
    return _checked((await read_members(request, backend.settings)).get("key"))


def _checked(given: object) -> str:
    if not isinstance(given, str):
        raise Refusal(400, 'send {"key": "…"}')
    try:
        return checked_key(given)
    except SettingsError as error:
        raise Refusal(400, str(error)) from None


def _resource(state: ResourceState, now: float) -> dict[str, object]:
    return {
        "resource": label(state.resource),
        "state": str(state.state),
        "age_s": None if state.fetched_at is None else round(max(0.0, now - state.fetched_at), 1),
        "source": None if state.source is None else str(state.source),
        "last_error": None if state.last_error is None else reason(state.last_error, "This"),
        "last_error_kind": None if state.last_error is None else error_kind(state.last_error),
    }


@cache
def _registry() -> bytes:
    return orjson.dumps([describe(function) for function in REGISTRY.values()])
