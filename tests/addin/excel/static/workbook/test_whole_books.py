"""Books as users have them: large, formatted, protected, with arrays, names and cells that depend on each other."""

import time

import pytest

from tests.addin.excel.parts.panes import opened
from tests.addin.excel.static.taskpane.test_excel import OFFICE, cell, put

MOST_BYTES = 4_000_000
"""Excel on the web takes 5 MB in one exchange."""


@pytest.fixture
def pane(chromium, backend):
    """Return the pane inside Excel, with a backend that knows the catalogue: each name costs its own request only."""
    backend.batch(["SIGNALS"])
    with opened(chromium, backend, office=OFFICE, locale="en-US") as pane:
        yield pane


def refreshed(pane, **options):
    return pane.tab.evaluate("(options) => DataServiceRefresh.run(options)", options)


def cost(pane, mode="stale", scope="workbook"):
    return pane.tab.evaluate("(given) => DataServiceRefresh.cost(...given)", [mode, scope])


def exchanges(pane):
    return pane.tab.evaluate("book.exchanges")


def frozen(pane, scope="workbook"):
    return pane.tab.evaluate(
        "(scope) => import(PREFIX + 'workbook/freeze.js').then((m) => m.freeze(DataServiceRefresh.language, scope))"
        ".then(({ undo, ...told }) => (globalThis.undo = undo, told))".replace("PREFIX", PREFIX),
        scope,
    )


PREFIX = "document.querySelector('script[async]').src.replace('taskpane/main.js', '')"


def test_the_cost_of_a_book_just_opened_is_what_the_refresh_spends(pane, service):
    put(pane, "B2", formula='=DS.SIGNAL("us-cpi")', value=1.5)
    put(pane, "A3", value="us-10y")
    put(pane, "B3", formula="=DS.SIGNAL(A3)", value=1.5)
    told = cost(pane)
    assert (told["at_least"], told["at_most"], told["calls"]) == (2, 2, 2)
    before = service.running.request_count
    assert refreshed(pane)["requests"] == service.running.request_count - before == 2


def test_a_cost_that_takes_long_to_find_out_says_so_meanwhile(pane):
    late: list = []

    async def hold(route) -> None:
        late.append(route)

    async def let_go(_page) -> None:
        for route in late:
            await route.continue_()

    put(pane, "B2", formula='=DS.SIGNAL("us-cpi")', value=1.5)
    pane.run(lambda page: page.route("**/functions/book/cost?*", hold))
    pane.open_tab("Refresh")
    pane.sees("Reading the workbook to tell its cost")
    pane.run(let_go)
    pane.sees("1 request for 1 formula")


def test_formulas_that_were_deleted_cost_nothing(pane, service):
    for row, slug in enumerate(["us-cpi", "us-10y", "btc-usd"], 1):
        put(pane, f"A{row}", formula=f'=DS.SIGNAL("{slug}")')
    refreshed(pane)
    pane.tab.evaluate("book.remove('Sheet1', 'A2')")
    told = cost(pane, "force")
    assert (told["at_least"], told["at_most"], told["calls"]) == (2, 2, 2)


@pytest.mark.parametrize(
    ("formula", "least", "most"),
    [
        ('=IF(C1,DS.SIGNAL("us-cpi"),0)', 0, 1),
        ('=DS.SIGNAL("us-"&"cpi")', 1, 1),
        ("=DS.SIGNAL(C2)", 1, 1),
        ("=DS.SIGNAL(C3)", 1, 1),  # a formula of the sheet's own, which a refresh does not change
        ("=DS.SIGNAL(C4)", 1, None),  # one that this refresh changes, at one request
        ("=DS.SIGNAL(INDIRECT(C2))", 0, None),
        ("=Inflation*2", 0, 1),
        ("=DS.SIGNAL(#N/A)", 0, 0),
    ],
)
def test_what_is_not_known_before_is_told_as_a_bound(pane, formula, least, most):
    put(pane, "C1", value=True)
    put(pane, "C2", value="us-cpi")
    put(pane, "C3", formula='="us-"&"cpi"', value="us-cpi")
    put(pane, "C4", formula='=DS.SIGNAL("us-10y","observed_at")', value="us-cpi")
    pane.tab.evaluate("""book.define("workbook", "Inflation", '=DS.SIGNAL("us-cpi")')""")
    put(pane, "A1", formula=formula)
    pane.tab.evaluate("(cells) => { book.selection = cells; }", ["A1", "C4"] if "C4" in formula else ["A1"])
    told = cost(pane, scope="selection")
    assert (told["at_least"], told["at_most"]) == (least, most)


