"""The backend as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute

from addin.backend.background_refresh import background_refresh
from addin.backend.http import error_response
from addin.backend.limits.accounts import Accounting
from addin.backend.operation.compression import CompressAnswers
from addin.backend.operation.memory import tidying
from addin.backend.operation.request_log import RequestLog
from addin.backend.operation.stopping import AnswerWhenStopped
from addin.backend.routes import ROUTES
from addin.backend.security import SecurityMiddleware
from addin.backend.serving import Stopping
from addin.backend.sign_in.cookies import asker_of
from addin.backend.sign_in.gate import SignInGate
from addin.backend.sign_in.keeping import keeping_people
from addin.backend.state import BackendState
from addin.backend.workers.directory import WorkerDirectory
from addin.backend.workers.exchange import answering_others
from addin.config.api_key import ConfiguredKey, KeyStore, find_key
from addin.config.authorities import trusted
from addin.config.connect import key_store, open_ledger
from addin.config.secrets import secret_named, session_secrets
from addin.config.settings import Settings
from addin.errors import SettingsError
from addin.protocol.limits import BadBatchError, BatchTooLargeError
from dataservice.ledger import LedgerAwayError

HANDLED = (
    HTTPException,
    SettingsError,
    BadBatchError,
    BatchTooLargeError,
    LedgerAwayError,
    ClientDisconnect,
    Exception,
)
"""What a route may raise; each becomes a response in JSON."""


def create_app(
    settings: Settings,
    *,
    keys: KeyStore | None = None,
    key: ConfiguredKey | None = None,
    pages: Sequence[BaseRoute] = (),
    place: WorkerDirectory | None = None,
) -> Starlette:
    """The application that answers formulas and serves the pages of hosts.

    `keys` is where the key is stored (this machine's keychain if None); `key` is used instead of one found there, in
    the environment or in the config file; `pages` are the routes of hosts' pages; `place` is where it
    meets the other workers of its port. Raises `SettingsError` if the settings are not sufficient.
    """
    keys = keys or key_store(settings)
    # Made here, not when the application starts, so that the caller learns about insufficient settings.
    backend = BackendState(settings, keys, key or _first_key(keys, place), place)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with background_refresh(backend), answering_others(backend), keeping_people(backend), tidying(backend):
            yield
        await backend.aclose()

    sign_in, gate = _sign_in(backend)
    app = Starlette(
        lifespan=lifespan,
        routes=[*sign_in, *ROUTES, *pages],
        middleware=[
            Middleware(AnswerWhenStopped),
            Middleware(
                Accounting,
                backend.memory,
                send_timeout_s=settings.receive_timeout_s,
                goes_first=backend.goes_first,
                asker_of=asker_of,
            ),
            Middleware(RequestLog, backend.metrics, is_on=settings.log_requests),
            Middleware(SecurityMiddleware, settings),
            *gate,
            Middleware(CompressAnswers),
        ],
        exception_handlers=dict.fromkeys(HANDLED, error_response),
    )
    app.state.backend = backend
    return app


def stopping_of(app: Starlette) -> Stopping:
    """Return how the application's backend stops: it says first that it is going."""
    backend: BackendState = app.state.backend
    return Stopping(backend.drain, backend.settings.drain_s, backend.settings.stop_timeout_s)


def _sign_in(backend: BackendState) -> tuple[Sequence[BaseRoute], Sequence[Middleware]]:
    """The routes of sign-in and the gate, where a provider is set; raises `SettingsError` if it cannot be used."""
    settings = backend.settings
    if settings.oidc_issuer is None:
        return (), ()
    from addin.backend.sign_in.people import People  # cryptography takes a while to load
    from addin.backend.sign_in.provider import Provider
    from addin.backend.sign_in.rechecking import Rechecking
    from addin.backend.sign_in.routes import SignIn
    from addin.backend.sign_in.sessions import Sessions

    if not settings.oidc_client_id:
        raise SettingsError("oidc_issuer needs oidc_client_id, the name by which the provider knows this backend")
    if not (settings.public_url or "").startswith("https://"):
        raise SettingsError("oidc_issuer needs public_url, the https address to which the provider leads back")
    try:
        secrets = session_secrets()
    except ValueError as error:
        raise SettingsError(str(error)) from None
    client_secret = secret_named("oidc_client_secret")
    provider = Provider(settings.oidc_issuer, settings.oidc_client_id, client_secret, trusted(settings.ca_file))
    sessions = Sessions(*secrets, lasts_s=3_600.0 * settings.session_hours)
    backend.people = People(open_ledger(settings), *secrets)
    backend.session_secrets = secrets
    backend.rechecking = Rechecking(settings, provider, backend.people, backend.store)
    gate = Middleware(SignInGate, sessions, backend.people, settings.public_url or "", backend.metrics_token)
    backend.readiness.add("ledger", backend.people.check)
    backend.readiness.add("provider", provider.check)
    return SignIn(settings, provider, sessions, backend.people).routes(), (gate,)


def _first_key(keys: KeyStore, place: WorkerDirectory | None) -> ConfiguredKey | None:
    """The key to begin with: the stored one if another worker has stored it, whatever the environment says."""
    return find_key(keys) if place is None or place.key_version == 0 else keys.load()
