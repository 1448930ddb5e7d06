"""Arguments that engines take otherwise than Excel: written so that the result is Excel's, or left and listed."""

from pathlib import Path

import pytest
from xlsxwriter import Workbook

from addin.workbook.calculation.calculation import SEVERAL_VALUES
from addin.workbook.calculation.reading.constants import OTHER_MARKS
from addin.workbook.calculation.reading.oddities import (
    BEFORE_MARCH_1900,
    BLANK,
    COUNTS_ODD_TEXTS,
    COUNTS_ODD_VALUES,
    MORE_THAN_31_BITS,
    MORE_THAN_THE_TEXT,
    NO_SPILL,
    OTHER_SIZE,
    OTHER_TILDE,
    READS_DAY,
    SEVERAL_SHEETS,
    SPLITS_BY_NOTHING,
)
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session
from udfs.errors import CellError

CALL = '=_xldudf_DS_SIGNAL("us-cpi")'
NAME = '_xldudf_DS_SIGNAL("us-cpi","name")'
TEN = {f"E{row}": row * 10 for row in range(1, 11)} | {f"F{row}": row for row in range(1, 11)}


async def _refreshed(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


async def _reasons(service: EmbeddedService, book: Path) -> dict[tuple[int, int], str]:
    report = await _refreshed(service, book)
    return {cell.cell[1]: cell.unproven for cell in report.unproven}


async def test_sumif_adds_up_as_many_cells_as_it_tests(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": '=IF(_xldudf_DS_SIGNAL("us-cpi")>0,SUMIF(E1:E10,">35",F3:F4),0)',
        "A2": '=SUMIF(E1:E10,">35",F1)+0*_xldudf_DS_SIGNAL("us-cpi")',
        "A3": '=AVERAGEIF(E1:E3,">5",F2:F9)+0*_xldudf_DS_SIGNAL("us-cpi")',
        "A4": '=SUMIF(E1:E10,">35",OFFSET(F1,0,0,2,1))+0*_xldudf_DS_SIGNAL("us-cpi")',
        # F12 lies outside of what the formula names, and inside of what it adds up.
        "F12": CALL,
        "A5": '=SUMIF(E1:E10,">95",F3)',
    }
    book = make_book(tmp_path / "book.xlsx", TEN | cells)
    assert await _reasons(service, book) == {(4, 1): OTHER_SIZE}
    beyond, four_to_ten, average, last, call = values(book, "Sheet1", "A1", "A2", "A3", "A5", "F12")
    assert (beyond, four_to_ten, average, last) == (pytest.approx(6 + 7 + 8 + 9 + 10 + call), 49, 3, call)


@pytest.mark.parametrize(
    "formula",
    [
        "SUM(VLOOKUP(20,E1:F10,{1,2},FALSE))",
        "IFERROR(SUM(VLOOKUP(20,E1:F10,{1,2},FALSE)),0)",
        "SUM(RANK(F1:F3,F1:F10))",
        'SUM(CODE({"a","b"}))',
        "SUM(NETWORKDAYS(E1:E3,44000))",
        "SUM(WEEKNUM(SEQUENCE(3,1,44000)))",
        "SUM(EDATE(E1:E3,1))",
        "SUM(ISEVEN(E1:E3)*1)",
        "SUM(SUBTOTAL({1,9},E1:E3))",
        "SUM(INDEX(F1:F10,N(IF(1,F1:F3))))",
        'LEN(T(IF(1,{"a","bc"})))',
        "TYPE(E1:E3)",
        "SUM(OFFSET(E1,F1:F3,0))",
        'SUM(N(INDIRECT("E"&{1,2})))',
    ],
)
async def test_several_values_where_engines_take_one_are_left(service: EmbeddedService, tmp_path: Path, formula: str):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "B1": ("B1", f"={formula}+0*A1"), **TEN})
    reasons = await _reasons(service, book)
    assert list(reasons) == [(1, 2)]
    assert reasons[1, 2] == SEVERAL_VALUES or "gets several values" in reasons[1, 2]


async def test_what_a_call_gives_is_a_value_and_no_cell(service: EmbeddedService, tmp_path: Path):
    let = "_xlfn.LET(_xlpm.x,_xldudf_DS_SIGNAL(A1:A2)"
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": "us-cpi",
            "A2": "us-10y",
            "B1": f"=SUM({NAME},1)",
            "B2": f"=COUNT({NAME},1)",
            "B3": f"=ISREF({NAME})",
            "B4": f'={let},COUNTIF(_xlpm.x,">5"))',
            "B5": f"={let},SUM(_xlpm.x)-SUM(_xlpm.x)+ROWS(_xlpm.x))",
        },
    )
    assert await _reasons(service, book) == {(4, 2): "COUNTIF needs cells, and gets values"}
    text_in_sum, counted, is_reference, rows = values(book, "Sheet1", "B1", "B2", "B3", "B5")
    assert isinstance(text_in_sum, CellError)
    assert text_in_sum.message == "#VALUE!"
    assert (counted, is_reference, rows) == (1, False, 2)


