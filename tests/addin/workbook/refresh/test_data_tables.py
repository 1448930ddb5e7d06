"""Data tables: they rest on the formulas at their head, on their input cells and on the values along their sides."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from xlsxwriter import Workbook

from addin.workbook.freeze import StaleValuesError, freeze_book
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from tests.addin.commands import environment
from tests.addin.workbook.books import make_book, values
from tests.addin.workbook.without_engine import main
from tests.embedded import EmbeddedService
from tests.forking import run_forked
from udfs import Session

CALL = '_xldudf_DS_SIGNAL("us-cpi")'
WITHOUT = f"{main.__module__}:{main.__name__}"


@dataclass(frozen=True)
class Table:
    """A data table in a book with its saved results; `given` are the attributes beside its area."""

    given: str
    cells: Mapping[str, str | int]
    area: str = "D2:D3"


COLUMN, ROW, BOTH = 'dt2D="0" dtr="0" r1="C1"', 'dt2D="0" dtr="1" r1="C1"', 'dt2D="1" dtr="1" r1="C1" r2="C8"'
RESTING = {
    "a formula with a call at the head of a column": Table(COLUMN, {"D1": f"={CALL}*C1"}),
    "a call alone at the head": Table(COLUMN, {"D1": f"={CALL}"}),
    "a cell that shows a call at the head": Table(COLUMN, {"A1": f"={CALL}", "D1": "=A1"}),
    "several steps": Table(COLUMN, {"A1": f"={CALL}", "B1": "=A1*C1", "B3": "=SUM(B1:B2)", "D1": "=B3"}),
    "by way of another sheet": Table(COLUMN, {"A1": f"={CALL}", "D1": "=Other!A1"}),
    "a second head": Table(COLUMN, {"D1": 1, "E1": f"={CALL}*C1"}, "D2:E3"),
    "the head of a row": Table(ROW, {"C2": f"={CALL}*C1", "D1": 5, "E1": 6}, "D2:E2"),
    "the second head of a row": Table(ROW, {"C2": 1, "C3": f"={CALL}*C1", "D1": 5, "E1": 6}, "D2:E3"),
    "the corner of a table in two directions": Table(BOTH, {"C1": f"={CALL}*C8", "D1": 5, "E1": 6}, "D2:E3"),
    "an input cell": Table(COLUMN, {"C1": f"={CALL}", "D1": "=C9*2"}),
    "the second input cell": Table(BOTH, {"C8": f"={CALL}", "D1": 5, "E1": 6}, "D2:E3"),
    "a value along the side": Table(COLUMN, {"C3": f"={CALL}", "D1": "=C9*2"}),
    "a value along the top": Table(BOTH, {"D1": 5, "E1": f"={CALL}"}, "D2:E3"),
}
NOT_RESTING = {
    "nothing of ours": Table(COLUMN, {"A1": f"={CALL}", "D1": "=C9*2"}),
    "a call beside the corner of a column": Table('dt2D="0" dtr="0" r1="C9"', {"C1": f"={CALL}", "D1": "=C9*2"}),
    "a call beyond the head": Table(COLUMN, {"D1": "=C9*2", "E1": f"={CALL}"}),
}


def _book(folder: Path, table: Table) -> Path:
    """A book in which every formula shows 300; E7 to E9 rest on the table, on its last cell, and on it with a call."""
    last = table.area.partition(":")[2]
    cells = {"C1": 1, "C8": 1, "C9": 150, "C2": 3, "C3": 4, "D1": 0, "A9": f"={CALL}", **table.cells}
    cells |= {"E7": f"=AVERAGE({table.area})", "E8": f"={last}*1", "E9": f"=(AVERAGE({table.area})+A9)/2"}
    with Workbook(folder / "made.xlsx") as book:
        sheet = book.add_worksheet("Sheet1")
        for cell, value in cells.items():
            if isinstance(value, str):
                sheet.write_formula(cell, value, None, 300)
            else:
                sheet.write_number(cell, value)
        sheet.write_array_formula(table.area, "{=MARKED}", None, 300)
        for row in range(1, 3):
            for column in range(3, 5):
                if (row, column) != (1, 3) and table.area.endswith(("E3", "D3" if column == 3 else "E2")):
                    sheet.write_number(row, column, 300)
        book.add_worksheet("Other").write_formula("A1", "=Sheet1!A1*1", None, 300)
    path = folder / "book.xlsx"
    with zipfile.ZipFile(folder / "made.xlsx") as made, zipfile.ZipFile(path, "w") as written:
        for name in made.namelist():
            array = f'<f t="array" ref="{table.area}">MARKED</f>'.encode()
            inside = f'<f t="dataTable" ref="{table.area}" {table.given}/>'.encode()
            written.writestr(name, made.read(name).replace(array, inside))
    return path


@pytest.mark.parametrize("table", RESTING.values(), ids=RESTING)
async def test_a_table_that_rests_on_a_call_is_left_and_listed_with_all_that_rests_on_it(
    service: EmbeddedService, tmp_path: Path, table: Table
):
    book = _book(tmp_path, table)
    with pytest.raises(StaleValuesError) as stale:
        freeze_book(book, tmp_path / "frozen.xlsx")
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), book, book)
    left = {"D2", "E7", "E8", "E9"}
    assert {_named(cell.cell[1]) for cell in report.unproven} == left
    assert values(book, "Sheet1", "D2", table.area[3:], "E7", "E8", "E9") == [300] * 5
    assert report.recalculates
    assert {note.where for note in stale.value.cells} >= {f"Sheet1!{cell}" for cell in left}


@pytest.mark.parametrize("table", NOT_RESTING.values(), ids=NOT_RESTING)
async def test_a_table_that_rests_on_no_call_keeps_its_values_and_is_not_listed(
    service: EmbeddedService, tmp_path: Path, table: Table
):
    book = _book(tmp_path, table)
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), book, book)
    assert [_named(cell.cell[1]) for cell in report.unproven if _named(cell.cell[1]) == "D2"] == []
    assert values(book, "Sheet1", "D2", "D3", "E7") == [300] * 3


def test_refresh_ends_with_the_code_of_old_values(service: EmbeddedService, tmp_path: Path):
    _book(tmp_path, RESTING["several steps"])
    environ = environment(tmp_path, service)
    done = run_forked("addin.cli.main:main", ["refresh", "book.xlsx", "--json"], environ=environ, cwd=tmp_path)
    told = json.loads(done.stdout)
    assert (done.returncode, told["recalculates_on_opening"]) == (3, True)
    assert {note["cell"] for note in told["unproven"]} == {"Sheet1!D2", "Sheet1!E7", "Sheet1!E8", "Sheet1!E9"}


@pytest.mark.parametrize("command", ["addin.cli.main:main", WITHOUT], ids=["with the engine", "without it"])
def test_no_call_is_asked_with_an_old_value_out_of_a_table(service: EmbeddedService, tmp_path: Path, command: str):
    table = Table(COLUMN, {"A1": f"={CALL}", "D1": "=A1*C1", "G1": '=_xldudf_DS_SIGNAL("us-cpi",D3)'})
    book = _book(tmp_path, table)
    done = run_forked(command, ["refresh", "book.xlsx"], environ=environment(tmp_path, service), cwd=tmp_path)
    assert done.returncode == 3
    assert "Sheet1!G1" in done.stderr
    assert "there is no field" not in done.stderr
    assert values(book, "Sheet1", "G1") == [300]


def test_without_the_engine_no_call_is_asked_with_an_old_value_out_of_an_array(
    service: EmbeddedService, tmp_path: Path
):
    cells = {"A1": f"={CALL}", "B1": ("B1:B2", "=A1*{1;2}"), "B2": 300, "G1": '=_xldudf_DS_SIGNAL("us-cpi",B2)'}
    make_book(tmp_path / "book.xlsx", cells)
    done = run_forked(WITHOUT, ["refresh", "book.xlsx"], environ=environment(tmp_path, service), cwd=tmp_path)
    assert "Sheet1!G1: Sheet1!B2 is a calculation with values of ours" in done.stderr


def _named(spot: tuple[int, int]) -> str:
    return f"{chr(64 + spot[1])}{spot[0]}"
