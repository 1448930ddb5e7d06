"""Names that stand for calls of ours: a formula with the name is treated like one with the call."""

from pathlib import Path

import openpyxl
from openpyxl.formatting.rule import FormulaRule
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

from addin.workbook.freeze import freeze_book
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

NAMES = {"Rate": 'DS.SIGNAL("us-10y")', "Twice": "Rate*2", "Asked": "_xlfn.LAMBDA(_xlpm.s,DS.SIGNAL(_xlpm.s))"}


def _named(path: Path, cells: dict[str, object], names: dict[str, str], **sheets: dict[str, object]) -> Path:
    book = openpyxl.load_workbook(make_book(path, cells, **sheets))
    for name, text in names.items():
        book.defined_names[name] = DefinedName(name, attr_text=text)
    book.save(path)
    return path


async def test_formulas_with_names_of_calls_become_values_in_a_frozen_copy(service: EmbeddedService, tmp_path: Path):
    cells = {"A1": "=Rate", "A2": '=_xldudf_DS_SIGNAL("us-10y")', "A3": "=Twice+1"}
    path = _named(tmp_path / "book.xlsx", cells, NAMES, Other={"B1": "=Rate*3"})
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), path, path)
    rate, same, more = values(path, "Sheet1", "A1", "A2", "A3")
    assert (rate, more) == (same, same * 2 + 1)
    assert freeze_book(path, tmp_path / "copy.xlsx") == 4
    with Package(tmp_path / "copy.xlsx") as package:
        assert [list(Book(package).formulas(name)) for name in ("Sheet1", "Other")] == [[], []]
    assert values(tmp_path / "copy.xlsx", "Other", "B1") == [rate * 3]


async def test_a_lambda_with_a_call_is_listed_where_a_cell_uses_it_by_name(service: EmbeddedService, tmp_path: Path):
    path = _named(tmp_path / "book.xlsx", {"A1": '=Asked("us-10y")', "A2": "=A1+1"}, NAMES)
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), path, path)
    assert {cell.cell: cell.unproven for cell in report.calculated} == {
        ("Sheet1", (1, 1)): "it calls a LAMBDA by a name",
        ("Sheet1", (2, 1)): "it rests on a cell that is left as it was",
    }
    assert report.recalculates


async def test_names_conditional_formats_and_validations_get_the_form_that_excel_computes(
    service: EmbeddedService, tmp_path: Path
):
    path = _named(tmp_path / "book.xlsx", {"A1": 5}, {"Rate": 'DS.SIGNAL("us-10y")'})
    book = openpyxl.load_workbook(path)
    sheet = book["Sheet1"]
    sheet.conditional_formatting.add("A1", FormulaRule(formula=['A1>DS.SIGNAL("us-10y")']))
    sheet.add_data_validation(DataValidation(type="custom", formula1='DS.SIGNAL("us-10y")>0', sqref="A1"))
    book.save(path)
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), path, path)
    with Package(path) as package:
        mended = Book(package)
        assert mended.definition("Rate", "Sheet1") == '=_xldudf_DS_SIGNAL("us-10y")'
        rules = mended.sheet("Sheet1").rules()
    assert rules == ['A1>_xldudf_DS_SIGNAL("us-10y")', '_xldudf_DS_SIGNAL("us-10y")>0']


async def test_references_to_a_frozen_spill_name_its_cells(service: EmbeddedService, tmp_path: Path):
    spill = "_xlfn.ANCHORARRAY(Sheet1!$A$1)"
    cells = {"A1": ("A1:B3", "=_xldudf_DS_SIGNALS()"), "J1": "=COUNTA(_xlfn.ANCHORARRAY(A1))"}
    path = _named(tmp_path / "book.xlsx", cells, {"Table": spill}, Other={"A1": f"=ROWS({spill})"})
    book = openpyxl.load_workbook(path)
    book["Other"].add_data_validation(DataValidation(type="list", formula1=spill, sqref="C1"))
    book.save(path)
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), path, path)
    freeze_book(path, tmp_path / "copy.xlsx")
    with Package(path) as package:
        area = Book(package).sheet("Sheet1").array_at((1, 1))
    assert area is not None
    last = area.last_row
    with Package(tmp_path / "copy.xlsx") as package:
        copy = Book(package)
        texts = [formula.text for name in copy.sheet_names for _, formula in copy.formulas(name)]
        assert texts == [f"COUNTA(A1:F{last})", f"ROWS(Sheet1!$A$1:$F${last})"]
        assert copy.definition("Table", "Other") == f"=Sheet1!$A$1:$F${last}"
        assert copy.sheet("Other").rules() == [f"Sheet1!$A$1:$F${last}"]
