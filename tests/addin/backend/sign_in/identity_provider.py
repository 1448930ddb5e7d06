"""A small OpenID Connect provider, by HTTP on a free port: discovery, keys, code with PKCE, signed tokens."""

from __future__ import annotations

import base64
import hashlib
import html
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.config.api_key import KeyStore, no_keychain
from addin.config.settings import Settings
from addin.excel import pages
from addin.tls.certificates import Certificates
from tests.embedded import EmbeddedService

CLIENT_ID, CLIENT_SECRET = "sheets", "a secret of the backend's own"


@dataclass
class IdentityProvider:
    """Signs in whoever `claims` says; `wrong` are claims that its tokens falsely hold."""

    claims: dict[str, Any]
    wrong: dict[str, Any] = field(default_factory=dict)
    isolates: bool = False
    """Whether its pages cut their window off from who opened it, as many do."""
    url: str = ""
    asked: dict[str, dict[str, str]] = field(default_factory=dict)
    """By code, what the sign-in asked for."""
    signing: RSAPrivateKey = field(default_factory=lambda: usual_key())
    published: RSAPrivateKey = field(default_factory=lambda: usual_key())
    refresh_token: str = ""
    """The refresh token that it accepts next, once only; with "offline" it gives them."""
    is_gone: bool = False
    """Whether the person was disabled."""
    identity_again: bool = True
    """Whether a refresh gives an identity token; without, the claims are those of `/userinfo`."""
    is_away: bool = False
    """Whether its tokens cannot be had now."""
    asked_again: int = 0

    async def discovery(self, _: Request) -> Response:
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return JSONResponse(
            {
                "issuer": self.url,
                **{name: f"{self.url}/{path}" for name, path in names.items()},
                "userinfo_endpoint": f"{self.url}/userinfo",
                "scopes_supported": ["openid", "profile", "email", *(["offline_access"] if self.refresh_token else [])],
                "response_types_supported": ["code"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }
        )

    async def keys(self, _: Request) -> Response:
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self.published.public_key(), as_dict=True)
        return JSONResponse({"keys": [{**key, "kid": "one", "use": "sig", "alg": "RS256"}]})

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert asked["client_id"] == CLIENT_ID
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        code = secrets.token_hex(8)
        self.asked[code] = asked
        back = f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
        if not self.isolates:
            return RedirectResponse(back, 302)
        page = f"<!doctype html><title>Sign in</title><meta http-equiv='refresh' content='1;url={html.escape(back)}'>"
        return HTMLResponse(page, headers={"cross-origin-opener-policy": "same-origin"})

    async def token(self, request: Request) -> Response:
        given = dict(await request.form())
        if given["grant_type"] == "refresh_token":
            return self.again(str(given["refresh_token"]))
        asked = self.asked.pop(str(given["code"]), None)
        basic = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(str(given["code_verifier"]).encode()).digest())
        proven = asked is not None and challenge.decode().rstrip("=") == asked["code_challenge"]
        if not proven or not basic.startswith(f"{CLIENT_ID}:"):
            return JSONResponse({"error": "invalid_grant"}, 400)
        given_again = "offline_access" in asked["scope"].split()
        return JSONResponse({**self.tokens(nonce=asked["nonce"]), **(self.next_refresh() if given_again else {})})

    def again(self, refresh_token: str) -> Response:
        """Return new tokens for a refresh token, which is used up by that."""
        if self.is_away:
            return Response(status_code=503)
        self.asked_again += 1
        if refresh_token != self.refresh_token or self.is_gone:
            return JSONResponse({"error": "invalid_grant"}, 400)
        tokens = self.tokens() if self.identity_again else {"access_token": "x", "token_type": "Bearer"}
        return JSONResponse({**tokens, **self.next_refresh()})

    def next_refresh(self) -> dict[str, str]:
        self.refresh_token = secrets.token_hex(8)
        return {"refresh_token": self.refresh_token}

    def tokens(self, **also: str) -> dict[str, str]:
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, **also}
        token = jwt.encode({**claims, **self.claims, **self.wrong}, self.signing, "RS256", headers={"kid": "one"})
        return {"access_token": "x", "token_type": "Bearer", "id_token": token}

    async def userinfo(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer x"
        return JSONResponse(self.claims)


def new_key() -> RSAPrivateKey:
    """A key that nobody had before."""
    return generate_private_key(65_537, 2048)


@cache
def usual_key() -> RSAPrivateKey:
    """The key of every provider that changes none: making one takes a tenth of a second."""
    return new_key()


@contextmanager
def provider(**claims: Any) -> Iterator[IdentityProvider]:
    """A provider inside the block, which signs in whoever the claims say."""
    made = IdentityProvider(claims)
    with served(made):
        yield made


@contextmanager
def served(made: IdentityProvider, port: int = 0) -> Iterator[None]:
    """Serve a provider inside the block."""
    routes = [
        Route("/.well-known/openid-configuration", made.discovery),
        Route("/keys", made.keys),
        Route("/authorize", made.authorize),
        Route("/token", made.token, methods=["POST"]),
        Route("/userinfo", made.userinfo),
    ]
    with running(Starlette(routes=routes), listen("127.0.0.1", port)) as url:
        made.url = url
        yield


@contextmanager
def backend_with_sign_in(
    service: EmbeddedService, folder: Path, identity: IdentityProvider, **settings: Any
) -> Iterator[str]:
    """The https address of a backend inside the block whose users sign in at this provider."""
    own = Certificates(folder / "certificates")
    listener = listen("127.0.0.1", 0, own.ensure(datetime.now(UTC)))
    chosen = Settings(
        url=service.url,
        cache_dir=folder / "cache",
        public_url=listener.url,
        oidc_issuer=identity.url,
        oidc_client_id=CLIENT_ID,
        **{"per_user_keys": True, **settings},
    )
    keys = KeyStore(chosen.url, open_keychain=no_keychain, file=folder / "keys.json")
    with running(create_app(chosen, keys=keys, pages=pages.routes(chosen)), listener) as url:
        yield url
