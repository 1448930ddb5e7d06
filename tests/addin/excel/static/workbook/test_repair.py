"""The refresh enters formulas again that Excel has damaged; recalculating does not heal them."""

import random

import pytest

from addin.excel.assets import STATIC
from tests.addin.excel.parts.stand_in import OFFICE

FUNCRES = r"'C:\Program Files\Microsoft Office\Root\Office16\LIBRARY\Analysis\FUNCRES.XLAM'!_xldudf_DS_"
AS_ENTERED = "([namespace, formulas]) => formulas.map(formulasAsEntered(namespace))"


@pytest.fixture
def book(page, scripted):
    """Return the page of a workbook without sheets, after Excel has loaded the add-in."""
    page.add_script(content=OFFICE)
    page.add_script(url=f"{scripted.url}/refresh.js")
    return page


def add_sheet(book, name, cells, **state):
    book.evaluate("([name, cells, state]) => addSheet(name, cells, state)", [name, cells, state])


def refresh(book, **options):
    return book.evaluate("(options) => DataServiceRefresh.run(options)", options)


def cells(book, sheet=0):
    return book.evaluate(
        """(index) => Object.fromEntries([...book.sheets[index].cells].map(
          ([at, cell]) => [`${Math.floor(at / 16_384)},${at % 16_384}`, cell.formula]))""",
        sheet,
    )


def test_a_call_that_excel_took_for_another_add_ins_is_entered_as_typed(book, scripted):
    add_sheet(book, "Start", {"0,0": f'={FUNCRES}SIGNAL("a")', "1,0": '=_xldudf_DS_SIGNAL("b")', "2,0": "=SUM(A1:A2)"})
    report = refresh(book)
    assert cells(book) == {"0,0": '=DS.SIGNAL("a")', "1,0": '=DS.SIGNAL("b")', "2,0": "=SUM(A1:A2)"}
    assert (report["cells"], report["repaired"], report["damaged"]) == (2, 2, 0)
    assert report["text"].startswith("2 cells refreshed, 1 request, 2 damaged formulas entered again")
    assert [call for batch in scripted.batches for call in batch] == [["SIGNAL", "a"], ["SIGNAL", "b"]]


def test_a_right_formula_that_is_stuck_in_name_is_entered_again(book, scripted):
    add_sheet(book, "Start", {"3,1": '=DS.SIGNAL("a")', "4,1": '=DS.SIGNAL("b")'}, stuck=["3,1"])
    assert refresh(book)["repaired"] == 1
    assert book.evaluate("book.entered") == ['=DS.SIGNAL("a")']
    assert [call for batch in scripted.batches for call in batch] == [["SIGNAL", "a"], ["SIGNAL", "b"]]
    assert refresh(book)["repaired"] == 0


def test_a_healthy_workbook_is_not_written_to(book):
    add_sheet(book, "Start", {"0,0": '=DS.SIGNAL("a")', "1,0": '="_xldudf_DS_SIGNAL(1)"', "2,0": "=UNKNOWN(1)"})
    add_sheet(book, "Other", {"0,0": "=UNKNOWN(1)"}, stuck=["0,0"])
    report = refresh(book)
    assert book.evaluate("book.entered") == []
    assert "damaged" not in report["text"]


def test_only_what_is_in_the_scope_is_entered_again(book):
    add_sheet(book, "Start", {"0,0": f'={FUNCRES}SIGNAL("a")'})
    add_sheet(book, "Other", {"0,0": f'={FUNCRES}SIGNAL("b")'})
    assert refresh(book, scope="sheet")["repaired"] == 1
    assert cells(book, 1) == {"0,0": f'={FUNCRES}SIGNAL("b")'}


def test_a_protected_sheet_is_left_alone_and_the_report_says_so(book):
    add_sheet(book, "Locked", {"0,0": f'={FUNCRES}SIGNAL("a")'}, locked=True)
    add_sheet(book, "Open", {"0,0": f'={FUNCRES}SIGNAL("b")'})
    report = refresh(book)
    assert (report["how"], report["repaired"], report["damaged"]) == ("marked", 1, 1)
    assert "1 damaged formula left: unprotect the sheet" in report["text"]
    assert cells(book, 0) == {"0,0": f'={FUNCRES}SIGNAL("a")'}


