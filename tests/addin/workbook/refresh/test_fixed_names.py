"""Names that stand for a computation, or for another place in every cell: never taken for the cells named in them."""

from pathlib import Path

import openpyxl
import pytest
from openpyxl.workbook.defined_name import DefinedName

from addin.formulas import MAX_FORMULA, Named
from addin.sheet.opening.named_cells import NamedCells
from addin.workbook.calculation.names import BookNames
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.plan import make_plan
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session


def _named(path: Path, cells: dict[str, object], **names: str) -> Path:
    book = openpyxl.load_workbook(make_book(path, cells))
    for name, text in names.items():
        book.defined_names[name] = DefinedName(name, attr_text=text)
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("definition", "is_fixed"),
    [
        ("Sheet1!$A$1", True),
        ("Sheet1!$A$1:$A$2", True),
        ("'Sheet1'!$A:$A", True),
        ("Sheet1!$1:$2", True),
        ("OFFSET(Sheet1!$A$1,1,0)", False),
        ("INDEX(Sheet1!$A$1:$A$2,2)", False),
        ("Sheet1!$A$1&Sheet1!$B$9", False),
        ("-Sheet1!$A$1", False),
        ("Sheet1!A1", False),
        ("Sheet1!$A1", False),
        ("Sheet1!A$1:$A$2", False),
        ("$A$1", False),
        ("Sheet1:Sheet2!$A$1", False),
    ],
)
def test_only_a_name_for_fixed_cells_is_read_as_these_cells(tmp_path, definition, is_fixed):
    cells = {"A1": "us-cpi", "A2": "us-10y", "B5": "=_xldudf_DS_SIGNAL(Slug)"}
    with Package(_named(tmp_path / "book.xlsx", cells, Slug=definition)) as package:
        plan = make_plan(Book(package))
    assert (len(plan.cells), len(plan.skipped)) == ((1, 0) if is_fixed else (0, 1))


async def test_a_name_that_computes_its_cell_is_worked_out(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": "us-cpi", "A2": "us-10y", "B5": "=_xldudf_DS_SIGNAL(Slug)", "B6": '=_xldudf_DS_SIGNAL("us-10y")'}
    path = _named(tmp_path / "book.xlsx", cells, Slug="OFFSET(Sheet1!$A$1,1,0)")
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), path, path)
    computed, expected = values(path, "Sheet1", "B5", "B6")
    assert computed == expected


async def test_a_relative_name_gets_no_value_of_another_cell(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": "us-cpi", "B5": "=_xldudf_DS_SIGNAL(Slug)"}
    path = _named(tmp_path / "book.xlsx", cells, Slug="Sheet1!A1")
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), path, path)
    assert values(path, "Sheet1", "B5") == [None]
    assert [cell.cell for cell in report.unproven] == [("Sheet1", (5, 2))]


async def test_what_rests_on_two_cells_through_a_name_is_not_taken_for_old(service: EmbeddedService, tmp_path: Path):
    cells = {
        "A1": '=_xldudf_DS_SIGNAL("us-cpi")',
        "A2": "us-10y",
        "B1": "=Both",
        "C1": "=_xldudf_DS_SIGNAL(B1)",
    }
    path = _named(tmp_path / "book.xlsx", cells, Both='IF(Sheet1!$A$1>0,Sheet1!$A$2,"none")')
    with Package(path) as package:
        plan = make_plan(Book(package))
    assert [str(cell) for cell in plan.cells] == ["Sheet1!A1"]


def test_names_that_stand_for_names_many_times_over_hold_nobody_up(tmp_path):
    names = {f"N{level}x": "&".join([f"N{level + 1}x"] * 40) for level in range(7)}
    book = _named(tmp_path / "book.xlsx", {"A1": "us-cpi", "B1": "=N0x&1"}, **names, N7x="Sheet1!$A$1")
    with Package(book) as package:
        read = Book(package)
        assert [str(area) for area in read.areas_behind(Named("n0x"), "Sheet1")] == ["Sheet1!A1"]
        assert "grows too long" in BookNames(read, "Sheet1", "DS", read.tables).name("N0x").refused
        assert len(NamedCells(read, "Sheet1").written_out("N0x&1")) < 2 * MAX_FORMULA


def test_names_that_stand_for_each_other_come_to_an_end(tmp_path):
    book = _named(tmp_path / "book.xlsx", {"A1": "us-cpi"}, here="there+Sheet1!$A$1", there="here")
    with Package(book) as package:
        read = Book(package)
        assert [str(area) for area in read.areas_behind(Named("here"), "Sheet1")] == ["Sheet1!A1"]
        assert NamedCells(read, "Sheet1").written_out("here") == "((here)+Sheet1!$A$1)"
