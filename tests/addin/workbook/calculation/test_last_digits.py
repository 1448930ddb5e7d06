"""Results that hang on the last digits of a number: Excel takes 15 of them in places, other programs all or fewer."""

from pathlib import Path

import pytest
from xlsxwriter import Workbook

from addin.workbook.calculation.proving.jumping import JUMPS
from addin.workbook.calculation.reading.oddities import NEARLY_WHOLE
from addin.workbook.calculation.simple_stage import FEW
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

CALL = '=_xldudf_DS_SIGNAL("us-cpi")'
CELLS = {"A1": CALL, "B1": "=A1*0", "E1": 0.29, "E2": 0.07, "E3": "=0.29*100+B1", "F1": 10, "F2": 20, "F3": 30}


async def _refreshed(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


@pytest.mark.parametrize(
    "formula",
    [
        "INT(4.35*100+B1)",
        "INT(E1*100+B1)",
        "INT(880000000*0.00849/3+B1)",
        "INT((1-0.9)*10)+B1",
        "INT(E3)+B1",
        "SUM(INT(E1:E3*{100;100;1}))+B1",
        "EVEN(E2*200+B1)",
        "ODD(E2*100+B1)",
        "ISODD(E1*100+B1)+0",
        "GCD(E1*100+B1,29)",
        "_xlfn.BASE(E1*100+B1,10)",
        'LEN(REPT("x",E1*100+B1))',
        'MID("abcdefghijklmnopqrstuvwxyzabcdefgh",E1*100+B1,1)',
        "EDATE(44562,E1*100+B1)",
        "SMALL(ROW($1:$50),E1*100+B1)",
        "_xlfn.BITAND(E1*100+B1,255)",
        '_xlfn.SWITCH(E1*100+B1,29,"y","n")',
    ],
)
async def test_a_number_that_is_whole_to_fifteen_digits_only_is_not_cut_off(
    service: EmbeddedService, tmp_path: Path, formula: str
):
    book = make_book(tmp_path / "book.xlsx", CELLS | {"H5": ("H5", f"={formula}")})
    assert [cell.cell[1] for cell in (await _refreshed(service, book)).unproven] == [(5, 8)]
    assert values(book, "Sheet1", "H5") == [None]


@pytest.mark.parametrize(
    "formula",
    [
        "SIGN(0.1+0.2-(0.3+B1))",
        "IF(0.3-0.2-(0.1+B1),1,2)",
        "IF(1234567.1*3-(3703701.3+B1)=0,1,2)",
        "IF((1234567.1*3-(3703701.3+B1))>0,1,2)",
        "1/(0.1+0.2-(0.3+B1))",
        "SQRT(0.3-0.2-(0.1+B1))",
        "LN(0.1+0.2-(0.3+B1))",
        "NOT(0.1+0.2-(0.3+B1))",
        "AND(0.1+0.2-(0.3+B1),TRUE)",
        "ROUNDUP(0.1+0.2-(0.3+B1),0)",
        "INT(0.3-0.2-(0.1+B1))",
        "IF(ABS(0.1+0.2-(0.3+B1))>0,1,2)",
        "CEILING(0.1+0.2-(0.3+B1),1)",
        "MOD(0.3-0.2-(0.1+B1),1)",
        'TEXT(0.1+0.2-(0.3+B1),"0.0;(0.0);-")',
        'IFERROR(1/(0.1+0.2-(0.3+B1)),"none")',
    ],
)
async def test_what_rounding_left_of_a_difference_decides_on_nothing(
    service: EmbeddedService, tmp_path: Path, formula: str
):
    book = make_book(tmp_path / "book.xlsx", CELLS | {"H5": f"={formula}"})
    assert [cell.unproven for cell in (await _refreshed(service, book)).unproven] == [JUMPS]
    assert values(book, "Sheet1", "H5") == [None]


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("INT(1.5*3+B1)", 4),
        ("INT(E1*100+0.5+B1)", 29),
        ("INT(F1*7/2+B1)", 35),
        ("ROUNDDOWN(E1*100+B1,1)", 29),
        ("INDEX(F1:F3,MATCH(20+B1,F1:F3,0))", 20),
        ("DATE(2020,1,E1*100+B1)", 43859),
        ("IF(F2-F1>5+B1,1,2)", 1),
        ("IF(E1-0.28>B1,1,2)", 1),
        ("SIGN(F1-F2+B1)", -1),
        ("F2/(F2-F1+B1)", 2),
        ("IF((F1+B1)-10=0,1,2)", 1),
        ("1/(1-1/2-1/4+B1)", 4),
        ("_xlfn.SWITCH(TRUE,F1+B1>15,1,F1+B1>5,2,3)", 2),
        ("_xlfn.SWITCH(AND(F1+B1>5,F2>F1),FALSE,1,2)", 2),
        ('_xlfn.SWITCH(LEFT(F1+B1,2),"10",1,2)', 1),
    ],
)
async def test_other_numbers_are_cut_off_and_compared(service: EmbeddedService, tmp_path: Path, formula: str, value):
    book = make_book(tmp_path / "book.xlsx", CELLS | {"H5": f"={formula}"})
    assert (await _refreshed(service, book)).unproven == []
    assert values(book, "Sheet1", "H5") == [pytest.approx(value, rel=1e-12)]


