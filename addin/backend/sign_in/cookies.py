"""The cookies of sign-in: their names, and how a browser is to keep them."""

from __future__ import annotations

from starlette.requests import Request

from addin.backend.http import KEY_HEADER

SESSION_COOKIE = "__Host-dataservice-session"
"""Browsers accept a name that begins so only over HTTPS, for this very host, and from no other host below it."""

SIGN_IN_COOKIE = "__Host-dataservice-sign-in"
"""What a sign-in under way has to remember: state, nonce and the PKCE verifier."""

SAME_SITE = {SESSION_COOKIE: "None; Partitioned", SIGN_IN_COOKIE: "Lax"}
"""The pane stands in a frame of Excel on the web, which is another site: the session has to be SameSite=None, and is
kept apart for each site that shows the frame (Partitioned). No other page can use it, because posts from other origins
are refused. A sign-in begins and ends as a page of its own."""


def set_cookie(name: str, value: str, lasts_s: float) -> str:
    """The Set-Cookie header; `lasts_s` of 0 deletes the cookie."""
    return f"{name}={value}; Path=/; Max-Age={int(lasts_s)}; Secure; HttpOnly; SameSite={SAME_SITE[name]}"


def asker_of(request: Request) -> str:
    """Return a name in this process for the key or the session that a request carries; empty where it has neither."""
    carried = request.headers.get(KEY_HEADER) or cookie_of(request, SESSION_COOKIE)
    return str(hash(carried)) if carried else ""


def cookie_of(request: Request, name: str) -> str:
    """The value of a cookie, empty without one; whatever other cookies are sent beside it."""
    return request.cookies.get(name, "")
