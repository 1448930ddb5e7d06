"""The MCP server over HTTP: every caller proves who it is, and meets the limits of the backend.

The loopback address belongs to the machine, not to an account. So nobody is answered who does not send a secret that
only this account can read, or, where each user brings a key of the service (`per_user_keys`), that key.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast
from weakref import WeakKeyDictionary

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import BodyLimits, JsonResponse, address_of, read_body
from addin.backend.limits.accounts import Accounting, account_of
from addin.backend.operation.memory import tidying
from addin.backend.security import SecurityMiddleware
from addin.backend.state import BackendState
from addin.backend.tenants import Tenant
from addin.config.api_key import checked_key, find_key
from addin.config.connect import key_store
from addin.config.settings import Settings, config_dir, write_private
from addin.errors import SettingsError
from addin.mcp.runner import ToolRunner
from addin.mcp.server import Context, make_server

TOKEN_NAME = "mcp.token"  # noqa: S105 - the name of a file
"""What callers of this account send; only this account can read it."""

MOST_TOKEN_CHARS = 200

CALL_BYTES = 2**20
"""The largest call: lists of a thousand names fit many times."""

UNKNOWN_CALL_BYTES = 64 * 2**10
"""The same with a key that the service has not accepted yet."""

WORK_BYTES = 2**20
"""What a call takes while it is worked on: few of keys that are not known are begun at a time, and the others wait."""

CALLS_AT_LEAST = 8
"""So many of a caller fit, however small the memory for requests is."""


def token_file() -> Path:
    """Return where the token of this account is kept."""
    return config_dir() / TOKEN_NAME


def own_token() -> str:
    """The token of this account, made when it is first asked for."""
    file = token_file()
    try:
        kept = file.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        kept = ""
    if not kept:
        kept = secrets.token_urlsafe(32)
        write_private(file, kept.encode())
    return kept


def http_app(settings: Settings, token: str) -> Starlette:
    """The server as an application; its address is `/mcp`. Raises `SettingsError` if the settings are not sufficient.

    Every page in the user's browser can reach a port of this machine, so it answers to its own names only (no DNS
    rebinding), and to no page of another origin.
    """
    keys = key_store(settings)
    backend = BackendState(settings, keys, find_key(keys))
    server = make_server(_runner_of, tells=_note_told)
    app = server.streamable_http_app(
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # `SecurityMiddleware` does
        json_response=True,
        stateless_http=True,
        max_request_body_size=CALL_BYTES,
    )
    serve = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(inside: Starlette) -> AsyncIterator[None]:
        async with serve(inside), tidying(backend):
            yield
        await backend.aclose()

    app.router.lifespan_context = lifespan
    layers = [
        Middleware(
            Accounting,
            backend.memory,
            send_timeout_s=settings.receive_timeout_s,
            goes_first=lambda request: request.method != "POST" or backend.knows(_bearer(request)),
        ),
        Middleware(SecurityMiddleware, settings),
        Middleware(Callers, backend, token),
    ]
    app.user_middleware[:0] = layers
    return app


def _runner_of(context: Context) -> ToolRunner:
    return cast("ToolRunner", cast("Request", context.request).scope["state"]["runner"])


def _note_told(context: Context, requests: int) -> None:
    cast("Request", context.request).scope["state"]["told"] = requests


class Callers:
    """Lets those in who prove who they are, each to their own key, cache and quota, and with the backend's limits."""

    def __init__(self, app: ASGIApp, backend: BackendState, token: str) -> None:
        self._app = app
        self._backend = backend
        self._token = token
        self._runners: WeakKeyDictionary[Tenant, ToolRunner] = WeakKeyDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        account = account_of(request)
        try:
            async with AsyncExitStack() as stack:
                if request.method != "POST":  # there is no session to listen to, or to end
                    raise HTTPException(405, "send calls by POST", headers={"allow": "POST"})
                key = self._key(Headers(scope=scope).get("authorization", ""))
                is_known = self._backend.knows(key)
                limits = BodyLimits(
                    CALL_BYTES if is_known else UNKNOWN_CALL_BYTES,
                    "no call needs more",
                    self._backend.settings.receive_timeout_s,
                )
                # A key that is not known takes a place only when its call has arrived, so that who sends slowly keeps
                # nobody out; one that is known has room of its own before, however much the others send.
                body = None if is_known else await read_body(request, limits, account.grow_in_turn)
                waiting = self._backend.tenant(key, address_of(request), request.is_disconnected)
                tenant = await stack.enter_async_context(waiting)
                if self._backend.trusts(tenant):
                    account.pay_as(f"tenant {id(tenant)}", is_only=key is None)
                if body is None:
                    body = await read_body(request, limits, account.grow_in_turn)
                await stack.enter_async_context(tenant.turn())
                await account.grow_in_turn(min(WORK_BYTES, account.most // CALLS_AT_LEAST))
                if await request.is_disconnected():
                    raise ClientDisconnect  # while there was no room for it
                await self._answer(self._runner(tenant), request, _again(body, receive), send)
        except ClientDisconnect:
            return  # the caller has gone, and is no failure to log
        except HTTPException as refusal:
            answer = JsonResponse({"error": refusal.detail}, refusal.status_code)
            answer.headers.update(refusal.headers or {})
            await answer(scope, receive, send)

    async def _answer(self, runner: ToolRunner, request: Request, receive: Receive, send: Send) -> None:
        """Answer a call; if its caller leaves before the answer, the next one is told what it spent."""
        request.scope["state"]["runner"] = runner
        is_sent = False

        async def sending(message: Message) -> None:
            nonlocal is_sent
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            has_left = is_last and await request.is_disconnected()  # not after it: then everybody has
            await send(message)
            is_sent = is_last and not has_left

        try:
            await self._app(request.scope, receive, sending)
        finally:
            if not is_sent:
                runner.not_told(request.scope["state"].get("told", 0))

    def _key(self, authorization: str) -> str | None:
        """The key that a caller brings, None for this account's own; raises `HTTPException` 401 for anybody else."""
        scheme, _, given = authorization.partition(" ")
        given = given.strip()[:MOST_TOKEN_CHARS]
        if scheme.casefold() == "bearer" and self._backend.settings.per_user_keys:
            try:
                return checked_key(given)
            except SettingsError as error:
                raise _stranger(str(error)) from None
        if scheme.casefold() == "bearer" and hmac.compare_digest(given.encode(), self._token.encode()):
            return None
        wanted = "your key of the service" if self._backend.settings.per_user_keys else f"the token in {TOKEN_NAME}"
        raise _stranger(f"send the header Authorization: Bearer with {wanted}; see the page on agents")

    def _runner(self, tenant: Tenant) -> ToolRunner:
        """The one runner of a tenant, so that what one of its calls leaves untold the next one tells."""
        runner = self._runners.get(tenant)
        if runner is None:
            settings = self._backend.settings
            runner = self._runners[tenant] = ToolRunner(
                tenant.client, deadline_s=settings.deadline_s, settings=settings
            )
        return runner


def _bearer(request: Request) -> str:
    """Return what the caller says it may."""
    return request.headers.get("authorization", "").partition(" ")[2].strip()


def _again(body: bytes, receive: Receive) -> Receive:
    """The messages of a request whose body was read already."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return waiting.pop() if waiting else await receive()

    return receiving


def _stranger(why: str) -> HTTPException:
    return HTTPException(401, why, headers={"www-authenticate": "Bearer"})
