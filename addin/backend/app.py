"""The backend as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from addin.backend import calls, control
from addin.backend.background_refresh import upkeep
from addin.backend.http import JsonResponse, Refusal, refused
from addin.backend.security import Policy, SecurityMiddleware, security_headers
from addin.backend.state import Backend
from addin.backend.tenants import Tenants
from addin.config.api_key import ApiKey, KeyStore, find_key
from addin.config.connect import key_store
from addin.config.settings import Settings
from addin.excel import pages


def create_app(settings: Settings, *, keys: KeyStore | None = None, key: ApiKey | None = None) -> Starlette:
    """The application that answers formulas and serves Excel's pages.

    `keys` is where the key is kept (this machine's keychain when None); `key` is used in place of one found there, in
    the environment or in the config file. Raises `SettingsError` where the settings do not suffice.
    """
    keys = keys or key_store(settings)
    key = key or find_key(keys)
    # Made here and not at the start of the application: settings that do not suffice are told to the caller.
    backend = Backend(settings, keys, key, Tenants(settings, key.value if key else None))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with upkeep(backend):
            yield
        await backend.accounts.aclose()

    app = Starlette(
        lifespan=lifespan,
        routes=[*_own_routes(), *pages.routes(settings)],
        middleware=[Middleware(SecurityMiddleware, policy=Policy.of(settings), headers=security_headers(settings))],
        exception_handlers={Refusal: refused, HTTPException: _not_here, Exception: refused},
    )
    app.state.backend = backend
    return app


def _own_routes() -> list[Route]:
    return [
        Route("/functions/call", calls.answer_calls, methods=["POST"]),
        Route("/functions/cost", calls.preview_cost, methods=["POST"]),
        Route("/refresh", calls.refresh, methods=["POST"]),
        Route("/status", control.status),
        Route("/key", control.set_key, methods=["POST"]),
        Route("/key", control.forget_key, methods=["DELETE"]),
        Route("/key/test", control.test_key, methods=["POST"]),
        Route("/registry.json", control.registry),
        Route("/health", control.health),
    ]


async def _not_here(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return JsonResponse({"error": f"{request.method} {request.url.path[:100]} is not served here"}, status)
