"""Sign-in by OpenID Connect: nobody gets anything without it, everybody their own, and admins see who spent what."""

import re
import sqlite3
from contextlib import ExitStack, closing, contextmanager

import httpx
import pytest

from addin.backend import create_app
from addin.backend.sign_in.person import person_of
from addin.config.settings import load_settings
from addin.errors import SettingsError
from tests.addin.backend.sign_in.identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    backend_with_sign_in,
    new_key,
    provider,
)

CALLS = {"calls": [["SIGNAL", "us-cpi"]]}
SESSION = "__Host-dataservice-session"


@pytest.fixture
def signed(service, tmp_path, monkeypatch):
    """Return a function that runs a backend with sign-in, and gives a maker of browsers."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("DATA_SERVICE_OIDC_CLIENT_SECRET", CLIENT_SECRET)

    @contextmanager
    def backend(identity, **settings):
        with ExitStack() as stack:
            url = stack.enter_context(backend_with_sign_in(service, tmp_path, identity, **settings))
            yield lambda: stack.enter_context(httpx.Client(base_url=url, verify=False, timeout=30))

    return backend


def sign_in(browser):
    """Follow the way to the provider and back, as a browser does."""
    return browser.get("/sign-in", follow_redirects=True)


def test_without_a_session_nothing_is_shown_or_spent_and_pages_say_where_to_sign_in(service, signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        stranger = browser()
        for method, path in (("POST", "/functions/call"), ("GET", "/status"), ("GET", "/people"), ("GET", "/me")):
            answer = stranger.request(method, path, json=CALLS if method == "POST" else None)
            assert (answer.status_code, answer.json()["kind"]) == (401, "sign_in")
            assert answer.json()["error"].endswith("/sign-in")
        for page in ("/health", "/taskpane.html", "/refresh.js", "/functions.json", "/manifest.xml"):
            assert stranger.get(page).status_code == 200
        forged = {"cookie": f"{SESSION}=gAAAAABforged"}
        assert stranger.get("/status", headers=forged).status_code == 401
    assert service.running.request_count == 0


def test_who_signs_in_stores_a_key_once_and_is_answered_with_it_from_then_on(service, signed, tmp_path):
    with provider(sub="1", name="Ada <b>") as identity, signed(identity) as browser:
        ada = browser()
        done = sign_in(ada)
        assert (done.status_code, "signed in as Ada &lt;b&gt;" in done.text) == (200, True)
        cookie = next(each for each in done.headers.get_list("set-cookie") if each.startswith(SESSION))
        for word in ("Secure", "HttpOnly", "SameSite=None", "Partitioned", "Path=/"):
            assert word in cookie
        assert ada.get("/me").json() == {"name": "Ada <b>", "role": "user", "key": None}
        assert ada.post("/me/key", json={"key": service.key}).json()["key"] == service.key[-4:]
        answer = ada.post("/functions/call", json=CALLS).json()
        assert (answer["answers"][0]["value"] > 0, answer["requests"]) == (True, 1)
        assert ada.get("/people").json()["people"][0]["requests"] == 1
    with closing(sqlite3.connect(tmp_path / "cache" / "shelf-1.sqlite")) as file:
        kept = repr(list(file.iterdump()))
    assert service.key not in kept
    assert "Ada" not in kept


def test_who_signed_in_without_a_key_does_not_spend_one_that_was_left_on_the_server(service, signed, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", service.key)
    with provider(sub="1") as identity, signed(identity) as browser:
        ada = browser()
        sign_in(ada)
        assert ada.post("/functions/call", json=CALLS).json()["answers"][0]["message"].startswith("no API key")
    assert service.running.request_count == 0


def test_people_see_their_own_usage_and_admins_everybodys_and_only_they_can_stop_others(service, signed):
    rules = {"oidc_admins": "groups=chiefs", "oidc_users": "groups=finance"}
    with provider(sub="1", name="Ada", groups=["finance"]) as identity, signed(identity, **rules) as browser:
        ada, bob, eve, bot = browser(), browser(), browser(), browser()
        sign_in(ada)
        ada.post("/me/key", json={"key": service.key})
        ada.post("/functions/call", json=CALLS)
        identity.claims = {"sub": "2", "name": "Bob", "groups": ["chiefs"]}
        sign_in(bob)
        identity.claims = {"sub": "3", "name": "Eve", "groups": ["others"]}
        assert sign_in(eve).status_code == 403
        assert eve.get("/me").status_code == 401
        own, all_of_them = ada.get("/people").json()["people"], bob.get("/people").json()["people"]
        assert [(row["name"], row["requests"], row["has_key"]) for row in own] == [("Ada", 1, True)]
        assert [row["name"] for row in all_of_them] == ["Ada", "Bob"]
        assert "<td>Ada<td>user<td>1" in bob.get("/people", headers={"accept": "text/html"}).text
        assert (ada.get("/metrics").status_code, bob.get("/metrics").status_code) == (403, 200)
        assert bot.get("/metrics").status_code == 200, "Prometheus on the same machine"
        stop = f"/people/{own[0]['id']}/stop"
        assert ada.post(f"/people/{all_of_them[1]['id']}/stop", json={}).status_code == 403
        assert bob.post("/people/nobody/stop", json={}).status_code == 404
        assert bob.post(stop, json={}, headers={"origin": "https://evil.example"}).status_code == 403
        assert bob.post(stop, content="{}", headers={"content-type": "text/plain"}).status_code == 415
        assert ada.get("/me").status_code == 200
        assert bob.post(stop, json={}).status_code == 200
        assert ada.get("/me").status_code == 401
        identity.claims = {"sub": "1", "name": "Ada", "groups": ["finance"]}
        sign_in(ada)
        assert ada.get("/me").json()["key"] is None


def test_a_session_is_taken_up_in_a_frame_that_has_cookies_of_its_own(signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        window, frame = browser(), browser()
        session = re.search(r'data-session="([^"]+)"', sign_in(window).text)[1]
        assert frame.post("/session", json={"session": session}).status_code == 200
        assert frame.get("/status").json()["person"] == {"name": "1", "role": "user", "key": None}
        assert frame.post("/session", json={"session": "made up"}).status_code == 403
        window.post("/sign-out", json={})
        assert frame.post("/session", json={"session": session}).status_code == 403


def test_signing_out_ends_every_session_of_the_person(signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        here, there = browser(), browser()
        for each in (here, there):
            sign_in(each)
            assert each.get("/me").status_code == 200
        assert here.post("/sign-out", json={}).status_code == 200
        assert (here.get("/me").status_code, there.get("/me").status_code) == (401, 401)
        sign_in(here)
        assert here.get("/me").status_code == 200


def test_another_role_ends_the_sessions_that_began_with_the_old_one(signed):
    rules = {"oidc_admins": "groups=chiefs", "oidc_users": "groups=finance"}
    with provider(sub="1", groups=["finance"]) as identity, signed(identity, **rules) as browser:
        user, admin, again, stranger = browser(), browser(), browser(), browser()
        sign_in(user)
        identity.claims = {"sub": "1", "groups": ["chiefs"]}
        sign_in(admin)
        assert (user.get("/me").status_code, admin.get("/me").json()["role"]) == (401, "admin")
        identity.claims = {"sub": "1", "groups": ["finance"]}
        sign_in(again)
        assert (admin.get("/me").status_code, again.get("/me").json()["role"]) == (401, "user")
        assert again.get("/people").json()["people"][0]["role"] == "user"
        identity.claims = {"sub": "1", "groups": ["left"]}
        assert sign_in(stranger).status_code == 403
        assert again.get("/me").status_code == 401


WRONG = [
    {"nonce": "another"},
    {"aud": "another"},
    {"aud": ["another"], "azp": CLIENT_ID},
    {"aud": [], "azp": CLIENT_ID},
    {"iss": "https://another.example"},
    {"exp": 1_000_000_000},
    {"sub": ""},
    {"sub": "half a character \ud800"},
    {"sub": ["1"]},
    {"sub": None},
]
"""Claims of tokens that are for somebody else, too old, or name nobody."""

ODD_COOKIES = ['consent={"ad":true}', "x=ä", "foo", 'a="', "=b", "a=b,c", "$Version=1", "x[1]=2"]


def test_a_token_that_is_not_for_this_sign_in_is_refused(signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        for wrong in WRONG:
            identity.wrong = wrong
            refused = browser()
            assert sign_in(refused).status_code == 403, wrong
            assert refused.get("/me").status_code == 401, wrong


def test_whatever_other_cookies_a_browser_sends_a_session_holds(signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        ada = browser()
        sign_in(ada)
        own = f"{SESSION}={ada.cookies[SESSION]}"
        for sent in (each for odd in ODD_COOKIES for each in (f"{odd}; {own}", f"{own}; {odd}")):
            ada.cookies.clear()
            assert ada.get("/me", headers={"cookie": sent.encode()}).status_code == 200, sent


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        ({"email": "boss@firm.example", "email_verified": True}, "admin"),
        ({"email": "boss@firm.example", "email_verified": False}, "user"),
        ({"email": "boss@firm.example"}, "user"),
        ({"email": {"boss@firm.example": 1}, "email_verified": True}, "user"),
        ({"name": "half a character \ud800", "groups": [None, {"a": 1}]}, "user"),
    ],
    ids=str,
)
def test_only_what_the_provider_has_verified_makes_an_admin(signed, claims, role):
    rules = {"oidc_admins": "email=boss@firm.example"}
    with provider(sub="1", **claims) as identity, signed(identity, **rules) as browser:
        somebody = browser()
        assert sign_in(somebody).status_code == 200
        assert somebody.get("/me").json()["role"] == role


def test_a_claim_that_is_missing_fits_no_rule():
    assert person_of({"sub": "1"}, users="groups=None", admins="") is None


def test_a_key_that_the_provider_withdrew_signs_nobody_in(signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        assert sign_in(browser()).status_code == 200
        identity.published = new_key()
        assert sign_in(browser()).status_code == 403
        identity.signing = identity.published
        assert sign_in(browser()).status_code == 200, "the provider's new key has the same name"


def test_a_token_signed_by_somebody_else_is_refused(signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        identity.signing = new_key()
        assert sign_in(browser()).status_code == 403


def test_a_way_back_that_did_not_begin_in_this_browser_is_refused(signed):
    with provider(sub="1") as identity, signed(identity) as browser:
        attacker, victim = browser(), browser()
        to_provider = attacker.get("/sign-in").headers["location"]
        way_back = httpx.get(to_provider).headers["location"]
        assert victim.get(way_back).status_code == 403
        assert SESSION not in victim.cookies


def test_a_provider_that_is_away_is_told(signed):
    with provider(sub="1") as identity:
        address = identity.url
    identity.url = address
    with signed(identity) as browser:
        told = browser().get("/sign-in")
        assert (told.status_code, "sign-in provider does not answer" in told.json()["error"]) == (503, True)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"oidc_client_id": ""}, "needs oidc_client_id"),
        ({"public_url": "http://a.example"}, "needs public_url"),
        ({"oidc_issuer": "login"}, "is not an address"),
        ({"oidc_issuer": "http://login.example"}, "must begin with https"),
        ({"oidc_admins": "chiefs"}, "is not a claim and its value"),
    ],
    ids=str,
)
def test_settings_that_cannot_work_are_refused_at_the_start(tmp_path, wrong, why):
    good = {"oidc_issuer": "https://login.example", "oidc_client_id": "x", "public_url": "https://a.example"}
    given = {**good, **wrong, "url": "https://data.example"}
    environ = {f"DATA_SERVICE_{name.upper()}": value for name, value in given.items()}
    with pytest.raises(SettingsError, match=why):
        create_app(load_settings(environ, tmp_path / "none.toml"))


def test_a_monitor_with_the_token_reads_the_metrics_and_nothing_else(signed, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_METRICS_TOKEN", "a token for the monitor")
    elsewhere = {"x-forwarded-for": "203.0.113.9"}
    with provider(sub="1") as identity, signed(identity) as browser:
        stranger = browser()
        for sent, status in (({}, 401), ({"authorization": "Bearer another"}, 401)):
            assert stranger.get("/metrics", headers=elsewhere | sent).status_code == status
        token = {"authorization": "Bearer a token for the monitor"}
        told = stranger.get("/metrics", headers=elsewhere | token)
        assert (told.status_code, "addin_ledger_up 1.0" in told.text, "addin_provider_up 1.0" in told.text) == (
            200,
            True,
            True,
        )
        assert stranger.get("/status", headers=elsewhere | token).status_code == 401
        ready = stranger.get("/ready").json()
        assert (ready["ledger"], ready["provider"]) == ("ok", "ok")
