"""What a refresh puts right besides values: damaged formulas, dates without a format, reasons that are clear."""

import zipfile
from pathlib import Path

import openpyxl
import pytest
from xlsxwriter import Workbook

from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.refresh.refresh import Refreshed, book_cost, refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session


async def _refresh(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


@pytest.mark.parametrize(
    "damaged",
    [
        "'C:\\Users\\me\\AppData\\DataService.XLAM'!_xldudf_DS_SIGNAL(\"us-cpi\")",
        '[1]!_xldudf_DS_SIGNAL("us-cpi")',
        'DataService.XLAM!_xldudf_DS_SIGNAL("us-cpi")',
        'DS.SIGNAL("us-cpi")',
        '_xll.DS.SIGNAL("us-cpi")',
        '@DS.SIGNAL("us-cpi")',
    ],
)
async def test_a_formula_that_excel_damaged_is_entered_anew(service: EmbeddedService, tmp_path: Path, damaged: str):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        book.add_worksheet("Sheet1").write_formula("A1", f"={damaged}", None, "#NAME?")
    report = await _refresh(service, path)
    assert (len(report.mended), report.skipped, report.errors) == (1, [], [])
    assert openpyxl.load_workbook(path)["Sheet1"]["A1"].value == '=_xldudf_DS_SIGNAL("us-cpi")'
    assert isinstance(values(path, "Sheet1", "A1")[0], float)
    assert (await _refresh(service, path)).mended == set()


async def test_a_damaged_call_inside_a_calculation_is_mended_and_excel_computes_it(
    service: EmbeddedService, tmp_path: Path
):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        text = "=IFERROR('C:\\x.XLAM'!_xldudf_DS_SIGNAL(\"us-cpi\"),\"'C:\\x.XLAM'!_xldudf_DS_SIGNAL(\")"
        book.add_worksheet("Sheet1").write_formula("A1", text, None, "#NAME?")
    report = await _refresh(service, path)
    expected = '=IFERROR(_xldudf_DS_SIGNAL("us-cpi"),"\'C:\\x.XLAM\'!_xldudf_DS_SIGNAL(")'
    assert openpyxl.load_workbook(path)["Sheet1"]["A1"].value == expected
    assert report.recalculates


async def test_a_date_is_shown_as_a_date_wherever_the_cell_has_no_format(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi","observed_at")', book.add_format({"bold": True}), 46000)
        sheet.write_formula("A2", '=_xldudf_DS_SIGNAL("us-cpi","observed_at")', book.add_format({"num_format": "d/m"}))
        sheet.write_formula("A3", '=_xldudf_DS_SIGNAL("us-cpi")')
        sheet.write_dynamic_array_formula("C1:D1", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N3")')
    for _ in range(2):  # the second time nothing changes but the formats would have to be there
        await _refresh(service, path)
        cells = openpyxl.load_workbook(path)["Sheet1"]
        assert [cells[name].number_format for name in ("A1", "A2", "A3")] == ["yyyy-mm-dd", "d/m", "General"]
        assert [cells[f"C{row}"].number_format for row in (2, 3, 4)] == ["yyyy-mm-dd"] * 3
        assert [cells[f"D{row}"].number_format for row in (2, 3, 4)] == ["General"] * 3
        assert cells["A1"].font.bold


async def test_a_time_is_shown_with_its_minutes(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        book.add_worksheet("Sheet1").write_dynamic_array_formula("A1:B1", '=_xldudf_DS_EXPLAIN("us-cpi")')
    await _refresh(service, path)
    sheet = openpyxl.load_workbook(path)["Sheet1"]
    assert "yyyy-mm-dd hh:mm" in {cell.number_format for row in sheet.iter_rows() for cell in row}


async def test_an_argument_that_nobody_has_computed_is_worked_out(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": '="us"&"-cpi"', "B1": "=_xldudf_DS_SIGNAL(A1)", "C1": '=_xldudf_DS_SIGNAL("us-cpi")'}
    book = make_book(tmp_path / "book.xlsx", cells)
    report = await _refresh(service, book)
    assert (report.skipped, report.errors, report.requests) == ([], [], 1)
    slug, computed, plain = values(book, "Sheet1", "A1", "B1", "C1")
    assert (slug, computed) == ("us-cpi", plain)


async def test_a_book_saved_by_its_owner_meanwhile_is_not_overwritten(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'})

    def owner_saves(done: int, total: int) -> None:
        make_book(book, {"A1": "the owner's work"})

    async with AsyncClient(service.url, service.key) as client:
        with pytest.raises(WorkbookError, match="changed by someone else"):
            await refresh_book(Session(client), book, book, progress=owner_saves)
    assert values(book, "Sheet1", "A1") == ["the owner's work"]


async def test_names_with_brackets_cost_what_others_cost(service: EmbeddedService, tmp_path: Path):
    cells = {"A2": "x", "B2": '=_xldudf_DS_SIGNAL(A2&"[/x]")', "B3": '=_xldudf_DS_SIGNAL("us-cpi")'}
    book = make_book(tmp_path / "[red] book.xlsx", {}, **{"(bold)": cells})
    async with AsyncClient(service.url, service.key) as client:
        cost = await book_cost(Session(client), book)
    assert (cost.requests, cost.skipped) == (3, [])  # the catalogue, and two signals if both names exist


async def test_parts_that_were_not_changed_keep_their_bytes_in_any_packing(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'})
    with zipfile.ZipFile(book, "a") as archive:
        archive.writestr("xl/media/a.bin", bytes(range(256)) * 9, zipfile.ZIP_STORED)
        archive.writestr("xl/media/b.bin", bytes(range(256)) * 9, zipfile.ZIP_BZIP2)
    before = zipfile.ZipFile(book)
    contents = {name: before.read(name) for name in before.namelist()}
    before.close()
    await _refresh(service, book)
    with zipfile.ZipFile(book) as after:
        assert after.namelist() == list(contents)
        assert [name for name in contents if after.read(name) != contents[name]] == ["xl/worksheets/sheet1.xml"]
