"""The self-test that a user of Excel starts in the pane, run in the stand-in for Excel."""

import json

import pytest

from tests.addin.excel.parts.panes import opened
from tests.addin.excel.static.taskpane.test_excel import OFFICE, put

CHECKS = ["value", "date", "spill", "error", "range argument", "defined name", "cancel", "refresh", "freeze"]


@pytest.fixture
def pane(chromium, backend):
    with opened(chromium, backend, office=OFFICE, locale="en-US") as pane:
        yield pane


def run(pane):
    put(pane, "A1", value="kept")
    pane.open_tab("Account")
    pane.press("Self-test")
    pane.press("Start", exact=True)
    return pane.text("pre.report")


def test_every_check_holds_and_the_sheet_is_gone_afterwards(pane, service):
    report = run(pane)
    pane.sees("9 of 9 held")
    assert "9 of 9 held" in report
    for check in CHECKS:
        assert f"held {check}:" in report
    assert "OfficeOnline" in report
    assert pane.tab.evaluate("book.sheets.map(({ id }) => id)") == ["Sheet1"]
    assert pane.tab.evaluate("book.active") == 0


def test_what_the_cells_show_is_compared_with_what_the_backend_answered(pane):
    report = run(pane)
    answered = "DataServiceAddin.resultOfCall('SIGNAL', ['btc-usd', {}])"
    assert f"held value: {json.dumps(pane.tab.evaluate(answered))}" in report
    assert f"held defined name: {json.dumps(pane.tab.evaluate(answered))}" in report


def test_a_sheet_of_that_name_is_left_alone(pane, service):
    put(pane, "A1", value="mine", sheet="DS Self-Test")
    assert "9 of 9 held" in run(pane)
    assert sorted(pane.tab.evaluate("book.sheets.map(({ id }) => id)")) == ["DS Self-Test", "Sheet1"]
    assert pane.tab.evaluate("book.cell('DS Self-Test', 'A1').value") == "mine"


def test_it_says_what_it_costs_and_spends_no_more(pane, service):
    pane.open_tab("Account")
    pane.press("Self-test")
    said = pane.text("dialog")
    before = service.running.request_count
    pane.press("Start", exact=True)
    pane.text("pre.report")
    assert "spends at least 1 request" in said
    assert service.running.request_count - before == 1


def test_what_does_not_hold_is_named_and_the_sheet_is_removed_all_the_same(pane):
    pane.tab.evaluate("() => { book.refuses.add('setDirty'); book.spills = false; }")
    report = run(pane)
    pane.sees("Not all held")
    assert "FAILED spill:" in report
    assert "held value:" in report
    assert pane.tab.evaluate("book.sheets.length") == 1


def test_outside_excel_there_is_none(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        assert pane.run(lambda page: page.get_by_role("button", name="Self-test").is_disabled())
