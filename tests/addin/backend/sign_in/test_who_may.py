"""Whatever happened, however long ago, and whatever the machines' clocks say: who may, may; who may not, may not."""

import pytest

from addin.backend.sign_in.people import Grant, People
from addin.backend.sign_in.person import Person, Role
from addin.backend.sign_in.sessions import Session, Sessions
from dataservice.ledger import SqliteLedger
from dataservice.ledger.redis import RedisLedger
from dataservice.stores.redis_address import client_for
from tests.dataservice.stores.stores import redis_url  # noqa: F401  a fixture

NOW = 1_790_000_000.0
HOUR_S, DAY_S = 3_600.0, 86_400.0
OLD, NEW = b"the secret of before, long enough", b"the secret from now on, long enough"
APART_S = 300.0


class Machine:
    """One of two machines: its clock, its secrets, the ledger that both share."""

    def __init__(self, firm, ahead_s):
        self._firm, self._ahead_s = firm, ahead_s
        self.use(OLD)

    def use(self, *secrets):
        """Restart with these secrets."""
        self.people = People(self._firm.opened(), *secrets, clock=self._clock)
        self._sessions = Sessions(*secrets, lasts_s=10 * HOUR_S, clock=self._clock)

    def _clock(self):
        return self._firm.now + self._ahead_s

    async def signs_in(self, name, role=Role.USER):
        """Sign somebody in here; their session's token, or None for who may not."""
        person = None if role is None else Person(name, name, role, await self.people.id_of(name))
        mark = await self.people.signed_in(name, person, refresh_token="again")
        return None if person is None else self._sessions.token(person, mark)

    async def lets_in(self, token):
        """Return whether the gate of this machine lets a session through."""
        session = self._sessions.session(token)
        return session is not None and not await self.people.is_over(session)


class Firm:
    """Two machines whose clocks are five minutes apart, and the people who are signed in."""

    def __init__(self, open_ledger):
        self._open_ledger, self.ledgers, self.now = open_ledger, [], NOW
        self.slow, self.fast = Machine(self, 0.0), Machine(self, APART_S)
        self.machines = (self.slow, self.fast)
        self.tokens = {}

    def opened(self):
        """Open the ledger once more, as each process does."""
        self.ledgers.append(self._open_ledger())
        return self.ledgers[-1]

    async def begin(self):
        """Let Ada sign in at one machine and Bob at the other, and store a key each."""
        self.tokens = {"ada": await self.fast.signs_in("ada"), "bob": await self.slow.signs_in("bob")}
        for name in self.tokens:
            await self.slow.people.keep_key(await self.id_of(name), f"key of {name}")

    async def id_of(self, name):
        return await self.slow.people.id_of(name)

    async def may(self, name):
        """Return whether somebody's first session is let in, alike by both machines."""
        told = [await machine.lets_in(self.tokens[name]) for machine in self.machines]
        assert told[0] == told[1], f"the machines disagree about {name}: {told}"
        return told[0]

    async def key_of(self, name):
        """Return the key that is stored for somebody, as each machine reads it."""
        person = Person(name, name, Role.USER, await self.id_of(name))
        told = [await machine.people.key(person) for machine in self.machines]
        assert told[0] == told[1]
        return told[0]

    async def keep_up(self):
        """Do what is done every few seconds."""
        for machine in self.machines:
            machine.people._carried_over_at = float("-inf")
            await machine.people.keep_up()


@pytest.fixture(params=["a file", "Redis"])
async def firm(request, tmp_path):
    if request.param == "a file":
        made = Firm(lambda: SqliteLedger(tmp_path / "ledger.sqlite"))
    else:
        url = request.getfixturevalue("redis_url")
        made = Firm(lambda: RedisLedger(client_for(url, None), key=f"ledger of {tmp_path}"))
    await made.begin()
    assert [await made.may(name) for name in made.tokens] == [True, True]
    yield made
    for ledger in made.ledgers:
        await ledger.aclose()


async def stop(firm):
    await firm.slow.people.end_sessions(await firm.id_of("ada"), by="admin", forget_key=True)


async def sign_out(firm):
    await firm.slow.people.end_sessions(await firm.id_of("ada"))


