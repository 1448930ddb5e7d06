"""The user's last answer to the question about many requests, kept for processes that start after it was given."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from addin.protocol.consent import ALLOWED_S
from dataservice.stores import Entry, ResilientStore


class Answered(msgspec.Struct, frozen=True):
    """For how many requests an answer was, whether it was a yes, and when it was given (seconds since 1970)."""

    requests: int
    load: bool
    at: float


class ConsentStore:
    """The last answer for each key, kept in `store` beside the key's entries."""

    def __init__(self, store: ResilientStore, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    async def keep(self, scope: str | None, requests: int, *, load: bool) -> None:
        """Keep an answer that was just given."""
        if scope is not None:
            now = self._clock()
            await self._store.put(_name(scope), Entry(msgspec.json.encode(Answered(requests, load, now)), now))

    async def last(self, scope: str | None, asked_again_at: float) -> Answered | None:
        """The answer that still holds: a yes for a while, a no until the refresh that came at `asked_again_at`."""
        entry = None if scope is None else await self._store.get_shared(_name(scope))
        try:
            found = None if entry is None else msgspec.json.decode(entry.payload, type=Answered)
        except msgspec.MsgspecError:
            return None
        if found is None:
            return None
        holds = self._clock() - found.at <= ALLOWED_S if found.load else found.at >= asked_again_at
        return found if holds else None


def _name(scope: str) -> str:
    return f"{scope}/consent"
