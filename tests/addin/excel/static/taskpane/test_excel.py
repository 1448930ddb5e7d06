"""What the pane does to a workbook, by a stand-in for Office.js over sheets of the test's own."""

from collections.abc import Iterator

import pytest

from tests.addin.excel.parts.panes import Pane, opened
from tests.addin.excel.parts.stand_in import OFFICE

CPI = '=DS.SIGNAL("us-cpi")'


@pytest.fixture
def pane(chromium, backend) -> Iterator[Pane]:
    """Return the pane inside Excel."""
    with opened(chromium, backend, office=OFFICE, locale="en-US") as pane:
        yield pane


def put(pane: Pane, address: str, sheet: str = "Sheet1", **cell) -> None:
    pane.tab.evaluate("([sheet, address, cell]) => book.put(sheet, address, cell)", [sheet, address, cell])


def cell(pane: Pane, address: str, sheet: str = "Sheet1") -> dict:
    return pane.tab.evaluate("([sheet, address]) => book.cell(sheet, address)", [sheet, address])


def fill_in(pane: Pane) -> None:
    pane.open_tab("Insert")
    pane.press("SIGNAL The latest value")
    pane.type("slug", "us-cpi")


def freeze(pane: Pane, what: str) -> None:
    pane.open_tab("Refresh")
    pane.press(f"Freeze {what}")
    pane.run(lambda page: page.get_by_role("dialog").get_by_role("button", name="Freeze").click())
    pane.gone("dialog")  # it says the same words, and so does the outcome of an earlier freeze until it has gone
    pane.sees("replaced by values")


def test_in_excel_there_is_no_preview_badge(pane):
    pane.sees_no("Preview")


def test_a_formula_goes_into_the_active_cell(pane):
    fill_in(pane)
    pane.press("Insert", exact=True)
    pane.sees("Inserted into A1")
    assert cell(pane, "A1")["formula"] == CPI


def test_a_cell_in_the_format_of_text_shows_the_value_and_not_the_formula(pane):
    put(pane, "A1", format="@")
    fill_in(pane)
    pane.press("Insert", exact=True)
    pane.sees("Inserted into A1")
    assert (cell(pane, "A1")["formula"], cell(pane, "A1")["format"]) == (CPI, "General")


def test_a_cell_that_holds_something_is_replaced_only_after_a_question(pane):
    put(pane, "A1", value="Budget 2027")
    fill_in(pane)
    pane.press("Insert", exact=True)
    pane.sees("A1 holds “Budget 2027”.")
    pane.press("Cancel")
    assert cell(pane, "A1")["formula"] == ""
    pane.press("Insert", exact=True)
    pane.press("Replace", exact=True)
    pane.sees("Inserted into A1")


def test_the_selected_cells_become_an_argument(pane):
    pane.tab.evaluate("book.selection = ['A2:A9']")
    fill_in(pane)
    pane.press("Use the selected cells")
    pane.sees("=DS.SIGNAL(A2:A9)")


def test_another_key_ends_what_the_page_remembers(pane, backend, service):
    backend.keys.save(service.key)
    call = "book.call('SIGNAL', 'us-cpi')"
    pane.tab.evaluate(call)
    pane.open_tab("Account")
    pane.type("New key", service.free_key)
    pane.press("Save key")
    pane.sees("The key is in use")
    remembered = pane.tab.evaluate("DataServiceAddin.totals.remembered")
    pane.tab.evaluate(call)
    assert pane.tab.evaluate("DataServiceAddin.totals.remembered") == remembered


def test_a_refresh_says_what_it_costs_and_then_what_it_did(pane, service):
    put(pane, "B2", formula=CPI)
    put(pane, "B3", formula='=DS.SIGNAL("us-10y")')
    put(pane, "B4", formula="=B2*2")
    pane.open_tab("Refresh")
    pane.press("Refresh", exact=True)
    pane.sees("2 cells refreshed, 2 requests")
    assert service.running.request_count == 2
    assert pane.texts(".refresh-log tbody td")[1:] == ["workbook", "2", "2", "49,998"]
    pane.sees("0 requests for 2 formulas, 49,998 left, 2 already fresh")
    assert cell(pane, "B2")["value"] > 0


