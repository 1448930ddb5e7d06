"""What the task pane shows while cells load: how far they are, a way to stop, and the question before many requests."""

import pytest

from tests.addin.backends import backend_of
from tests.addin.excel.panes import opened
from tests.addin.excel.stand_in import OFFICE
from tests.addin.half_answers import REASONS, half_answers_of, is_told

SLUGS = ["us-cpi", "us-10y", "wb.gold", "btc-usd", "sp-500", "fx.eur-usd", "cboe.vix", "eth-usd"]

CALCULATE = """(slugs) => {
  slugs.forEach((slug, i) => book.put("Sheet1", `A${i + 1}`, { formula: `=DS.SIGNAL("${slug}")` }));
  return DataServiceRefresh.run().then(() => undefined);
}"""
SHOWN = "(count) => Array.from({ length: count }, (_, i) => book.cell('Sheet1', `A${i + 1}`).value)"


@pytest.fixture
def office():
    """Return a script in the place of office.js."""
    return OFFICE


def test_the_pane_asks_before_many_requests_and_a_yes_loads_the_cells(chromium, service, office, tmp_path):
    with backend_of(service, tmp_path, ask_above=5) as backend, opened(chromium, backend, office=office) as pane:
        pane.tab.evaluate(CALCULATE, SLUGS)
        pane.sees("Load these cells?")
        pane.sees("This needs 8 requests; more than 5 are sent only after a yes.")
        assert service.running.request_count == 0
        assert set(pane.tab.evaluate(SHOWN, len(SLUGS))) == {"#N/A"}
        pane.press("Load", exact=True)
        pane.until(f"({SHOWN})({len(SLUGS)}).every((value) => typeof value === 'number')")
        pane.sees_no("Load these cells?")
        assert service.running.request_count == len(SLUGS)


def test_after_a_no_the_cells_say_so_until_a_refresh(chromium, service, office, tmp_path):
    with backend_of(service, tmp_path, ask_above=5) as backend, opened(chromium, backend, office=office) as pane:
        pane.tab.evaluate(CALCULATE, SLUGS)
        pane.press("Not now")
        pane.until("!document.querySelector('.question .notice')")
        message = "Promise.all(slugs.map((slug) => book.call('SIGNAL', slug).catch((error) => error.message)))"
        messages = set(pane.tab.evaluate(f"(slugs) => {message}", SLUGS))
        assert messages == {"not loaded: 8 requests were not wanted; Refresh asks again"}
        assert service.running.request_count == 0
        pane.tab.evaluate(CALCULATE, SLUGS)
        pane.sees("Load these cells?")


def test_slow_cells_show_how_far_they_are_and_can_be_stopped(chromium, service, office, tmp_path):
    service.running.latency_s = 30
    with backend_of(service, tmp_path) as backend, opened(chromium, backend, office=office) as pane:
        pane.tab.evaluate("() => { globalThis.cell = book.call('SIGNAL', 'us-cpi').then(String, (e) => e.message); }")
        pane.sees("Loading 0 of 1")
        pane.press("Stop")
        assert pane.tab.evaluate("cell") == "stopped; press Refresh to load it"
        pane.sees_no("Loading 0 of 1")
        pane.sees("Stopped: 0 of 1 loaded. Refresh loads the rest.")
        service.running.latency_s = 0


def test_in_a_browser_the_pane_answers_the_question_of_another_host(chromium, service, tmp_path):
    calls = [["SIGNAL", slug] for slug in SLUGS]
    with backend_of(service, tmp_path, ask_above=5) as backend:
        backend.batch(*calls)
        with opened(chromium, backend) as pane:
            pane.press("Load", exact=True)
            pane.until("!document.querySelector('.question .notice')")
        assert all("value" in answer for answer in backend.batch(*calls)["answers"])


def test_the_panes_page_keeps_values_when_answers_break_off_and_says_why(chromium, service, office, tmp_path):
    call = "(slug) => book.call('SIGNAL', slug).then(String, (error) => error.message)"
    with (
        half_answers_of(service.url) as server,
        backend_of(service, tmp_path, url=server.url, deadline_s=1.0) as backend,
        opened(chromium, backend, office=office) as pane,
    ):
        before = pane.tab.evaluate(call, SLUGS[0])
        assert float(before) > 0
        for slug, fault in zip(SLUGS[1:], REASONS, strict=False):
            server.fault = fault
            backend.refresh("force")
            assert is_told(fault, said := pane.tab.evaluate(call, slug)), said
            assert pane.tab.evaluate(call, SLUGS[0]) == before
