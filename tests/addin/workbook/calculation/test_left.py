"""Formulas that nobody can be sure of, and books that calculate in their own way: left, and listed."""

import re
from pathlib import Path

import openpyxl
import pytest
from openpyxl.worksheet.formula import DataTableFormula
from xlsxwriter import Workbook

from addin.workbook.calculation.calculation import HIDDEN_ROWS
from addin.workbook.calculation.proving.proof import LOSES_DIGITS, NOT_SORTED
from addin.workbook.calculation.reading.constants import ODD_SIGNS
from addin.workbook.calculation.reading.oddities import (
    DOUBTFUL_NUMBER,
    EMPTY_TEXT,
    HARDLY_ANY,
    LONG_KEY,
    LONG_TEXT,
    MORE_THAN_48_BITS,
    NEAR_MIDNIGHT,
    OTHER_TILDE,
    PARTS_OF_DAYS,
    UNKNOWN_NAME,
    UNSORTED_CLASSES,
)
from addin.workbook.calculation.results import IN_A_CIRCLE
from addin.workbook.freeze import StaleValuesError, freeze_book
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.target import Target
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

CALL = '=_xldudf_DS_SIGNAL("us-cpi")'
NUMBERS = {f"B{row}": row for row in range(1, 9)} | {f"C{row}": row * 10 for row in range(1, 9)}
ONE_OF_A_RANGE = "it takes one cell of a range, and is no array formula"


async def _refreshed(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


def _reasons(report: Refreshed) -> dict[tuple[int, int], str]:
    return {cell.cell[1]: cell.unproven for cell in report.unproven}


@pytest.mark.parametrize(
    "formula",
    [
        "=VLOOKUP(B1:B8,B1:C8,2,FALSE)+A1",
        "=SUM(VLOOKUP(B1:B8,B1:C8,2,FALSE))+A1",
        "=SUMIF(B1:B8,B1:B8,C1:C8)+A1",
        "=COUNTIFS(B1:B8,B1:B8)+A1",
        "=MATCH(B1:B8,B1:B8,0)+A1",
        "=INDEX(B1:C8,0,1)+A1",
        "=OFFSET(B1,0,0,3,1)+A1",
        '=INDIRECT("B1:B8")+A1',
    ],
)
async def test_no_value_is_chosen_out_of_a_range(service: EmbeddedService, tmp_path: Path, formula: str):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS, "H5": formula})
    assert _reasons(await _refreshed(service, book)) == {(5, 8): ONE_OF_A_RANGE}
    assert values(book, "Sheet1", "H5") == [None]


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("=SUM(Sheet1:Other!A1)", "it refers to the same cells of several sheets"),
        ("=Beside*2", "the name Beside means another place in every cell"),
        ("=LEN(FORMULATEXT(A1))", "FORMULATEXT depends on more than values"),
        ('=CELL("row",A1)+1', "CELL depends on more than values"),
        ("=A1+1234567890123456", "1234567890123456 has more than 15 digits, and programs cut it off"),
        ("=IF(A1>0,1E308*10,0)", "1E308 is larger than any number in a formula"),
        ('=LEN(REPT("x",32767)&A1)', "it repeats a text that may be longer than a cell can hold"),
    ],
)
async def test_what_hides_its_cells_or_differs_is_left_and_never_frozen(
    service: EmbeddedService, tmp_path: Path, formula: str, reason: str
):
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS, "H5": formula}, Other={"A1": 1})
    book = openpyxl.load_workbook(path)
    book.defined_names["Beside"] = openpyxl.workbook.defined_name.DefinedName("Beside", attr_text="Sheet1!A1")
    book.save(path)
    assert _reasons(await _refreshed(service, path)) == {(5, 8): reason}
    with pytest.raises(StaleValuesError):
        freeze_book(path, tmp_path / "frozen.xlsx")


