"""What is kept of people: their key, sealed; what they have spent; and when their sessions were ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from addin.backend.sign_in.person import Person, id_of
from addin.backend.sign_in.sessions import Session
from dataservice.stores import Entry, ResilientStore, Store
from dataservice.stores.seal import KEY_BYTES
from dataservice.stores.sealed import SealedStore

SEEN_EVERY_S = 60.0
"""How exact "last seen" is: not every batch is to be written down."""


class Usage(msgspec.Struct, frozen=True):
    """One person's row: requests of this month, and when they were last here (seconds since 1970)."""

    id: str
    name: str
    role: str
    requests: int
    seen_at: float
    has_key: bool


class People:
    """Keeps people in `store`, sealed with `secret`; counters are in the clear, by the person's short name."""

    def __init__(self, store: Store, secret: bytes, *, clock: Callable[[], float] = time.time) -> None:
        keys = HKDF(SHA256(), KEY_BYTES, None, info=b"dataservice addin people").derive(secret)
        self._sealed = SealedStore(store, lambda _: keys)
        self._store = ResilientStore(self._sealed)
        self._clock = clock
        self._is_open = False
        self._seen: dict[str, float] = {}

    async def key(self, person: Person) -> str | None:
        """The key that the person stored."""
        entry = await (await self._opened()).get(f"people/{person.id}/key")
        return None if entry is None or not entry.payload else entry.payload.decode()

    async def members(self, person: Person) -> dict[str, Any]:
        """Who is signed in, as the pane shows it: of a key the last four characters."""
        key = await self.key(person)
        return {"name": person.name, "role": person.role, "key": None if key is None else key[-4:]}

    async def keep_key(self, person_id: str, key: str | None) -> None:
        """Store a person's key, or forget it."""
        store = await self._opened()
        await store.put(f"people/{person_id}/key", Entry((key or "").encode(), self._clock()))

    async def is_over(self, session: Session) -> bool:
        """Whether the sessions of that time were ended."""
        entry = await (await self._opened()).get(f"people/{session.person.id}/ended")
        return entry is not None and session.began_at <= entry.fetched_at

    async def end_sessions(self, person_id: str) -> None:
        """End every session that a person has now, with every worker."""
        await (await self._opened()).put(f"people/{person_id}/ended", Entry(b"", self._clock()))

    async def recognise(self, subject: str, person: Person | None) -> None:
        """End what began before if somebody comes back with another role, or may not come back (`person` is None)."""
        entry = await (await self._opened()).get(f"people/{id_of(subject)}/person")
        before = None if entry is None else msgspec.json.decode(entry.payload, type=Person)
        if before is not None and (person is None or person.role is not before.role):
            self._seen.pop(before.id, None)  # the new role is to be written down at once
            await self.end_sessions(before.id)

    async def note(self, person: Person, requests: int) -> None:
        """Count what a person's batch has spent, and that they were here."""
        store, now = await self._opened(), self._clock()
        if requests:
            await store.add(_counter(person.id, now), requests)
        if now - self._seen.get(person.id, 0.0) > SEEN_EVERY_S:
            self._seen[person.id] = now
            await store.put(f"people/{person.id}/person", Entry(msgspec.json.encode(person), now))

    async def usage(self, only: str | None = None) -> list[Usage]:
        """The rows of all people, by name, or of one."""
        store = await self._opened()
        names = [entry.name for entry in await store.entries("people/") if entry.name.endswith("/person")]
        rows = [await self._row(store, name.split("/")[1]) for name in names]
        return sorted((row for row in rows if row and only in (None, row.id)), key=lambda row: row.name)

    async def _row(self, store: ResilientStore, person_id: str) -> Usage | None:
        entry, key = await store.get(f"people/{person_id}/person"), await store.get(f"people/{person_id}/key")
        if entry is None:
            return None
        person = msgspec.json.decode(entry.payload, type=Person)
        requests = await store.add(_counter(person_id, self._clock()), 0) or 0
        has_key = key is not None and bool(key.payload)
        return Usage(person_id, person.name, person.role, requests, entry.fetched_at, has_key)

    async def _opened(self) -> ResilientStore:
        if not self._is_open:
            await self._sealed.salt()
            self._is_open = True
        return self._store


def _counter(person_id: str, now: float) -> str:
    return f"people/{person_id}/requests/{datetime.fromtimestamp(now, UTC):%Y-%m}"
