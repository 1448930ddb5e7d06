"""A firm's own xlwings Server: its event loop goes on while the service is slow."""

import asyncio
import inspect
import time
from contextlib import asynccontextmanager

import pytest

from addin.config.settings import Settings
from addin.desktop import xlwings_server
from addin.desktop.functions import async_functions, error_code
from addin.desktop.sync_session import SyncSession
from dataservice.client import AsyncClient
from udfs import REGISTRY
from udfs.engine.session import Session


@pytest.fixture
def functions(service):
    """Return the functions as xlwings Server finds them, with a Pro key."""

    @asynccontextmanager
    async def connect(settings):
        async with AsyncClient(settings.url, service.key) as client:
            yield Session(client)

    session = SyncSession(connect, settings=lambda: Settings(url=service.url))
    yield async_functions(session.answer_meanwhile, show_error=error_code)
    session.close()


def test_the_module_offers_every_function_as_a_coroutine_with_its_arguments():
    for name in REGISTRY:
        function = getattr(xlwings_server, name)
        assert inspect.iscoroutinefunction(function)
        assert len(inspect.signature(function).parameters) == len(REGISTRY[name].parameters)


async def test_slow_answers_arrive_side_by_side_and_the_servers_loop_goes_on(functions, service):
    service.running.latency_s = 1.0
    slugs = ("us-cpi", "us-10y", "sp-500", "wb.gold", "cboe.vix")
    began, turns = time.perf_counter(), 0
    answers = asyncio.gather(*(functions["SIGNAL"]([[slug]]) for slug in slugs))
    while not answers.done():
        turns += 1
        await asyncio.wait({answers}, timeout=0.01)
    assert all(isinstance(value, float) for value in answers.result())
    assert time.perf_counter() - began < 4.0  # one after the other they take 5 s
    assert turns > 10


async def test_the_error_of_another_cell_is_passed_on_and_asks_nothing(functions, service):
    assert await functions["SIGNAL"]([["#REF!"]]) == "#REF!"
    assert service.running.request_count == 0


async def test_what_cannot_be_loaded_is_an_error_in_the_cell():
    def settings():
        raise ValueError("no")

    session = SyncSession(settings=settings)
    assert (await async_functions(session.answer_meanwhile, show_error=error_code)["SIGNAL"]("us-cpi")).startswith(
        "#N/A"
    )
    session.close()
