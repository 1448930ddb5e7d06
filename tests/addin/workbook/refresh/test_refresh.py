"""Refreshing a book without a spreadsheet program, against the embedded service."""

import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import openpyxl
import pytest

from addin.workbook.many.run import books_cost
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.refresh.refresh import TooFewRequestsError, book_cost, refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session


@asynccontextmanager
async def _session(service: EmbeddedService, key: str | None = None) -> AsyncIterator[Session]:
    async with AsyncClient(service.url, key or service.key) as client:
        yield Session(client)


def _changed_parts(before: Path, after: Path) -> set[str]:
    with zipfile.ZipFile(before) as old, zipfile.ZipFile(after) as new:
        assert old.namelist() == new.namelist()
        return {name for name in old.namelist() if old.read(name) != new.read(name)}


async def test_values_come_from_the_service_and_nothing_else_in_the_file_changes(
    real_service: EmbeddedService, tmp_path: Path
):
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": "eia.wti.spot",
            "B1": "=_xldudf_DS_SIGNAL(A1)",
            "B2": '=DS.SIGNAL(A1,"name")',
            "B3": '=_xldudf_DS_SIGNAL(A1,"value","2020-04-20")',
            "D1": 42,
        },
        Other={"A1": "untouched"},
    )
    out = tmp_path / "out.xlsx"
    async with _session(real_service) as session:
        report = await refresh_book(session, book, out)
    assert values(out, "Sheet1", "B1", "B2", "B3", "D1") == [86.48, "WTI crude oil spot price", -36.98, 42.0]
    assert _changed_parts(book, out) == {"xl/worksheets/sheet1.xml"}
    assert (report.cells, len(report.written), report.recalculates) == (3, 3, False)
    assert values(book, "Sheet1", "B1") == [None], "the input stays as it was"


async def test_a_table_spills_shrinks_and_the_array_takes_its_true_size(service: EmbeddedService, tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": ("A1:B3", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi",B9)'),
            "B9": "N5",
            "A20": "below",
        },
    )
    async with _session(service) as session:
        await refresh_book(session, book, book)
        assert openpyxl.load_workbook(book)["Sheet1"]["A1"].value.ref == "A1:B6"
        shown = values(book, "Sheet1", *(f"B{row}" for row in range(2, 7)))
        assert all(isinstance(value, float) for value in shown)
        assert values(book, "Sheet1", "A20") == ["below"]