async def test_powers_are_worked_out(service: EmbeddedService, tmp_path: Path):
    formulas = {"E1": "=A1^2", "E2": "=(A1/B2)^(1/B5)-1", "E3": "=2^-B3+A1", "E4": "=POWER(A1,B2)", "E5": "=A1^B2^B3%"}
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS, **formulas})
    assert _reasons(await _refreshed(service, book)) == {}
    one, *found = values(book, "Sheet1", "A1", *formulas)
    assert found == pytest.approx([one**2, (one / 2) ** (1 / 5) - 1, 2**-3 + one, one**2, (one**2) ** 0.03], rel=1e-12)


async def test_another_file_is_not_taken_for_a_place_of_ours(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "H5": "='[1]Prices'!A1*2"})
    assert _reasons(await _refreshed(service, book)) == {}


async def test_a_link_shows_its_text_as_the_value_that_it_is(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "H5": '=HYPERLINK("https://example.com",A1*2)'})
    await _refreshed(service, book)
    one, link = values(book, "Sheet1", "A1", "H5")
    assert link == one * 2


async def test_a_book_with_the_precision_of_its_display_is_left(service: EmbeddedService, tmp_path: Path):
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, "H5": "=A1*2"})
    book = openpyxl.load_workbook(path)
    book.calculation.fullPrecision = False
    book.save(path)
    [reason] = _reasons(await _refreshed(service, path)).values()
    assert reason == "the book calculates with the digits that cells show (precision as displayed)"


async def test_data_tables_are_left_with_all_that_rests_on_them(service: EmbeddedService, tmp_path: Path):
    table = DataTableFormula(ref="B2:B3", dt2D=False, dtr=False, r1="A1")
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, "B2": table, "B3": 7, "C3": "=B3+1"})
    assert set(_reasons(await _refreshed(service, path))) == {(2, 2), (3, 3)}


async def test_a_circle_is_told_in_plain_words(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": '=A1+_xldudf_DS_SIGNAL("us-cpi")', "A2": '=A3+_xldudf_DS_SIGNAL("us-cpi")', "A3": "=A2+1"}
    report = await _refreshed(service, make_book(tmp_path / "book.xlsx", cells))
    assert set(_reasons(report).values()) == {IN_A_CIRCLE}
    assert len(report.unproven) == 3


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("=MATCH(4,H1:H4,-1)+0*A1", NOT_SORTED),
        ("=XLOOKUP(4,H1:H4,H1:H4,0,-1,2)+0*A1", NOT_SORTED),
        ("=XMATCH(4,H1:H4,0,-2)+0*A1", NOT_SORTED),
        ("=FV(H5,H6,H7,H8)+0*A1", LOSES_DIGITS),
        ("=IF(A1>0,SKEW({3,1,2,5,4}),0)", "its value may be nothing but rounding, which programs show differently"),
        ("=IF(A1>0,IRR({-1,2,-1}),0)", HARDLY_ANY),
    ],
)
async def test_searches_by_halves_and_lost_digits_are_left(
    service: EmbeddedService, tmp_path: Path, formula: str, reason: str
):
    cells = {"H1": 5, "H2": 1, "H3": 9, "H4": 3, "H5": 2.95, "H6": 13, "H7": 13000, "H8": -4406.785442944962}
    prefixed = formula.replace("=X", "=_xlfn.X")
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, **cells, "J5": prefixed})
    assert _reasons(await _refreshed(service, book)) == {(5, 10): reason}


