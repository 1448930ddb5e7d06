"""Calc with a screen (of a virtual kind): it is never held up, and cells fill in when the values are there."""

import os
import shutil
import subprocess
import time

import pytest
import xlsxwriter

from addin.calc.extension import Extension
from tests.addin.calc.books import write_book
from tests.addin.calc.counting import counted_backend
from tests.addin.calc.office import COMMAND, running_office

SLOW_S = 1.5


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


def test_two_windows_refresh_one_after_the_other(office, service):
    for slug in ("us-cpi", "wb.gold"):
        office.load_visible("private:factory/scalc")
        office.put("A1", f'=DS.SIGNAL("{slug}")')
        office.wait_until_shown("A1", "#N/A")
    service.running.latency_s = 0.5
    before = len(office.backend.paths)
    assert office.dispatch_in_all_windows(COMMAND + "refresh-everything").startswith("Refreshed: ")
    paths = [path for path in office.backend.paths[before:] if path != "/functions/call"]
    assert paths == ["/refresh", "/status"] * 2


def test_a_service_that_went_away_leaves_the_values_on_the_screen(office, service):
    office.load_visible("private:factory/scalc")
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    value = office.wait_until_shown("A1", "#N/A")
    service.running.stop()
    assert "did not answer" in office.dispatch(COMMAND + "refresh-everything")
    assert office.show("A1") == [[value]]


def test_the_template_shows_values_in_every_cell_cold_and_warm(service, tmp_path, project, display):
    service.running.latency_s = 0.2
    with counted_backend(service, tmp_path) as backend:
        for way in ("cold", "warm"):
            book = shutil.copy(project / "workbook_template.xlsx", tmp_path / f"{way}.xlsx")
            with running_office(Extension(url=backend.url), display=display) as office:
                office.load_visible(book.as_uri())
                office.activate("Dashboard")
                assert office.wait_until_shown("D6", "#N/A", "Dashboard") is not None
                assert office.wait_for_values() == {}, way
                assert office.undo_titles() == []


def test_a_chart_shows_values_that_came_later(office, service, tmp_path):
    service.running.latency_s = 0.5
    book = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(book) as written:
        sheet = written.add_worksheet("S")
        sheet.write_dynamic_array_formula("A200:B229", '=_xldudf_DS_SIGNAL_HISTORY("btc-usd","N30",,"header=none")')
        chart = written.add_chart({"type": "line"})
        chart.add_series({"values": "=S!$B$200:$B$229"})
        sheet.insert_chart("A1", chart)
    office.load_visible(book.as_uri())
    assert office.wait_for_values() == {}
    assert office.wait_for_chart("S", 30) == [row[0] for row in office.show("B200:B229")]


def test_values_that_arrive_do_not_end_the_typing_in_a_cell(office, service, display):
    if shutil.which("xdotool") is None:
        pytest.skip("no xdotool here")

    def press(*keys: str) -> None:
        subprocess.run(["xdotool", *keys], env={**os.environ, "DISPLAY": display}, check=True)

    service.running.latency_s = 1
    office.load_visible("private:factory/scalc")
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    office.select("F9")
    press("mousemove", "600", "500", "click", "1", "type", "half")
    office.wait_until_shown("A1", "#N/A")
    press("type", " done")
    press("key", "Return")
    assert office.wait_for_text("half done")


def test_cells_fill_in_as_their_values_arrive(office, service):
    slugs = ["us-cpi", "us-10y", "wb.gold", "btc-usd", "sp-500", "fx.eur-usd", "cboe.vix", "eth-usd"]
    service.running.latency_s = 0.6
    office.load_visible("private:factory/scalc")
    office.put_formulas("A1", [f'=DS.SIGNAL("{slug}")' for slug in slugs])
    assert office.wait_until_shown("A1", "#N/A") > 0
    assert "#N/A" in [row[0] for row in office.show("A2:A8")], "the others were still on their way"
    assert office.wait_for_values() == {}
    assert service.running.request_count == len(slugs)


def test_what_loads_can_be_stopped_and_refresh_loads_it(office, service):
    service.running.latency_s = 5
    office.load_visible("private:factory/scalc")
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    while not service.running.request_count:
        office.show("A1")
    assert office.dispatch(COMMAND + "stop") == "Stopped. Refresh loads the rest."
    service.running.latency_s = 0
    assert office.dispatch(COMMAND + "refresh").startswith("Refreshed: ")
    assert office.wait_until_shown("A1", "#N/A") > 0


def test_more_requests_than_may_be_sent_unasked_wait_for_a_yes_above_the_cells(service, tmp_path, display):
    with (
        counted_backend(service, tmp_path, ask_above=1) as backend,
        running_office(Extension(url=backend.url), display=display) as office,
    ):
        office.load_visible("private:factory/scalc")
        office.put_formulas("A1", ['=DS.SIGNAL("us-cpi")', '=DS.SIGNAL("wb.gold")', '=DS.SIGNAL("sp-500")'])
        asked = "press Load above the cells, or choose Data Service ▸ Load Waiting Cells"
        assert asked in office.dispatch(COMMAND + "refresh")
        assert office.has_bar("data-service-question")
        assert office.dispatch(COMMAND + "do-not-load") == "Not loaded; nothing was spent. Refresh asks again."
        assert office.dispatch(COMMAND + "load") == "No cell waits for a yes."
        assert asked in office.dispatch(COMMAND + "refresh")
        assert service.running.request_count <= 1, "a cell that was typed alone"
        assert office.dispatch(COMMAND + "load").startswith("Loaded: ")
        assert all(isinstance(office.wait_until_shown(cell, "#N/A"), float) for cell in ("A1", "A2", "A3"))
        assert service.running.request_count == 3