async def test_a_spill_that_is_blocked_keeps_what_it_showed_and_says_what_is_in_the_way(
    service: EmbeddedService, tmp_path: Path
):
    cells = {"A1": ("A1:B2", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N5")'), "A4": "mine"}
    book = make_book(tmp_path / "book.xlsx", cells)
    async with _session(service) as session:
        report = await refresh_book(session, book, book)
    assert [(item.where, item.why) for item in report.kept] == [
        ("Sheet1!A1", "the result of 6 × 2 cells is blocked by A4; clear it")
    ]
    assert values(book, "Sheet1", "A4") == ["mine"]
    assert report.recalculates


async def test_formulas_that_rest_on_changed_values_are_recalculated_when_the_book_is_opened(
    service: EmbeddedService, tmp_path: Path
):
    ours = {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'}
    plain = make_book(tmp_path / "plain.xlsx", {**ours, "C1": "=SUM(D1:D9)"})
    resting = make_book(tmp_path / "resting.xlsx", {**ours, "C1": "=A1*2"})
    linking = make_book(tmp_path / "linking.xlsx", {**ours, "C1": '=IF(A1="","",HYPERLINK(A1,"Open"))'})
    async with _session(service) as session:
        reports = [await refresh_book(session, book, book) for book in (plain, resting, linking)]
    assert [report.recalculates for report in reports] == [False, True, False]
    with zipfile.ZipFile(resting) as archive:
        assert b'fullCalcOnLoad="1"' in archive.read("xl/workbook.xml")
    assert values(linking, "Sheet1", "C1") == ["Open"]


async def test_a_second_refresh_within_fifteen_minutes_costs_nothing(service: EmbeddedService, tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")', "A2": '=_xldudf_DS_INDEX("risk-dial")'}
    )
    async with _session(service) as session:
        assert (await book_cost(session, book)).requests == 2
        first = await refresh_book(session, book, book)
        second = await refresh_book(session, book, book)
        assert (first.requests, second.requests, len(second.written)) == (2, 0, 0)
        cost = await book_cost(session, book)
        assert (cost.requests, cost.fresh_cells, cost.cells) == (0, 2, 2)
    assert service.running.request_count == 2


async def test_what_refers_to_a_table_that_never_had_values_gets_its_own_at_the_first_refresh(
    service: EmbeddedService, tmp_path: Path
):
    table = ("A1:A4", '=_xldudf_DS_SIGNALS(,,"slug",3)')
    cells = {"A1": table, "B2": '=_xldudf_DS_SIGNAL(A2,"slug")', "B4": '=_xldudf_DS_SIGNAL(A4,"slug")'}
    book = make_book(tmp_path / "book.xlsx", {**cells, "C1": "=COUNTA(A2:A4)", "D1": '=A3&"!"', "E1": "=A3"})
    async with _session(service) as session:
        assert (await book_cost(session, book)).is_open, "which signals are asked for is not known yet"
        report = await refresh_book(session, book, book)
        assert report.errors == report.skipped == []
        again = await refresh_book(session, book, book)
    slugs = values(book, "Sheet1", "A2", "A3", "A4")
    assert values(book, "Sheet1", "B2", "B4", "C1", "D1") == [slugs[0], slugs[2], 3, f"{slugs[1]}!"]
    assert values(book, "Sheet1", "E1") == [slugs[1]]
    assert len(again.written) == 0


async def test_what_rests_on_answers_is_likely_asked_with_the_values_that_the_book_shows(
    service: EmbeddedService, tmp_path: Path
):
    table = ("A1:A4", '=_xldudf_DS_SIGNALS(,,"slug",3)')
    cells = {"A1": table, **{f"B{row}": f"=_xldudf_DS_SPARK(A{row})" for row in (2, 3, 4)}}
    book = make_book(tmp_path / "book.xlsx", cells)
    async with _session(service) as session:
        await refresh_book(session, book, book)
    spent = service.running.request_count
    async with _session(service) as one_that_knows_nothing:
        cost = await book_cost(one_that_knows_nothing, book)
        several = await books_cost(one_that_knows_nothing, [book])
    assert (spent, str(cost.cost), str(several.cost)) == (4, *2 * ["at least 1 request, likely 4"])
    assert (cost.cells, len(cost.guessed)) == (1, 3)


async def test_a_refresh_that_the_quota_cannot_finish_is_refused_before_the_first_request(
    service: EmbeddedService, tmp_path: Path
):
    key = service.store.create_key("pro", cap=3)
    names = ["us-cpi", "us-10y", "eia.wti.spot", "wb.gold"]
    book = make_book(
        tmp_path / "book.xlsx", {f"A{n}": f'=_xldudf_DS_SIGNAL("{name}")' for n, name in enumerate(names, 1)}
    )
    before = book.read_bytes()
    async with _session(service, key) as session:
        await session.client.quota()
        asked = service.running.request_count
        with pytest.raises(TooFewRequestsError, match="needs at least 4 requests and the key has 2 left"):
            await refresh_book(session, book, book)
        assert service.running.request_count == asked
        assert book.read_bytes() == before
        await refresh_book(session, book, book, force=True)
    assert sum(isinstance(value, float) for value in values(book, "Sheet1", "A1", "A2", "A3", "A4")) == 2


async def test_values_in_the_book_outlive_a_service_that_does_not_answer(service: EmbeddedService, tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")', "A2": '=_xldudf_DS_SIGNAL("us-cpi","nope")'}
    )
    async with _session(service) as session:
        await refresh_book(session, book, book)
    known = values(book, "Sheet1", "A1")
    service.running.stop()
    async with _session(service) as session:  # another process: nothing in its cache
        report = await refresh_book(session, book, book)
    assert values(book, "Sheet1", "A1") == known
    assert "did not answer" in report.kept[0].why


async def test_an_error_is_shown_where_no_value_was(service: EmbeddedService, tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpii")', "A2": '=_xldudf_DS_SIGNAL("us-cpi","nope")'}
    )
    async with _session(service) as session:
        report = await refresh_book(session, book, book)
    shown = [value.message for value in values(book, "Sheet1", "A1", "A2")]
    assert shown == ["#N/A", "#VALUE!"]
    assert "no signal 'us-cpii'" in report.errors[0].why


async def test_a_book_that_another_program_has_open_is_not_touched(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'})
    (tmp_path / "~$book.xlsx").write_bytes(b"owner")
    async with _session(service) as session:
        with pytest.raises(WorkbookError, match="open in another program"):
            await refresh_book(session, book, book)
    assert service.running.request_count == 0


async def test_a_million_row_reference_ends_at_the_last_used_row(service: EmbeddedService, tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": "us-cpi",
            "A2": "us-10y",
            "C1": ("C1:C2", "=_xldudf_DS_SIGNAL(A1:A1048576)"),
            "E1": "=_xldudf_DS_SIGNAL(A2:A900000)",
        },
    )
    async with _session(service) as session:
        report = await refresh_book(session, book, book)
    assert all(isinstance(value, float) for value in values(book, "Sheet1", "C1", "C2"))
    assert ["100,000 cells" in item.why for item in report.skipped] == [True]


async def test_macros_and_charts_come_through_untouched(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsm", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'})
    with zipfile.ZipFile(book, "a") as archive:
        archive.writestr("xl/vbaProject.bin", bytes(range(256)) * 40)
        archive.writestr("xl/charts/chart1.xml", "<c:chart xmlns:c='x'/>")
        archive.writestr("xl/pivotCache/pivotCacheRecords1.xml", "<r/>")
    out = tmp_path / "out.xlsm"
    async with _session(service) as session:
        await refresh_book(session, book, out)
    assert _changed_parts(book, out) == {"xl/worksheets/sheet1.xml"}
