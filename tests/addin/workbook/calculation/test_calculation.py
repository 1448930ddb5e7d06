"""Whole formulas through a refresh: what is worked out, what is left, and why."""

import re
from pathlib import Path
from typing import Any

import pytest
from xlsxwriter import Workbook

from addin.workbook.many.run import books_cost
from addin.workbook.refresh.refresh import book_cost, refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Call, Session

CALL = '_xldudf_DS_SIGNAL("us-cpi")'


async def _refresh(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


def _stored(path: Path, cells: dict[str, tuple[str, Any]]) -> Path:
    """A book whose formulas hold values, as a spreadsheet program saves it."""
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        for cell, (formula, value) in cells.items():
            sheet.write_formula(cell, formula, None, value)
    return path


def _unproven(report: Refreshed) -> dict[str, str]:
    return {f"{'ABCDEFGH'[cell.cell[1][1] - 1]}{cell.cell[1][0]}": cell.unproven for cell in report.unproven}


async def test_formulas_that_calculate_with_calls_are_worked_out(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": f"={CALL}",
        "A2": f"={CALL}*2",
        "A3": "=ROUND(A2/3,1)",
        "A4": '=IFERROR(_xldudf_DS_SIGNAL("nope-nope"),-1)',
        "A5": "=_xlfn.LET(_xlpm.x,A1,_xlpm.x+_xlpm.x)",
        "A6": "=Other!A1+1",
        "A7": '=_xldudf_DS_SIGNAL("us-"&"cpi")',
        "A9": '=IF(A1>0,"up","down")&" "&A4',
    }
    book = make_book(tmp_path / "book.xlsx", cells, Other={"A1": "=Sheet1!A2*10"})
    report = await _refresh(service, book)
    one, double, third, caught, let, other, computed, text = values(
        book, "Sheet1", "A1", "A2", "A3", "A4", "A5", "A6", "A7", "A9"
    )
    assert (report.skipped, report.errors, _unproven(report)) == ([], [], {})
    assert double == let == one * 2
    assert (third, caught, other, computed, text) == (round(double / 3, 1), -1, double * 10 + 1, one, "up -1")


async def test_a_spill_that_grew_is_summed_as_it_is_now(service: EmbeddedService, tmp_path: Path):
    call = '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N4",,"header=none")'
    book = make_book(tmp_path / "book.xlsx", {"A1": ("A1:B2", call), "D1": "=SUM(_xlfn.ANCHORARRAY(A1))", "D2": "=B4"})
    await _refresh(service, book)
    *cells, total, last = values(book, "Sheet1", "A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4", "D1", "D2")
    assert total == pytest.approx(sum(cells))
    assert last == cells[-1]


async def test_a_value_that_the_file_proves_wrong_is_left_with_all_that_rests_on_it(
    service: EmbeddedService, tmp_path: Path
):
    cells = {
        "A1": (f"={CALL}", 150),
        "B1": ("=A1*2", 300),
        "B2": ("=A1*3", 999),
        "B3": ("=B2+1", 1000),
        "B4": ("=B1+1", 301),
        "B5": ("=7*7", 50),
    }
    book = _stored(tmp_path / "book.xlsx", cells)
    report = await _refresh(service, book)
    one, double, wrong, resting, proven, other = values(book, "Sheet1", "A1", "B1", "B2", "B3", "B4", "B5")
    assert set(_unproven(report)) == {"B2", "B3"}
    assert "could not be worked out" in _unproven(report)["B2"]
    assert "rests on" in _unproven(report)["B3"]
    assert (double, wrong, resting, proven, other) == (one * 2, 999, 1000, one * 2 + 1, 50)
    assert report.recalculates


async def test_a_branch_that_was_not_taken_before_is_worked_out(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": (f"={CALL}", 90),
        "B1": ("=IF(A1>100,A1*3,A1*2)", 180),
        "B2": ("=IF(A1>10,A1*3,A1*2)", 270),
        "B3": ("=IFERROR(A1/(A1-90),5)", 5),
        "B4": ("=CHOOSE(IF(A1>100,2,1),A1,A1+1)", 90),
    }
    book = _stored(tmp_path / "book.xlsx", cells)
    assert _unproven(await _refresh(service, book)) == {}
    one, *others = values(book, "Sheet1", "A1", "B1", "B2", "B3", "B4")
    assert others == pytest.approx([one * 3, one * 3, one / (one - 90), one + 1])


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("=EUROCONVERT(A1,1,2)", "depends on more than values"),
        ("=RAND()+A1", "random"),
        ("=NOSUCH(A1)", "came to #NAME?"),
        ("=MATCH(A1,{300,1,7})", "not sorted"),
        ("=A1:A3*2", "one cell of a range"),
        ("=[1]Sheet1!A1+A1", "not"),
        ("=(A1+", "cannot be read"),
        ("=SIN(A1*0+PI())", "rounding left of an angle"),
    ],
)
async def test_what_is_not_known_to_be_right_is_not_written(
    service: EmbeddedService, tmp_path: Path, formula: str, reason: str
):
    book = make_book(tmp_path / "book.xlsx", {"A1": f"={CALL}", "B1": formula})
    report = await _refresh(service, book)
    assert reason in _unproven(report)["B1"]
    assert values(book, "Sheet1", "B1") == [None]