async def erase(firm):
    await firm.fast.people.erase(await firm.id_of("ada"), by="admin")


async def leave(firm):
    assert await firm.slow.signs_in("ada", role=None) is None


async def become_admin(firm):
    assert await firm.slow.people.compare(
        await firm.id_of("ada"), Person("ada", "ada", Role.ADMIN, await firm.id_of("ada"))
    )


async def rotate(firm):
    for secrets in ((OLD, NEW), (NEW, OLD)):
        for machine in firm.machines:
            machine.use(*secrets)
            await firm.keep_up()


async def rotate_and_go_back(firm):
    await rotate(firm)
    for machine in firm.machines:
        machine.use(OLD)
        await firm.keep_up()


async def rotate_and_drop_the_old_one(firm):
    await rotate(firm)
    for machine in firm.machines:
        machine.use(NEW)
        await firm.keep_up()


async def purge(firm):
    """Nothing that clears the cache reaches the ledger: it is another store."""
    for machine in firm.machines:
        await firm.keep_up()
        machine.use(OLD)


async def nothing(_):
    pass


KEY = "key of ada"
WHAT = {
    "nothing": (nothing, True, KEY),
    "stopped": (stop, False, None),
    "signed out": (sign_out, False, KEY),
    "erased": (erase, False, None),
    "left the group": (leave, False, KEY),
    "has another role": (become_admin, False, KEY),
    "the secret is being changed": (rotate, True, KEY),
    "the change of the secret was taken back": (rotate_and_go_back, True, KEY),
    "the secret was changed": (rotate_and_drop_the_old_one, False, KEY),
    "purged and restarted": (purge, True, KEY),
}
"""By what happened to Ada: whether her session lasts, and the key that is stored for her then."""


@pytest.mark.parametrize("name", WHAT)
async def test_who_may_may_and_who_may_not_may_not(firm, name):
    happens, lasts, key = WHAT[name]
    await happens(firm)
    assert (await firm.may("ada"), await firm.key_of("ada")) == (lasts, key)
    is_old = name == "the secret was changed"  # what it sealed is worth nothing
    assert (await firm.may("bob"), await firm.key_of("bob")) == (not is_old, "key of bob")
    firm.now += 9 * HOUR_S
    assert (await firm.may("ada"), await firm.may("bob")) == (lasts, not is_old)
    firm.now += 2 * HOUR_S
    assert not await firm.may("bob")
    firm.now += 91 * DAY_S
    await firm.keep_up()
    assert (await firm.may("ada"), await firm.may("bob")) == (False, False)
    assert (await firm.key_of("ada"), await firm.key_of("bob")) == (key, "key of bob")
    for machine in firm.machines:
        again = await machine.signs_in("ada")
        assert [await each.lets_in(again) for each in firm.machines] == [True, True]


@pytest.mark.parametrize(("out_at", "in_at"), [("slow", "fast"), ("fast", "slow")])
@pytest.mark.parametrize("later_s", [0.0, 1.0, 299.0])
async def test_a_session_that_began_after_a_stop_holds_and_one_before_it_does_not(firm, out_at, in_at, later_s):
    await getattr(firm, out_at).people.end_sessions(await firm.id_of("ada"), by="admin")
    firm.now += later_s
    again = await getattr(firm, in_at).signs_in("ada")
    assert not await firm.may("ada")
    assert [await machine.lets_in(again) for machine in firm.machines] == [True, True]


async def test_who_is_stopped_or_out_leaves_nothing_with_which_the_provider_could_be_asked(firm):
    person_id = await firm.id_of("ada")
    assert isinstance(await firm.fast.people.grant(person_id), Grant)
    for happens in (stop, sign_out, erase, leave):
        await happens(firm)
        assert await firm.fast.people.grant(person_id) is None
        await firm.slow.signs_in("ada")
        assert await firm.fast.people.grant(person_id) is not None


async def test_a_session_of_another_ledger_is_none(firm):
    forged = Session(Person("ada", "ada", Role.ADMIN, await firm.id_of("ada")))
    assert [await machine.people.is_over(forged) for machine in firm.machines] == [True, True]
