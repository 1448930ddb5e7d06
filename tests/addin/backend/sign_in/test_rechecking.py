"""Who leaves a group, or is disabled at the provider, is out within `recheck_minutes`, with every worker."""

from contextlib import contextmanager

import httpx
import pytest

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.backend.sign_in.people import People
from addin.backend.sign_in.provider import Provider
from addin.backend.sign_in.rechecking import ROUNDS, Rechecking
from addin.config.settings import Settings
from dataservice.ledger import SqliteLedger
from dataservice.stores import SqliteStore
from tests.addin.backend.sign_in.identity_provider import CLIENT_ID, CLIENT_SECRET, provider

SECRET = "a secret of the firm's own, long enough"
RULES = {"oidc_users": "groups=finance", "oidc_admins": "groups=chiefs"}
EVERY_S = 15 * 60.0


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 1_790_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def firm(service, tmp_path, monkeypatch):
    """Return a function that runs a backend, and gives a maker of rechecks, those of this and of other machines."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("DATA_SERVICE_OIDC_CLIENT_SECRET", CLIENT_SECRET)
    monkeypatch.setenv("DATA_SERVICE_SESSION_SECRET", SECRET)

    @contextmanager
    def made(identity, clock):
        settings = Settings(
            url=service.url,
            cache_dir=tmp_path / "cache",
            public_url="https://addin.example",
            oidc_issuer=identity.url,
            oidc_client_id=CLIENT_ID,
            **RULES,
        )
        store = SqliteStore(tmp_path / "leases.sqlite")

        def machine():
            people = People(
                SqliteLedger(tmp_path / "config/dataservice-addin/ledger-1.sqlite"), SECRET.encode(), clock=clock
            )
            asked = Provider(identity.url, CLIENT_ID, CLIENT_SECRET, verify=True)
            return Rechecking(settings, asked, people, store, clock=clock)

        app = create_app(settings)
        app.state.backend.rechecking = None  # the machines made here ask, by the test's clock
        with running(app, listen("127.0.0.1", 0)) as url:
            yield url, machine

    return made


def sign_in(url):
    """Sign somebody in through the provider; a function that tells the status of their next request."""
    headers = {"x-forwarded-proto": "https", "host": "addin.example"}
    with httpx.Client() as http:
        begun = http.get(f"{url}/sign-in", headers=headers)
        back = http.get(begun.headers["location"]).headers["location"].partition("/signed-in")[2]
        kept = {**headers, "cookie": begun.headers["set-cookie"].split(";")[0]}
        ended = http.get(f"{url}/signed-in{back}", headers=kept)
    assert ended.status_code == 200, ended.text
    session = {**headers, "cookie": ended.headers.get_list("set-cookie")[0].split(";")[0]}
    return lambda: httpx.get(f"{url}/me", headers=session).status_code


async def signed_in(machine, identity, clock):
    """Date the grant of who has signed in by the test's clock."""
    [(person_id, grant)] = (await machine.people.grants()).items()
    assert grant.refresh_token == identity.refresh_token
    dated = type(grant)(grant.refresh_token, clock.now, clock.now)
    await machine.people.keep_grant(person_id, dated)


@pytest.mark.parametrize("identity_again", [True, False], ids=["by a token", "by userinfo"])
@pytest.mark.parametrize(
    "change",
    [{"groups": ["finance"]}, {"groups": ["sales"]}, {}, {"groups": ["chiefs"]}],
    ids=["who stays stays", "who left is out", "without groups out", "with another role out"],
)
async def test_who_is_out_of_the_group_is_out_when_it_is_time_to_ask(firm, change, identity_again):
    clock = Clock()
    with provider(sub="1", groups=["finance"]) as identity:
        identity.refresh_token, identity.identity_again = "offline", identity_again
        with firm(identity, clock) as (url, machine):
            status = sign_in(url)
            here, there = machine(), machine()
            await signed_in(here, identity, clock)
            identity.claims = {"sub": "1", **change}
            await here.round()
            assert (identity.asked_again, status()) == (0, 200), "it is not time yet"
            for _ in range(ROUNDS):
                clock.now += EVERY_S / ROUNDS
                await here.round()
                await there.round()
            stays = change == {"groups": ["finance"]}
            assert (identity.asked_again, status()) == (1, 200 if stays else 401)
            assert len(await here.people.grants()) == stays
            clock.now += EVERY_S
            await there.round()
            assert (identity.asked_again, status()) == (1 + stays, 200 if stays else 401)


async def test_who_is_disabled_at_the_provider_is_out_and_who_signs_in_again_is_in(firm):
    clock = Clock()
    with provider(sub="1", groups=["finance"]) as identity:
        identity.refresh_token = "offline"
        with firm(identity, clock) as (url, machine):
            status, here = sign_in(url), machine()
            await signed_in(here, identity, clock)
            identity.is_gone = True
            clock.now += EVERY_S
            await here.round()
            assert status() == 401
            identity.is_gone = False
            assert sign_in(url)() == 200
            assert status() == 401


async def test_while_the_provider_is_away_sessions_last_and_it_is_asked_once_it_is_back(firm):
    clock = Clock()
    with provider(sub="1", groups=["finance"]) as identity:
        identity.refresh_token = "offline"
        with firm(identity, clock) as (url, machine):
            status, here = sign_in(url), machine()
            await signed_in(here, identity, clock)
            identity.claims, identity.is_away = {"sub": "1"}, True
            clock.now += EVERY_S
            await here.round()
            assert status() == 200
            identity.is_away = False
            clock.now += EVERY_S / ROUNDS
            await here.round()
            assert status() == 401


async def test_one_machine_asks_at_a_time_and_a_grant_whose_sessions_have_ended_is_forgotten(firm):
    clock = Clock()
    with provider(sub="1", groups=["finance"]) as identity:
        identity.refresh_token = "offline"
        with firm(identity, clock) as (url, machine):
            sign_in(url)
            here, there = machine(), machine()
            await signed_in(here, identity, clock)
            clock.now += EVERY_S
            assert await there.store.lease("people-recheck", "another machine", 60.0)
            await here.round()
            assert identity.asked_again == 0
            await there.store.release("people-recheck", "another machine")
            await here.round()
            assert identity.asked_again == 1
            clock.now += 3_600 * here.settings.session_hours
            await there.round()
            assert (identity.asked_again, await there.people.grants()) == (1, {})


async def test_a_provider_without_refresh_tokens_is_not_asked_again(firm):
    clock = Clock()
    with provider(sub="1", groups=["finance"]) as identity, firm(identity, clock) as (url, machine):
        status, here = sign_in(url), machine()
        assert await here.people.grants() == {}
        clock.now += EVERY_S
        await here.round()
        assert (identity.asked_again, status()) == (0, 200)
