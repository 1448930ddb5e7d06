"""Users with keys of their own: made-up keys evict nobody, and nobody without a key learns of others."""

import asyncio
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from addin.backend.limits.new_keys import NewKeys
from addin.backend.tenants import IDLE_S, MAX_UNPROVEN_OF_ADDRESS, UserTenants
from addin.config.settings import Settings
from tests.addin.backends import backend_of

CALL = ["SIGNAL", "us-cpi"]
HTTPS = {"X-Forwarded-Proto": "https"}


def random_key():
    return "ds_" + secrets.token_hex(20)


def as_user(backend, key, *calls, **headers):
    return backend.http.post(
        "/functions/call",
        json={"calls": list(calls or [CALL])},
        headers={"X-Data-Service-Key": key, **HTTPS, **headers},
    )


def test_two_hundred_and_fifty_made_up_keys_evict_nobody(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True, max_users=2, max_new_keys=1_000) as backend:
        before = [as_user(backend, key).json()["generation"] for key in (service.key, service.free_key)]
        for _ in range(250):
            answer = as_user(backend, random_key()).json()["answers"][0]
            assert answer["message"].startswith("the key was refused")
        after = [as_user(backend, key).json()["generation"] for key in (service.key, service.free_key)]
    assert after == before  # a tenant that is opened again has another generation


def test_made_up_keys_from_one_address_are_refused_for_a_while(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True, max_new_keys=5) as backend:
        statuses = [as_user(backend, random_key()).status_code for _ in range(8)]
        refused = as_user(backend, random_key())
        assert statuses == [200] * 5 + [429] * 3
        assert "max_new_keys" in refused.json()["error"]
        assert int(refused.headers["retry-after"]) <= 12
        elsewhere = as_user(backend, service.key, **{"X-Forwarded-For": "203.0.113.7"})
        assert "value" in elsewhere.json()["answers"][0]


def test_an_office_behind_one_address_opens_its_books_at_once(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True, max_new_keys=3) as backend:
        for _ in range(10):
            assert "value" in as_user(backend, service.store.create_key("pro")).json()["answers"][0]


def test_a_large_batch_with_a_made_up_key_is_refused_before_it_is_read(service, tmp_path):
    large = ["SIGNAL", [["x" * 30_000]] * 40]
    with backend_of(service, tmp_path, key="", per_user_keys=True) as backend:
        refused = as_user(backend, random_key(), large)
        assert refused.status_code == 401
        assert refused.json()["error"].startswith("the key was refused")
        assert backend.http.post("/functions/call", json={"calls": [large]}).status_code == 401
        assert as_user(backend, service.key, large).status_code == 200


def test_without_a_key_nobody_learns_what_others_asked_for(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True) as backend:
        assert backend.batch(["SIGNAL", "my-secret-idea"])["answers"][0]["message"].startswith("no API key")
        told = (
            backend.http.get("/status").text + backend.http.post("/functions/call", json={"calls": [["STATUS"]]}).text
        )
    assert "my-secret-idea" not in told


def test_memory_for_all_users_is_bounded_by_closing_the_least_recently_active(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True, max_users_bytes=1, max_new_keys=99) as backend:
        first = as_user(backend, service.key).json()["generation"]
        assert "value" in as_user(backend, service.free_key).json()["answers"][0]
        again = as_user(backend, service.key).json()
    assert again["generation"] != first
    assert "value" in again["answers"][0]  # from the store: nothing known is lost
    assert service.store.usage(service.key) == 1


def test_a_key_that_was_left_on_the_server_is_spent_by_nobody_where_users_have_their_own(service, tmp_path):
    with backend_of(service, tmp_path, per_user_keys=True, background_refresh=True) as backend:
        for pending in ("", "?pending=yes"):
            answers = backend.http.post(f"/functions/call{pending}", json={"calls": [CALL, ["QUOTA"]]}).json()
            assert answers["answers"][0]["message"].startswith("no API key")
            assert (answers["requests"], answers["quota"]) == (0, None)
        told = backend.http.get("/status").json()
        assert told["key"] == {"set": False, "source": "none", "id": None}
        assert backend.http.post("/refresh", json={"mode": "force"}).json()["quota"] is None
    assert service.running.request_count == 0


