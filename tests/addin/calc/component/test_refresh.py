"""Refresh, through Calc's own dispatch as the toolbar's button does it, and a running Calc used by a program."""

import re
import shutil
from datetime import timedelta

import pytest

from addin.calc.extension import Extension
from addin.formulas.advice import advice
from dataservice.server import import_directory, write_sample
from tests.addin.calc.counting import counted_backend
from tests.addin.calc.office import COMMAND, require_soffice, running_office
from tests.addin.commands import addin
from tests.embedded import SAMPLE_AS_OF
from udfs import REGISTRY


@pytest.fixture(scope="module")
def shared_office(sample_service, tmp_path_factory):
    """Return a running Calc without a screen and its backend, before a service that does not change."""
    require_soffice()
    folder = tmp_path_factory.mktemp("calc")
    with counted_backend(sample_service, folder) as backend, running_office(Extension(url=backend.url)) as running:
        running.backend = backend
        yield running


@pytest.fixture
def office(shared_office):
    """Return the running Calc with an empty document."""
    shared_office.new_hidden()
    yield shared_office
    shared_office.close()


@pytest.fixture
def own_office(service, tmp_path):
    """Return a Calc, a backend and a service for one test alone, with an empty document."""
    require_soffice()
    with counted_backend(service, tmp_path) as backend, running_office(Extension(url=backend.url)) as running:
        running.new_hidden()
        yield running