def test_a_refresh_can_be_kept_to_the_selection(pane, service):
    put(pane, "B2", formula=CPI)
    put(pane, "B3", formula='=DS.SIGNAL("us-10y")')
    pane.tab.evaluate("book.selection = ['B3']")
    pane.open_tab("Refresh")
    pane.check("Selection")
    pane.press("Refresh", exact=True)
    pane.sees("1 cell refreshed, 1 request")
    assert service.running.requests == ["/v1/signals/us-10y?history=365"]


def test_refreshing_everything_asks_again_for_what_is_fresh(pane, service):
    put(pane, "B2", formula=CPI)
    pane.open_tab("Refresh")
    pane.press("Refresh", exact=True)
    pane.sees("1 cell refreshed, 1 request")
    pane.check("Everything")
    pane.sees("1 request for 1 formula, 49,999 left")
    pane.tab.evaluate("book.selection = ['D9']")
    pane.check("Selection")
    pane.sees("0 requests for 0 formulas, 49,999 left")
    pane.check("Workbook")
    pane.sees("1 request for 1 formula, 49,999 left")
    pane.press("Refresh", exact=True)
    pane.sees("workbook, all")
    assert service.running.request_count == 2


def test_freezing_replaces_our_formulas_and_no_others(pane):
    put(pane, "B2", formula=CPI, value=163.122, type="Double")
    put(pane, "B3", formula="=SUM(B2:B2)", value=163.122, type="Double")
    put(pane, "B4", formula='="=DS.SIGNAL(x)"', value="=DS.SIGNAL(x)", type="String")
    put(pane, "A1", sheet="Sheet2", formula=CPI, value=163.122, type="Double")
    freeze(pane, "sheet")
    assert (cell(pane, "B2")["formula"], cell(pane, "B2")["value"]) == ("", 163.122)
    assert cell(pane, "B3")["formula"] == "=SUM(B2:B2)"
    assert cell(pane, "B4")["formula"] == '="=DS.SIGNAL(x)"'
    assert cell(pane, "A1", "Sheet2")["formula"] == CPI
    freeze(pane, "workbook")
    assert cell(pane, "A1", "Sheet2")["formula"] == ""


def test_freezing_calculates_first_what_excel_calculates_only_on_request(pane):
    put(pane, "B2", formula=f"{CPI}*2", value=300, due=326.244, type="Double")
    freeze(pane, "sheet")
    assert (cell(pane, "B2")["formula"], cell(pane, "B2")["value"]) == ("", 326.244)


def test_freezing_keeps_what_a_formula_spilled_dates_with_their_format(pane):
    day = {"type": "FormattedNumber", "basicValue": 46265, "numberFormat": "yyyy-mm-dd"}
    put(pane, "B2", formula='=DS.SIGNAL_HISTORY("us-cpi")', value=46265, type="Double", json=day, spill="B2:C2")
    put(pane, "C2", value=163.122, type="Double")
    freeze(pane, "sheet")
    assert (cell(pane, "B2")["value"], cell(pane, "B2")["format"]) == (46265, "yyyy-mm-dd")
    assert (cell(pane, "C2")["value"], cell(pane, "C2")["format"]) == (163.122, "General")


def test_freezing_keeps_text_as_text(pane):
    put(pane, "B2", formula="=DS.WIRE()", value='=HYPERLINK("http://evil.example")', type="String")
    freeze(pane, "sheet")
    assert cell(pane, "B2")["value"] == """'=HYPERLINK("http://evil.example")"""


