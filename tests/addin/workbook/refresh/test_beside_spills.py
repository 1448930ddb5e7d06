"""Ordinary cells over the columns that a history spills: worked out as Excel does, whoever wrote the book."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from xlsxwriter import Workbook

from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session
from udfs.cells import EPOCH

HISTORY = '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N36")'
ROWS = 36

BESIDE = {
    "D1": "SUMPRODUCT((YEAR(A2:A37)=2025)*B2:B37)",
    "D2": "SUMPRODUCT((MONTH(A2:A37)=6)*B2:B37)",
    "D3": 'SUMPRODUCT((TEXT(A2:A37,"yyyy-mm")="2025-03")*B2:B37)',
    "D4": "SUMPRODUCT(--(YEAR(A2:A37)=2024))",
    "D5": "SUMPRODUCT((WEEKDAY(A2:A37,2)<6)*1)",
    "D6": "SUMPRODUCT((INT((MONTH(A2:A37)+2)/3)=2)*B2:B37)",
    "D7": 'AVERAGEIFS(B2:B37,A2:A37,">="&DATE(2025,1,1),A2:A37,"<="&DATE(2025,12,31))',
    "D8": "B37/B25-1",
    "D9": "MAX(B2:B37)-MAX(B2:B37)",
    "D10": "VLOOKUP(A20,A2:B37,2,FALSE)",
}


def _by_openpyxl(path: Path, beside: dict[str, str], area: str) -> Path:
    return make_book(path, {"A1": (area, HISTORY), **{cell: f"={formula}" for cell, formula in beside.items()}})


def _by_xlsxwriter(path: Path, beside: dict[str, str], area: str) -> Path:
    """A book in which every formula shows 0, and which asks to be calculated when it is opened."""
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_dynamic_array_formula(area, HISTORY)
        for cell, formula in beside.items():
            sheet.write_formula(cell, f"={formula}")
    return path


async def _refresh(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


@pytest.mark.parametrize("area", ["A1", "A1:B37"])
@pytest.mark.parametrize("write", [_by_openpyxl, _by_xlsxwriter])
async def test_cells_beside_a_spilled_history_are_worked_out_in_books_that_nobody_calculated(
    service: EmbeddedService, tmp_path: Path, write: Callable[[Path, dict[str, str], str], Path], area: str
):
    book = write(tmp_path / "book.xlsx", BESIDE, area)
    for _ in range(2):  # also when values are there from the time before
        report = await _refresh(service, book)
        assert report.unproven == []
        assert values(book, "Sheet1", *BESIDE) == pytest.approx(_expected(book), rel=1e-12)


def _expected(book: Path) -> list[float]:
    days = [EPOCH + timedelta(days=day) for day in values(book, "Sheet1", *(f"A{row + 2}" for row in range(ROWS)))]
    shown = np.array(values(book, "Sheet1", *(f"B{row + 2}" for row in range(ROWS))))
    year, month = (np.array([getattr(day, part) for day in days]) for part in ("year", "month"))
    return [
        shown[year == 2025].sum(),
        shown[month == 6].sum(),
        shown[(year == 2025) & (month == 3)].sum(),
        (year == 2024).sum(),
        sum(day.weekday() < 5 for day in days),
        shown[(month + 2) // 3 == 2].sum(),
        shown[year == 2025].mean(),
        shown[35] / shown[23] - 1,
        0.0,
        shown[18],
    ]


@pytest.mark.parametrize("write", [_by_openpyxl, _by_xlsxwriter])
async def test_what_is_left_beside_a_spill_is_told_also_where_the_file_holds_only_its_first_cell(
    service: EmbeddedService, tmp_path: Path, write: Callable[[Path, dict[str, str], str], Path]
):
    book = write(tmp_path / "book.xlsx", {"D1": "SUMXMY2(B2:B10,B3:B11)"}, "A1:B37")
    report = await _refresh(service, book)
    assert [(cell.cell, cell.old) for cell in report.unproven] == [(("Sheet1", (1, 4)), None)]
    assert report.recalculates


async def test_a_zero_that_a_program_worked_out_stays_evidence(service: EmbeddedService, tmp_path: Path):
    book = tmp_path / "book.xlsx"
    with Workbook(book) as made:
        made.set_calc_mode("auto", calc_id=191029)  # Excel's own, of today
        sheet = made.add_worksheet("Sheet1")
        sheet.write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi")', None, 5)
        sheet.write_formula("A2", "=A1*2", None, 0)
    report = await _refresh(service, book)
    assert [cell.cell for cell in report.unproven] == [("Sheet1", (2, 1))], "the file holds 0 for what is 10"
    assert values(book, "Sheet1", "A2") == [0.0]


async def test_nothing_spills_over_cells_that_are_merged_though_the_file_says_that_it_did(
    service: EmbeddedService, tmp_path: Path
):
    with Workbook(tmp_path / "book.xlsx") as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.merge_range("A3:B4", None)
        sheet.write_dynamic_array_formula("A1:A4", '=_xlfn.SEQUENCE(4)+_xldudf_DS_SIGNAL("us-cpi")*0', None, 7)
    [left] = (await _refresh(service, tmp_path / "book.xlsx")).unproven
    assert left.unproven == "the result of 4 × 1 cells is blocked by the merged cells A3:B4"
