"""Who may talk to the backend: names it answers to, pages that may call it, what these may load, who reads metrics.

A backend on the user's machine can be reached by every web page in the user's browser. So it answers only to its own
names (no DNS rebinding), accepts posts only from its own pages (no cross-site requests) and only as JSON (which a page
of another site cannot send without a preflight request).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import LOOPBACK, JsonResponse, is_on_this_machine
from addin.backend.sign_in.person import person_in
from addin.config.settings import Settings

OFFICE_JS = "https://appsforoffice.microsoft.com"
"""Where Microsoft serves office.js from; add-ins must load it there."""

_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
"""The Host header as it may be: pages and the manifest repeat it, so nothing else may stand in it."""


class Policy:
    """The names the backend answers to and the pages that may call it: its own, and those in the settings."""

    def __init__(self, settings: Settings) -> None:
        self.hosts = {*LOOPBACK, *map(str.lower, settings.allowed_hosts)}
        self.origins = {*map(str.lower, settings.allowed_origins)}
        if settings.public_url:
            public = urlsplit(settings.public_url.lower())
            self.hosts.add(public.hostname or "")
            self.origins.add(f"{public.scheme}://{public.netloc}")

    def check(self, method: str, scheme: str, headers: Headers) -> None:
        """Raise `HTTPException` for a request that must not be served."""
        host = headers.get("host", "")
        if _host_name(host) not in self.hosts:
            raise HTTPException(421, "this backend does not answer to that name; add it to the setting allowed_hosts")
        if method in ("GET", "HEAD", "OPTIONS"):
            return
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"{scheme}://{host}".lower(), *self.origins}:
            raise HTTPException(
                403, "pages of another origin may not call this backend; see the setting allowed_origins"
            )
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and media_type != "application/json":
            raise HTTPException(415, "send application/json")


class SecurityMiddleware:
    """Rejects requests against the policy, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._policy = Policy(settings)
        self._headers = security_headers(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers:
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._policy.check(scope["method"], scope["scheme"], Headers(scope=scope))
        except HTTPException as refusal:
            await JsonResponse({"error": refusal.detail}, refusal.status_code)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)


def security_headers(settings: Settings) -> list[tuple[str, str]]:
    """Return every answer's headers. No X-Frame-Options and no COOP: Excel on the web shows the pane in a frame."""
    return [
        ("content-security-policy", content_security_policy(settings.frame_ancestors)),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ]


def content_security_policy(frame_ancestors: Iterable[str]) -> str:
    """Our pages load from us and Microsoft's office.js (which sets inline styles), and talk to us alone."""
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' {OFFICE_JS}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            " ".join(("frame-ancestors 'self'", *frame_ancestors)),
        )
    )


def _host_name(host: str) -> str:
    """The name in a Host header, without its port; empty for anything but a name and a port, such as `x@localhost`."""
    form = _HOST.fullmatch(host)
    return form["name"].strip("[]").lower() if form else ""


def has_token(request: Request, token: str) -> bool:
    """Return whether the request carries the token for metrics; never where none is set."""
    sent = request.headers.get("authorization", "").encode()
    return bool(token) and hmac.compare_digest(sent, f"Bearer {token}".encode())


def may_scrape(request: Request, token: str) -> bool:
    """Return whether the caller may read the metrics: with a token where one is set, from here, or signed in."""
    return not token or has_token(request, token) or is_on_this_machine(request) or person_in(request) is not None