async def test_subtotals_leave_out_subtotals_that_rest_on_nothing_of_ours(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": CALL,
        "A2": 10,
        "A3": 20,
        "A4": "=SUBTOTAL(9,A2:A3)",
        "A5": "=SUBTOTAL(9,A1:A4)",
        "A6": "=SUM(A1:A4)",
    }
    book = make_book(tmp_path / "book.xlsx", cells)
    await _refreshed(service, book)
    call, subtotal, total = values(book, "Sheet1", "A1", "A5", "A6")
    assert (subtotal, total) == (pytest.approx(call + 30), pytest.approx(call + 60))


async def test_a_formula_that_shows_nothing_is_no_blank_cell(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": CALL,
        "B1": '=IF(C1>0,C1,"")',
        "B2": '=IF(ISBLANK(B1),"blank",A1)',
        "B3": '=IF(B1=0,"zero",A1)',
        "B4": '=IFERROR(B1+A1,"no number")',
    }
    book = make_book(tmp_path / "book.xlsx", cells)
    assert await _reasons(service, book) == {}
    call, not_blank, not_zero, no_number = values(book, "Sheet1", "A1", "B2", "B3", "B4")
    assert (not_blank, not_zero, no_number) == (call, call, "no number")


async def test_texts_and_blanks_that_programs_count_differently_are_left(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": CALL,
        "D1": "1,234",
        "D2": "us-10y",
        "B1": "=COUNTIF(D1:D2,1234)+0*A1",
        "B2": '=COUNTIF(D1:D2,"us*")+0*A1',
        "B3": "=IFERROR(VLOOKUP(D9,D1:E9,2,FALSE),7)+0*A1",
        "B4": '=_xlfn.MINIFS(E1:E10,F1:F10,">2",E1:E10,">40")+0*A1',
    }
    book = make_book(tmp_path / "book.xlsx", TEN | cells)
    reasons = await _reasons(service, book)
    assert reasons[1, 2] == COUNTS_ODD_TEXTS
    assert reasons[3, 2] == BLANK
    assert (2, 2) not in reasons
    assert values(book, "Sheet1", "B2") == [1]
    assert values(book, "Sheet1", "B4") in ([None], [50])


@pytest.mark.parametrize("criterion", ['"#N/A"', '"<>#DIV/0!"'])
async def test_cells_with_errors_are_not_counted(service: EmbeddedService, tmp_path: Path, criterion: str):
    formula = f"=COUNTIF(E1:E5,{criterion})+0*{CALL[1:]}"
    book = make_book(tmp_path / "book.xlsx", TEN | {"E3": "=NA()", "E4": True, "A1": formula})
    assert await _reasons(service, book) == {(1, 1): COUNTS_ODD_VALUES}