def test_a_cell_that_still_calculates_is_not_frozen(pane):
    put(pane, "B2", formula=CPI, value="#BUSY!", type="Error")
    put(pane, "B3", formula=CPI, value=1.5, type="Double")
    freeze(pane, "sheet")
    pane.sees("1 formula still calculate")
    assert cell(pane, "B2")["formula"] == CPI


def with_a_button(pane: Pane, *, value: object) -> None:
    """Fill two sheets as the template does: a formula, a button, and what a frozen copy has no use for."""
    for sheet in ("Sheet1", "Sheet2"):
        put(pane, "B2", sheet, formula=CPI, value=value, type="Error" if isinstance(value, str) else "Double")
        put(pane, "B4", sheet, value="Refresh", type="String")
        put(pane, "C4", sheet, value="asks again", type="String")
        pane.tab.evaluate("sheet => book.define(sheet, 'DS_Live_Only_Button', sheet, 'B4:C4')", sheet)
    put(pane, "B9", "Sheet2", value="steps", type="String")
    put(pane, "B10", "Sheet2", value="kept", type="String")
    pane.tab.evaluate("book.define('Sheet2', 'ds_live_only', 'Sheet2', 'B9')")
    pane.tab.evaluate("book.define('workbook', 'Other', 'Sheet2', 'B10')")


def test_freezing_empties_what_is_of_no_use_without_formulas_as_the_command_does(pane):
    with_a_button(pane, value=163.122)
    freeze(pane, "sheet")
    pane.sees("The refresh button, first steps, quota and status are gone too.")
    assert [cell(pane, address) for address in ("B4", "C4")] == [None, None]
    assert [cell(pane, address, "Sheet2")["value"] for address in ("B4", "C4", "B9")] == [
        "Refresh",
        "asks again",
        "steps",
    ]
    freeze(pane, "workbook")
    pane.until("!book.cell('Sheet2', 'B9')")  # what the first one said is still there
    assert [cell(pane, address, "Sheet2") for address in ("B4", "C4", "B9")] == [None, None, None]
    assert cell(pane, "B10", "Sheet2")["value"] == "kept"


def test_names_of_a_received_book_empty_nothing_that_the_template_never_made(pane):
    put(pane, "B1", formula=CPI, value=163.122, type="Double")
    for row in (3, 4, 5):
        for column in "ABC":
            put(pane, f"{column}{row}", value=row * 1.5, type="Double")
    for name, cells in (
        ("DS_Live_Only_9", "A3:C5"),
        ("DS_Live_Only_Status", "A3:C5"),
        ("DS_Live_Only", "B1:B1"),
        ("DS_Live_Only_Button", "A3:A3"),
    ):
        pane.tab.evaluate("([name, cells]) => book.define('Sheet1', name, 'Sheet1', cells)", [name, cells])
    put(pane, "B9", "Sheet2", value="a text", type="String")
    pane.tab.evaluate("book.define('workbook', 'DS_Live_Only_Note', 'Sheet2', 'B9')")
    pane.tab.evaluate("book.define('Sheet1', 'DS_Live_Only_Choice', 'Sheet2', 'B9')")
    freeze(pane, "workbook")
    pane.sees("5 areas are kept, though names say they are of no use in a copy")
    assert cell(pane, "B1")["value"] == 163.122
    assert [cell(pane, address)["value"] for address in ("A3", "B4", "C5")] == [4.5, 6, 7.5]
    assert cell(pane, "B9", "Sheet2")["value"] == "a text"


