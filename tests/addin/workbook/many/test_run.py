"""Many books as one task: what they share is asked once, each is written whole or left, a second run costs nothing."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from addin.workbook.many.run import BookDone, books_cost, refresh_books, refuse_if_too_dear
from addin.workbook.many.within_run import WithinRun
from addin.workbook.refresh.refresh import TooFewRequestsError, refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

SLUGS = ("us-cpi", "us-10y", "wb.gold", "eia.wti.spot", "sp-500")


def some_books(folder: Path, count: int) -> list[Path]:
    """Books that each show three of five signals."""
    return [
        make_book(
            folder / f"{number:03}.xlsx",
            {f"A{row}": f'=_xldudf_DS_SIGNAL("{SLUGS[(number + row) % 5]}")' for row in range(1, 4)},
        )
        for number in range(count)
    ]


async def run(session: Session, books: Sequence[Path]) -> list[BookDone]:
    async def refresh(book: Path, target: Path) -> Refreshed:
        return await refresh_book(session, book, target, force=True)

    return [done async for done in refresh_books(books, books, refresh)]


async def test_what_many_books_share_is_counted_and_asked_once(service: EmbeddedService, tmp_path: Path):
    books = some_books(tmp_path, 20)
    async with AsyncClient(service.url, service.key) as client:
        session = Session(client, reader=WithinRun(client))
        cost = await books_cost(session, books)
        assert (cost.cost.at_least, service.running.request_count) == (5, 0)
        assert sum(each.cost.number for each in cost.books.values()) == 60
        done = await run(session, books)
    assert service.running.request_count == 5
    assert all(book.is_current for book in done)
    assert sum(book.report.requests for book in done if book.report) == 5


async def test_answers_hold_for_the_whole_run_however_long_it_takes(service: EmbeddedService, tmp_path: Path):
    books = some_books(tmp_path, 10)
    async with AsyncClient(service.url, service.key, ttl_s=0.0) as client:
        done = await run(Session(client, reader=WithinRun(client)), books)
    assert service.running.request_count == 5
    assert all(book.is_current for book in done)


async def test_a_broken_book_stops_no_other(service: EmbeddedService, tmp_path: Path):
    books = some_books(tmp_path, 3)
    books[1].write_bytes(b"not a book")
    async with AsyncClient(service.url, service.key) as client:
        cost = await books_cost(Session(client), books)
        done = await run(Session(client), books)
    assert list(cost.failed) == [books[1]]
    assert [bool(book.error) for book in done] == [False, True, False]
    assert "not an .xlsx" in done[1].error
    assert books[1].read_bytes() == b"not a book"


async def test_a_second_run_costs_nothing_and_writes_nothing(service: EmbeddedService, tmp_path: Path):
    books = some_books(tmp_path, 6)
    async with AsyncClient(service.url, service.key) as client:
        await run(Session(client), books[:4])
        before = [(book.stat().st_ino, book.stat().st_mtime_ns) for book in books]
        done = await run(Session(client), books)
    after = [(book.stat().st_ino, book.stat().st_mtime_ns) for book in books]
    assert [book.report.is_saved for book in done if book.report] == [False] * 4 + [True] * 2
    assert [old == new for old, new in zip(before, after, strict=True)] == [True] * 4 + [False] * 2
    assert service.running.request_count == 5


async def test_a_run_that_the_quota_cannot_finish_is_refused_before_the_first_request(
    service: EmbeddedService, tmp_path: Path
):
    books = some_books(tmp_path, 4)
    async with AsyncClient(service.url, service.store.create_key("pro", cap=3)) as client:
        await client.quota()
        asked = service.running.request_count
        cost = await books_cost(Session(client), books)
        with pytest.raises(TooFewRequestsError, match=r"4 books need at least 5 requests together .* has 2 left"):
            refuse_if_too_dear(cost)
    assert service.running.request_count == asked
    assert values(books[0], "Sheet1", "A1") == [None]
