"""What is kept of people: durable, taken over from an earlier version, counted later where it cannot be written now."""

import hashlib

import msgspec
import pytest

from addin.backend.sign_in.earlier_people import take_over
from addin.backend.sign_in.people import People
from addin.backend.sign_in.person import Person, Role
from addin.backend.sign_in.sessions import Session, Sessions
from dataservice.ledger import LedgerAwayError, Mark, SqliteLedger
from dataservice.stores import Entry, SqliteStore
from dataservice.stores.seal import KEY_BYTES
from dataservice.stores.sealed import SealedStore

SECRET = b"a secret of the firm's own, long enough"
NOW = 1_790_000_000.0
MONTH = "2026-09"


class Failing:
    """A ledger that is away when it is told to be."""

    def __init__(self, ledger):
        self._ledger, self.is_away = ledger, False

    def __getattr__(self, name):
        async def asked(*given):
            if self.is_away:
                raise LedgerAwayError("it is away")
            return await getattr(self._ledger, name)(*given)

        return asked


@pytest.fixture
def ledger(tmp_path):
    return Failing(SqliteLedger(tmp_path / "ledger.sqlite"))


async def person(people, subject, role=Role.USER):
    return Person(subject, subject, role, await people.id_of(subject))


async def test_an_end_that_could_not_be_stored_holds_here_at_once_and_everywhere_once_it_can_be(ledger):
    here, there = (People(ledger, SECRET, clock=lambda: NOW) for _ in range(2))
    ada = await person(here, "ada")
    session = Session(ada, await here.signed_in("ada", ada))
    await here.keep_key(ada.id, "ds_key")
    ledger.is_away = True
    with pytest.raises(LedgerAwayError):
        await here.end_sessions(ada.id, by="bob", forget_key=True)
    assert await here.is_over(session)
    with pytest.raises(LedgerAwayError):
        await there.is_over(session)
    ledger.is_away = False
    assert not await there.is_over(session)
    await here.keep_up()
    assert await there.is_over(session)
    assert await there.key(ada) is None
    again = Session(ada, await there.signed_in("ada", ada))
    assert not await here.is_over(again)


async def test_what_was_spent_while_it_could_not_be_written_is_counted_later(ledger):
    people = People(ledger, SECRET, clock=lambda: NOW)
    ada = await person(people, "ada")
    await people.signed_in("ada", ada)
    await people.note(ada, 3)
    ledger.is_away = True
    await people.note(ada, 4)
    ledger.is_away = False
    await people.note(ada, 5)
    assert [row.requests for row in await people.usage()] == [12]


async def test_an_erased_person_leaves_nothing_but_the_end_of_their_sessions(ledger, tmp_path):
    people = People(ledger, SECRET, clock=lambda: NOW)
    ada = await person(people, "ada")
    session = Session(ada, await people.signed_in("ada", ada))
    await people.keep_key(ada.id, "ds_key")
    await people.note(ada, 3)
    await people.erase(ada.id, by="bob")
    assert (await people.usage(), await people.key(ada), await people.is_over(session)) == ([], None, True)
    assert hashlib.sha256(b"ada").hexdigest()[:32].encode() not in (tmp_path / "ledger.sqlite").read_bytes()


async def test_people_of_an_earlier_version_are_taken_over_once_with_their_keys_and_what_they_spent(ledger, tmp_path):
    store = SqliteStore(tmp_path / "cache.sqlite")
    people = People(ledger, SECRET, clock=lambda: NOW)
    await kept_by_an_earlier_version(store)
    assert await take_over(people, store, SECRET, NOW) == 1
    ada = await person(people, "ada")
    assert await people.key(ada) == "ds_key"
    assert [(row.name, row.requests, row.seen_at) for row in await people.usage()] == [("Ada", 7, NOW - 60)]
    assert await take_over(people, store, SECRET, NOW) == 0
    await store.clear("")
    assert await people.key(ada) == "ds_key", "emptying the cache takes nobody's key"
    await store.aclose()


NEXT = b"another secret of the firm, which replaces the first one"


