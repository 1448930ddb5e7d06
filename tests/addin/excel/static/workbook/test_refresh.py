"""The refresh: which cells are recalculated, what is told, and what starts it."""

import asyncio
import threading

import pytest
from starlette.responses import JSONResponse

from addin.excel.assets import STATIC
from tests.addin.excel.parts.scripted_backend import fresh
from tests.addin.excel.parts.stand_in import OFFICE

SHEETS = """() => {
  addSheet("Start", { "1,1": "Refresh", "3,0": '=DS.SIGNAL("a")', "4,0": '=DS.SIGNAL("b")', "4,1": "=SUM(A4:A5)" });
  addSheet("Rates", { "0,0": '=DS.INDEX("x")', "9,2": '=DS.SIGNAL("a")', "9,3": "text" });
  addSheet("Empty", {});
}"""


@pytest.fixture
def book(page, scripted):
    """Return the page of a workbook with two sheets of formulas, after Excel has loaded the add-in."""
    page.add_script(content=OFFICE)
    page.evaluate(SHEETS)
    page.add_script(url=f"{scripted.url}/refresh.js")
    return page


def refresh(book, options=None):
    return book.evaluate("(options) => DataServiceRefresh.run(options ?? undefined)", options)


def recalculated(book):
    return sorted(book.evaluate("book.recalculated"))


def test_a_refresh_recalculates_our_formulas_and_no_others(book):
    report = refresh(book)
    assert recalculated(book) == ['=DS.INDEX("x")', '=DS.SIGNAL("a")', '=DS.SIGNAL("a")', '=DS.SIGNAL("b")']
    assert (report["how"], report["cells"]) == ("marked", 4)
    assert book.evaluate("book.calculations") == ["Recalculate"]


def test_it_tells_the_backend_first_and_says_what_it_spent(book, scripted):
    report = refresh(book)
    assert scripted.requests == [("/refresh", {"mode": "stale"}), ("/status", None)]
    assert scripted.batches == [[["SIGNAL", "a"], ["SIGNAL", "b"], ["INDEX", "x"]]]
    assert report["text"] == "4 cells refreshed, 1 request, 412 of 1,000 left this month"


def test_requests_of_others_meanwhile_are_not_its_own(book, scripted):
    async def reply(request):
        scripted.others_spent += 5
        calls = (await request.json())["calls"]
        return JSONResponse(scripted.replied([fresh(1) for _ in calls]))

    scripted.reply, scripted.requests_per_batch = reply, 2
    assert refresh(book)["requests"] == 2


def test_a_batch_without_an_answer_may_have_cost_more(book):
    book.evaluate(
        """() => {
          const real = fetch;
          globalThis.fetch = (address, options) =>
            new URL(address, location.href).pathname.endsWith("/functions/call")
              ? Promise.reject(new TypeError("lost"))
              : real(address, options);
        }"""
    )
    report = refresh(book)
    assert (report["requests"], report["unanswered"]) == (0, True)
    assert "0 or more requests" in report["text"]


def test_what_the_page_remembers_is_asked_for_again(book, scripted):
    book.evaluate("call('SIGNAL', 'a')")
    refresh(book)
    assert [["SIGNAL", "a"]] in scripted.batches[:1]
    assert ["SIGNAL", "a"] in scripted.batches[1]


def test_by_force_everything_is_stale(book, scripted):
    assert refresh(book, {"mode": "force"})["mode"] == "force"
    assert ("/refresh", {"mode": "force"}) in scripted.requests


def test_one_sheet_can_be_refreshed(book):
    book.evaluate("() => { book.active = 1; }")
    assert refresh(book, {"scope": "sheet"})["cells"] == 2
    assert recalculated(book) == ['=DS.INDEX("x")', '=DS.SIGNAL("a")']


def test_a_selection_of_several_areas_can_be_refreshed(book):
    book.evaluate("() => { book.selection = ['A4:B4', 'A5', 'Z100:Z200']; }")
    assert refresh(book, {"scope": "selection"})["cells"] == 2
    book.evaluate("() => { book.selection = ['A5:XFD1048576']; }")
    refresh(book, {"scope": "selection"})
    assert recalculated(book) == ['=DS.SIGNAL("b")']


def test_a_sheet_without_our_formulas_costs_nothing(book, scripted):
    book.evaluate("() => { book.active = 2; }")
    report = refresh(book, {"scope": "sheet"})
    assert report["text"] == "0 cells refreshed, 0 requests, 412 of 1,000 left this month"
    assert scripted.batches == []


def test_ten_thousand_cells_are_marked_in_few_and_short_lists(book):
    book.evaluate(
        """() => {
          const cells = {};
          for (let i = 0; i < 10_000; i++) cells[`${2 * (i % 1000)},${Math.floor(i / 1000)}`] = `=DS.SIGNAL("s-${i}")`;
          addSheet("Many", cells);
          book.active = 3;
        }"""
    )
    assert refresh(book, {"scope": "sheet"})["cells"] == 10_000
    assert len(recalculated(book)) == 10_000


@pytest.mark.parametrize("refused", ["setDirty", "formulas"])
def test_an_excel_that_cannot_mark_cells_recalculates_everything(book, refused):
    book.evaluate("(what) => { book.refuses.add(what); }", refused)
    report = refresh(book)
    assert (report["how"], report["cells"]) == ("full", 4)
    assert "this Excel recalculated everything" in report["text"]