def test_a_table_about_this_machine_is_emptied_with_the_cells_that_show_it(pane):
    put(pane, "A1", formula='=DS.QUOTA("remaining")', value=870, type="Double")
    put(pane, "A2", formula=CPI, value=163.122, type="Double")
    put(pane, "B22", formula='=IF(A1&""="","",A1)', value=870, type="Double")
    put(pane, "B2", formula='=IF(A2&""="","",A2)', value=163.122, type="Double")
    for name, cells in (("DS_Live_Only", "A1:A1"), ("DS_Live_Only_Status", "B22:B23"), ("DS_Live_Only_Note", "B2:B2")):
        pane.tab.evaluate("([name, cells]) => book.define('Sheet1', name, 'Sheet1', cells)", [name, cells])
    freeze(pane, "workbook")
    pane.sees("1 area is kept")
    assert [cell(pane, address) for address in ("A1", "B22")] == [None, None]
    assert [cell(pane, address)["value"] for address in ("A2", "B2")] == [163.122, 163.122]


def test_a_button_stays_as_long_as_a_formula_is_left(pane):
    with_a_button(pane, value="#BUSY!")
    put(pane, "B3", formula=CPI, value=1.5, type="Double")
    freeze(pane, "workbook")
    pane.sees("2 formulas still calculate")
    assert cell(pane, "B4")["value"] == "Refresh"


def test_freezing_can_be_called_off(pane):
    put(pane, "B2", formula=CPI, value=1.5, type="Double")
    pane.open_tab("Refresh")
    pane.press("Freeze sheet")
    pane.sees("1 formula on this sheet will be replaced")
    pane.keys("Escape")
    pane.gone("dialog")
    assert cell(pane, "B2")["formula"] == CPI


def test_a_sheet_without_formulas_of_ours_has_nothing_to_freeze(pane):
    pane.open_tab("Refresh")
    pane.press("Freeze sheet")
    pane.sees("Nothing to freeze")


def test_a_dark_office_makes_a_dark_pane_whatever_the_system_says(chromium, backend):
    dark = f"globalThis.themeColour = '#262626'; {OFFICE}"
    with opened(chromium, backend, office=dark, color_scheme="light") as pane:
        assert pane.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(24, 28, 34)"


def test_outside_excel_freezing_is_off_and_a_refresh_tells_the_backend_only(chromium, backend, service):
    backend.batch(["SIGNAL", "us-cpi"])
    with opened(chromium, backend) as pane:
        pane.open_tab("Refresh")
        pane.sees("Only in Excel")
        assert pane.run(lambda page: page.get_by_role("button", name="Freeze sheet").is_disabled())
        pane.check("Everything")
        pane.press("Refresh", exact=True)
        pane.sees("The backend asks again from now on")
        assert "stale" in pane.texts(".resource .badge")
    assert service.running.request_count == 1


COSTLY = (
    '=DS.SIGNAL("us-cpi")',
    '=DS.SIGNAL("us-10y", "value", "2021-03-01")',
    '=DS.SIGNAL_HISTORY("btc-usd", "MAX")',
    '=DS.SIGNAL_HISTORY("cboe.vix", "2021-01-04", "2021-06-30")',
    '=DS.SIGNAL("no.such-name")',
    '=DS.INDEX("risk-dial")',
    '=DS.WIRE("", "news")',
)


@pytest.mark.parametrize("mode", ["Everything", "What is stale"])
def test_what_a_refresh_is_told_to_cost_is_what_it_spends_and_what_the_service_counts(pane, service, mode):
    for row, formula in enumerate(COSTLY, 2):
        put(pane, f"B{row}", formula=formula)
    pane.open_tab("Refresh")
    pane.press("Refresh", exact=True)
    pane.sees("7 cells refreshed")
    pane.check(mode)
    for _ in range(2):
        cost = pane.tab.evaluate(
            "(mode) => DataServiceRefresh.cost(mode)", "force" if mode == "Everything" else "stale"
        )
        before = service.running.request_count
        report = pane.tab.evaluate(
            "(mode) => DataServiceRefresh.run({ mode })", "force" if mode == "Everything" else "stale"
        )
        spent = service.running.request_count - before
        assert report["requests"] == spent
        assert cost["at_least"] <= spent
        assert cost["at_most"] is None or spent <= cost["at_most"]
        assert mode != "Everything" or spent >= 6
