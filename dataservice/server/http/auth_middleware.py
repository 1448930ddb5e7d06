"""Authentication and quota of every request, and the three headers (contract: Authentication, Limits)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from cachetools import TTLCache
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dataservice.server.db.counting import BusyError, Counted
from dataservice.server.db.keys import KeyRecord, hash_key
from dataservice.server.db.repository import Store
from dataservice.server.http.database_away import AWAY, away_answer, until
from dataservice.server.http.grouped_counts import GroupedCounts
from dataservice.server.http.responses import error_answer

log = logging.getLogger(__name__)

TIER_HEADER = "X-Service-Tier"
CAP_HEADER = "X-Service-RateLimit-Cap"
REMAINING_HEADER = "X-Service-RateLimit-Remaining"

NO_KEY = "an API key is needed: send the header Authorization: Bearer <API_KEY>"
UNKNOWN_KEY = "the API key is not valid"

KNOWN_S = 5.0
"""For so long a key's tier and cap are not read again."""

MAX_KNOWN = 10_000

OPEN_PATHS = frozenset({"/openapi.json", "/.well-known/ai-plugin.json"})
"""Descriptions of the service, readable without a key."""


@dataclass(frozen=True)
class Admission:
    """The caller, the requests they have left, and the refusal if there is one."""

    caller: KeyRecord | None = None
    remaining: int = 0
    data_version: int | None = None
    refusal: tuple[int, str] | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The three headers; without an accepted key an empty tier and zeros."""
        return {
            TIER_HEADER: self.caller.tier.value if self.caller else "",
            CAP_HEADER: str(self.caller.cap if self.caller else 0),
            REMAINING_HEADER: str(self.remaining),
        }


class _Answer:
    """One answer on its way, with the three headers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.admission = Admission()
        self.has_begun = False
        self.is_over = False
        """Whether the caller was told that there is none."""

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self.has_begun = True
            added = [(name.lower().encode(), value.encode()) for name, value in self.admission.headers.items()]
            message = {**message, "headers": [*message["headers"], *added]}
        await self._send(message)

    async def send_unless_over(self, message: Message) -> None:
        """The same for what may come too late."""
        if not self.is_over:
            await self.send(message)


class AuthMiddleware:
    """ASGI middleware around the whole API: counts a request of a valid key before it is parsed."""

    def __init__(self, app: ASGIApp, *, store: Store) -> None:
        self._app = app
        self._store = store
        self._counts = GroupedCounts(store.keys)
        self._known: TTLCache[str, KeyRecord] = TTLCache(MAX_KNOWN, KNOWN_S)
        """By hash, the tier and cap of keys; whether they are still valid is told by the statement that counts."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            if self._store.database.is_sqlite:
                await self._answer(scope, receive, answer)
            else:
                await until(lambda: answer.has_begun, self._answer(scope, receive, answer))
        except Exception as error:
            answer.is_over = True
            is_away = isinstance(error, AWAY) and not self._store.database.is_sqlite
            if is_away:
                log.error("%s %s: the database is away: %s", scope["method"], scope["path"], type(error).__name__)
            else:
                log.exception("%s %s failed", scope["method"], scope["path"])
            if answer.has_begun:
                raise
            failed = away_answer() if is_away else error_answer(500, "the service failed to answer; its log says why")
            await failed(scope, receive, answer.send)

    async def _answer(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        admission = await self._admit(scope["path"], Headers(scope=scope))
        if answer.is_over:
            return
        answer.admission = admission
        scope["caller"], scope["data_version"] = admission.caller, admission.data_version
        app = self._app if admission.refusal is None else error_answer(*admission.refusal)
        # HEAD is GET without the body, which the HTTP server leaves out by itself.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await app({**scope, "method": method}, receive, answer.send_unless_over)

    async def _admit(self, path: str, headers: Mapping[str, str]) -> Admission:
        key = _bearer_token(headers.get("authorization", ""))
        if path in OPEN_PATHS:
            caller = await self._found(key)
            return Admission(caller, max(caller.cap - caller.used, 0) if caller else 0)
        caller = self._known.get(key_hash := hash_key(key))
        if caller is None:
            caller = await self._found(key)
            if caller is None:
                return _refused(key)
            self._known[key_hash] = caller
        counted = await self._counted(caller)
        if counted is not None:
            return Admission(caller, caller.cap - counted.used, counted.data_version)
        if await self._found(key) is None:  # it was revoked a moment ago
            self._known.pop(key_hash, None)
            return _refused(key)
        requests = "one request is" if caller.cap == 1 else f"{caller.cap:,} requests are"
        spent = f"this month's {requests} used up; the next begins on the first, 00:00 UTC"
        return Admission(caller, 0, refusal=(429, spent))

    async def _found(self, key: str) -> KeyRecord | None:
        return await run_in_threadpool(self._store.keys.find, key)

    async def _counted(self, caller: KeyRecord) -> Counted | None:
        """The count; what has to wait for the database is counted with all others that do."""
        account = self._store.keys.account(caller)
        try:
            return self._store.keys.count_at_once(account)
        except BusyError:
            return await self._counts.count(account)


def _refused(key: str) -> Admission:
    return Admission(refusal=(401, UNKNOWN_KEY if key else NO_KEY))


def _bearer_token(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