def test_the_report_waits_until_every_cell_has_its_answer(book, scripted):
    answer_now = threading.Event()

    async def reply(request):
        await asyncio.to_thread(answer_now.wait, 10)
        calls = (await request.json())["calls"]
        return JSONResponse(scripted.replied([fresh(1) for _ in calls]))

    scripted.reply = reply
    book.evaluate("() => { globalThis.reported = false; DataServiceRefresh.run().then(() => { reported = true; }); }")
    book.evaluate(
        "async () => { while (DataServiceAddin.totals.batches === 0) await new Promise((go) => setTimeout(go)); }"
    )
    assert book.evaluate("reported") is False
    scripted.reply = None
    answer_now.set()
    book.evaluate("async () => { while (!reported) await new Promise((go) => setTimeout(go, 5)); }")
    assert book.evaluate("DataServiceAddin.waiting") == 0


def test_a_second_refresh_meanwhile_is_the_same_one(book, scripted):
    book.evaluate("Promise.all([DataServiceRefresh.run(), DataServiceRefresh.run()])")
    assert [path for path, _ in scripted.requests].count("/refresh") == 1


def test_without_a_backend_no_cell_is_touched(book):
    book.evaluate("() => { globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch')); }")
    told = book.evaluate("DataServiceRefresh.run().catch((error) => error.message)")
    assert "start it with: addin serve" in told
    assert book.evaluate("book.calculations") == []


def test_listeners_hear_of_every_report_and_of_failures(book):
    book.evaluate("() => { globalThis.heard = []; DataServiceRefresh.onReport((report) => heard.push(report)); }")
    refresh(book)
    book.evaluate("() => { globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch')); }")
    book.evaluate("DataServiceRefresh.run().catch(() => undefined)")
    assert book.evaluate("heard.map((report) => report instanceof Error)") == [False, True]


@pytest.mark.parametrize(
    ("action", "cells", "mode"),
    [
        ("refreshWorkbook", 4, "stale"),
        ("refreshSheet", 2, "stale"),
        ("refreshSelection", 1, "stale"),
        ("refreshForce", 4, "force"),
    ],
)
def test_a_ribbon_button_refreshes_and_says_when_it_is_done(book, scripted, action, cells, mode):
    book.evaluate("() => { book.selection = ['A4']; }")
    done = book.evaluate("(action) => new Promise((done) => actions[action]({ completed: () => done(true) }))", action)
    assert done is True
    assert len(recalculated(book)) == cells
    assert ("/refresh", {"mode": mode}) in scripted.requests


def test_a_ribbon_button_is_done_also_when_the_refresh_fails(book):
    book.evaluate("() => { globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch')); }")
    assert book.evaluate("new Promise((done) => actions.refreshWorkbook({ completed: () => done(true) }))") is True


def test_the_keyboard_shortcut_has_no_event_to_complete(book):
    book.evaluate("actions.refreshWorkbook()")
    assert len(recalculated(book)) == 4


SELECT = """async ([sheet, address]) => {
  for (const listener of listeners.selection) await listener({ worksheetId: sheet, address });
}"""


@pytest.fixture
def button(book):
    """Return the page of a workbook whose cell B2 on the sheet Start is the button."""
    book.evaluate("() => { book.names.DS_Refresh_Button = { sheet: 'Start', address: 'B2:C2' }; }")
    book.evaluate("async () => { for (const listener of listeners.activated) await listener({}); }")
    return book


def test_selecting_the_button_on_a_sheet_refreshes_and_leaves_the_button(button):
    button.evaluate(SELECT, ["Start", "B2"])
    assert len(recalculated(button)) == 4
    assert button.evaluate("book.selected") == ["Start!B3"]


@pytest.mark.parametrize("selection", [["Start", "B3"], ["Start", "A1:D9"], ["Rates", "B2"]])
def test_selecting_anything_else_refreshes_nothing(button, selection):
    button.evaluate(SELECT, selection)
    assert button.evaluate("book.calculations") == []


def test_the_button_is_found_where_it_has_moved_to(button):
    button.evaluate("() => { book.names.DS_Refresh_Button = { sheet: 'Start', address: 'B7' }; }")
    button.evaluate(SELECT, ["Start", "B7"])
    assert len(recalculated(button)) == 4


def test_a_workbook_without_a_button_has_none(book):
    book.evaluate(SELECT, ["Start", "B2"])
    assert book.evaluate("book.calculations") == []


FINDING = """([namespace, formulas]) => formulas.filter(ourFormulas(namespace))"""


def test_our_formulas_are_told_from_others(chromium):
    ours = [
        '=DS.SIGNAL("x")',
        "=ds.signal(A1)",
        "=1+DS.INDEX(A1)",
        '=IF(A1,DS.SIGNAL("x"),0)',
        '=_xldudf_DS_SIGNAL("x")',
        "=SUM(\n  DS.SIGNAL_HISTORY(A1))",
        "=@DS.SIGNAL(A1)",
    ]
    others = ["=ADS.SIGNAL(A1)", "=X.DS.SIGNAL(A1)", "DS.SIGNAL(1)", "=SUM(A1)", "", "=DS.1", "=_xldudf_ADS_SIGNAL(1)"]
    others += ['="=DS.SIGNAL(1)"', '="say ""x"" to DS.SIGNAL(1)"&A1', 5, None]
    with chromium.page() as tab:
        tab.load_module(STATIC / "workbook/formulas.js")
        assert tab.evaluate(FINDING, ["DS", [*ours, *others]]) == ours


def test_blocks_of_formulas_are_named_by_rectangles(chromium):
    cells = [[9, 25], [9, 26], [10, 25], [10, 26], [11, 27]]
    with chromium.page() as tab:
        tab.load_module(STATIC / "workbook/blocks.js")
        script = "(cells) => addressLists(blocksOf(cells.map(([row, column]) => ({ row, column }))))"
        assert tab.evaluate(script, cells) == ["Z10:AA11,AB12"]
        assert tab.evaluate("[0, 25, 26, 701, 702, 16383].map(columnName)") == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