def test_a_part_of_an_array_that_excel_refuses_stops_no_other_cell(book):
    damaged = {f"{row},0": f'={FUNCRES}SIGNAL("s-{row}")' for row in range(5)}
    add_sheet(book, "Start", damaged, arrays=["2,0"])
    report = refresh(book)
    assert (report["repaired"], report["damaged"]) == (4, 1)
    assert [formula for formula in cells(book).values() if formula.startswith("=DS.")] == [
        f'=DS.SIGNAL("s-{row}")' for row in (0, 1, 3, 4)
    ]


def test_thousands_of_damaged_cells_are_healed_by_one_refresh(book, scripted):
    book.evaluate(
        """(damaged) => {
          const cells = {};
          for (let row = 0; row < 5000; row++) cells[`${row},0`] = `=${damaged}SIGNAL("s-${row % 100}")`;
          addSheet("Many", cells);
        }""",
        FUNCRES,
    )
    assert refresh(book)["repaired"] == 5_000
    assert [len(batch) for batch in scripted.batches] == [100]


@pytest.mark.parametrize(
    ("damaged", "entered"),
    [
        (f'={FUNCRES}SIGNAL("x")', '=DS.SIGNAL("x")'),
        ('=_xldudf_DS_SIGNAL("x")', '=DS.SIGNAL("x")'),
        ('=FUNCRES.XLAM!_xldudf_ds_signal("x")', '=DS.SIGNAL("x")'),
        ("=[1]!_xldudf_DS_SIGNAL (A1)", "=DS.SIGNAL (A1)"),
        (f'=1+{FUNCRES}SIGNAL({FUNCRES}SIGNAL("x"))', '=1+DS.SIGNAL(DS.SIGNAL("x"))'),
        (r"='C:\it''s\A.XLAM'!_xldudf_DS_SIGNAL(A1)", "=DS.SIGNAL(A1)"),
        (f'="{FUNCRES}SIGNAL(1)"&{FUNCRES}SIGNAL(1)', f'="{FUNCRES}SIGNAL(1)"&DS.SIGNAL(1)'),
        ('=\'a"b\'!A1&_xldudf_DS_SIGNAL(1)&"c"', '=\'a"b\'!A1&DS.SIGNAL(1)&"c"'),
        ("=_xldudf_ADS_SIGNAL(1)+X_xldudf_DS_SIGNAL(1)", "=_xldudf_ADS_SIGNAL(1)+X_xldudf_DS_SIGNAL(1)"),
        ("='_xldudf_DS_SIGNAL(1)'!A1", "='_xldudf_DS_SIGNAL(1)'!A1"),
        ("=_xldudf_DS_SIGNAL", "=_xldudf_DS_SIGNAL"),
        ('=DS.SIGNAL("x")', '=DS.SIGNAL("x")'),
    ],
)
def test_a_damaged_call_becomes_what_a_user_types(chromium, damaged, entered):
    with chromium.page() as tab:
        tab.load_module(STATIC / "workbook/formulas.js")
        assert tab.evaluate(AS_ENTERED, ["DS", [damaged]]) == [entered]


def test_any_formula_that_is_damaged_becomes_itself_again(chromium):
    """Seeded formulas with calls, texts, sheets and operators in any order, as typed and as Excel may leave them."""
    pieces = [
        'DS.SIGNAL("x")',
        "DS.INDEX(A1)",
        '"DS.SIGNAL(1)"',
        '"say ""x"""',
        "'it''s'!A1",
        "'a\"b'!B2",
        "SUM(A1:B2)",
        "7",
    ]
    walk = random.Random(7)
    typed = ["=" + "&".join(walk.choices(pieces, k=walk.randint(1, 6))) for _ in range(500)]
    with chromium.page() as tab:
        tab.load_module(STATIC / "workbook/formulas.js")
        for prefix in (FUNCRES, "_xldudf_DS_", "[1]!_xldudf_DS_"):
            damaged = [_outside_quotes(formula, prefix) for formula in typed]
            assert tab.evaluate(AS_ENTERED, ["DS", damaged]) == typed
            assert tab.evaluate(AS_ENTERED, ["DS", typed]) == typed
            ours = [formula for formula in typed if _outside_quotes(formula, "") != formula]
            found = "([namespace, formulas]) => formulas.filter(ourFormulas(namespace))"
            assert tab.evaluate(found, ["DS", typed]) == ours


def _outside_quotes(formula: str, prefix: str) -> str:
    """The formula with every call that stands outside of quotes damaged."""
    return formula.replace('"DS.', '"\0').replace("DS.", prefix).replace("\0", "DS.")