async def test_in_a_large_book_equal_numbers_leave_nothing_too(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", CALL, None, "")
        sheet.write_row("B1", [4716.744, 471674.4, 8407.24])
        sheet.write_formula("A2", "=SUM(B1:D1)+A1*0", None, "")
        sheet.write_formula("A3", "=A2-B1-C1-D1", None, "")
        sheet.write_formula("A4", "=IF(A3<>0,1,2)", None, "")
        sheet.write_formula("A5", "=A1*0+0.29*100", None, "")
        sheet.write_formula("A6", "=INT(A5)", None, "")
        sheet.write_formula("A7", "=1/(1234567.1*3-(3703701.3+A1*0))", None, "")
        for row in range(FEW):
            sheet.write_formula(row, 6, f"=A$1*{row}", None, "")
    report = await _refreshed(service, path)
    assert {cell.cell[1]: cell.unproven for cell in report.unproven} == {(6, 1): NEARLY_WHOLE, (7, 1): JUMPS}
    assert values(path, "Sheet1", "A3", "A4") == [0, 2]


NEAR = {"P1": "=0.1+0.2+B1", "P2": 0.3, "P3": "=0.3-0.1+0.1+B1", "P4": 0.5, "Q1": 10, "Q2": 20, "Q3": 30, "Q4": 40}


@pytest.mark.parametrize(
    "formula",
    [
        "COUNTIF(P1:P4,0.3)",
        "COUNTIF(P1:P4,P1)",
        'COUNTIF(P1:P4,">"&P2)',
        "SUMIF(P1:P4,0.3,Q1:Q4)",
        'SUMIFS(Q1:Q4,P1:P4,">=0.3",P1:P4,"<=0.3")',
        'AVERAGEIF(P1:P4,">0.3")',
        "ROWS(_xlfn.UNIQUE(P1:P4))",
        '_xlfn.SWITCH(P1,P2,"same","other")',
        '_xlfn.XLOOKUP(P1,P2:P4,Q2:Q4,"none")',
        "MATCH(0.3,P1:P4,0)",
    ],
)
async def test_numbers_that_are_equal_to_fifteen_digits_are_not_compared(
    service: EmbeddedService, tmp_path: Path, formula: str
):
    book = make_book(tmp_path / "book.xlsx", CELLS | NEAR | {"H5": ("H5", f"={formula}"), "H6": "=P1+P3+P2*10"})
    assert [cell.cell[1] for cell in (await _refreshed(service, book)).unproven] == [(5, 8)]
    assert values(book, "Sheet1", "H5", "P1", "H6") == [None, 0.1 + 0.2, pytest.approx(3.6)]


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ('COUNTIF(P1:P4,">0.4")', 1),
        ("SUMIF(Q1:Q4,20,P1:P4)", 0.3),
        ("SUMIF(Q1:Q4,10,P1:P4)", 0.3),
        ("_xlfn.MAXIFS(P1:P4,Q1:Q4,10)", 0.3),
        ("MATCH(0.5,P1:P4,0)", 4),
        ("VLOOKUP(0.5,P1:Q4,2,FALSE)", 40),
    ],
)
async def test_numbers_that_differ_are_compared_whatever_their_last_digits(
    service: EmbeddedService, tmp_path: Path, formula: str, value: float
):
    book = make_book(tmp_path / "book.xlsx", CELLS | NEAR | {"H5": f"={formula}+B1"})
    assert (await _refreshed(service, book)).unproven == []
    assert values(book, "Sheet1", "H5") == [pytest.approx(value)]