async def test_numbers_compare_and_join_as_in_a_spreadsheet(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": f"={CALL}*0+0.1",
        "B1": "=A1+0.2=0.3",
        "B2": '=(A1*10/3)&""',
        "B3": '=-(A1*0)&""',
        "B4": "=IF(B1,1,2)",
    }
    book = make_book(tmp_path / "book.xlsx", cells)
    await _refresh(service, book)
    assert values(book, "Sheet1", "B1", "B2", "B3") == [True, "0.333333333333333", "0"]


async def test_tables_and_names_are_followed(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        book.define_name("Factor", "=Sheet1!$F$1")
        book.define_name("Rate", "=Sheet1!$F$1/2")
        sheet.write("F1", 10)
        sheet.add_table("A1:B3", {"name": "Sales", "columns": [{"header": "Slug"}, {"header": "Value"}]})
        sheet.write("A2", "us-cpi")
        sheet.write("A3", "us-10y")
        for row in (2, 3):
            sheet.write_formula(f"B{row}", f"=_xldudf_DS_SIGNAL(A{row})", None, 1)
            sheet.write_formula(f"C{row}", "=Sales[[#This Row],[Value]]*Factor", None, 10)
        sheet.write_formula("D1", "=SUM(Sales[Value])", None, 2)
        sheet.write_formula("D2", "=D1*Rate", None, 10)
    report = await _refresh(service, path)
    first, second, product, total, rated = values(path, "Sheet1", "B2", "B3", "C3", "D1", "D2")
    assert _unproven(report) == {}
    assert (product, total, rated) == (second * 10, pytest.approx(first + second), pytest.approx((first + second) * 5))


async def test_the_cost_counts_calls_inside_longer_formulas_and_sends_nothing(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": f'={CALL}+_xldudf_DS_SIGNAL("us-10y")', "A2": f"={CALL}*2"})
    async with AsyncClient(service.url, service.key) as client:
        cost = await book_cost(Session(client), book)
        assert service.running.request_count == 0
        report = await refresh_book(Session(client), book, book)
    assert (cost.requests, report.requests, cost.skipped) == (2, 2, [])


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        (f'=IF({CALL}>1000,_xldudf_DS_SIGNAL("us-10y"),0)', "at least 1 request"),
        ('=IF(B1>100,_xldudf_DS_SIGNAL("us-10y"),0)', "at least 1 request"),
        ('=_xldudf_DS_SIGNAL("us-10y")*B1', "at least 2 requests"),
        ('=_xldudf_DS_SIGNAL(IF(B1>100,"us-10y","wb.gold"))', "at least 1 request, likely 2"),
    ],
)
async def test_the_cost_is_a_range_where_an_answer_decides_what_is_asked(
    service: EmbeddedService, tmp_path: Path, formula: str, told: str
):
    book = _stored(tmp_path / "book.xlsx", {"A1": (formula, 0), "B1": (f"={CALL}", 1)})
    async with AsyncClient(service.url, service.key) as client:
        cost = await book_cost(Session(client), book)
        many = await books_cost(Session(client), [book])
        report = await refresh_book(Session(client), book, book)
    assert str(cost.cost) == str(many.cost) == told
    assert report.requests == service.running.request_count >= cost.cost.at_least
    assert cost.cost.at_most is None or report.requests <= cost.cost.at_most