async def test_a_spill_that_is_in_the_way_of_others_is_left(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_column("A1", ["us-cpi", "us-10y"])
        sheet.write("C2", "mine")
        sheet.write_dynamic_array_formula("C1:C1", "=_xldudf_DS_SIGNAL(A1:A2)*2", None, 5)
        sheet.write_formula("E1", "=C1+1", None, 6)
    report = await _refreshed(service, path)
    assert set(_reasons(report)) == {(1, 3), (1, 5)}
    assert values(path, "Sheet1", "C1", "C2", "E1") == [5, "mine", 6]


async def test_formulas_that_stand_below_each_other_are_looked_at_as_those_that_stand_alone(
    service: EmbeddedService, tmp_path: Path
):
    keys = {"E1": 3, "E2": 1, "E3": 2, "E4": 5, "E5": 4}
    lookups = ["MATCH(2,E1:E5)", "VLOOKUP(2,E1:E5,1)", "LOOKUP(2,E1:E5)", "MATCH(2,E1:E5,-1)", "MATCH(5,E1:E5,0)"]
    asked = "=SUM(_xlfn.MAP(F1:F2,_xlfn.LAMBDA(_xlpm.s,_xldudf_DS_SIGNAL(_xlpm.s))))"
    formulas = {f"A{row}": f"={each}+0*{CALL[1:]}" for row, each in enumerate(lookups, 1)} | {"A6": asked, "A7": 1}
    slugs = {"F1": "us-cpi", "F2": "us-10y", "G1": CALL, "G2": '=_xldudf_DS_SIGNAL("us-10y")'}
    book = make_book(tmp_path / "book.xlsx", keys | slugs | formulas)
    assert _reasons(await _refreshed(service, book)) == {(row, 1): NOT_SORTED for row in range(1, 5)}
    exact, total, *signals = values(book, "Sheet1", "A5", "A6", "G1", "G2")
    assert (exact, total) == (4.0, pytest.approx(sum(signals)))


@pytest.mark.parametrize(
    ("formula", "function"),
    [
        ('COUNTIF(INDEX({h},0,2),">160")', "COUNTIF"),
        ('SUMIFS(INDEX({h},0,2),INDEX({h},0,1),">0")', "SUMIFS"),
        ("RANK(160.213,INDEX({h},0,2))", "RANK"),
        ("SUBTOTAL(1,INDEX({h},0,2))", "SUBTOTAL"),
        ('_xlfn.LET(_xlpm.h,Calls,COUNTIF(INDEX(_xlpm.h,0,2),">160"))', "COUNTIF"),
        ('COUNTIF(IF(TRUE,{h}),">160")', "COUNTIF"),
        ('COUNTIF(Calls,">160")', "COUNTIF"),
        ('COUNTIF((Calls),">160")', "COUNTIF"),
        ('COUNTIF(Sorted,">160")+0*A1', "COUNTIF"),
        ("COUNTBLANK(CHOOSE(1,{h}))", "COUNTBLANK"),
        ('SUMIFS(_xlfn._xlws.SORT(B2:B6),C2:C6,">2")+A1*0', "SUMIFS"),
        ("RANK(20,{{10,20,30}})+A1*0", "RANK"),
        ("SUM(ROW(Calls))", "ROW"),
    ],
)
async def test_a_function_that_needs_cells_gets_no_values(
    service: EmbeddedService, tmp_path: Path, formula: str, function: str
):
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS})
    book = openpyxl.load_workbook(path)
    history = '_xldudf_DS_SIGNAL_HISTORY("us-cpi","-1Y")'
    for name, text in {"Calls": history, "Sorted": "_xlfn._xlws.SORT(Sheet1!$B$1:$B$6)"}.items():
        book.defined_names[name] = openpyxl.workbook.defined_name.DefinedName(name, attr_text=text)
    book["Sheet1"]["H5"] = "=" + formula.format(h=history)
    book.save(path)
    assert _reasons(await _refreshed(service, path)) == {(5, 8): f"{function} needs cells, and gets values"}


