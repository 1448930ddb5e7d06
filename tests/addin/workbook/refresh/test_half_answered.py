"""Tables of which a part has no answer for now: no value in the file gives way to an error that may pass."""

import asyncio
from pathlib import Path

import httpx
import openpyxl
import pytest

from addin.workbook.freeze import StaleValuesError, freeze
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session
from udfs.errors import CellError

LIST = '_xldudf_DS_SIGNAL({"us-cpi";"us-10y";"wb.gold"})'
HISTORY = '_xldudf_DS_SIGNAL_HISTORY({"us-10y","wb.gold"},"N5")'


class _WithoutOne(httpx.AsyncHTTPTransport):
    """The road to a service that has no answer about gold."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if "wb.gold" in str(request.url):
            return httpx.Response(500)
        return await super().handle_async_request(request)


async def _no_wait(_: float) -> None:
    await asyncio.sleep(0)


async def _refreshed(service: EmbeddedService, book: Path, *, without_one: bool) -> Refreshed:
    transport = _WithoutOne() if without_one else None
    async with AsyncClient(service.url, service.key, transport=transport, sleep=_no_wait) as client:
        return await refresh_book(Session(client), book, book)


@pytest.mark.parametrize(("formula", "area"), [(LIST, "A1:A3"), (HISTORY, "A1:C6")])
async def test_a_table_with_values_stays_whole_with_all_that_rests_on_it(
    service: EmbeddedService, tmp_path: Path, formula: str, area: str
):
    cells = {"A1": (area, f"={formula}"), "E1": f"=COUNT({area})", "E2": f"=SUM({area})*2", "E3": "=IFERROR(A3,0)"}
    book = make_book(tmp_path / "book.xlsx", cells)
    await _refreshed(service, book, without_one=False)
    shown = [cell.coordinate for row in openpyxl.Workbook().active[area] for cell in row]
    known = values(book, "Sheet1", *shown, "E1", "E2", "E3")
    report = await _refreshed(service, book, without_one=True)
    assert values(book, "Sheet1", *shown, "E1", "E2", "E3") == known
    [kept] = report.kept
    assert (kept.where, "a part of it has no answer: the service did not answer" in kept.why) == ("Sheet1!A1", True)
    assert {cell.cell[1] for cell in report.unproven} == {(1, 5), (2, 5), (3, 5)}


async def test_what_takes_a_part_of_a_table_for_the_whole_keeps_its_value_and_is_not_frozen(
    service: EmbeddedService, tmp_path: Path
):
    total, count, table = f"=SUM(IFERROR({LIST},0))", f"=COUNT({LIST})", f"=IFERROR({LIST},0)"
    cells = {"A1": ("A1", total), "A2": ("A2", count), "A3": ("A3:A5", table)}
    book = make_book(tmp_path / "book.xlsx", cells)
    await _refreshed(service, book, without_one=False)
    known = values(book, "Sheet1", "A1", "A2", "A3", "A4", "A5")
    report = await _refreshed(service, book, without_one=True)
    assert values(book, "Sheet1", "A1", "A2", "A3", "A4", "A5") == known
    assert {cell.cell[1] for cell in report.unproven} == {(1, 1), (2, 1), (3, 1)}
    assert all("did not answer" in cell.unproven for cell in report.unproven)
    async with AsyncClient(service.url, service.key, transport=_WithoutOne(), sleep=_no_wait) as client:
        with pytest.raises(StaleValuesError):
            await freeze(book, tmp_path / "frozen.xlsx", ask=Session(client).answer)


async def test_what_had_no_value_shows_the_answers_there_are_and_the_report_names_it(
    service: EmbeddedService, tmp_path: Path
):
    book = make_book(tmp_path / "book.xlsx", {"A1": ("A1:A3", f"={LIST}")})
    for _ in range(2):
        report = await _refreshed(service, book, without_one=True)
        first, second, missing = values(book, "Sheet1", "A1", "A2", "A3")
        assert [type(each) for each in (first, second, missing)] == [float, float, CellError]
        assert [note.where for note in report.errors] == ["Sheet1!A1"]
    await _refreshed(service, book, without_one=False)
    assert all(isinstance(value, float) for value in values(book, "Sheet1", "A1", "A2", "A3"))


async def test_no_number_is_written_that_hides_that_there_was_no_answer(service: EmbeddedService, tmp_path: Path):
    gold = '_xldudf_DS_SIGNAL("wb.gold")'
    cells = {
        "A1": f'=IFERROR({gold},0)+_xldudf_DS_SIGNAL("us-cpi")',
        "A2": "=A1*2",
        "A3": f"={gold}*2",
        "A4": f'=IF(ISERROR({gold}),"none","some")',
        "A5": ("A5:A7", f"=IFERROR({LIST},0)"),
        "B5": ("B5:B7", f"={LIST}*2"),
    }
    book = make_book(tmp_path / "book.xlsx", cells)
    report = await _refreshed(service, book, without_one=True)
    assert values(book, "Sheet1", "A1", "A2", "A4", "A5", "A6") == [None] * 5
    assert {cell.cell[1] for cell in report.unproven} >= {(1, 1), (2, 1), (4, 1), (5, 1)}
    shown = values(book, "Sheet1", "A3", "B5", "B7")
    assert [type(value) for value in shown] == [CellError, float, CellError]
    assert (await _refreshed(service, book, without_one=False)).unproven == []
    assert all(value is not None for value in values(book, "Sheet1", "A1", "A2", "A3", "A4", "A5", "A6", "A7"))


async def test_what_hides_an_error_that_may_pass_is_not_worked_out_from_it(service: EmbeddedService, tmp_path: Path):
    cells = {
        **{f"A{row}": f'=_xldudf_DS_SIGNAL("{slug}")' for row, slug in enumerate(("us-cpi", "us-10y", "wb.gold"), 1)},
        "B1": "=COUNT(A1:A3)",
        "B2": "=IFERROR(A3,0)",
        "B3": "=A3*2",
        "B4": "=B1*2",
        "B5": '=COUNT(INDIRECT("A1:A3"))',
        "B6": "=A1*2",
        "C1": "=A3",
        "C2": "=COUNT(C1)",
    }
    book = make_book(tmp_path / "book.xlsx", cells)
    for _ in range(2):
        report = await _refreshed(service, book, without_one=True)
        assert {cell.cell[1] for cell in report.unproven} == {(1, 2), (2, 2), (4, 2), (5, 2), (2, 3)}
        assert values(book, "Sheet1", "B1", "B2", "B4", "B5", "C2") == [None] * 5
        shown = values(book, "Sheet1", "A3", "B3", "B6")
        assert [type(value) for value in shown] == [CellError, CellError, float]
    for transport in (_WithoutOne(), None):
        async with AsyncClient(service.url, service.key, transport=transport, sleep=_no_wait) as client:
            with pytest.raises(StaleValuesError) as told:
                await freeze(book, tmp_path / "frozen.xlsx", ask=Session(client).answer)
        assert {"Sheet1!A3", "Sheet1!B1"} <= {note.where for note in told.value.cells}
    assert (await _refreshed(service, book, without_one=False)).unproven == []
    assert values(book, "Sheet1", "B1", "B4", "B5", "C2") == [3, 6, 3, 1]
    async with AsyncClient(service.url, service.key) as client:
        assert (await freeze(book, tmp_path / "frozen.xlsx", ask=Session(client).answer)).stale == []
