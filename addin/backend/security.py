"""Who may talk to the backend: names it answers to, pages that may call it, and what our own pages may load.

A backend on the user's machine can be reached by every web page in the user's browser. So it answers only to its own
names (no DNS rebinding), takes posts only from its own pages (no cross-site requests) and only as JSON (which a page
elsewhere cannot send without asking first).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import JsonResponse, Refusal
from addin.config.settings import Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

OFFICE_JS = "https://appsforoffice.microsoft.com"
"""Where Microsoft serves office.js from; add-ins must load it there."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The names the backend answers to and the pages that may call it."""

    hosts: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        """Loopback names, the public address and what the settings add."""
        public = (urlsplit(settings.public_url).hostname or "",) if settings.public_url else ()
        own = (_origin(settings.public_url),) if settings.public_url else ()
        return cls(
            frozenset({*LOOPBACK, *(host.lower() for host in (*public, *settings.allowed_hosts))}),
            frozenset(origin.lower() for origin in (*own, *settings.allowed_origins)),
        )

    def check(self, method: str, scheme: str, headers: Headers) -> None:
        """Raise `Refusal` for a request that must not be served."""
        host = headers.get("host", "")
        if _host_name(host) not in self.hosts:
            raise Refusal(421, "this backend does not answer to that name; add it to the setting allowed_hosts")
        if method in ("GET", "HEAD", "OPTIONS"):
            return
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"{scheme}://{host}".lower(), *self.origins}:
            raise Refusal(403, "pages of another origin may not call this backend; see the setting allowed_origins")
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and media_type != "application/json":
            raise Refusal(415, "send application/json")


class SecurityMiddleware:
    """Middleware that refuses by the policy and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, *, policy: Policy, headers: Iterable[tuple[str, str]]) -> None:
        self._app = app
        self._policy = policy
        self._headers = tuple(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
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
        except Refusal as refusal:
            await JsonResponse({"error": str(refusal)}, refusal.status)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)


def security_headers(settings: Settings) -> list[tuple[str, str]]:
    """What every answer carries. No X-Frame-Options and no COOP: Excel on the web shows the task pane in a frame."""
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
    """The name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