async def test_a_secret_is_changed_machine_by_machine_and_nobody_is_lost_or_revived(ledger):
    def machine(*secrets):
        return People(ledger, *secrets, clock=lambda: NOW), Sessions(*secrets, lasts_s=3_600, clock=lambda: NOW)

    (old, old_sessions), (both, both_sessions) = machine(SECRET), machine(NEXT, SECRET)
    ada, bob = await person(old, "ada"), await person(old, "bob")
    tokens = [old_sessions.token(each, await old.signed_in(each.subject, each)) for each in (ada, bob)]
    for each in (ada, bob):
        await old.keep_key(each.id, f"ds_{each.subject}")
    sessions = [both_sessions.session(token) for token in tokens]
    assert await both.id_of("ada") == ada.id
    await both.keep_up()
    assert [await both.is_over(each) for each in sessions] == [False, False]
    await old.end_sessions(ada.id, forget_key=True)
    assert [await both.is_over(each) for each in sessions] == [True, False], "who knows the old one only is heard"
    assert await both.key(ada) is None, "a copy revives nothing"
    await both.end_sessions(bob.id)
    assert await old.is_over(sessions[1]), "and hears"
    again = both_sessions.token(bob, await both.signed_in("bob", bob))
    later, _ = machine(NEXT, SECRET)
    await later.keep_up()

    new, new_sessions = machine(NEXT)
    await new.keep_up()
    assert [new_sessions.session(token) for token in tokens] == [None, None]
    assert await new.id_of("ada") == ada.id
    assert not await new.is_over(new_sessions.session(again))
    assert [await new.is_over(each) for each in sessions] == [True, True]
    assert (await new.key(ada), await new.key(bob)) == (None, "ds_bob")
    assert await old.key(bob) is None, "no key stays that the old secret opens"
    assert [row.name for row in await new.usage()] == ["ada", "bob"]


async def test_an_end_of_sessions_that_was_copied_ends_none_that_began_later(ledger):
    old, both = People(ledger, SECRET, clock=lambda: NOW), People(ledger, NEXT, SECRET, clock=lambda: NOW)
    ada = await person(old, "ada")
    await old.end_sessions(ada.id)
    session = Session(ada, await old.signed_in("ada", ada))
    await both.keep_up()
    assert not await both.is_over(session)
    assert not await People(ledger, NEXT, clock=lambda: NOW).is_over(session)


async def kept_by_an_earlier_version(store):
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    keys = HKDF(SHA256(), KEY_BYTES, None, info=b"dataservice addin people").derive(SECRET)
    sealed = SealedStore(store, lambda _: keys)
    await sealed.salt()
    old_id = hashlib.sha256(b"ada").hexdigest()[:32]
    content = msgspec.json.encode({"subject": "ada", "name": "Ada", "role": "user"})
    await sealed.put(f"people/{old_id}/person", Entry(content, NOW - 60))
    await sealed.put(f"people/{old_id}/key", Entry(b"ds_key", NOW))
    await sealed.add(f"people/{old_id}/requests/{MONTH}", 7)


def test_a_session_holds_on_machines_whose_clocks_are_five_minutes_apart_and_no_longer_than_it_lasts():
    ada = Person("ada", "Ada", Role.USER, "1")
    here = Sessions(SECRET, lasts_s=3_600, clock=lambda: NOW)
    token = here.token(ada, Mark("a", 1))
    for apart, holds in ((-300, True), (300, True), (-3_000, False), (3_599, True), (3_601, False)):
        there = Sessions(SECRET, lasts_s=3_600, clock=lambda apart=apart: NOW + apart)
        assert (there.session(token) is not None) is holds, apart


async def test_who_ended_a_persons_sessions_stands_in_the_ledger(ledger):
    people = People(ledger, SECRET, clock=lambda: NOW)
    ada = await person(people, "ada")
    await people.signed_in("ada", ada)
    assert [row.ended_by for row in await people.usage()] == [""]
    await people.end_sessions(ada.id, by="root@server")
    assert [row.ended_by for row in await people.usage()] == ["root@server"]