def test_a_defined_name_that_calls_a_function_is_refreshed_with_the_cells_that_use_it(pane, service):
    pane.tab.evaluate("""book.define("workbook", "Inflation", '=DS.SIGNAL("us-cpi")')""")
    pane.tab.evaluate("""book.define("workbook", "Twice", "=Inflation*2")""")
    put(pane, "A1", formula="=Twice", value=1)
    report = refreshed(pane)
    assert (report["cells"], report["requests"]) == (1, 1)
    pane.tab.evaluate("book.settled()")
    assert cell(pane, "A1")["value"] > 100


def test_a_name_of_a_sheet_hides_the_one_of_the_workbook_there_and_only_there(pane, service):
    pane.tab.evaluate("""() => {
      book.define("workbook", "Inflation", '=DS.SIGNAL("us-cpi")');
      book.define("Other", "Inflation", '=DS.SIGNAL("us-10y")&DS.SIGNAL("btc-usd")');
      book.define("Third", "Inflation", "Third", "Z1");
    }""")
    put(pane, "Z1", sheet="Third", value=5)
    for sheet in ("Sheet1", "Other", "Third"):
        put(pane, "A1", sheet=sheet, formula="=Inflation", value=1)
    pane.tab.evaluate("book.active = book.sheets.findIndex(({ id }) => id === 'Other'); 0")
    assert [cost(pane)["at_most"], cost(pane)["calls"], cost(pane, scope="sheet")["at_most"]] == [3, 2, 2]
    report = refreshed(pane)
    assert (report["cells"], report["requests"]) == (2, 3)
    assert sorted(frozen(pane)["names"]) == ["INFLATION", "OTHER!INFLATION"]
    assert cell(pane, "A1", "Third")["formula"] == "=Inflation"


def test_formatted_cells_without_content_are_not_read(pane):
    put(pane, "B2", formula='=DS.SIGNAL("us-cpi")')
    pane.tab.evaluate("book.format('Sheet1', 'A1:Z400000')")
    before = exchanges(pane)["count"]
    assert refreshed(pane)["cells"] == 1
    assert exchanges(pane)["count"] - before < 20


def test_a_formula_that_shows_nothing_at_the_edge_is_refreshed_too(pane):
    put(pane, "B2", formula='=DS.SIGNAL("us-cpi")', value=1)
    put(pane, "Z90", formula='=DS.SIGNAL("us-10y","premium_note")', value="", type="String")
    assert refreshed(pane)["cells"] == 2


MANY = """(count) => {
  for (let row = 0; row < count; row++) {
    const slug = ["us-cpi", "us-10y", "btc-usd"][row % 3];
    book.put("Sheet1", `B${row + 1}`, { formula: `=DS.SIGNAL(A${row + 1},"value")`, value: 1.5 });
    book.put("Sheet1", `A${row + 1}`, { value: slug });
    book.put("Sheet1", `C${row + 1}`, { value: `a note of some length, number ${row}` });
  }
}"""


@pytest.mark.parametrize("count", [5_000])
def test_cost_and_freeze_of_a_large_book_go_in_small_exchanges(pane, count):
    pane.tab.evaluate(MANY, count)
    told = cost(pane)
    assert (told["calls"], told["at_most"]) == (count, 3)
    done = frozen(pane)
    assert (done["cells"], done["refused"], done["busy"]) == (count, [], [])
    seen = exchanges(pane)
    assert max(seen["largestRequest"], seen["largestResponse"]) < MOST_BYTES
    assert seen["count"] < 200
    left = pane.tab.evaluate("[...book.sheets[0].cells.values()].filter((cell) => cell.formula).length")
    assert left == 0