@pytest.mark.parametrize("host", ["localhost", "addin.example.com"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/key"), ("DELETE", "/key"), ("POST", "/key/test")])
def test_one_key_for_all_cannot_be_changed_over_the_network(service, tmp_path, method, path, host):
    with backend_of(service, tmp_path, public_url="https://addin.example.com") as backend:
        content = {"json": {"key": service.free_key}} if method == "POST" else {}
        refused = backend.http.request(method, path, headers={"host": host}, **content)
        assert refused.status_code == 403
        assert "addin key set" in refused.json()["error"]
        assert "value" in backend.batch(CALL)["answers"][0]


@pytest.mark.parametrize(
    "headers", [{"X-Forwarded-For": "203.0.113.7"}, {"Via": "1.1 proxy"}, {"host": "other.example"}]
)
def test_the_key_of_one_users_backend_is_changed_from_that_machine_only(service, tmp_path, headers):
    with backend_of(service, tmp_path, allowed_hosts=("other.example",)) as backend:
        assert backend.http.delete("/key", headers=headers).status_code == 403
        assert backend.http.get("/status").json()["key"]["set"] is True


class Allowances(RuleBasedStateMachine):
    """Keys of one address over time, beside a plain count."""

    def __init__(self):
        super().__init__()
        self.now, self.keys, self.admitted = 0.0, NewKeys(per_minute=6), []

    @rule(passed_s=st.floats(0, 90))
    def wait(self, passed_s):
        self.now += passed_s

    @rule()
    def send_unknown(self):
        if self.keys.wait_s("a", self.now) == 0:
            self.admitted.append(self.now)

    @rule()
    def wait_as_told(self):
        wait_s = self.keys.wait_s("a", self.now)
        if wait_s == 0:
            self.admitted.append(self.now)
        else:
            self.now += wait_s + 1e-6
            assert self.keys.wait_s("a", self.now) == 0
            self.admitted.append(self.now)

    @invariant()
    def never_more_than_twice_the_rate_within_a_minute(self):
        assert sum(then > self.now - 60 for then in self.admitted) <= 12


TestAllowances = Allowances.TestCase
TestAllowances.settings = hypothesis_settings(max_examples=30, stateful_step_count=40, deadline=None)


class SlowToClose:
    """A tenant whose closing lets others go first, as one with requests under way does."""

    proven, held_bytes = True, 1

    def __init__(self):
        self.users, self.used_at, self.is_closed, self.closings = 0, 0.0, False, 0

    @asynccontextmanager
    async def in_use(self):
        assert not self.is_closed
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1

    async def retire(self):
        self.closings += 1
        for _ in range(3):
            await asyncio.sleep(0)
        self.is_closed = True


async def test_idle_users_are_closed_once_though_several_come_back_at_the_same_time():
    opened, now = [], [0.0]

    def open_tenant(key):
        opened.append(SlowToClose())
        return opened[-1]

    users = UserTenants(Settings(max_users=100, max_new_keys=10**6), open_tenant, clock=lambda: now[0])

    async def use(key):
        async with users.tenant(key, "10.0.0.1") as tenant:
            assert not tenant.is_closed

    for number in range(10):
        await use(f"idle {number}")
    now[0] = 2 * IDLE_S
    await asyncio.gather(*(use(f"new {number}") for number in range(4)))
    assert [tenant.is_closed for tenant in opened] == [True] * 10 + [False] * 4
    assert [tenant.closings for tenant in opened] == [1] * 10 + [0] * 4
    assert len(users) == 4


async def test_one_address_takes_only_half_of_the_places_for_keys_that_are_new():
    class Unproven(SlowToClose):
        proven = False

    users = UserTenants(Settings(max_new_keys=1_000), lambda _: Unproven())
    async with AsyncExitStack() as under_way:
        for n in range(MAX_UNPROVEN_OF_ADDRESS):
            await under_way.enter_async_context(users.tenant(f"made up {n}", "198.51.100.1"))
        with pytest.raises(HTTPException) as refused:
            await under_way.enter_async_context(users.tenant("one more", "198.51.100.1"))
        assert (refused.value.status_code, "retry-after" in refused.value.headers) == (503, True)
        await under_way.enter_async_context(users.tenant("a new user's", "203.0.113.7"))


async def test_a_key_is_known_as_soon_as_the_service_has_accepted_it_though_nobody_asks_meanwhile():
    class New(SlowToClose):
        proven = False

    tenant = New()
    users = UserTenants(Settings(), lambda _: tenant)
    async with users.tenant("new", "203.0.113.7"):
        assert not users.knows("new")
    tenant.proven = True  # what it had asked for has come since
    assert users.knows("new")


async def test_who_left_while_there_was_no_place_for_their_new_key_gets_none():
    class Unproven(SlowToClose):
        proven = False

    async def has_left():
        return True

    users = UserTenants(Settings(max_new_keys=1_000), lambda _: Unproven())
    async with AsyncExitStack() as under_way:
        for n in range(MAX_UNPROVEN_OF_ADDRESS):
            await under_way.enter_async_context(users.tenant(f"made up {n}", "198.51.100.1"))
        with pytest.raises(ClientDisconnect):
            await under_way.enter_async_context(users.tenant("gone", "198.51.100.1", has_left))
        assert len(users) == MAX_UNPROVEN_OF_ADDRESS


async def test_an_office_that_opens_its_books_at_nine_from_one_address_waits_and_is_told_what_it_spent(
    service, tmp_path
):
    keys = [service.store.create_key("pro") for _ in range(12)]
    calls = [["SIGNAL", "us-cpi", "value", f"2020-{month:02}-01"] for month in range(1, 13)] * 4
    room = {"requests_bytes": 2 * 1024**2, "max_new_keys": 3}  # for one of these batches at a time, and three new keys
    with backend_of(service, tmp_path, key="", per_user_keys=True, **room) as backend:
        async with httpx.AsyncClient(base_url=backend.url, timeout=60) as http:
            sent = [
                http.post("/functions/call", json={"calls": calls}, headers={"X-Data-Service-Key": key, **HTTPS})
                for key in keys
            ]
            replies = [response.json() for response in await asyncio.gather(*sent)]
    assert [[answer for answer in reply["answers"] if "value" not in answer] for reply in replies] == [[]] * len(keys)
    assert [reply["requests"] for reply in replies] == [service.store.usage(key) for key in keys]


def held_bytes(backend):
    lines = backend.http.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith("addin_requests_bytes ")).split()[1])


def test_who_sends_slowly_from_an_address_keeps_no_room_from_a_key_that_the_service_accepts(service, tmp_path):
    began, may_end = threading.Event(), threading.Event()

    def slow():
        yield b'{"calls":[],"rest":"%s' % (b" " * (2**20 - 30))
        began.set()
        may_end.wait(60)
        yield b'"}'

    limits = {"requests_bytes": 2**24, "receive_timeout_s": 90}
    with backend_of(service, tmp_path, key="", per_user_keys=True, **limits) as backend:
        headers = {"X-Data-Service-Key": random_key(), **HTTPS, "Content-Type": "application/json"}
        with ThreadPoolExecutor() as pool:
            stranger = pool.submit(
                httpx.post, f"{backend.url}/functions/call", content=slow(), headers=headers, timeout=90
            )
            began.wait(60)
            while held_bytes(backend) < 2**20 - 10:
                pass  # until what the stranger has sent has arrived
            answered = as_user(backend, service.key)
            may_end.set()
            stranger.result()
    assert answered.status_code == 200
    assert "value" in answered.json()["answers"][0]
