"""How long it takes to work out a book's other formulas: `python -m benchmarks.calculation`."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

from xlsxwriter import Workbook

import addin.workbook.refresh.worked_out as glue
from addin.workbook.calculation.engine import FormualizerEngine
from addin.workbook.many.run import books_cost, refresh_books
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.build import example_session
from benchmarks.figures.results import run_alone
from benchmarks.measuring import Row, alternating, report
from udfs import Session

OUR_CELLS, OTHER_CELLS = 1_000, 49_000
SLUGS = ("us-cpi", "us-10y", "eia.wti.spot", "wb.gold", "btc-usd")
TIMES_ENGINE, MORE_S = 3.0, 2.0
BOOKS = 50
TIMES_ONE = 2.5
"""Each book is read twice: for the cost of all, and to be refreshed."""


def main() -> None:
    """Print the table."""
    report(f"{OUR_CELLS:,} calls of ours among {OTHER_CELLS:,} formulas that rest on them", asyncio.run(_measure()))
    report(f"{BOOKS:,} books that share {len(SLUGS)} signals", asyncio.run(_measure_books()))


async def _measure_books() -> list[Row]:
    """One book after the other as one task, and the same book as often for itself."""
    with tempfile.TemporaryDirectory() as folder:
        books = [_small_book(Path(folder) / f"book-{number}.xlsx", number) for number in range(BOOKS)]
        targets = [book.with_name(f"out-{book.name}") for book in books]
        async with example_session() as session:
            loop = asyncio.get_running_loop()

            async def together() -> None:
                await books_cost(session, books)
                async for done in refresh_books(books, targets, partial(refresh_book, session, force=True)):
                    assert done.report is not None, done.error

            def many() -> None:
                asyncio.run_coroutine_threadsafe(together(), loop).result()

            def one() -> None:
                asyncio.run_coroutine_threadsafe(refresh_book(session, books[0], targets[0], force=True), loop).result()

            times = await asyncio.to_thread(alternating, {"many": many, "one": one}, repeats=3)
    note = "cost of all, then each"
    return [
        Row(f"{BOOKS:,} books", times["many"], times["one"] * BOOKS, reach=TIMES_ONE, note=note),
        Row("one book", times["one"]),
    ]


def _small_book(path: Path, number: int) -> Path:
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        for row in range(10):
            slug = SLUGS[(number + row) % len(SLUGS)]
            sheet.write_formula(row, 0, f'=_xldudf_DS_SIGNAL("{slug}")', None, 100)
            sheet.write_formula(row, 1, f"=A{row + 1}*2", None, 200)
    return path


async def _measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        book = _book(Path(folder) / "book.xlsx")
        async with example_session() as session:
            loop = asyncio.get_running_loop()
            works: dict[str, Callable[[], object]] = {
                "engine": _engine_alone,
                "refresh": partial(_refresh, session, loop, book),
                "without": partial(_without, session, loop, book),
            }
            times = await asyncio.to_thread(alternating, works, repeats=3)
    more_s = times["refresh"] - times["without"]
    return [
        Row("the engine alone", times["engine"], note="put the cells in, work out twice, read"),
        Row(
            "refresh",
            times["refresh"],
            times["engine"],
            reach=TIMES_ENGINE,
            note=f"{_engine_mb():.0f} MB more in the engine's process",
        ),
        Row("refresh without calculation", times["without"]),
        Row("difference of the two", more_s, reach_s=MORE_S),
    ]


def _refresh(session: Session, loop: asyncio.AbstractEventLoop, book: Path) -> None:
    target = book.with_name("out.xlsx")
    asyncio.run_coroutine_threadsafe(refresh_book(session, book, target), loop).result()


def _without(session: Session, loop: asyncio.AbstractEventLoop, book: Path) -> None:
    """What a refresh takes where the engine is not installed."""
    with patch.object(glue, "is_installed", lambda: False):
        _refresh(session, loop, book)


def _cells() -> list[tuple[int, int, str]]:
    """Row, column and formula of each ordinary formula; row N rests on the call in its first column."""
    found = []
    for number in range(OTHER_CELLS):
        row, column = number % OUR_CELLS + 1, number // OUR_CELLS + 3
        left = f"{_letters(column - 1)}{row}" if column > 3 else f"A{row}"
        kind = number // OUR_CELLS % 4
        text = (f"{left}*2+1", f"SUM($A{row}:{left})/2", f"IF({left}>0,{left}/3,0)", f"ROUND({left}/7,2)")[kind]
        found.append((row, column, text))
    return found


def _letters(column: int) -> str:
    first, second = divmod(column - 1, 26)
    return (chr(64 + first) if first else "") + chr(65 + second)


def _book(path: Path) -> Path:
    """The book with the values that its formulas have when every call shows 100."""
    values = _engine_values()
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        for row in range(OUR_CELLS):
            sheet.write_formula(row, 0, f'=_xldudf_DS_SIGNAL("{SLUGS[row % len(SLUGS)]}")', None, 100)
        for (row, column, text), value in zip(_cells(), values, strict=True):
            sheet.write_formula(row - 1, column - 1, f"={text}", None, value)
    return path


def _engine_values() -> list[object]:
    return list(_engine_alone())


def _engine_alone() -> list[object]:
    cells = _cells()
    with FormualizerEngine(now=time.time()) as engine:
        ours = [("Sheet1", row, 1, False, 100.0) for row in range(1, OUR_CELLS + 1)]
        engine.load(["Sheet1"], [*ours, *(("Sheet1", row, column, True, f"={text}") for row, column, text in cells)])
        engine.evaluate({})
        first = engine.values([("Sheet1", row, column) for row, column, _ in cells])
        engine.set([(sheet, row, column, is_formula, 101.0) for sheet, row, column, is_formula, _ in ours])
        engine.evaluate({})
        engine.values([("Sheet1", row, column) for row, column, _ in cells])
    return first


def _engine_mb() -> float:
    """The memory of the engine's process above that of an empty one."""
    with FormualizerEngine(now=time.time()) as engine:
        empty = _peak_mb(engine.process_id)
        cells = _cells()
        engine.load(["Sheet1"], [("Sheet1", row, column, True, f"={text}") for row, column, text in cells])
        engine.evaluate({})
        return _peak_mb(engine.process_id) - empty


def _peak_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024


if __name__ == "__main__":
    run_alone(main)
