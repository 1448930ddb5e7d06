"""Hosts in which nobody can be asked: more requests than `ask_above` are refused before the first, with what to do."""

from contextlib import asynccontextmanager, closing

import pytest

from addin.config.settings import Settings
from addin.desktop.sync_session import SyncSession
from addin.mcp.runner import ToolFailure, ToolRunner
from addin.mcp.tools import get_signal
from dataservice.client import AsyncClient
from tests.addin.commands import addin, environment
from udfs.engine.session import Call, Session
from udfs.errors import CellError

SLUGS = ["us-cpi", "us-10y", "wb.gold", "btc-usd", "sp-500", "fx.eur-usd"]
HISTORIES = [*SLUGS, "eia.wti.spot", "eth-usd", "cboe.vix"]
ADVICE = "to allow more than 3 at a time, set DATA_SERVICE_ASK_ABOVE"


def test_the_command_line_refuses_all_formulas_together(service, tmp_path):
    formulas = [f'=DS.SIGNAL("{slug}")' for slug in SLUGS]
    done = addin("eval", *formulas, environ=environment(tmp_path, service, ask_above="3"))
    assert done.returncode != 0
    assert f"not loaded: this needs 6 requests; ask for less, or {ADVICE}" in done.stdout + done.stderr
    assert service.running.request_count == 0
    allowed = addin("eval", *formulas, environ=environment(tmp_path, service, ask_above="6"))
    assert allowed.returncode == 0
    assert service.running.request_count == 6


def test_of_long_histories_a_few_are_read_and_the_rest_is_refused_with_what_it_needs(service, tmp_path):
    formulas = [f'=DS.SIGNAL_HISTORY("{slug}","MAX")' for slug in HISTORIES]
    done = addin("eval", *formulas, environ=environment(tmp_path, service, ask_above="20"))
    assert done.returncode != 0
    assert "not loaded: this needs about " in done.stdout + done.stderr
    spent = service.running.request_count
    assert len(HISTORIES) < 20 < spent + len(HISTORIES)
    assert spent <= 4 * 12
    allowed = addin("eval", *formulas, environ=environment(tmp_path, service, ask_above="1000"))
    assert allowed.returncode == 0


def desktop(service):
    @asynccontextmanager
    async def connect(settings):
        async with AsyncClient(settings.url, service.key) as client:
            yield Session(client)

    return closing(SyncSession(connect, settings=lambda: Settings(url=service.url, ask_above=3)))


def test_classic_desktop_excel_refuses_a_range(service):
    with desktop(service) as session:
        outcome = session.answer(Call("SIGNAL", [[[slug] for slug in SLUGS]]))
    assert all(ADVICE in row[0].message for row in outcome.result)
    assert service.running.request_count == 0


def test_classic_desktop_excel_refuses_what_many_cells_need_together(service):
    with desktop(service) as session:
        results = [session.answer(Call("SIGNAL", [slug])).result for slug in SLUGS]
    assert [type(result) for result in results] == [float] * 3 + [CellError] * 3
    assert all(ADVICE in result.message for result in results[3:])
    assert service.running.request_count == 3


@pytest.mark.parametrize("bound", [{}, {"max_requests": 5}], ids=["without a bound", "with a bound that allows it"])
async def test_an_agent_s_tool_refuses_what_is_not_wanted_unasked(service, bound):
    async with AsyncClient(service.url, service.key) as client:
        runner = ToolRunner(client, deadline_s=20, settings=Settings(url=service.url, ask_above=0))
        with pytest.raises(ToolFailure, match="to allow more than 0 at a time, set DATA_SERVICE_ASK_ABOVE"):
            await runner.answer(get_signal, {"slug": "us-cpi", **bound})
    assert service.running.request_count == 0