async def test_functions_that_need_cells_get_those_that_others_find(service: EmbeddedService, tmp_path: Path):
    formulas = {
        "H1": '=COUNTIF(INDEX(B1:C8,0,2),">35")+A1*0',
        "H2": '=COUNTIF(OFFSET(B1,0,0,4,1),">1")+A1*0',
        "H3": '=COUNTIF(IF(TRUE,B1:B8,C1:C8),">1")+A1*0',
        "H4": '=SUMIF(CHOOSE(2,B1:B8,C1:C8),">35")+A1*0',
        "H5": '=COUNTIF(B1:INDEX(B1:B8,4),">1")+A1*0',
        "H6": '=COUNTIF((B1:B8),">1")+A1*0',
        "H7": '=_xlfn.LET(_xlpm.b,B1:B8,COUNTIF(_xlpm.b,">1"))+A1*0',
    }
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS, **formulas})
    assert _reasons(await _refreshed(service, book)) == {}
    assert values(book, "Sheet1", *formulas) == [5, 3, 7, 300, 3, 7, 7]


@pytest.mark.parametrize("bins", ["B1:B4", "{{3;1}}", "{{1;2;2}}", "B1:C2"])
async def test_classes_that_do_not_rise_are_left(service: EmbeddedService, tmp_path: Path, bins: str):
    cells = {"A1": CALL, "B1": 10, "B2": 5, "B3": 10, "B4": 3, "C1": 1, "C2": 20}
    formula = f"=A1*0+SUM(IF(FREQUENCY(B1:B4,{bins})>0,B1:B4))".replace("{{", "{").replace("}}", "}")
    book = make_book(tmp_path / "book.xlsx", cells | {"H5": ("H5:H5", formula)})
    assert _reasons(await _refreshed(service, book)) == {(5, 8): UNSORTED_CLASSES}


async def test_classes_that_rise_are_counted(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": CALL, "B1": 10, "B2": 5, "B3": 10, "B4": 3, "C1": 4, "C2": 9}
    formulas = {"H1": "=A1*0+INDEX(FREQUENCY(B1:B4,C1:C2),3)", "H2": "=A1*0+INDEX(FREQUENCY(B1:B4,5),1)"}
    book = make_book(tmp_path / "book.xlsx", cells | formulas)
    assert _reasons(await _refreshed(service, book)) == {}
    assert values(book, "Sheet1", *formulas) == [2, 2]


async def test_what_rests_on_a_spill_without_room_is_left_too(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", CALL, None, "")
        sheet.write_dynamic_array_formula("J1:J1", "=_xlfn.SEQUENCE(5)+$A$1*0", None, 1)
        sheet.merge_range("J3:K3", "")
        sheet.write_formula("L1", "=SUM(J1:J5)", None, 1)
        sheet.write_formula("L2", "=J1+1", None, 2)
        sheet.add_table("V2:W6", {"name": "Tbl", "columns": [{"header": "aa"}, {"header": "bb"}]})
        sheet.write_dynamic_array_formula("W3:W3", "=_xlfn.SEQUENCE(3)+$A$1*0", None, 1)
        sheet.write_dynamic_array_formula("V3:V3", '=_xldudf_DS_SIGNAL({"us-cpi";"us-10y"})', None, 7)
        sheet.write_formula("Y1", "=SUM(Tbl[bb])", None, 1)
        sheet.write_formula("Y2", "=SUM(Tbl[aa])", None, 7)
        sheet.write_formula("Y3", "=A1*2", None, "")
    report = await _refreshed(service, path)
    assert set(_reasons(report)) == {(1, 10), (1, 12), (2, 12), (3, 23), (1, 25), (2, 25)}
    assert [(note.where, "table Tbl" in note.why) for note in report.kept] == [("Sheet1!V3", True)]
    assert values(path, "Sheet1", "J1", "J2", "L1", "V3", "V4", "W4", "Y1", "Y2") == [1, None, 1, 7, None, None, 1, 7]


LONG = {"B1": "x" * 300, "B2": "short", "C1": 1, "C2": 2, "D1": "y" * 20_000, "E1": "z" * 150}


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("VLOOKUP(B1,B1:C2,2,FALSE)", LONG_KEY),
        ("MATCH(B1,B1:B2,0)", LONG_KEY),
        ("COUNTIF(B1:B2,B1)", LONG_KEY),
        ("SUMIFS(C1:C2,B1:B2,B1)", LONG_KEY),
        ('IFERROR(MATCH(B1,B1:B2,0),"none")', LONG_KEY),
        ('COUNTIF(B1:B2,"*"&C1&"*")', LONG_KEY),
        ("MATCH(E1&E1,E1:E2,0)", LONG_KEY),
        ("LEN(D1&D1)", LONG_TEXT),
        ("IFERROR(LEN(CONCATENATE(D1,D1)),0)", LONG_TEXT),
        ("VLOOKUP(B2,B1:C2,2,FALSE)", ""),
        ("COUNTIF(C1:C2,1)", ""),
        ("LEN(B1&B1)", ""),
    ],
)
async def test_texts_that_are_too_long_for_excel_are_left(
    service: EmbeddedService, tmp_path: Path, formula: str, reason: str
):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, **LONG, "H5": f"=IF(A1>0,{formula},0)"})
    assert list(_reasons(await _refreshed(service, book)).values()) == ([reason] if reason else [])


