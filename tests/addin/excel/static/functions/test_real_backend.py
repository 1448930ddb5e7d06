"""Our page, the real backend and a real service: from a call of Excel to the value in its cell."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from tests.addin.excel.parts.scripted_backend import HOST


@contextmanager
def excel_at(chromium, url):
    """A page of the backend's own origin, with the real scripts in a small stand-in for Excel."""
    with chromium.page(f"{url}/help") as tab:
        # Evaluated, not added: the backend's own policy allows no inline script.
        tab.evaluate(f"() => {{ {HOST} }}")
        tab.add_script(url=f"{url}/functions.js")
        tab.add_script(url=f"{url}/refresh.js")
        yield tab
    assert tab.errors == []


@pytest.fixture
def excel(chromium, backend):
    """Return a page that runs our functions against the real backend."""
    with excel_at(chromium, backend.url) as tab:
        yield tab


def test_a_signal_costs_one_request_for_all_its_cells(excel, service):
    cells = excel.evaluate(
        """Promise.all([
          call("SIGNAL", "us-cpi"), call("SIGNAL", "us-cpi", "name"), call("SIGNAL", "us-cpi", "observed_at"),
          call("SIGNAL_HISTORY", "us-cpi", "N5"),
        ])"""
    )
    assert [sorted(cell) for cell in cells] == [["value"]] * 4
    assert isinstance(cells[0]["value"][0][0], float)
    assert len(cells[3]["value"]) == 6
    assert service.running.request_count == 1


def test_the_cells_again_cost_neither_a_request_nor_a_batch(excel, service):
    excel.evaluate("call('SIGNAL', 'us-cpi')")
    spent = service.running.request_count
    excel.evaluate("Promise.all(Array(1000).fill().map(() => call('SIGNAL', 'us-cpi')))")
    assert excel.evaluate("DataServiceAddin.totals") == {"calls": 1001, "remembered": 1000, "batches": 1}
    assert service.running.request_count == spent


def test_an_unknown_name_in_a_hundred_cells_costs_one_request_besides_the_catalogue(excel, service):
    cells = excel.evaluate("Promise.all(Array(100).fill().map(() => call('SIGNAL', 'no.such.signal')))")
    assert {cell["error"] for cell in cells} == {"#N/A"}
    assert "no signal 'no.such.signal'" in cells[0]["message"]
    assert service.running.request_count <= 2


def test_a_wrong_argument_says_so_without_a_request(excel, service):
    told = excel.evaluate("call('WIRE', null, 'gossip')")
    assert told["error"] == "#VALUE!"
    assert "gossip" in told["message"]
    assert service.running.request_count == 0


def test_names_by_fields_spill_with_blanks_and_errors_in_their_own_cells(excel):
    cells = excel.evaluate("call('SIGNAL', [['us-cpi'], [0], ['no.such.signal']], [['value', 'unit']])")["value"]
    assert [len(row) for row in cells] == [2, 2, 2]
    assert isinstance(cells[0][0], float)
    assert cells[1] == ["", ""]
    assert cells[2] == [{"type": "Error", "errorType": "NotAvailable"}] * 2


@contextmanager
def backend_process(service, folder):
    """A backend as users start it, in a process of its own that can be killed."""
    (folder / "config.toml").touch()
    given = {
        "DATA_SERVICE_URL": service.url,
        "DATA_SERVICE_API_KEY": service.key,
        "DATA_SERVICE_CACHE_DIR": str(folder),
        "DATA_SERVICE_CONFIG": str(folder / "config.toml"),
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "addin.cli.main", "serve", "--http", "--port", "0"]
    with subprocess.Popen(command, env={**os.environ, **given}, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.kill()


def test_a_backend_killed_in_the_middle_of_a_batch_leaves_no_cell_waiting(chromium, service, tmp_path):
    service.running.latency_s = 30
    with backend_process(service, tmp_path) as (process, url), excel_at(chromium, url) as tab:
        tab.evaluate("() => { globalThis.told = Promise.all(['a.x', 'b.x'].map((slug) => call('SIGNAL', slug))); }")
        while service.running.request_count == 0:
            tab.evaluate("new Promise((go) => setTimeout(go, 10))")
        process.kill()
        told = tab.evaluate("told")
        assert {cell["error"] for cell in told} == {"#N/A"}
        assert "start it with: addin serve" in told[0]["message"]
        service.running.latency_s = 0
    with backend_process(service, tmp_path) as (_, url), excel_at(chromium, url) as tab:
        assert "value" in tab.evaluate("call('SIGNAL', 'us-cpi')")


def test_a_page_of_another_origin_gets_nothing_and_spends_nothing(chromium, backend, scripted, service):
    attack = """(url) => fetch(`${url}/functions/call`, {
      method: "POST", headers: { "content-type": "application/json" }, body: '{"calls":[["SIGNAL","us-cpi"]]}',
    }).then((response) => response.status, (error) => error.message)"""
    plain = attack.replace("application/json", "text/plain")
    with chromium.page(f"{scripted.url}/blank") as tab:
        assert tab.evaluate(attack, backend.url) == "Failed to fetch"
        assert tab.evaluate(plain, backend.url) == "Failed to fetch"
        assert tab.evaluate(plain.replace("headers", "mode: 'no-cors', headers"), backend.url) == 0
        assert tab.evaluate("(url) => fetch(`${url}/status`).catch((e) => e.message)", backend.url) == "Failed to fetch"
    assert service.running.request_count == 0


def test_a_name_that_is_not_the_backends_gets_nothing(backend, service):
    for path, content in (("/status", None), ("/functions.js", None), ("/functions/call", {"calls": [["INDICES"]]})):
        response = httpx.request(
            "POST" if content else "GET", f"{backend.url}{path}", json=content, headers={"host": "evil.example"}
        )
        assert response.status_code == 421
        assert set(response.json()) == {"error"}
    assert service.running.request_count == 0


def test_functions_can_be_read_by_excel_on_the_web_from_its_own_origin(chromium, backend, scripted):
    read = "(url) => fetch(url).then((response) => response.text()).then((text) => text.length > 100)"
    with chromium.page(f"{scripted.url}/blank") as tab:
        assert tab.evaluate(read, f"{backend.url}/functions.json") is True
        assert tab.evaluate(read, f"{backend.url}/functions.js") is True


def test_a_refresh_by_force_asks_the_service_again(excel, service):
    excel.evaluate("call('SIGNAL', 'us-cpi')")
    before = service.running.request_count
    excel.evaluate("DataServiceAddin.ask('refresh', { mode: 'force' })")
    excel.evaluate("(DataServiceAddin.forget(), call('SIGNAL', 'us-cpi'))")
    assert service.running.request_count == before + 1


def test_the_cost_of_the_cells_is_known_before_it_is_spent(excel, service):
    excel.evaluate("Promise.all([call('SIGNAL', 'us-cpi'), call('INDEX', 'nothing')])")
    cost = excel.evaluate("DataServiceAddin.backend.cost([['SIGNAL', 'us-cpi'], ['INDEX', 'nothing']])")
    assert (cost["calls"], cost["requests"]) == (2, 0)
    assert cost["quota"]["remaining"] > 0
