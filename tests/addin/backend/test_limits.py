"""Every limit is met with a sentence that names it, before any work is done; and the backend goes on."""

import asyncio
import threading
from contextlib import ExitStack

import orjson
import pytest
from starlette.exceptions import HTTPException

from addin.backend.limits.accounts import MemoryBudget
from addin.backend.state import BackendState, RecentCalls
from addin.config.api_key import KeyStore, no_keychain
from addin.config.settings import Settings
from addin.protocol.batch import Ready, ResponseCache
from tests.addin.backends import backend_of
from tests.attack.pages.large_posts import Health, bodies

JSON = {"content-type": "application/json"}
GOOD = ["INDEX", "risk-dial"]


def posted(backend, body, path="/functions/call", **headers):
    return backend.http.post(path, content=body, headers={**JSON, **headers})


@pytest.mark.parametrize("path", ["/functions/call", "/functions/cost"])
def test_too_many_values_are_refused_with_the_limit(service, tmp_path, path):
    with backend_of(service, tmp_path, max_values=1_000) as backend:
        for body in (b'{"calls":[' + b"0," * 2_000 + b"0]}", b'{"calls":[["SIGNAL",[[' + b"NaN," * 2_000 + b"0]]]]}"):
            response = posted(backend, body, path)
            assert response.status_code == 413
            assert "max_values" in response.json()["error"]


def test_too_many_cells_in_one_formula_are_an_error_of_that_formula_alone(service, tmp_path):
    with backend_of(service, tmp_path, max_cells=100) as backend:
        good, bad = backend.batch(GOOD, ["SIGNAL", [["us-cpi"]] * 101])["answers"]
    assert "value" in good
    assert bad["error"] == "#VALUE!"
    assert "101 values, more than 100 in one formula (setting max_cells)" in bad["message"]


def test_a_text_that_no_cell_can_hold_is_an_error_of_that_formula_alone(sample_backend):
    good, bad, nested = sample_backend.batch(GOOD, ["SIGNAL", "x" * 40_000], ["SIGNAL", [["y" * 40_000]]])["answers"]
    assert "value" in good
    assert bad["message"] == nested["message"] == "a text of 40,000 characters is longer than a cell can hold (32,767)"


def test_a_call_of_many_bytes_is_not_even_read(service, tmp_path):
    with backend_of(service, tmp_path) as backend:
        (answer,) = backend.batch(["SIGNAL", "x" * 5_000_000])["answers"]
    assert "5,000,0" in answer["message"]


def test_answers_beyond_their_limit_say_so_in_their_cells(service, tmp_path):
    with backend_of(service, tmp_path, max_batch_bytes=20_000) as backend:
        for _ in range(2):  # evaluated, then from memory
            answers = backend.batch(*[["SIGNAL_HISTORY", "us-10y", "N100"]] * 30)["answers"]
            assert answers[0]["rows"] == 100
            assert "max_batch_bytes" in answers[-1]["message"]
            assert len(orjson.dumps(answers)) < 30_000


def test_a_body_that_does_not_arrive_is_given_up(service, tmp_path):
    def slow():
        yield b'{"calls":'
        assert threading.Event().wait(0.6) is False  # the caller takes its time
        yield b"[]}"

    with backend_of(service, tmp_path, receive_timeout_s=0.2) as backend:
        response = posted(backend, slow())
    assert response.status_code == 408
    assert "receive_timeout_s" in response.json()["error"]


def test_what_other_requests_hold_is_refused_at_once_and_given_back():
    budget = MemoryBudget(1_600)
    with budget.account("10.0.0.1") as first:
        first.grow(80)
        with pytest.raises(HTTPException) as caught, budget.account("10.0.0.1") as second:
            second.grow(30)
        assert caught.value.status_code == 503
        with budget.account("10.0.0.2") as elsewhere, budget.account("10.0.0.3") as other:
            elsewhere.grow(100)
            other.pay_as("another key", is_only=False)
            other.grow(1)
            first.pay_as("a key", is_only=False)
            first.grow(700)
            with pytest.raises(HTTPException):
                first.grow(1_000)
            with budget.account("10.0.0.1") as third:
                third.grow(100)
        assert budget.held == first.held == 780, "given back at the end of each"
    assert budget.held == 0