async def test_a_spill_of_a_cell_without_one_is_left(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": CALL, "A2": "=SUM(_xlfn.ANCHORARRAY(E1))+A1*0", "A3": "=COUNT(_xlfn.ANCHORARRAY(G1))+A1*0"}
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        for name, formula in cells.items():
            sheet.write_formula(name, formula, None, 0)
        sheet.write_number("E1", 5)
        sheet.write_dynamic_array_formula("G1", "=_xlfn.SEQUENCE(3)+A1*0", None, 0)
    assert await _reasons(service, path) == {(2, 1): NO_SPILL}
    assert values(path, "Sheet1", "A3") == [3.0]


@pytest.mark.parametrize(
    ("formula", "is_left"),
    [('="1904-01-03"+A1*0', True), ("=YEAR(E1)+A1*0", True), ("=YEAR(E2)+A1*0", False), ("=A1&E3", False)],
)
async def test_a_text_is_no_day_where_days_count_from_1904(
    service: EmbeddedService, tmp_path: Path, formula: str, is_left: bool
):
    path = tmp_path / "book.xlsx"
    with Workbook(path, {"date_1904": True}) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_column("E1", ["3 Jan 1904", 366, "a1"])
        sheet.write_formula("A1", CALL, None, 100)
        sheet.write_formula("A2", formula, None, 0)
    assert await _reasons(service, path) == ({(2, 1): READS_DAY} if is_left else {})


@pytest.mark.parametrize("number_format", ["0,00", "#.##0", "#.##0,00", "# ##0,0"])
async def test_no_number_is_written_in_a_format_of_another_language(
    service: EmbeddedService, tmp_path: Path, number_format: str
):
    formulas = {"A1": f'="CPI: "&TEXT({CALL[1:]},"{number_format}")', "A2": f"=TEXT({CALL[1:]},B1)"}
    book = make_book(tmp_path / "book.xlsx", {**formulas, "B1": number_format})
    assert await _reasons(service, book) == {(1, 1): OTHER_MARKS, (2, 1): OTHER_MARKS}


LEFT_OUT = "was never compared with Excel with these arguments left out"


@pytest.mark.parametrize(
    "formula",
    [
        '_xlfn.TEXTBEFORE("Socrates"," ",,,1)',
        '_xlfn.TEXTAFTER("x-y","-",,1)',
        'ADDRESS(1,1,,,"Sheet2")',
        'ADDRESS(1,1,4,,"Sheet2")',
        "TREND(E1:E3,,4)",
        "GROWTH(E1:E3,,4)",
        "SUM(LINEST(E1:E3,,TRUE))",
        "SUM(LOGEST(E1:E3,,TRUE))",
        "_xlfn.CEILING.MATH(-2.5,,1)",
        "_xlfn.FLOOR.MATH(-2.5,,1)",
        "VDB(2400,300,10,0,1,,TRUE)",
        "DB(1000,100,5,1,)",
        'LEN(HYPERLINK("http://x",))',
        "_xlfn.LET(_xlpm.a,,_xlpm.a+1)",
        "SUM(_xlfn.SEQUENCE(3,,5))",
    ],
)
async def test_arguments_left_out_between_commas_are_left(service: EmbeddedService, tmp_path: Path, formula: str):
    book = make_book(tmp_path / "book.xlsx", TEN | {"A1": CALL, "B1": f"={formula}&LEFT(A1,0)"})
    [why] = (await _reasons(service, book)).values()
    assert why.endswith(LEFT_OUT)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("IF(A1>0,,5)", 0),
        ("INDEX(E1:F10,,2)", None),
        ("SUM(INDEX(E1:F10,,2))", 55),
        ("SUM(OFFSET(E1,1,0,,2))", 22),
        ("VLOOKUP(30,E1:F10,2,)", 3),
        ('_xlfn.TEXTJOIN("-",,E1:E2)', "10-20"),
        ("PV(0.1,2,,-121)", pytest.approx(100)),
        ("_xlfn._xlws.SORT(E1:E3,,-1)", None),
        ("SUM(_xlfn.TAKE(E1:F3,,1))", 60),
    ],
)
async def test_arguments_left_out_as_they_were_compared_are_worked_out(
    service: EmbeddedService, tmp_path: Path, formula: str, value
):
    book = make_book(tmp_path / "book.xlsx", TEN | {"A1": CALL, "B1": f"={formula}"})
    reasons = await _reasons(service, book)
    assert not any(each.endswith(LEFT_OUT) for each in reasons.values())
    if value is not None:
        assert reasons == {}
        assert values(book, "Sheet1", "B1") == [value]


@pytest.mark.parametrize(
    "formula",
    [
        'SUMIF(D1:D2,"a~~b",E1:E2)',
        'COUNTIF(D1:D2,"a~b")',
        "COUNTIF(D1:D2,D3)",
        'COUNTIF(D1:D2,"a~"&"~b")',
        'SUMIFS(E1:E2,D1:D2,"a~~b")',
        '_xlfn.MAXIFS(E1:E2,D1:D2,"a~~b")',
        'AVERAGEIF(D1:D2,"a~~b",E1:E2)',
        "DSUM(G1:H2,2,G4:G5)",
    ],
)
async def test_a_criterion_with_a_tilde_of_its_own_is_left(service: EmbeddedService, tmp_path: Path, formula: str):
    cells = {"D1": "a~b", "D2": "ab", "D3": "a~~b", "G1": "k", "G2": "a~b", "H1": "v", "H2": 5, "G4": "k", "G5": "a~~b"}
    book = make_book(tmp_path / "book.xlsx", TEN | cells | {"A1": CALL, "B1": f"={formula}+0*A1"})
    assert await _reasons(service, book) == {(1, 2): OTHER_TILDE}


