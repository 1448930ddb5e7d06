"""What is kept of people: their key, sealed; what they have spent; and when their sessions were ended.

All of it is in the ledger, which is durable and raises `LedgerAwayError` rather than forget: a stop that could not be
stored is told as such, and nobody is let in while it is not known who was stopped.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from addin.backend.operation.events import tell
from addin.backend.sign_in.person import Person, Role
from addin.backend.sign_in.sessions import Session
from addin.protocol.messages import PersonReport
from dataservice.ledger import Ledger, LedgerAwayError, Mark, SealedLedger
from dataservice.stores.seal import KEY_BYTES

SEEN_EVERY_S = 60.0
"""How exact "last seen" is: not every batch is to be written down."""

CARRIED_OVER_EVERY_S = 60.0
"""How often is looked for what is sealed with another secret only, while the secret is being changed."""

ID_KEY = "short-names/key"
"""What people's short names are made with."""

_log = logging.getLogger("addin.people")


class Usage(msgspec.Struct, frozen=True):
    """One person's row: requests of this month, and when they were last here (seconds since 1970)."""

    id: str
    name: str
    role: str
    requests: int
    seen_at: float
    has_key: bool
    ended_by: str = ""
    """Who ended their sessions last."""


class _Seen(msgspec.Struct, frozen=True):
    """A person, and when they were last here."""

    person: Person
    at: float


class Grant(msgspec.Struct, frozen=True):
    """With what the provider can be asked about a person again, and when they signed in and were asked about last."""

    refresh_token: str
    signed_in_at: float
    asked_at: float

    def __repr__(self) -> str:
        return f"Grant(…, {self.signed_in_at}, {self.asked_at})"


