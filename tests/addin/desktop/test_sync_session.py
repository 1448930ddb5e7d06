"""A session that waits: any thread, one client, and every call ends."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest

from addin.config.settings import Settings
from addin.desktop.sync_session import SyncSession
from addin.errors import SettingsError
from dataservice.client import AsyncClient
from udfs.engine.session import Call, Session
from udfs.errors import CellError, ErrorCode


@pytest.fixture
def waiting(service, tmp_path):
    """Return a waiting session with a Pro key, closed at the end."""
    made = waiting_for(service)
    yield made
    made.close()


def waiting_for(service, **settings):
    @asynccontextmanager
    async def connect(settings):
        async with AsyncClient(settings.url, service.key, deadline_s=settings.deadline_s) as client:
            yield Session(client)

    return SyncSession(connect, settings=lambda: Settings(url=service.url, **settings))


def test_many_threads_share_one_client_and_one_request(waiting, service):
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(waiting.answer, [Call("SIGNAL", ["us-cpi"])] * 16))
    assert len({outcome.result for outcome in outcomes}) == 1
    assert sum(outcome.requests for outcome in outcomes) == service.store.usage(service.key) == 1


def test_a_cell_ends_at_the_deadline_and_the_value_is_there_later(service):
    slow = waiting_for(service, deadline_s=0.05)
    service.running.latency_s = 0.3
    assert slow.answer(Call("SIGNAL", ["us-cpi"])).result.message.startswith("the service did not answer (no answer")
    slow.close()


def test_a_connection_that_never_opens_ends_too(service):
    opened = threading.Event()

    @asynccontextmanager
    async def stuck(settings):
        await asyncio.get_running_loop().run_in_executor(None, opened.wait)
        yield None

    session = SyncSession(stuck, settings=lambda: Settings(url=service.url, deadline_s=0.05), grace_s=0.05)
    try:
        assert "no answer within 0.05 s" in session.answer(Call("SIGNAL", ["us-cpi"])).result.message
    finally:
        opened.set()
        session.close()


def test_settings_that_cannot_be_used_are_the_message_of_the_cell_until_they_can(service):
    tries = iter([SettingsError("ttl_s = 'x' cannot be used"), Settings(url=service.url)])

    def settings():
        found = next(tries)
        if isinstance(found, Exception):
            raise found
        return found

    @asynccontextmanager
    async def connect(settings):
        async with AsyncClient(settings.url, service.key) as client:
            yield Session(client)

    session = SyncSession(connect, settings=settings)
    call = Call("SIGNAL", ["us-cpi"])
    assert session.answer(call).result == CellError(ErrorCode.NA, "ttl_s = 'x' cannot be used")
    assert isinstance(session.answer(call).result, float)
    session.close()


def test_a_refresh_asks_anew_only_when_forced(waiting, service):
    waiting.answer(Call("SIGNAL", ["us-cpi"]))
    waiting.refresh(force=True)
    assert waiting.answer(Call("SIGNAL", ["us-cpi"])).requests == 1
    assert service.store.usage(service.key) == 2


def test_after_closing_a_call_still_ends_in_an_error_of_its_cell(waiting):
    waiting.close()
    waiting.close()
    assert isinstance(waiting.answer(Call("SIGNAL", ["us-cpi"])).result, CellError)
