"""The pages and routes of sign-in: to the provider and back, who I am, my key, and what people have spent."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from addin.backend.http import JsonResponse, away_response, read_members
from addin.backend.security import OFFICE_JS
from addin.backend.sign_in.cookies import SESSION_COOKIE, SIGN_IN_COOKIE, cookie_of, set_cookie
from addin.backend.sign_in.people import People, Usage
from addin.backend.sign_in.person import Person, Role, person_in, person_of, subject_of
from addin.backend.sign_in.provider import Provider
from addin.backend.sign_in.sessions import Sessions
from addin.config.api_key import checked_key
from addin.config.settings import Settings
from dataservice.ledger import LedgerAwayError

DONE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Signed in</title>
<script defer src="{OFFICE_JS}/lib/1/hosted/office.js"></script>
<script type="module" async src="signed-in.js"></script>
<body data-session="{{session}}"><p>You are signed in as {{name}}. You can close this window.</p>"""
"""Hands the session to the pane, which may stand in a frame with cookies of its own."""


@dataclass(frozen=True)
class SignIn:
    """The routes of sign-in with one provider."""

    settings: Settings
    provider: Provider
    sessions: Sessions
    people: People

    def routes(self) -> Sequence[Route]:
        """Return what is served."""
        return (
            Route("/sign-in", self.begin),
            Route("/signed-in", self.end),
            Route("/session", self.adopt_session, methods=["POST"]),
            Route("/sign-out", self.sign_out, methods=["POST"]),
            Route("/me", self.me),
            Route("/me/key", self.keep_key, methods=["POST"]),
            Route("/me/key", self.forget_key, methods=["DELETE"]),
            Route("/people", self.usage),
            Route("/people/{person}/stop", self.stop, methods=["POST"]),
            Route("/people/{person}", self.erase, methods=["DELETE"]),
        )

    async def begin(self, request: Request) -> Response:
        """GET /sign-in: to the provider's page."""
        remembered: dict[str, Any] = {}
        request.scope["session"] = remembered
        response = await self.provider.redirect(request, f"{self._base}/signed-in")
        response.headers.append("set-cookie", self.sessions.sign_in_cookie(remembered))
        return response

    async def end(self, request: Request) -> Response:
        """GET /signed-in: back from the provider; a session begins."""
        request.scope["session"] = self.sessions.remembered(cookie_of(request, SIGN_IN_COOKIE))
        settings = self.settings
        known = await self.provider.came_back(request)
        person = person_of(known.claims, users=settings.oidc_users, admins=settings.oidc_admins)
        subject = subject_of(known.claims)
        person = None if person is None else msgspec.structs.replace(person, id=await self.people.id_of(subject))
        mark = await self.people.signed_in(subject, person, refresh_token=known.refresh_token)
        if person is None or mark is None:
            raise HTTPException(403, "your account may not use this backend; ask who runs it (setting oidc_users)")
        token = self.sessions.token(person, mark)
        page = DONE.format(name=html.escape(person.name), session=token)
        response = HTMLResponse(page, headers={"cache-control": "no-store"})
        response.headers.append("set-cookie", self.sessions.cookie(token))
        response.headers.append("set-cookie", set_cookie(SIGN_IN_COOKIE, "", 0))
        return response

    async def adopt_session(self, request: Request) -> Response:
        """POST /session: use a session, which began in another window, in this one."""
        token = str((await read_members(request, self.settings)).get("session"))
        session = self.sessions.session(token)
        if session is None or await self.people.is_over(session):
            raise HTTPException(403, "this session has ended; sign in again at /sign-in")
        response = JsonResponse({"name": session.person.name})
        response.headers.append("set-cookie", self.sessions.cookie(token))
        return response

    async def sign_out(self, request: Request) -> Response:
        """POST /sign-out: end all sessions of who asks."""
        session = self.sessions.session(cookie_of(request, SESSION_COOKIE))
        response: Response = JsonResponse({"ok": True})
        if session is not None:
            try:
                await self.people.end_sessions(session.person.id)
            except LedgerAwayError as error:
                response = away_response(error, "you are signed out in this browser only, until that is stored")
        response.headers.append("set-cookie", set_cookie(SESSION_COOKIE, "", 0))
        return response

    async def me(self, request: Request) -> Response:
        """GET /me: who is signed in, and whether a key is stored; never the key."""
        return JsonResponse(await self.people.report(_person(request)))

    async def keep_key(self, request: Request) -> Response:
        """POST /me/key: store one's own key, sealed."""
        person = _person(request)
        if not self.settings.per_user_keys:
            raise HTTPException(403, "this backend uses one key for all (setting per_user_keys)")
        given = (await read_members(request, self.settings)).get("key")
        if not isinstance(given, str):
            raise HTTPException(400, 'send {"key": "…"}')
        await self.people.keep_key(person.id, checked_key(given))
        return await self.me(request)

    async def forget_key(self, request: Request) -> Response:
        """DELETE /me/key: forget it."""
        await self.people.keep_key(_person(request).id, None)
        return await self.me(request)

    async def usage(self, request: Request) -> Response:
        """GET /people: what people have spent this month; admins see all of them, others themselves."""
        person = _person(request)
        rows = await self.people.usage(None if person.role is Role.ADMIN else person.id)
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(_table(rows))
        return JsonResponse({"people": [msgspec.structs.asdict(row) for row in rows]})

    async def stop(self, request: Request) -> Response:
        """POST /people/{person}/stop: end a person's sessions and forget their key, for admins."""
        admin, stopped = await self._about_another(request)
        await self.people.end_sessions(stopped, by=admin.id, forget_key=True)
        return JsonResponse({"ok": True})

    async def erase(self, request: Request) -> Response:
        """DELETE /people/{person}: forget all that is kept of a person, for admins."""
        admin, erased = await self._about_another(request)
        await self.people.erase(erased, by=admin.id)
        return JsonResponse({"ok": True})

    async def _about_another(self, request: Request) -> tuple[Person, str]:
        """The admin who asks, and the id of the person that it is about; raises `HTTPException` if that may not be."""
        admin, about = _person(request), str(request.path_params["person"])
        if admin.role is not Role.ADMIN:
            raise HTTPException(403, "only admins may do this")
        if not await self.people.usage(about):
            raise HTTPException(404, "there is no such person")
        return admin, about

    @property
    def _base(self) -> str:
        return (self.settings.public_url or "").rstrip("/")


def _person(request: Request) -> Person:
    person = person_in(request)
    if person is None:
        raise HTTPException(401, "sign in first, at /sign-in")
    return person


def _table(rows: Sequence[Usage]) -> str:
    head = "".join(f"<th>{title}" for title in ("Name", "Role", "Requests this month", "Last seen (UTC)", "Key"))
    lines = [
        f"<tr><td>{html.escape(row.name)}<td>{row.role}<td>{row.requests:,}"
        f"<td>{datetime.fromtimestamp(row.seen_at, UTC):%Y-%m-%d %H:%M}<td>{'yes' if row.has_key else 'no'}"
        for row in rows
    ]
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>People</title><table border="1" cellpadding="4">'
    )
    return f"{page}<tr>{head}{''.join(lines)}</table>"
