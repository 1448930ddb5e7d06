"""The background refresh: what it reads again, and all that it leaves alone."""

import asyncio
import json
from contextlib import asynccontextmanager

from addin.backend.background_refresh import background_refresh, refresh_stale
from addin.backend.state import RECENT_S, BackendState, RecentCalls
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings

SHEET = [json.dumps(call).encode() for call in (["SIGNAL", "us-cpi"], ["INDEX", "risk-dial"], ["CURRENTS"], ["X"], 7)]
AT_ONCE_S = 1e-6  # so soon everything is stale


@asynccontextmanager
async def backend_on(service, folder, *, key=None, **settings):
    """A backend, not listening, to which the sheet was shown."""
    chosen = Settings(url=service.url, cache_dir=folder, ttl_s=AT_ONCE_S, **settings)
    keys = KeyStore(service.url, open_keychain=no_keychain, file=folder / "keys.json")
    backend = BackendState(chosen, keys, ConfiguredKey(key or service.key, KeySource.CONFIG))
    try:
        await backend.own.batches.answer(SHEET)
        service.running.forget_requests()
        yield backend
    finally:
        await backend.aclose()


async def test_what_went_stale_is_read_again_once_a_resource(service, tmp_path):
    async with backend_on(service, tmp_path) as backend:
        assert await refresh_stale(backend.own, SHEET * 2, backend.settings) == 3
    assert sorted(service.running.requests) == ["/v1/currents", "/v1/indices", "/v1/signals/us-cpi?history=365"]


async def test_what_was_never_known_is_not_asked_for(service, tmp_path):
    async with backend_on(service, tmp_path) as backend:
        assert await refresh_stale(backend.own, [b'["SIGNAL","no.such"]', b'["WIRE"]'], backend.settings) == 0
    assert service.running.request_count == 0


async def test_a_call_larger_than_one_formula_may_be_is_not_read_again(service, tmp_path):
    async with backend_on(service, tmp_path, max_cells=100) as backend:
        call = json.dumps(["SIGNAL", [["us-cpi"]] * 101]).encode()
        assert await refresh_stale(backend.own, [call], backend.settings) == 0
    assert service.running.request_count == 0


async def test_a_free_key_spends_nothing_in_the_background(service, tmp_path):
    async with backend_on(service, tmp_path, key=service.free_key) as backend:
        assert await refresh_stale(backend.own, SHEET, backend.settings) == 0
    assert service.running.request_count == 0


async def test_where_the_budget_does_not_suffice_for_all_nothing_is_read(service, tmp_path):
    async with backend_on(service, tmp_path, monthly_budget=5) as backend:
        assert await refresh_stale(backend.own, SHEET, backend.settings) == 0
        assert await refresh_stale(backend.own, SHEET[:2], backend.settings) == 2
    assert service.running.request_count == 2


async def test_while_the_service_is_down_the_last_known_values_stay(service, tmp_path):
    async with backend_on(service, tmp_path) as backend:
        service.running.stop()
        assert await refresh_stale(backend.own, SHEET, backend.settings) == 0
        answers = json.loads((await backend.own.batches.answer(SHEET[:2])).text)
    assert all("value" in answer and "stale" in answer for answer in answers)


async def rounds(backend, count):
    """Run the background refresh for so many rounds."""
    begun, enough = iter(range(count)), asyncio.Event()

    async def sleep(_):
        if next(begun, None) is None:
            enough.set()
            await asyncio.Event().wait()

    async with background_refresh(backend, sleep=sleep):
        await enough.wait()


async def test_every_round_renews_what_was_asked_lately(service, tmp_path):
    async with backend_on(service, tmp_path, background_refresh=True) as backend:
        await rounds(backend, 1)
        assert service.running.request_count == 0
        backend.recent_calls.add(SHEET[:1], backend.started_at)
        await rounds(backend, 2)
        assert (service.running.request_count, backend.requests_total) == (2, 2)


async def test_it_is_off_unless_the_user_turns_it_on(service, tmp_path):
    async with backend_on(service, tmp_path) as backend:
        assert not backend.settings.background_refresh
        async with background_refresh(backend):
            assert len(asyncio.all_tasks()) == 1


def test_what_nobody_asked_for_within_an_hour_is_forgotten():
    recent = RecentCalls()
    recent.add([b"old", b"both"], 0.0)
    recent.add([b"new", b"both"], 100.0)
    assert recent.at(RECENT_S) == [b"old", b"both", b"new"]
    assert recent.at(RECENT_S + 50) == [b"both", b"new"]
