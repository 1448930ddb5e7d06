"""The provider of identities, by Authlib: where to send people to, and who comes back."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from addin.backend.sign_in.sessions import CLOCKS_APART_S
from addin.config.settings import is_safe_address
from addin.errors import SettingsError
from dataservice.extras import install_command

SCOPES = "openid profile email"
OFFLINE = "offline_access"
"""The scope with which a provider gives refresh tokens that last; asked for where it says that it knows it."""

NO_LONGER = frozenset({"invalid_grant", "access_denied"})
"""The provider's words for a person who is gone, disabled, or was signed out there."""
PROVIDER_S = 10.0

METADATA_S = 3_600.0
"""How long what the provider says of itself holds; its keys are looked up at each sign-in."""


@dataclass(frozen=True, slots=True)
class Known:
    """Who somebody is, as the provider says, and with what it can be asked again; empty if it gives no such token."""

    claims: Mapping[str, Any]
    refresh_token: str = field(default="", repr=False)


class NoLongerError(Exception):
    """The provider knows the person no more, or lets them in no more."""


class Provider:
    """An OpenID Connect provider: authorization code with PKCE; keys and addresses by discovery.

    Raises `SettingsError` if the package for it is not installed.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str,
        verify: ssl.SSLContext | bool,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        try:
            import httpx2  # by which Authlib reaches the provider
            from authlib.integrations.starlette_client import OAuth, OAuthError
        except ImportError:
            raise SettingsError(f"oidc_issuer needs more packages: {install_command('authlib httpx2')}") from None
        self._away = httpx2.HTTPError
        self._refused = OAuthError
        self._client: Any = OAuth().register(
            "provider",
            client_id=client_id,
            client_secret=client_secret or None,
            server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={
                "scope": SCOPES,
                "code_challenge_method": "S256",
                "verify": verify,
                "timeout": PROVIDER_S,
                **({} if client_secret else {"token_endpoint_auth_method": "none"}),
            },
        )
        self._issuer = issuer.rstrip("/")
        self._clock = clock

    async def redirect(self, request: Request, back_to: str) -> Response:
        """The redirect to the provider's page; what is to be remembered is in the request's session then."""
        with self._told():
            found = await self._look_up()
            scopes = f"{SCOPES} {OFFLINE}" if OFFLINE in (found.get("scopes_supported") or ()) else SCOPES
            response: Response = await self._client.authorize_redirect(request, back_to, scope=scopes)
        return response

    async def came_back(self, request: Request) -> Known:
        """Return who came back, checked: signature, issuer, audience, nonce, times.

        Raises `HTTPException` for a sign-in that failed, or that did not begin in this browser.
        """
        with self._told():
            await self._look_up()
            self._client.server_metadata.pop("jwks", None)  # a key that the provider has withdrawn proves nothing
            token = await self._client.authorize_access_token(request, leeway=CLOCKS_APART_S)
        return Known(self._checked(token.get("userinfo")), str(token.get("refresh_token") or ""))

    async def ask_again(self, refresh_token: str) -> Known:
        """Return who somebody is now, out of a new identity token or else of what the provider tells of its users.

        Raises `NoLongerError` if they are gone, and `HTTPException` where nobody can know: the provider is away.
        """
        with self._told():
            await self._look_up()
            self._client.server_metadata.pop("jwks", None)
            try:
                token = await self._client.fetch_access_token(grant_type="refresh_token", refresh_token=refresh_token)
            except self._refused as error:
                if error.error in NO_LONGER:
                    raise NoLongerError(error.error) from None
                raise
            if "id_token" in token:
                claims = self._checked(await self._client.parse_id_token(token, nonce=None, leeway=CLOCKS_APART_S))
            else:
                claims = await self._client.userinfo(token=token)
        return Known(claims, str(token.get("refresh_token") or refresh_token))

    def _checked(self, claims: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """The claims of an identity token, if it is of this provider and for this backend."""
        if claims is None or str(claims.get("iss", "")).rstrip("/") != self._issuer:
            raise HTTPException(403, "the provider did not say who signed in; try again")
        if not _is_for(self._client.client_id, claims.get("aud")):
            raise HTTPException(403, "the provider signed somebody in to another application; try again at /sign-in")
        return claims

    async def check(self) -> None:
        """Raise where the provider does not answer; asks for what it says of itself, which costs it nothing."""
        self._client.server_metadata.pop("_loaded_at", None)
        await self._look_up()

    async def _look_up(self) -> Mapping[str, Any]:
        """Return what the provider says of itself, read now and then; raises `ValueError` for addresses without TLS."""
        known = self._client.server_metadata
        if self._clock() - known.get("_loaded_at", 0.0) > METADATA_S:
            known.pop("_loaded_at", None)
        found: Mapping[str, Any] = await self._client.load_server_metadata()
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not is_safe_address(str(found.get(name, ""))):
                raise ValueError(f"the provider's {name} is no https address")
        if not is_safe_address(str(found.get("userinfo_endpoint", found["token_endpoint"]))):
            raise ValueError("the provider's userinfo_endpoint is no https address")
        return found

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Inside the block, whatever goes wrong with the provider becomes a refusal that says what to do."""
        try:
            yield
        except (NoLongerError, HTTPException):
            raise
        except self._away as error:
            problem = f"the sign-in provider does not answer ({type(error).__name__}); try again"
            raise HTTPException(503, problem) from error
        except Exception as error:
            raise HTTPException(403, f"the sign-in failed ({type(error).__name__}); try again at /sign-in") from error


def _is_for(client_id: str, audience: object) -> bool:
    """Return whether a token's audience, one name or a list of them, is this backend."""
    return client_id in audience if isinstance(audience, list) else client_id == audience