@pytest.mark.parametrize(("criterion", "count"), [("a~*b", 1), ("a~?b", 1), ("a?b", 3), ("a*b", 3)])
async def test_a_tilde_before_a_pattern_is_read(service: EmbeddedService, tmp_path: Path, criterion: str, count: float):
    cells = {"D1": "a*b", "D2": "a?b", "D3": "axb", "A1": CALL, "B1": f'=COUNTIF(D1:D3,"{criterion}")+0*A1'}
    book = make_book(tmp_path / "book.xlsx", cells)
    assert await _reasons(service, book) == {}
    assert values(book, "Sheet1", "B1") == [count]


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ('INDEX(_xlfn.TEXTSPLIT("abc",""),1)', SPLITS_BY_NOTHING),
        ('INDEX(_xlfn.TEXTSPLIT("abc",D1&""),1)', SPLITS_BY_NOTHING),
        ('ISNA(_xlfn.TEXTBEFORE("a-b-c","-",9))', MORE_THAN_THE_TEXT),
        ('ISNA(_xlfn.TEXTAFTER("a-b-c","-",-F9))', MORE_THAN_THE_TEXT),
    ],
)
async def test_texts_are_split_only_where_it_is_sure(
    service: EmbeddedService, tmp_path: Path, formula: str, reason: str
):
    book = make_book(tmp_path / "book.xlsx", TEN | {"A1": CALL, "B1": ("B1", f"={formula}&LEFT(A1,0)")})
    assert await _reasons(service, book) == {(1, 2): reason}


async def test_one_cell_as_the_first_area_of_a_running_total_is_worked_out(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": CALL,
        "B1": "=SUM(A$1:A1)",
        "B2": "=SUM(A$1:A2)",
        "B3": "=SUBTOTAL(9,A1:A1)",
        "B4": "=COUNTIF(A$1:A1,A1)",
        "B5": "=AVERAGE(A1:A1)+MAX(A1:A1)-MIN(A1:A1)",
        "B6": "=SUM(A1:A1+1)",
    }
    book = make_book(tmp_path / "book.xlsx", cells)
    assert list(await _reasons(service, book)) == [(6, 2)]
    call, *sums, counted, average = values(book, "Sheet1", "A1", "B1", "B2", "B3", "B4", "B5")
    assert (sums, counted, average) == ([call] * 3, 1, call)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("ROUND(2.5,1E15)", MORE_THAN_31_BITS),
        ("ROUND(2.5,-C1*3E9)", MORE_THAN_31_BITS),
        ("ROUND(2.5,NA())", ""),
        ("ROUND(2.5,400)", ""),
        ("DATE(2020,1,3000000000)", MORE_THAN_31_BITS),
        ('LEN(LEFT("abc",C1*3E9))', MORE_THAN_31_BITS),
        ("INDEX(B1:B8,C1)", ""),
        ("YEARFRAC(59,61,0)", BEFORE_MARCH_1900),
        ("DAYS360(B1,61)", BEFORE_MARCH_1900),
        ("EDATE(61,-1)", BEFORE_MARCH_1900),
        ("EOMONTH(31,0)", BEFORE_MARCH_1900),
        ("YEARFRAC(61,420,1)", ""),
        ('EDATE("2020-01-31",1)', ""),
        ("SUM(B1:B8 Other!$A$1:$B$2)", SEVERAL_SHEETS),
        ("IFERROR(B1:B8 Other!$A$1,7)", SEVERAL_SHEETS),
        ("SUM(B1:B8 OFFSET(Other!$A$1,0,0,2,2))", SEVERAL_SHEETS),
        ("SUM(INDEX(Other!$A$1:$A$3,1):INDEX(B1:B8,3))", SEVERAL_SHEETS),
        ("SUM(B1:B8 (B2:C3))", ""),
        ("SUM(B1:B8 OFFSET(B1,0,0,2,1))", ""),
        ("SUM(B1:INDEX(OFFSET(B1:B8,1,0),3))", ""),
        ("SUM(Other!$A$1:INDEX(Other!$A:$A,2))", ""),
    ],
)
async def test_large_counts_old_days_and_areas_of_two_sheets_are_left(
    service: EmbeddedService, tmp_path: Path, formula: str, reason: str
):
    numbers = {f"B{row}": row for row in range(1, 9)} | {f"C{row}": row * 10 for row in range(1, 9)}
    cells = {"A1": CALL, **numbers, "H5": f"=({formula})+A1*0"}
    path = make_book(tmp_path / "book.xlsx", cells, Other={"A1": 5, "A2": 6})
    assert await _reasons(service, path) == ({(5, 8): reason} if reason else {})
    assert (values(path, "Sheet1", "H5") == [None]) == bool(reason)
