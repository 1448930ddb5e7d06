"""`addin people`: an admin of the server lists, stops and erases people, and the ledger names who did it."""

import json

import pytest

from addin.backend.sign_in.people import People
from addin.backend.sign_in.person import Person, Role
from addin.backend.sign_in.sessions import Session
from dataservice.ledger import SqliteLedger
from tests.addin.commands import addin, environment

SECRET = "a secret of the firm's own, long enough"


@pytest.fixture
def server(tmp_path):
    settings = {"url": "https://data.example", "oidc_issuer": "https://login.example", "session_secret": SECRET}
    return environment(tmp_path, **settings)


@pytest.fixture
def people(tmp_path):
    return People(SqliteLedger(tmp_path / "config" / "dataservice-addin" / "ledger-1.sqlite"), SECRET.encode())


async def signed_in(people, name):
    person = Person(name, name.title(), Role.USER, await people.id_of(name))
    session = Session(person, await people.signed_in(name, person))
    await people.keep_key(person.id, "ds_" + "0" * 40)
    return session


async def test_who_is_stopped_is_out_and_the_others_are_not(server, people):
    ada, bob = await signed_in(people, "ada"), await signed_in(people, "bob")
    shown = addin("people", "list", environ=server)
    assert [line.split()[1] for line in shown.stdout.splitlines()] == ["Ada", "Bob"]
    assert addin("people", "stop", ada.person.id[:8], environ=server).returncode == 1, "nobody was asked"
    done = addin("people", "stop", ada.person.id[:8], "--yes", environ=server)
    assert (done.returncode, "Stopped Ada" in done.stdout) == (0, True)
    assert [await people.is_over(each) for each in (ada, bob)] == [True, False]
    assert (await people.key(ada.person), await people.key(bob.person)) == (None, "ds_" + "0" * 40)
    rows = json.loads(addin("people", "list", "--json", environ=server).stdout)
    assert ["@" in row["ended_by"] for row in rows] == [True, False]


async def test_who_is_erased_is_listed_no_more_and_their_sessions_stay_ended(server, people):
    ada = await signed_in(people, "ada")
    assert addin("people", "erase", ada.person.id, "--yes", environ=server).returncode == 0
    assert addin("people", "list", environ=server).stdout == "Nobody has signed in.\n"
    assert await people.is_over(ada)
    unknown = addin("people", "stop", ada.person.id, "--yes", environ=server)
    assert (unknown.returncode, "no short names begin with" in unknown.stderr) == (1, True)


async def test_no_clearing_of_the_cache_revives_anybody_or_loses_a_key(server, people, service, tmp_path):
    ada, bob = await signed_in(people, "ada"), await signed_in(people, "bob")
    await people.end_sessions(ada.person.id, by="admin")
    addin("eval", '=DS.SIGNAL("us-cpi")', environ=environment(tmp_path, service))
    cleared = addin("cache", "clear", "--all-keys", "--archive", "--yes", environ=server)
    assert cleared.returncode == 0, cleared.stderr
    assert await people.is_over(ada)
    assert not await people.is_over(bob)
    assert await people.key(bob.person) == "ds_" + "0" * 40


def test_without_sign_in_there_is_nobody(tmp_path):
    done = addin("people", "list", environ=environment(tmp_path, url="https://data.example"))
    assert (done.returncode, "oidc_issuer is not set" in done.stderr) == (1, True)
