"""Undamaged books to begin with: small, and with everything in them that the commands read."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.formula import ArrayFormula
from xlsxwriter import Workbook


def seed_books(folder: Path) -> dict[str, bytes]:
    """The books by name; `folder` is for files on the way."""
    return {"openpyxl": _by_openpyxl(folder / "seed.xlsx"), "xlsxwriter": _by_xlsxwriter(), "shared": _shared(folder)}


def _by_openpyxl(path: Path) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "My sheet"
    for row, slug in enumerate(("us-cpi", "us-10y", "wb.gold"), 1):
        sheet.cell(row, 1, slug)
        sheet.cell(row, 2, f"=_xldudf_DS_SIGNAL(A{row})")
        sheet.cell(row, 3, f"=B{row}*2")
        sheet.cell(row, 4, f"=DS.SIGNAL(A{row},Field)")
    sheet["F1"] = ArrayFormula("F1:G4", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N3")')
    sheet["H1"] = "='C:\\Add-ins\\DataService.XLAM'!_xldudf_DS_INDEX(\"risk-dial\")"
    sheet["H2"] = '=IFERROR(DS.SIGNAL("us-cpi"),0)'
    sheet["H3"] = "=F2"
    other = book.create_sheet("Other")
    other["A1"] = "name"
    other["A2"] = "=SUM('My sheet'!B1:B3)"
    book.defined_names["Field"] = DefinedName("Field", attr_text="Other!$A$1")
    sheet.merge_cells("J1:K2")
    book.save(path)
    return path.read_bytes()


def _by_xlsxwriter() -> bytes:
    out = io.BytesIO()
    with Workbook(out) as book:
        sheet = book.add_worksheet("Data")
        dated = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.set_column(0, 3, 12, dated)
        sheet.write_string(0, 0, "btc-usd")
        sheet.write_rich_string(1, 0, "us-", book.add_format({"bold": True}), "cpi")
        sheet.write_dynamic_array_formula("B1:B1", '=_xldudf_DS_SIGNAL(A1,"observed_at")', None, "")
        sheet.write_dynamic_array_formula("C1:D9", "=_xldudf_DS_CURRENTS()", None, 0)
        sheet.write_formula("A5", "=COUNT(A1:D20)+VLOOKUP(1,A:D,2)", None, 3)
        sheet.write_formula("A6", "=_xldudf_DS_SIGNAL(_xlfn.ANCHORARRAY(B1))", None, 3)
    return out.getvalue()


def _shared(folder: Path) -> bytes:
    """A book with shared formulas, which no tool for tests writes, and a comment."""
    from tests.addin.workbook.ooxml.test_damaged import SHEET, _sheet, _with_parts

    rows = "".join(
        f'<row r="{row}" spans="1:3"><c r="A{row}" t="inlineStr"><is><t>us-cpi</t></is></c>'
        f'<c r="B{row}"><f t="shared" {"ref=" + chr(34) + "B1:B9" + chr(34) if row == 1 else ""} si="0">'
        f"{'_xldudf_DS_SIGNAL(A1)' if row == 1 else ''}</f><v>1</v></c>"
        f'<c r="C{row}" s="0"><f>SUM(B$1:B{row})</f><v>2</v></c></row>'
        for row in range(1, 10)
    )
    path = folder / "shared.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "Sheet1"
    book.save(path)
    return _with_parts(path, {SHEET: _sheet(rows, '<cols><col min="1" max="2" style="0"/></cols>')}).read_bytes()
