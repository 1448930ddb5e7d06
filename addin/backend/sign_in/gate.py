"""The gate: where sign-in is set up, whatever shows or spends anything is for who has signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from addin.backend.http import JsonResponse, away_response, is_on_this_machine
from addin.backend.security import has_token
from addin.backend.sign_in.cookies import SESSION_COOKIE, cookie_of
from addin.backend.sign_in.person import Role
from dataservice.ledger import LedgerAwayError

if TYPE_CHECKING:  # cryptography takes a while to load
    from addin.backend.sign_in.people import People
    from addin.backend.sign_in.sessions import Session, Sessions

GUARDED = (
    "/functions",
    "/refresh",
    "/status",
    "/key",
    "/people",
    "/me",
    "/metrics",
    "/sheet/book",
    "/sheet/open",
    "/sheet/save",
    "/sheet/calculate",
)
"""These and what is below them need a session; pages, their scripts and the manifest contain no user data."""

SIGN_IN = "sign_in"
"""The kind of refusal on which pages show the button to sign in."""


class SignInGate:
    """Refuses requests without a session, and puts the person into `request.state.person`."""

    def __init__(
        self, app: ASGIApp, sessions: Sessions, people: People, public_url: str, scrape_token: str = ""
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._people = people
        self._scrape_token = scrape_token
        self._sign_in_url = f"{public_url.rstrip('/')}/sign-in"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http" or not _is_guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            session = await self._session(request)
        except LedgerAwayError as error:
            await away_response(error)(scope, receive, send)
            return
        may_scrape = is_on_this_machine(request) or has_token(request, self._scrape_token)
        if session is None and not (scope["path"] == "/metrics" and may_scrape):
            refusal = {"error": f"sign in first, at {self._sign_in_url}", "kind": SIGN_IN}
            await JsonResponse(refusal, 401)(scope, receive, send)
            return
        if session is not None:
            if scope["path"] == "/metrics" and session.person.role is not Role.ADMIN:
                await JsonResponse({"error": "only admins may see this"}, 403)(scope, receive, send)
                return
            scope.setdefault("state", {})["person"] = session.person
        await self._app(scope, receive, send)

    async def _session(self, request: Request) -> Session | None:
        session = self._sessions.session(cookie_of(request, SESSION_COOKIE))
        return None if session is None or await self._people.is_over(session) else session


def _is_guarded(path: str) -> bool:
    return any(path == guarded or path.startswith(f"{guarded}/") for guarded in GUARDED)