def test_long_texts_make_the_blocks_smaller(pane):
    pane.tab.evaluate(
        """() => {
          for (let row = 1; row <= 1500; row++) {
            book.put("Sheet1", `A${row}`, { value: "x".repeat(20_000) });
            book.put("Sheet1", `B${row}`, { formula: `=DS.SIGNAL("${"x".repeat(7_000)}${row}")`, value: "#N/A" });
          }
        }"""
    )
    count = "m.countFormulas(DataServiceRefresh.language, 'workbook').then(({ count }) => count)"
    assert pane.tab.evaluate(f"import({PREFIX} + 'workbook/freeze.js').then((m) => {count})") == 1_500


def test_a_cell_that_excel_refuses_is_named_and_stops_no_other(pane):
    for row in (2, 3, 4):
        put(pane, f"B{row}", formula=f'=DS.SIGNAL("us-cpi","name",{row})', value=row)
    pane.tab.evaluate("book.cell('Sheet1', 'B3').array = true")
    done = frozen(pane)
    assert (done["cells"], done["refused"]) == (2, ["Sheet1!B3"])
    assert [cell(pane, f"B{row}")["formula"] != "" for row in (2, 3, 4)] == [False, True, False]


def test_an_old_array_is_frozen_as_a_whole(pane):
    for row in (2, 3, 4):
        put(pane, f"B{row}", formula="=DS.SIGNAL(A2:A4)", value=row, array="B2:B4")
    put(pane, "B5", formula='=DS.SIGNAL("us-cpi")', value=5)
    put(pane, "B6", formula='=DS.SIGNAL("us-10y")', value=6, array=True)
    done = frozen(pane)
    assert (done["cells"], done["refused"]) == (4, ["Sheet1!B6"])
    assert [cell(pane, f"B{row}")["value"] for row in (2, 3, 4, 5)] == [2, 3, 4, 5]


def test_formulas_on_a_protected_sheet_are_told_before_and_left(pane):
    put(pane, "B2", formula='=DS.SIGNAL("us-cpi")', value=1)
    put(pane, "A1", sheet="Locked", formula='=DS.SIGNAL("us-cpi")', value=1)
    pane.tab.evaluate("book.lock('Locked')")
    pane.open_tab("Refresh")
    pane.press("Freeze workbook")
    pane.sees("1 formula on protected sheets will be left")
    pane.run(lambda page: page.get_by_role("dialog").get_by_role("button", name="Freeze").click())
    pane.sees("1 formula replaced by values")
    pane.sees("Locked!A1")
    assert cell(pane, "A1", "Locked")["formula"] != ""


def test_what_was_frozen_can_be_undone(pane):
    put(pane, "B2", formula='=DS.SIGNAL_HISTORY("us-cpi","N3")', value="observed_at", spill="B2:C5")
    for address in ("C2", "B3", "C3", "B4", "C4", "B5", "C5"):
        put(pane, address, value=7)
        pane.tab.evaluate("(at) => { book.cell('Sheet1', at).filledBy = 16385; }", address)
    put(pane, "F2", formula='=DS.SIGNAL("us-cpi")', value=5)
    assert frozen(pane)["cells"] == 2
    assert cell(pane, "C5")["value"] == 7
    pane.tab.evaluate("undo()")
    pane.tab.evaluate("book.settled()")
    assert cell(pane, "B2")["formula"] == '=DS.SIGNAL_HISTORY("us-cpi","N3")'
    assert cell(pane, "B2")["spill"] == "B2:C5"
    assert cell(pane, "F2")["formula"] == '=DS.SIGNAL("us-cpi")'


def test_undo_leaves_what_came_into_the_cells_since_and_says_where(pane, service):
    for row, slug in enumerate(["us-cpi", "us-10y", "btc-usd"], 1):
        put(pane, f"B{row}", formula=f'=DS.SIGNAL("{slug}","name")', value=slug)
    put(pane, "D1", formula='=DS.SIGNAL_HISTORY("us-cpi","N1")', value=1, spill="D1:D2")
    put(pane, "D2", value=2, filledBy=3)
    put(pane, "A1", sheet="Gone", formula='=DS.SIGNAL("us-cpi")', value=1)
    assert frozen(pane)["cells"] == 5
    put(pane, "B2", value="typed since")
    put(pane, "D2", value="typed, too")
    pane.tab.evaluate("book.removeSheet('Gone')")
    done = pane.tab.evaluate("undo()")
    assert (done["cells"], sorted(done["left"])) == (2, ["Gone!A1", "Sheet1!B2", "Sheet1!D1"])
    assert (cell(pane, "B2")["value"], cell(pane, "D2")["value"]) == ("typed since", "typed, too")
    assert [cell(pane, address)["formula"] != "" for address in ("B1", "B3", "D1")] == [True, True, False]