class People:
    """Keeps people in `ledger`, sealed with each of `secrets`: there are two while the secret is being changed.

    Counters are in the clear, by the person's short name.
    """

    def __init__(self, ledger: Ledger, *secrets: bytes, clock: Callable[[], float] = time.time) -> None:
        self._ledger = SealedLedger(ledger, *(_derived(each, b"ledger", KEY_BYTES) for each in secrets))
        self._id_keys = [_derived(each, b"person", 32) for each in secrets]
        self._carried_over_at = float("-inf")
        self._clock = clock
        self._seen: dict[str, float] = {}
        self._not_counted: Counter[str] = Counter()
        """Requests that could not be written down yet, by counter."""
        self._ending: dict[str, Mapping[str, bytes | None]] = {}
        """People whose end could not be stored yet: here they are out already, and it is tried again."""

    async def id_of(self, subject: str) -> str:
        """The short name of who has this subject; without the secret nobody finds out whose it is.

        What it is made with is in the ledger, so that it stays the same when the secret is changed.
        """
        return hmac.digest(await self._id_key(), subject.encode(), hashlib.sha256).hex()[:32]

    async def key(self, person: Person) -> str | None:
        """The key that the person stored."""
        name = _fact(person.id, "key")
        found = (await self._ledger.look(name)).facts.get(name)
        return None if found is None else found.value.decode()

    async def report(self, person: Person) -> PersonReport:
        """Return who is signed in, as the pane shows it: of a key the last four characters."""
        key = await self.key(person)
        role: Literal["user", "admin"] = "admin" if person.role is Role.ADMIN else "user"
        return PersonReport(person.name, role, None if key is None else key[-4:])

    async def keep_key(self, person_id: str, key: str | None) -> None:
        """Store a person's key, or forget it."""
        await self._ledger.write({_fact(person_id, "key"): None if key is None else key.encode()})
        tell("key_forgotten" if key is None else "key_stored", person=person_id)

    async def is_over(self, session: Session) -> bool:
        """Return whether the session was ended, or may have been: after the ledger has begun again nobody knows."""
        if session.person.id in self._ending:
            return True
        name = _fact(session.person.id, "ended")
        found = await self._ledger.look(name)
        ended = found.facts.get(name)
        is_older = found.mark.incarnation != session.mark.incarnation or found.mark.number < session.mark.number
        return is_older or (ended is not None and ended.number >= session.mark.number)

    async def end_sessions(self, person_id: str, *, by: str = "", forget_key: bool = False) -> None:
        """End every session that a person has now, with every worker; with `forget_key` their key goes too.

        Raises `LedgerAwayError` if that could not be stored. Then they are out here, and it is tried again.
        """
        record = (by or person_id).encode()
        changes: dict[str, bytes | None] = {
            _fact(person_id, "ended"): record,
            _fact(person_id, "grant"): None,
            **self._ending.get(person_id, {}),
        }
        if forget_key:
            changes[_fact(person_id, "key")] = None
        self._ending[person_id] = changes
        tell("sessions_ended", person=person_id, by=by or person_id, key_forgotten=forget_key)
        await self._store_end(person_id)

    async def erase(self, person_id: str, *, by: str) -> None:
        """Forget all that is kept of a person but that their sessions have ended."""
        await self.end_sessions(person_id, by=by, forget_key=True)
        await self._ledger.write({_fact(person_id, "person"): None})
        counter = _counter(person_id, self._clock())
        await self._ledger.add(counter, -await self._ledger.add(counter, 0))
        tell("person_erased", person=person_id, by=by)

    async def check(self) -> None:
        """Raise `LedgerAwayError` where nothing can be written durably now."""
        await self._ledger.add("ready", 1)

    async def keep_up(self) -> None:
        """Store what could not be stored before, and notice a ledger that began again."""
        await self._ledger.look()
        for person_id in list(self._ending):
            await self._store_end(person_id)
        for counter in list(self._not_counted):
            await self._count(counter)
        now = self._clock()
        if abs(now - self._carried_over_at) > CARRIED_OVER_EVERY_S:
            await self._id_key()
            await self._ledger.carry_over("people/", ID_KEY)
            self._carried_over_at = now

    async def signed_in(self, subject: str, person: Person | None, *, refresh_token: str = "") -> Mark | None:
        """Write down who signed in, and from when on their session counts; None for who may not (`person` is None).

        Whoever comes back with another role, or is refused now, ends what began before.
        """
        person_id = await self.id_of(subject)
        if person_id in self._ending:
            await self._store_end(person_id)
        await self.compare(person_id, person)
        if person is None:
            return None
        now = self._clock()
        self._seen[person_id] = now
        grant = msgspec.json.encode(Grant(refresh_token, now, now)) if refresh_token else None
        mark = await self._ledger.write({**self._as_seen(person), _fact(person_id, "grant"): grant})
        tell("sign_in", person=person_id, role=person.role)
        return mark

    async def compare(self, person_id: str, person: Person | None) -> bool:
        """End the sessions of who has another role now than when they signed in last, or none; whether that was so."""
        name = _fact(person_id, "person")
        found = (await self._ledger.look(name)).facts.get(name)
        before = None if found is None else msgspec.json.decode(found.value, type=_Seen).person
        if before is None or (person is not None and person.role is before.role):
            return False
        await self.end_sessions(person_id, by="another role at the provider")
        return True

    async def grants(self) -> dict[str, Grant]:
        """With what the provider can be asked about people again, by their short names."""
        names = [name for name in await self._ledger.names("people/") if name.endswith("/grant")]
        found = (await self._ledger.look(*names)).facts if names else {}
        return {name.split("/")[1]: msgspec.json.decode(fact.value, type=Grant) for name, fact in found.items()}

    async def grant(self, person_id: str) -> Grant | None:
        """The same for one of them; None where there is none."""
        found = (await self._ledger.look(name := _fact(person_id, "grant"))).facts.get(name)
        return None if found is None else msgspec.json.decode(found.value, type=Grant)

    async def keep_grant(self, person_id: str, grant: Grant | None) -> None:
        """Keep with what the provider can be asked again, or forget it."""
        content = None if grant is None else msgspec.json.encode(grant)
        await self._ledger.write({_fact(person_id, "grant"): content})

    async def note(self, person: Person, requests: int) -> None:
        """Count what a person's batch has spent, and that they were here; what cannot be written is counted later."""
        now = self._clock()
        counter = _counter(person.id, now)
        self._not_counted[counter] += requests
        try:
            if self._not_counted[counter]:
                await self._count(counter)
            if now - self._seen.get(person.id, 0.0) > SEEN_EVERY_S:
                self._seen[person.id] = now
                await self._ledger.write(self._as_seen(person))
        except LedgerAwayError as error:
            _log.warning("what %s spent is counted later: %s", person.id, error)

    async def usage(self, only: str | None = None) -> list[Usage]:
        """The rows of all people, by name, or of one."""
        ids = [name.split("/")[1] for name in await self._ledger.names("people/") if name.endswith("/person")]
        rows = [await self._row(each) for each in ids if only in (None, each)]
        return sorted((row for row in rows if row is not None), key=lambda row: row.name)

    async def take_over(self, person: Person, seen_at: float, key: str | None, spent: int) -> None:
        """Write down a person whom an earlier version knew, unless they are known already."""
        name = _fact(person.id, "person")
        if name in (await self._ledger.look(name)).facts:
            return
        changes: dict[str, bytes | None] = {name: msgspec.json.encode(_Seen(person, seen_at))}
        if key:
            changes[_fact(person.id, "key")] = key.encode()
        await self._ledger.write(changes)
        await self._ledger.add(_counter(person.id, self._clock()), spent)

    async def aclose(self) -> None:
        """Close the ledger."""
        await self._ledger.aclose()

    async def _id_key(self) -> bytes:
        kept = (await self._ledger.look(ID_KEY)).facts.get(ID_KEY)
        if kept is None:
            await self._ledger.write({ID_KEY: self._id_keys[await self._ledger.key_in_use("people/")]})
            kept = (await self._ledger.look(ID_KEY)).facts[ID_KEY]
        return kept.value

    async def _store_end(self, person_id: str) -> None:
        changes = self._ending.get(person_id)
        if changes is not None:
            await self._ledger.write(changes)
            if self._ending.get(person_id) is changes:
                del self._ending[person_id]

    async def _count(self, counter: str) -> None:
        requests = self._not_counted.pop(counter, 0)
        try:
            await self._ledger.add(counter, requests)
        except LedgerAwayError:
            self._not_counted[counter] += requests
            raise

    async def _row(self, person_id: str) -> Usage | None:
        person_fact, key_fact, ended_fact = (_fact(person_id, what) for what in ("person", "key", "ended"))
        found = (await self._ledger.look(person_fact, key_fact, ended_fact)).facts
        if person_fact not in found:
            return None
        seen = msgspec.json.decode(found[person_fact].value, type=_Seen)
        requests = await self._ledger.add(_counter(person_id, self._clock()), 0)
        ended_by = found[ended_fact].value.decode() if ended_fact in found else ""
        return Usage(person_id, seen.person.name, seen.person.role, requests, seen.at, key_fact in found, ended_by)

    def _as_seen(self, person: Person) -> Mapping[str, bytes]:
        return {_fact(person.id, "person"): msgspec.json.encode(_Seen(person, self._clock()))}


def _derived(secret: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, None, info=b"dataservice addin " + purpose).derive(secret)


def _fact(person_id: str, what: str) -> str:
    return f"people/{person_id}/{what}"


def _counter(person_id: str, now: float) -> str:
    return f"people/{person_id}/requests/{datetime.fromtimestamp(now, UTC):%Y-%m}"
