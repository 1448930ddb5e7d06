"""Books with thousands of formulas: worked out by the engine that is fast, and gone from memory afterwards."""

import gc
from pathlib import Path

from xlsxwriter import Workbook

from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.calculation import NOT_REPRODUCED
from addin.workbook.calculation.simple_stage import FEW
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.refresh.refresh import Refreshed, refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

CALL = '=_xldudf_DS_SIGNAL("us-cpi")'


async def _refreshed(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


async def test_nothing_of_a_refreshed_book_waits_for_the_garbage_collector(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "B1": "=A1*2", "C1": "=SUM(A1:B1)", "D1": "=LEN(A1)"})
    gc.collect()
    gc.disable()
    try:
        report = await _refreshed(service, book)
        left = [each for each in gc.get_objects() if isinstance(each, Book | Sheet | BookFormula | Formula)]
    finally:
        gc.enable()
    assert len(report.calculated) == 3
    assert left == []


async def test_in_a_large_book_each_formula_gets_its_own_value(service: EmbeddedService, tmp_path: Path):
    path, count = tmp_path / "book.xlsx", FEW + 100
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", CALL, None, 100)
        sheet.write_formula("B1", "=A1*2", None, 200)
        for row in range(2, count + 1):
            sheet.write_formula(row - 1, 1, f"=B{row - 1}+A$1", None, 100 * (row + 1))
        sheet.write_formula("C1", "=A1*3", None, 301)  # what the file holds is wrong
        sheet.write_formula("C2", "=A1*4", None, "")  # and here is nothing
        sheet.write_formula("C3", "=IF(D1=D2,1,2)+A1*0", None, 1)  # Excel takes the two for the same
        sheet.write_formula("D1", "=A1*0+0.1+0.2", None, 0.1 + 0.2)
        sheet.write_formula("D2", "=A1*0+0.3", None, 0.3)
    report = await _refreshed(service, path)
    now, *numbers = values(path, "Sheet1", "A1", *(f"B{row}" for row in range(1, count + 1)), "C1", "C2")
    expected = [now * 2]
    for _ in range(2, count + 1):
        expected.append(expected[-1] + now)
    assert numbers == [*expected, 301, now * 4]
    assert {cell.cell[1]: cell.unproven for cell in report.unproven} == {(1, 3): NOT_REPRODUCED}
    assert values(path, "Sheet1", "C3") == [1]