def test_a_table_that_excel_refuses_half_way_keeps_its_formula(pane):
    put(pane, "B1", formula="=DS.WIRE()", value="row 0", spill="B1:B3000")
    pane.tab.evaluate(
        """() => {
          for (let row = 2; row <= 3000; row++) book.put("Sheet1", `B${row}`, { value: `row ${row}`, filledBy: 1 });
          book.refusesBelow = 2000;
        }"""
    )
    done = frozen(pane)
    assert (done["cells"], done["refused"]) == (0, ["Sheet1!B1"])
    assert cell(pane, "B1")["formula"] == "=DS.WIRE()"


def test_long_texts_are_frozen_in_small_exchanges(pane):
    pane.tab.evaluate(
        """() => {
          const text = "x".repeat(30_000);
          const put = (at, cell) => book.put("Sheet1", at, { value: text, ...cell });
          for (let row = 1; row <= 300; row++) put(`B${row}`, { formula: `=DS.POSTS(${row})` });
          put("D1", { formula: "=DS.POSTS()", spill: "D1:D200" });
          for (let row = 2; row <= 200; row++) put(`D${row}`, { filledBy: 3 });
        }"""
    )
    assert frozen(pane)["cells"] == 301
    assert exchanges(pane)["largestRequest"] < MOST_BYTES


def test_inserting_asks_before_it_replaces_a_formula_that_shows_nothing(pane):
    put(pane, "A1", formula='=IF(FALSE,1,"")', value="", type="String")
    pane.open_tab("Insert")
    pane.press("SIGNAL The latest value")
    pane.type("slug", "us-cpi")
    pane.press("Insert", exact=True)
    pane.sees('A1 holds “=IF(FALSE,1,"")”.')


def test_everything_is_not_swallowed_by_what_is_stale_and_each_has_its_own_report(pane, service):
    put(pane, "A1", formula='=DS.SIGNAL("us-cpi")')
    put(pane, "A1", sheet="Other", formula='=DS.SIGNAL("us-10y")')
    reports = pane.tab.evaluate(
        """async () => {
          const first = DataServiceRefresh.run({ scope: "sheet" });
          while (DataServiceRefresh.turns.length === 0) await new Promise((go) => setTimeout(go));
          return Promise.all([
            first, DataServiceRefresh.run({ mode: "force" }),
            DataServiceRefresh.run({ scope: "sheet", mode: "force" }), DataServiceRefresh.run({ mode: "force" }),
          ]);
        }"""
    )
    assert [(each["scope"], each["mode"], each["requests"]) for each in reports] == [
        ("sheet", "stale", 1),
        ("workbook", "force", 2),
        ("workbook", "force", 2),
        ("workbook", "force", 2),
    ]
    assert service.running.request_count == 4, "the catalogue, and three"


HIDDEN = """() => {
  const plain = setTimeout;
  globalThis.setTimeout = (work, ms, ...given) => plain(work, Math.ceil((ms || 0) / 1000) * 1000 || 1000, ...given);
  Object.defineProperty(document, "hidden", { get: () => true });
  Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
}"""


def test_in_a_hidden_page_whose_timers_are_late_a_refresh_ends_as_soon(pane):
    put(pane, "A1", formula='=DS.SIGNAL("us-cpi")')
    put(pane, "A2", formula='=IF(FALSE,DS.SIGNAL("us-10y"),0)')  # a call that may or may not come
    refreshed(pane)
    timed = """async () => {
      const began = performance.now();
      await DataServiceRefresh.run();
      return performance.now() - began;
    }"""
    visible = pane.tab.evaluate(timed)
    pane.tab.evaluate("book.delayMs = 0; 0")
    pane.tab.evaluate("() => { const plain = setTimeout; globalThis.standIn = plain; }")
    pane.tab.evaluate(HIDDEN)
    began = time.monotonic()
    hidden = pane.tab.evaluate(timed)
    # The stand-in's own delay of a calculation counts in the hidden page: it is a timer, and Excel's is not.
    assert hidden - 1_000 <= visible + 500, (visible, hidden, time.monotonic() - began)