@pytest.mark.parametrize(
    ("formula", "rests_on", "told"),
    [
        ('=IF(B1>100,_xldudf_DS_SIGNAL("us-10y"),0)', ("B1", CALL, 1), "0 or more requests"),
        ("=_xldudf_DS_SIGNAL(B1)", ("B1", '_xldudf_DS_SIGNAL("us-cpi","slug")', "wb.gold"), "0 or more requests"),
        ('=_xldudf_DS_SIGNAL(B1&"")*2', ("B1", '_xldudf_DS_SIGNAL("us-cpi","slug")', "wb.gold"), "0 or more requests"),
        (
            '=IF(SUM(B1:B4)>100,_xldudf_DS_SIGNAL("us-10y"),0)',
            ("B1:B4", '_xldudf_DS_SIGNAL_HISTORY("us-cpi","N4",,"header=none; columns=value")', 1),
            "0 or more requests",
        ),
    ],
)
async def test_the_cost_is_not_told_from_values_of_the_book_that_known_answers_replace(
    service: EmbeddedService, tmp_path: Path, formula: str, rests_on: tuple[str, str, Any], told: str
):
    place, call, stored = rests_on
    with Workbook(tmp_path / "book.xlsx") as writer:
        sheet = writer.add_worksheet("Sheet1")
        sheet.write_formula("A1", formula, None, 0)
        sheet.write_array_formula(place, f"{{={call}}}", None, stored)
    book = tmp_path / "book.xlsx"
    async with AsyncClient(service.url, service.key) as client:
        session = Session(client)
        await session.answer([Call("SIGNAL", ["us-cpi"]), Call("SIGNAL", ["wb.gold"])])
        before = service.running.request_count
        cost, many = await book_cost(session, book), await books_cost(session, [book, book])
        assert service.running.request_count == before
        await refresh_book(session, book, book)
    spent = service.running.request_count - before
    assert str(cost.cost) == str(many.cost) == told
    assert cost.cost.at_least <= spent
    assert cost.cost.at_most is None or spent <= cost.cost.at_most


async def test_days_that_spreadsheets_do_not_have_are_errors(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": "=DATE(10000,1,1)", "A2": "=DATE(1900,1,-1)", "A3": "=DATE(9999,12,31)", "A4": "=DATE(1900,1,1)"}
    book = make_book(tmp_path / "book.xlsx", {**cells, "B1": f"={CALL}"})
    await _refresh(service, book)
    early, late, *days = values(book, "Sheet1", "A1", "A2", "A3", "A4")
    assert (early.message, late.message, days) == ("#NUM!", "#NUM!", [2_958_465, 1])


async def test_what_the_service_cannot_answer_leaves_the_old_value(service: EmbeddedService, tmp_path: Path):
    book = _stored(tmp_path / "book.xlsx", {"A1": (f"={CALL}*2", 300), "A2": ("=A1+1", 301)})
    service.running.stop()
    report = await _refresh(service, book)
    assert set(_unproven(report)) == {"A1", "A2"}
    assert values(book, "Sheet1", "A1", "A2") == [300, 301]


async def test_a_book_without_our_functions_keeps_every_byte_of_its_cells(service: EmbeddedService, tmp_path: Path):
    book = _stored(tmp_path / "book.xlsx", {"A1": ("=1+1", 3), "A2": ("=A1*2", 6)})
    report = await _refresh(service, book)
    assert report.calculated == []
    assert values(book, "Sheet1", "A1", "A2") == [3, 6]


async def test_a_book_without_a_call_of_ours_stays_as_it_is(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 2, "A2": "=A1*2", "A3": "=NOW()", "A4": "=RAND()"})
    before = book.read_bytes()
    report = await _refresh(service, book)
    assert (report.is_saved, report.unproven, report.skipped) == (False, [], [])
    assert book.read_bytes() == before


