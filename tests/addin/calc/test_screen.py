"""Calc with a screen (of a virtual kind): it is never held up, and cells fill in when the values are there."""

import os
import shutil
import subprocess
import time

import pytest

from addin.calc.extension import Extension
from tests.addin.calc.books import write_book
from tests.addin.calc.counting import counted_backend
from tests.addin.calc.office import COMMAND, require_soffice, running_office

SLOW_S = 1.5


@pytest.fixture(scope="module")
def display():
    """Return the name of a virtual display."""
    require_soffice()
    if shutil.which("Xvfb") is None:
        pytest.skip("no Xvfb here")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        yield f":{number}"
        server.terminate()


@pytest.fixture
def office(service, tmp_path, display):
    """Return a Calc on the screen and its backend."""
    with (
        counted_backend(service, tmp_path) as backend,
        running_office(Extension(url=backend.url), display=display) as running,
    ):
        running.backend = backend
        yield running


def test_a_book_is_there_at_once_and_its_cells_fill_in(office, service, tmp_path):
    cells = {
        "A1": '=DS.SIGNAL("us-cpi")',
        "A2": "=A1*2",
        "A3": '=DS.SIGNAL(DS.SIGNAL("eia.wti.spot","shortcode"),"name")',
    }
    cells |= {f"B{i}": f'=DS.SIGNAL("us-cpi",,{45_000 + i})' for i in range(1, 200)}
    cells |= {"D1:E4": '=DS.SIGNAL_HISTORY("btc-usd","N3")'}
    book = write_book(tmp_path / "book.xlsx", {"S": cells})
    service.running.latency_s = SLOW_S
    office.load_visible(book.as_uri())
    assert office.show("A1:A2") == [["#N/A"], ["#N/A"]], "nothing waited for the service"
    cpi = office.wait_until_shown("A1", "#N/A")
    assert office.wait_until_shown("A2", "#N/A") == 2 * cpi
    assert office.wait_until_shown("A3", "#N/A").startswith("WTI")
    assert office.wait_until_shown("D1", "#N/A") == "date"
    assert office.wait_until_shown("B199", "#N/A") > 0
    assert office.backend.batches <= 5
    assert service.running.request_count <= 4


def test_typing_a_formula_does_not_stop_calc(office, service):
    office.load_visible("private:factory/scalc")
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    office.wait_until_shown("A1", "#N/A")
    service.running.latency_s = SLOW_S
    start = time.monotonic()
    office.put("A2", '=DS.SIGNAL("wb.gold")')
    assert office.show("A2") == [["#N/A"]]
    assert time.monotonic() - start < SLOW_S
    assert office.wait_until_shown("A2", "#N/A") > 0


def test_refresh_shows_the_old_values_until_the_new_ones_are_there(office, service, tmp_path):
    office.load_visible("private:factory/scalc")
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    value = office.wait_until_shown("A1", "#N/A")
    office.put_array("C1:D2", '=DS.SIGNAL_HISTORY("us-cpi";"N3")')
    office.wait_until_shown("C1", "#N/A")
    report = office.dispatch(COMMAND + "refresh-everything")
    assert report.startswith("Refreshed: ")
    assert "1 table got another size" in report
    assert office.show("A1") == [[value]]
    assert office.array_at("C1") == "C1:D4"
    assert office.shown_text("C4").startswith("20")


def test_a_service_that_went_away_leaves_the_values_on_the_screen(office, service):
    office.load_visible("private:factory/scalc")
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    value = office.wait_until_shown("A1", "#N/A")
    service.running.stop()
    assert "did not answer" in office.dispatch(COMMAND + "refresh-everything")
    assert office.show("A1") == [[value]]