@pytest.mark.parametrize(
    "formula",
    [
        "_xlfn.LET(_xlpm.Tax,1,_xlpm.Tax)+Tax",
        "_xlfn.LET(_xlpm.Tax,Tax*2,_xlpm.Tax+1)",
        "IFERROR(_xlfn.LET(_xlpm.TAX,Tax*2,_xlpm.TAX+1),0)",
        "IFERROR(Tax*_xlfn.REDUCE(0,B1:B3,_xlfn.LAMBDA(_xlpm.a,_xlpm.tax,_xlpm.a+_xlpm.tax)),0)",
    ],
)
async def test_a_name_of_the_book_and_of_the_formula_is_left(service: EmbeddedService, tmp_path: Path, formula: str):
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS, "H5": f"={formula}+A1*0"})
    book = openpyxl.load_workbook(path)
    book.defined_names["Tax"] = openpyxl.workbook.defined_name.DefinedName("Tax", attr_text="0.19")
    book.save(path)
    [reason] = _reasons(await _refreshed(service, path)).values()
    assert reason == "the name tax stands for something else in the formula than in the book"


@pytest.mark.parametrize(
    ("formula", "is_left"),
    [
        ("MATCH(5,{9;3;7;5;8},B1)", True),
        ("MATCH(5,{9;3;7;5;8},B1+0)", True),
        ("MATCH(5,{1;3;5},B1)", False),
        ("MATCH(5,{1;9;4;3},B4)", True),
        ("MATCH(4,{9;4;3},B4)", False),
        ("MATCH(5,{9;3;7;5;8},B5)", False),
        ("VLOOKUP(2,C1:D3,2,B3)", True),
        ("VLOOKUP(2,C1:D3,2,B6)", False),
        ("_xlfn.XLOOKUP(2,C1:C3,D1:D3,0,0,B2)", True),
        ("_xlfn.XLOOKUP(2,C1:C3,D1:D3,0,0,B1)", False),
        ("_xlfn.XMATCH(2,C1:C3,0,Half)", True),
    ],
)
async def test_how_a_lookup_searches_may_stand_in_a_cell(
    service: EmbeddedService, tmp_path: Path, formula: str, is_left: bool
):
    cells = {"B1": 1, "B2": 2, "B3": True, "B4": -1, "B5": 0, "B6": False, "C1": 3, "C2": 1, "C3": 2, "D1": 1, "D2": 2}
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, **cells, "D3": 3, "H5": f"={formula}+A1*0"})
    book = openpyxl.load_workbook(path)
    book.defined_names["Half"] = openpyxl.workbook.defined_name.DefinedName("Half", attr_text="Sheet1!$B$2")
    book.save(path)
    assert list(_reasons(await _refreshed(service, path)).values()) == ([NOT_SORTED] if is_left else [])


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ('TEXT(A1,"0%%")', ODD_SIGNS),
        ('TEXT(A1,"h:mm a/p")', ODD_SIGNS),
        ("WORKDAY(45658+A1*0,-1.9)", PARTS_OF_DAYS),
        ("DAY(45658.999995+A1*0)", NEAR_MIDNIGHT),
        ("YEAR(45657.999999+A1*0)+1", NEAR_MIDNIGHT),
        ('TEXT(1/3+A1*0,"@")', "its format (@) shows as many digits as a program has room for"),
        ("SUBTOTAL(109,B1:B8)+A1*0", HIDDEN_ROWS),
        ('"12,34"*1+A1', DOUBTFUL_NUMBER),
        ('IFERROR("３"*1,0)+A1', DOUBTFUL_NUMBER),
        ("_xlfn.BITLSHIFT(1,53)+A1*0", MORE_THAN_48_BITS),
        ("_xlfn.BITRSHIFT(1,-50)+A1*0", MORE_THAN_48_BITS),
        ("C9*1+A1", DOUBTFUL_NUMBER),
        ('TIMEVALUE("1:60")+A1', DOUBTFUL_NUMBER),
        ('SEARCH("~","a~b")+A1*0', OTHER_TILDE),
        ('MATCH("a~~b",{"x","a~b"},0)+A1*0', OTHER_TILDE),
        ('_xlfn.XMATCH("a~b",{"a~b"},2)+A1*0', OTHER_TILDE),
    ],
)
async def test_signs_parts_of_days_tildes_and_rows_without_height_are_left(
    service: EmbeddedService, tmp_path: Path, formula: str, reason: str
):
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS, "C9": "€5", "H5": f"={formula}"})
    book = openpyxl.load_workbook(path)
    book["Sheet1"].row_dimensions[3].height = 0.1
    book.save(path)
    assert _reasons(await _refreshed(service, path)) == {(5, 8): reason}


