"""Thousands of formulas: the engine that is right nearly always, and slow, is asked little for each."""

from collections.abc import Callable
from pathlib import Path

import pytest
from xlsxwriter import Workbook

from addin.workbook.calculation.engine.process import EngineProcess, Kind
from addin.workbook.calculation.proving.jumping import JUMPS
from addin.workbook.calculation.simple_stage import FEW
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import values
from tests.embedded import EmbeddedService
from udfs import Session

ROWS = 300


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The cells and formulas that the slow engine is asked about or given one by one, by the kind of request."""
    counts: dict[str, int] = {}
    ask = EngineProcess._ask

    def counted(self: EngineProcess, method: str, **arguments):
        if self._kind is Kind.FORMULON and method != "load":
            counts[method] = counts.get(method, 0) + len(arguments.get("cells") or arguments.get("formulas") or ())
        return ask(self, method, **arguments)

    monkeypatch.setattr(EngineProcess, "_ask", counted)
    return counts


async def _refreshed(service: EmbeddedService, path: Path, formula: Callable[[int], str]) -> Refreshed:
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi")', None, "")
        for row in range(2, ROWS + 2):
            sheet.write_formula(row - 1, 1, formula(row), None, "")
            sheet.write_number(row - 1, 2, row * 1.5)
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), path, path)


@pytest.mark.parametrize(
    "formula",
    [
        "=(A$1/C{0})^(1/5)-1",
        "=ROUND((A$1/C{0})^(1/5)-1,4)",
        "=C{0}*(1+A$1/10000)^C{0}",
        "=IFERROR(LN(A$1/C{0})/EXP(1),0)",
        "=VLOOKUP(C{0},C$2:C$301,1)+A$1*0",
        "=MATCH(C{0},C$1:C{0})+A$1*0",
        "=COUNTIF(C$2:C{0},C{0})+A$1*0",
        '=SUMIF(C$2:C{0},">"&A$1,C$2:C{0})',
    ],
)
async def test_formulas_are_neither_put_nor_looked_at_one_by_one(
    service: EmbeddedService, tmp_path: Path, asked: dict[str, int], formula: str
):
    report = await _refreshed(service, tmp_path / "book.xlsx", formula.format)
    assert (len(report.calculated), report.unproven) == (ROWS, [])
    assert asked == {"values": ROWS}


async def test_one_formula_that_only_one_engine_knows_does_not_slow_the_others(
    service: EmbeddedService, tmp_path: Path, asked: dict[str, int]
):
    def formula(row: int) -> str:
        return "=SUMPRODUCT(TRUNC(B3:B4^{1;1.5})*0)+B3" if row == 2 else f"=(A$1/C{row})^(1/5)-1"

    report = await _refreshed(service, tmp_path / "book.xlsx", formula)
    assert report.unproven == []
    assert asked["set"] < 50


async def test_a_jump_is_found_among_many_formulas(service: EmbeddedService, tmp_path: Path):
    def formula(row: int) -> str:
        return "=INT(4^1.5+A1*0)" if row == 2 else f"=B{row - 1}*0+1.5^(A$1/C{row})" if row < 5 else f"=C{row}^1.5+A$1"

    report = await _refreshed(service, tmp_path / "book.xlsx", formula)
    assert {cell.cell[1]: cell.unproven == JUMPS for cell in report.unproven} == {
        (2, 2): True,
        (3, 2): False,
        (4, 2): False,
    }
    [now, shown] = values(tmp_path / "book.xlsx", "Sheet1", "A1", "B6")
    assert shown == pytest.approx(9**1.5 + now)


@pytest.mark.parametrize("area", ["C9:C2", "$C$9:C2", "D9:C2", "C9:D2", "Sheet1!C9:C2", "D:C", "$9:2"])
async def test_a_range_that_is_named_from_its_last_cell_on_is_the_same_as_any(
    service: EmbeddedService, tmp_path: Path, area: str
):
    with Workbook(tmp_path / "book.xlsx") as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi")', None, "")
        sheet.write_column("C2", range(1, 9))
        for row, name in enumerate(("SUM", "MAX", "COUNT", "AVERAGE"), 20):
            sheet.write_formula(row, 5, f"={name}({area})+A$1*0", None, "")
        for row in range(30, FEW + 30):
            sheet.write_formula(row, 6, f"=A$1*{row}", None, "")
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), tmp_path / "book.xlsx", tmp_path / "book.xlsx")
    assert report.unproven == []
    assert values(tmp_path / "book.xlsx", "Sheet1", "F21", "F22", "F23", "F24") == [36, 8, 8, 4.5]
