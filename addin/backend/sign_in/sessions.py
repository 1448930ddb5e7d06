"""Sessions as sealed cookies: whoever has one is signed in for some hours, with every worker and machine."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from typing import Any

import msgspec
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from addin.backend.sign_in.cookies import SESSION_COOKIE, SIGN_IN_COOKIE, set_cookie
from addin.backend.sign_in.person import Person
from dataservice.ledger import Mark

SIGN_IN_S = 600.0

CLOCKS_APART_S = 360.0
"""By so much the clocks of machines, and of the provider, may differ."""

NEVER = Mark("", 0)
"""Of a session that an earlier version began: it is in no ledger."""


class Session(msgspec.Struct, frozen=True):
    """A session: who is signed in, and since which moment of the ledger."""

    person: Person
    mark: Mark = NEVER


class Sessions:
    """Makes and reads the cookies; all processes that serve the same users know the `secrets`.

    The first one seals, each opens: there are two while it is being changed.
    """

    def __init__(self, *secrets: bytes, lasts_s: float, clock: Callable[[], float] = time.time) -> None:
        self._sessions = MultiFernet([_fernet(each, b"session") for each in secrets])
        self._sign_ins = MultiFernet([_fernet(each, b"sign-in") for each in secrets])
        self._lasts_s = lasts_s
        self._clock = clock

    def cookie(self, token: str) -> str:
        """The Set-Cookie header of a session."""
        return set_cookie(SESSION_COOKIE, token, self._lasts_s)

    def token(self, person: Person, mark: Mark) -> str:
        """A session that began at that moment of the ledger, sealed."""
        content = msgspec.json.encode(Session(person, mark))
        return self._sessions.encrypt_at_time(content, int(self._clock())).decode()

    def session(self, token: str) -> Session | None:
        """The session in a token; None if it is none of ours, was changed, or has ended."""
        content = _opened(self._sessions, token, self._lasts_s, self._clock())
        try:
            return None if content is None else msgspec.json.decode(content, type=Session)
        except msgspec.MsgspecError:
            return None

    def sign_in_cookie(self, remembered: dict[str, Any]) -> str:
        """The Set-Cookie header for a sign-in under way."""
        content = msgspec.json.encode(remembered)
        token = self._sign_ins.encrypt_at_time(content, int(self._clock())).decode()
        return set_cookie(SIGN_IN_COOKIE, token, SIGN_IN_S)

    def remembered(self, token: str) -> dict[str, Any]:
        """Return what a sign-in under way remembered; nothing if that is too long ago."""
        content = _opened(self._sign_ins, token, SIGN_IN_S, self._clock())
        return {} if content is None else msgspec.json.decode(content, type=dict[str, Any])


def _fernet(secret: bytes, purpose: bytes) -> Fernet:
    key = HKDF(SHA256(), 32, None, info=b"dataservice addin " + purpose).derive(secret)
    return Fernet(base64.urlsafe_b64encode(key))


def _opened(fernet: MultiFernet, token: str, lasts_s: float, now: float) -> bytes | None:
    try:
        content = fernet.decrypt(token.encode())
        age_s = now - fernet.extract_timestamp(token.encode())
        return content if -CLOCKS_APART_S <= age_s <= lasts_s else None
    except (InvalidToken, ValueError):
        return None