async def test_what_finds_no_room_waits_its_turn_within_its_share_and_for_so_long():
    budget = MemoryBudget(1_600)
    with budget.account("10.0.0.1") as first, budget.account("10.0.0.2") as second, budget.account("10.0.0.3") as third:
        for number, account in enumerate((first, second, third)):
            account.pay_as(f"key {number}", is_only=False)
        first.grow(800)
        second.grow(600)
        waiting = asyncio.ensure_future(third.grow_in_turn(300))
        await asyncio.sleep(0)
        with pytest.raises(HTTPException):
            await third.grow_in_turn(200, within_s=0.0)
        with pytest.raises(HTTPException):
            await second.grow_in_turn(300)  # more than its share, however long it waits
        assert not waiting.done()
        first.shrink(300)
        await waiting
        assert (third.held, budget.held) == (300, 1_400)
    assert budget.held == 0


async def test_of_those_who_wait_for_room_only_some_may_hold_much():
    budget = MemoryBudget(1_600)
    with budget.account("10.0.0.1") as first, budget.account("10.0.0.2") as second, budget.account("10.0.0.3") as third:
        for number, account in enumerate((first, second, third)):
            account.pay_as(f"key {number}", is_only=False)
        first.grow(800)
        second.grow(450)
        third.grow(100)
        with pytest.raises(HTTPException):
            await second.grow_in_turn(300)


def test_where_large_requests_of_several_keys_fill_the_room_a_small_one_still_fits():
    budget = MemoryBudget(6_400)
    with ExitStack() as stack:
        accounts = [stack.enter_context(budget.account("office")) for _ in range(5)]
        for number, account in enumerate(accounts):
            account.pay_as(f"key {number}", is_only=False)
        *large, small, next_one = accounts
        for account in large[:2]:
            account.grow(2_700)
        with pytest.raises(HTTPException):
            large[2].grow(300)
        small.grow(100)
        next_one.grow(100)
        with pytest.raises(HTTPException):
            small.grow(1)


async def test_what_a_key_has_pending_shares_its_part_with_its_other_requests(service, tmp_path):
    settings = Settings(url=service.url, cache_dir=tmp_path, per_user_keys=True, requests_bytes=1_000)
    keys = KeyStore(settings.url, open_keychain=no_keychain, file=tmp_path / "keys.json")
    backend = BackendState(settings, keys, None)
    async with backend.tenant(service.key) as tenant:
        await tenant.client.quota()
        with backend.memory.account("office") as unread, backend.memory.account("office") as asking:
            for account in (unread, asking):
                account.pay_as("ada", is_only=False)
            asking.hold(300)
            assert backend.has_room_to_load(tenant, asking, 10**6)
            unread.hold(200)
            assert backend.has_room_to_load(tenant, asking, 300)
            assert not backend.has_room_to_load(tenant, asking, 301)
    await backend.aclose()


def test_a_request_that_is_alone_fits_however_large_its_own_limits_allow_it_to_be():
    budget = MemoryBudget(1_600)
    with budget.account("10.0.0.1") as alone:
        alone.pay_as("a key", is_only=False)
        alone.grow(5_000)
        with budget.account("10.0.0.2") as other:
            other.pay_as("another key", is_only=False)
            with pytest.raises(HTTPException):
                other.grow(1)
    assert budget.held == 0


def test_the_memory_of_answers_counts_their_calls():
    cache = ResponseCache(10_000)
    for number in range(100):
        cache.put(b"x" * 1_000 + b"%d" % number, Ready(b"{}", 1.0))
    assert cache.held_bytes <= 10_000
    assert len(cache) == 8
    cache.put(b"y" * 20_000, Ready(b"{}", 1.0))
    assert len(cache) == 8


def test_the_calls_remembered_for_the_background_refresh_are_bounded():
    recent = RecentCalls(max_bytes=10_000)
    for number in range(100):
        recent.add([b"%04d" % number + b"x" * 996], now=float(number))
    assert recent.held_bytes == 10_000
    assert recent.at(99.0)[-1].startswith(b"0099")


@pytest.mark.parametrize("name", [name for name in bodies(1) if "cells" not in name])
def test_a_large_post_of_any_shape_holds_nobody_up(sample_backend, name):
    health = Health(sample_backend.url)
    with health.watched():
        response = posted(sample_backend, bodies(8_000_000)[name]())
    assert response.status_code in (200, 400, 413)
    assert health.failed == 0
    assert health.worst_s < 2.0  # a few hundredths by itself; this machine may be busy with other tests