def grow(service, folder, *, days):
    """Let the service's data go on for some days."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_sample(folder, as_of=SAMPLE_AS_OF + timedelta(days=days))
    import_directory(service.store, folder)


def test_refresh_shows_what_changed_in_the_service(own_office, service, tmp_path):
    own_office.put("A1", '=DS.SIGNAL("btc-usd";"observed_at")')
    own_office.put("A2", "=A1+1")
    assert own_office.show("A1:A2") == [[46265.0], [46266.0]]
    grow(service, tmp_path / "later", days=3)
    own_office.calculate_all()
    assert own_office.show("A1") == [[46265.0]], "a recalculation asks nobody"
    assert own_office.dispatch(COMMAND + "refresh-everything").startswith("Refreshed: 1 request spent")
    assert own_office.show("A1:A2") == [[46268.0], [46269.0]]


def test_explain_cell_says_that_a_value_was_revised(own_office, service, tmp_path):
    own_office.put("A1", '=DS.SIGNAL("us-cpi")')
    own_office.show("A1")
    grow(service, tmp_path / "later", days=15)
    own_office.dispatch(COMMAND + "refresh-everything")
    own_office.select("A1")
    told = own_office.dispatch(COMMAND + "explain").split("\n")
    assert told[1].startswith('DS.SIGNAL("us-cpi"): ')
    assert re.match(r"Revised: us-cpi of 2026-08-01: [\d.]+ → [\d.]+ \([+-]0\.\d+\), seen ", told[2])


@pytest.mark.parametrize(
    "formula",
    [
        '=SIGNAL("us-cpi")',
        '=DSV.SIGNAL("us-cpi")',
        "=DS.SIGNAL(us-cpi)",
        "=DS.SIGNAL('us-cpi')",
        "=DS.SIGNAL(“us-cpi”)",
    ],
)
def test_explain_cell_says_what_to_change_in_a_formula_as_the_terminal_does(office, formula):
    office.put("A1", formula)
    office.select("A1")
    told = office.dispatch(COMMAND + "explain")
    assert told == f"Sheet1.A1: {advice(formula, 'DS', frozenset(REGISTRY), alone=False)}"
    assert told.partition(": ")[2] in addin("eval", formula).stderr


def test_refresh_of_what_is_fresh_costs_no_request(office, sample_service):
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    office.put("A2", '=DS.SIGNAL("us-cpi";"name")')
    office.show("A1:A2")
    before = sample_service.running.request_count
    assert office.dispatch(COMMAND + "refresh").startswith("Refreshed: 0 requests spent")
    assert sample_service.running.request_count == before


def test_refresh_asks_for_a_whole_book_in_one_batch(office):
    office.put_formulas("A1", [f'=DS.SIGNAL("us-cpi";;{45000 + i})' for i in range(300)])
    before = office.backend.batches
    office.dispatch(COMMAND + "refresh")
    assert office.backend.batches == before + 1


def test_refresh_fits_a_table_that_grew(own_office, service, tmp_path):
    own_office.put_array("A1:B9", '=DS.SIGNAL_HISTORY("btc-usd";"2026-08-28")')
    own_office.dispatch(COMMAND + "refresh")
    assert own_office.array_at("A1") == "A1:B5"
    assert own_office.show("A6:B6") == [["", ""]]
    grow(service, tmp_path / "later", days=3)
    assert "1 table got another size" in own_office.dispatch(COMMAND + "refresh-everything")
    assert own_office.array_at("A1") == "A1:B8"
    assert own_office.shown_text("A8") == "2026-09-03"
    assert "-" not in own_office.shown_text("B8")


def test_dates_without_a_header_are_dates_and_numbers_stay_numbers(office):
    office.put_array("A1:B1", '=DS.SIGNAL_HISTORY("btc-usd";"N3";;"header=none")')
    office.dispatch(COMMAND + "refresh")
    assert [office.shown_text(cell) for cell in ("A1", "A3")] == ["2026-08-29", "2026-08-31"]
    assert float(office.shown_text("B1")) == office.show("B1")[0][0]


def test_a_format_that_the_user_chose_stays(office):
    office.put_array("A1:B2", '=DS.SIGNAL_HISTORY("btc-usd";"N3")')
    office.set_format("A2", "DD/MM/YY")
    office.dispatch(COMMAND + "refresh")
    assert office.shown_text("A4") == "31/08/26", "also in the rows that came with the fit"


def test_a_fit_never_overwrites_cells_in_use(office):
    office.put_array("A1:B2", '=DS.SIGNAL_HISTORY("btc-usd";"N5")')
    office.put("B4", "mine")
    assert "Sheet1.A1:B2: the cells its table needs are in use" in office.dispatch(COMMAND + "refresh")
    assert office.array_at("A1") == "A1:B2"
    assert office.show("B4") == [["mine"]]


def test_a_fit_is_one_step_for_undo_and_leaves_nothing_behind(office):
    office.put_array("A1:B2", '=DS.SIGNAL_HISTORY("btc-usd";"N3")')
    before = office.undo_titles()
    office.dispatch(COMMAND + "refresh")
    assert office.undo_titles() == ["Fit tables", *before]
    assert office.used_area() == "A1:B4"
    office.undo()
    assert office.array_at("A1") == "A1:B2"


def test_a_refresh_that_changes_nothing_is_no_change_of_the_document(office, tmp_path):
    office.put_array("A1:B4", '=DS.SIGNAL_HISTORY("btc-usd";"N3";;"dates=show")')
    office.dispatch(COMMAND + "refresh")
    office.store_as((tmp_path / "a.ods").as_uri(), "calc8")
    before = office.undo_titles()
    office.dispatch(COMMAND + "refresh")
    assert (office.undo_titles(), office.is_modified()) == (before, False)


def test_without_the_service_a_refresh_keeps_the_values_and_says_why(own_office, service):
    own_office.put("A1", '=DS.SIGNAL("us-cpi")')
    value = own_office.show("A1")
    service.running.stop()
    assert "did not answer" in own_office.dispatch(COMMAND + "refresh-everything")
    assert own_office.show("A1") == value


def test_the_reason_of_an_error_can_be_asked_for(office):
    office.put("A1", '=1+DS.SIGNAL("nope")')
    office.put("A2", "=1+1")
    office.select("A1")
    assert "DS.SIGNAL(\"nope\"): no signal 'nope'" in office.dispatch(COMMAND + "explain")
    office.select("A2")
    assert office.dispatch(COMMAND + "explain") == "Sheet1.A2 calls none of the DS functions."


def test_the_status_names_backend_service_and_allowance(office, sample_service):
    office.put_formulas("A1", ['=DS.SIGNAL("nope")', '=DS.SIGNAL("us-cpi")'])
    office.show("A1:A2")
    status = office.dispatch(COMMAND + "status")
    for part in (office.backend.url, sample_service.url, "of 50,000 left", "no signal 'nope'", "errors: Sheet1.A1;"):
        assert part in status


def test_the_status_names_the_tables_that_had_no_room(office):
    office.put_array("A1:B2", '=DS.SIGNAL_HISTORY("btc-usd";"N5")')
    office.put("B4", "mine")
    office.dispatch(COMMAND + "refresh")
    assert "Sheet1.A1:B2: the cells its table needs are in use" in office.dispatch(COMMAND + "status")


def test_macros_can_call_the_functions(office):
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    assert [[office.call("DS.SIGNAL", ["us-cpi"])]] == office.show("A1")


def test_the_function_wizard_explains_functions_and_arguments(office):
    described = office.describe("DS.SIGNAL")
    assert described["description"].startswith("The latest value of a signal")
    assert [name for name, _ in described["arguments"]] == ["slug", "field", "at", "options"]
    assert "us-cpi" in described["arguments"][0][1]


def test_a_book_stored_as_ods_keeps_its_functions(office, tmp_path):
    office.put("A1", '=DS.SIGNAL("us-cpi")')
    value = office.show("A1")
    office.store((tmp_path / "a.ods").as_uri(), "calc8")
    office.close()
    office.load_hidden((tmp_path / "a.ods").as_uri())
    assert office.formula("A1") == '=DS.SIGNAL("us-cpi")'
    assert office.show("A1") == value
