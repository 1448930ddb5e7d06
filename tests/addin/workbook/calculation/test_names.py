"""Names, tables and sheets that formulas refer to: each stands for what it stands for in Excel, or is left."""

from pathlib import Path

import openpyxl
import pytest
from openpyxl.workbook.defined_name import DefinedName
from xlsxwriter import Workbook

from addin.workbook.calculation.calculation import NO_SHEET
from addin.workbook.calculation.reading.oddities import UNKNOWN_FUNCTION
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

CALL = '=_xldudf_DS_SIGNAL("us-cpi")'


async def _refreshed(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


def _reasons(report: Refreshed) -> dict[tuple[str, tuple[int, int]], str]:
    return {cell.cell: cell.unproven for cell in report.unproven}


def _with_names(path: Path, cells: dict[str, str], names: dict[str, str], **sheets: dict[str, str]) -> Path:
    make_book(path, cells, **sheets)
    book = openpyxl.load_workbook(path)
    for name, text in names.items():
        sheet, _, plain = name.rpartition("!")
        (book[sheet] if sheet else book).defined_names[plain] = DefinedName(plain, attr_text=text)
    book.save(path)
    return path


async def test_a_lambda_that_has_a_name_is_worked_out_with_the_cells_that_it_reads(
    service: EmbeddedService, tmp_path: Path
):
    names = {
        "Twice": "_xlfn.LAMBDA(_xlpm.x,_xlpm.x*2)",
        "Add": "_xlfn.LAMBDA(_xlpm.x,_xlpm.x+Sheet1!$A$1)",
        "Beside": "_xlfn.LAMBDA(_xlpm.x,_xlpm.x+Sheet1!A1)",
        "Again": "_xlfn.LAMBDA(_xlpm.x,IF(_xlpm.x<1,0,Again(_xlpm.x-1)))",
    }
    cells = {"A1": CALL, "B1": "=Twice(A1)", "B2": "=Add(1)", "B3": "=B2+1", "B4": "=Beside(1)", "B5": "=Again(A1)"}
    path = _with_names(tmp_path / "book.xlsx", cells, names)
    reasons = _reasons(await _refreshed(service, path))
    assert set(reasons) == {("Sheet1", (4, 2)), ("Sheet1", (5, 2))}
    call, *shown = values(path, "Sheet1", "A1", "B1", "B2", "B3")
    assert shown == [call * 2, call + 1, call + 2]


async def test_a_name_in_a_name_that_a_sheet_has_too_is_left(service: EmbeddedService, tmp_path: Path):
    names = {"Rate": "Sheet1!$A$1", "Two!Rate": "Two!$A$1", "Twice": "Rate*2"}
    two = {"A1": 5, "B1": "=Twice+Sheet1!A1", "B2": "=Rate+Sheet1!A1"}
    path = _with_names(tmp_path / "book.xlsx", {"A1": CALL, "B1": "=Twice"}, names, Two=two)
    reasons = _reasons(await _refreshed(service, path))
    assert reasons == {("Two", (1, 2)): "the name Twice: the name Rate in another one stands for several things"}
    [call, twice], [own] = values(path, "Sheet1", "A1", "B1"), values(path, "Two", "B2")
    assert (twice, own) == (call * 2, call + 5)


async def test_a_column_of_a_table_needs_no_brackets_of_its_own(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        columns = [{"header": "Slug"}, {"header": "Now", "formula": "_xldudf_DS_SIGNAL([@Slug])"}]
        sheet.add_table("A1:C3", {"name": "Tbl", "columns": [*columns, {"header": "Twice", "formula": "[@Now]*2"}]})
        sheet.write_column("A2", ["us-cpi", "us-10y"])
    assert _reasons(await _refreshed(service, path)) == {}
    one, two, *twice = values(path, "Sheet1", "B2", "B3", "C2", "C3")
    assert twice == [one * 2, two * 2]


async def test_a_sheet_that_is_not_there_leaves_its_formula_alone(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "B1": "=Nowhere!A1+A1", "B2": "=A1*2"})
    assert _reasons(await _refreshed(service, book)) == {("Sheet1", (1, 2)): NO_SHEET}
    call, twice = values(book, "Sheet1", "A1", "B2")
    assert twice == call * 2


@pytest.mark.parametrize("formula", ["IFERROR(Foo(),A1)", "IF(ISERROR(Foo(A1)),1,2)", "COUNT(Foo(A1),1)"])
async def test_a_function_that_no_engine_knows_may_be_a_macro(service: EmbeddedService, tmp_path: Path, formula: str):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "B1": f"={formula}"})
    assert _reasons(await _refreshed(service, book)) == {("Sheet1", (1, 2)): UNKNOWN_FUNCTION.format("FOO")}
    assert values(book, "Sheet1", "B1") == [None]


async def test_an_array_formula_shows_another_cell_in_all_of_its_cells(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "C1": ("C1:D2", "=A1"), "C5": "=SUM(C1:D2)"})
    assert _reasons(await _refreshed(service, book)) == {}
    call, *shown, total = values(book, "Sheet1", "A1", "C1", "D1", "C2", "D2", "C5")
    assert (shown, total) == ([call] * 4, call * 4)


@pytest.mark.parametrize("formula", ["IFERROR(_xlfn._xlws.PY(0,1),A1)", 'IFERROR(FILTERXML("<a/>","//a"),A1)'])
async def test_what_another_program_works_out_is_left(service: EmbeddedService, tmp_path: Path, formula: str):
    book = make_book(tmp_path / "book.xlsx", {"A1": CALL, "B1": f"={formula}"})
    [reason] = _reasons(await _refreshed(service, book)).values()
    assert reason.endswith("depends on more than values")