async def test_rows_that_are_hidden_unless_told_are_not_counted(service: EmbeddedService, tmp_path: Path):
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, **NUMBERS, "H5": "=AGGREGATE(9,5,B1:B8)+A1*0"})
    book = openpyxl.load_workbook(path)
    book["Sheet1"].sheet_format.zeroHeight = True
    book.save(path)
    assert _reasons(await _refreshed(service, path)) == {(5, 8): HIDDEN_ROWS}


async def test_an_empty_text_that_some_take_for_a_blank_is_not_read(service: EmbeddedService, tmp_path: Path):
    formulas = {"H1": "=COUNTA(C1:C3)+0*A1", "H2": "=C2*1+A1", "H3": '=(C2="")*1+A1*0', "H4": "=C1+A1*0"}
    path = make_book(tmp_path / "book.xlsx", {"A1": CALL, **formulas, "C1": 1, "C2": "left", "C3": 2})
    with Package(path) as package:
        sheet = package.read("xl/worksheets/sheet1.xml")
        cell = re.sub(rb'<c r="C2"[^>]*>.*?</c>', b'<c r="C2" t="str"><v></v></c>', sheet, count=1)
        package.write(Target(path), {"xl/worksheets/sheet1.xml": cell})
    assert _reasons(await _refreshed(service, path)) == {(row, 8): EMPTY_TEXT for row in (1, 2, 3)}
    assert values(path, "Sheet1", "H4") == [1]


async def test_a_name_that_the_engine_does_not_know_is_no_result(service: EmbeddedService, tmp_path: Path):
    cells = {"B1": "=_xlfn.LET(_xlpm.x,1,_xlpm.x)+_xlpm.x+A1*0", "B2": "#NAME?", "B3": "=SUM(B2,A1*0)"}
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, **cells})
    assert _reasons(await _refreshed(service, book)) == {(1, 2): UNKNOWN_NAME}
    assert str(values(book, "Sheet1", "B3")[0].message) == "#NAME?"