async def test_a_table_reference_without_the_name_of_its_table_is_read(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        columns = [{"header": "Rate"}, {"header": "Twice"}, {"header": "Share"}]
        sheet.add_table("A1:C4", {"name": "Rates", "columns": columns})
        for row in (2, 3, 4):
            sheet.write_formula(f"A{row}", f"={CALL}+{row}", None, "")
            sheet.write_formula(f"B{row}", "=[[#This Row],[Rate]]*2", None, "")
            sheet.write_formula(f"C{row}", '=[[#This Row],[Rate]]/SUM([Rate])&"[Rate]"', None, "")
        sheet.write_formula("E1", "=MAX(INDEX(rates[],0,1))", None, "")
    report = await _refresh(service, path)
    assert _unproven(report) == {}
    rate, twice, share, greatest, last = values(path, "Sheet1", "A3", "B3", "C3", "E1", "A4")
    assert (twice, greatest) == (rate * 2, last)
    assert share.endswith("[Rate]")


async def test_mixed_names_are_left_with_all_that_rests_on_them(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("S")
        for row in range(3):
            sheet.write(row, 1, row + 1)
            sheet.write_formula(row, 0, f"={CALL}*{row}", None, 1)
            sheet.write_formula(row, 2, "=Beside", None, 1)
        sheet.write_formula("D1", "=SUM(C1:C3)", None, 3)
        book.define_name("Beside", "=S!$A1")
    report = await _refresh(service, path)
    assert set(_unproven(report)) == {"C1", "C2", "C3", "D1"}
    assert values(path, "S", "C1", "C3", "D1") == [1, 1, 3]


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("MAP(A1:A2,LAMBDA(_xlpm.x,{SIGNAL}(_xlpm.x)))", 2),
        ("SCAN(0,A1:A2,LAMBDA(_xlpm.s,_xlpm.x,{SIGNAL}(_xlpm.x)))", 2),
        ('BYROW(A1:A2,LAMBDA(_xlpm.r,MAX({SIGNAL_HISTORY}(_xlpm.r,"-1Y"))))', 2),
        ('MAP(A1:A2,LAMBDA(_xlpm.x,IF(_xlpm.x="us-cpi",{SIGNAL}(_xlpm.x),"none")))', 1),
    ],
)
async def test_calls_in_a_lambda_are_asked_once_for_each_value(
    service: EmbeddedService, tmp_path: Path, text: str, requests: int
):
    path = tmp_path / "book.xlsx"
    formula = text.format(SIGNAL="_xldudf_DS_SIGNAL", SIGNAL_HISTORY="_xldudf_DS_SIGNAL_HISTORY")
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_column("A1", ["us-cpi", "us-10y"])
        sheet.write_dynamic_array_formula("C1:C1", "=" + re.sub(r"\b(MAP|SCAN|BYROW|LAMBDA)\(", r"_xlfn.\1(", formula))
    async with AsyncClient(service.url, service.key) as client:
        session = Session(client)
        cost = await book_cost(session, path)
        report = await refresh_book(session, path, path)
        calls = [Call("SIGNAL", ["us-cpi"]), Call("SIGNAL", ["us-10y"])]
        one, other = [each.result for each in await session.answer(calls)]
        newest = [one, other] if "HISTORY" not in text else None
    assert _unproven(report) == {}
    assert (cost.requests, report.requests) == (requests, requests)
    found = values(path, "Sheet1", "C1", "C2")
    assert found == [one, "none"] if "none" in text else newest in (None, found)
    assert None not in found


async def test_a_condition_on_another_sheet_decides_with_its_new_value(service: EmbeddedService, tmp_path: Path):
    formulas = {"A1": '=IF(Other!B1>1,_xldudf_DS_SIGNAL("us-10y"),0)', "A2": '=_xldudf_DS_SIGNAL("us-10y")'}
    book = make_book(tmp_path / "book.xlsx", formulas, Other={"A1": f"={CALL}", "B1": "=A1*2"})
    assert _unproven(await _refresh(service, book)) == {}
    conditional, plain = values(book, "Sheet1", "A1", "A2")
    assert conditional == plain


async def test_as_many_calls_may_wait_for_others_as_a_formula_can_nest(service: EmbeddedService, tmp_path: Path):
    nested = CALL
    for number in range(60, 0, -1):
        nested = f'IFERROR(_xldudf_DS_SIGNAL("nope{number}"),{nested})'
    book = make_book(tmp_path / "book.xlsx", {"A1": f"={nested}", "A2": "=A1*2", "A3": f"={CALL}"})
    report = await _refresh(service, book)
    first, double, known = values(book, "Sheet1", "A1", "A2", "A3")
    assert (report.skipped, _unproven(report)) == ([], {})
    assert (first, double) == (known, known * 2)


async def test_calls_may_wait_for_others_over_any_number_of_cells(service: EmbeddedService, tmp_path: Path):
    chain = {f"A{row}": f'=_xldudf_DS_SIGNAL(LEFT(A{row - 1},6),"slug")&""' for row in range(2, 42)}
    book = make_book(tmp_path / "book.xlsx", {"A1": "us-cpi", **chain})
    report = await _refresh(service, book)
    assert (report.skipped, _unproven(report)) == ([], {})
    assert values(book, "Sheet1", "A2", "A41") == ["us-cpi"] * 2
