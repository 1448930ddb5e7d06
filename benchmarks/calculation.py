"""How long it takes to work out a book's other formulas: `python -m benchmarks.calculation`."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import formualizer
from xlsxwriter import Workbook

import addin.workbook.refresh.refresh as whole
import addin.workbook.refresh.worked_out as glue
from addin.workbook.calculation.engine.process import PLAIN, VALUE, EngineProcess, Kind
from addin.workbook.many.run import books_cost, refresh_books
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.build import example_session
from benchmarks.figures.measuring import Row, alternating, report
from benchmarks.figures.results import run_alone
from benchmarks.sheet_cells import many_signals
from dataservice.client import AsyncClient
from dataservice.stores import MemoryStore
from udfs import Session

OUR_CELLS, OTHER_CELLS = 1_000, 49_000
SLUGS = ("us-cpi", "us-10y", "eia.wti.spot", "wb.gold", "btc-usd")
TIMES_ENGINE, MORE_S = 3.0, 2.0
TWICE = "works out twice, reads twice"
BOOKS, SIGNALS = 200, 50
TIMES_WITHOUT = 3.0
"""Each book goes to the engine twice: for the cost of all, and to be refreshed."""


def main() -> None:
    """Print the tables."""
    report(f"{OUR_CELLS:,} calls of ours among {OTHER_CELLS:,} formulas that rest on them", asyncio.run(_measure()))
    report(f"{BOOKS:,} books that share {SIGNALS} signals", asyncio.run(_measure_books()))


async def _measure_books() -> list[Row]:
    """All books as one task, with the engine and without it."""
    with tempfile.TemporaryDirectory() as folder, many_signals(SIGNALS) as (settings, key):
        books = [_small_book(Path(folder) / f"book-{number}.xlsx", number) for number in range(BOOKS)]
        targets = [book.with_name(f"out-{book.name}") for book in books]
        async with AsyncClient(settings.url, key, store=MemoryStore()) as client:
            session, loop = Session(client), asyncio.get_running_loop()
            requests: list[int] = []

            async def together() -> None:
                await books_cost(session, books)
                reports = [
                    done.report
                    async for done in refresh_books(books, targets, partial(refresh_book, session, force=True))
                ]
                requests.append(sum(report.requests for report in reports if report is not None))

            def many() -> None:
                asyncio.run_coroutine_threadsafe(together(), loop).result()

            works: dict[str, Callable[[], object]] = {"many": many, "without": partial(_without_engine, many)}
            times = await asyncio.to_thread(alternating, works, repeats=3)
    note = f"{requests[0]} requests the first time, {max(requests[1:])} later"
    return [
        Row(f"{BOOKS:,} books", times["many"], times["without"], reach=TIMES_WITHOUT, note=note),
        Row("without calculation", times["without"], note="the cost of all, then each book"),
    ]


def _small_book(path: Path, number: int) -> Path:
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        for row in range(10):
            slug = f"s{(number + row) % SIGNALS}"
            sheet.write_formula(row, 0, f'=_xldudf_DS_SIGNAL("{slug}")', None, 100)
            sheet.write_formula(row, 1, f"=A{row + 1}*2", None, 200)
    return path


async def _measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        book = _book(Path(folder) / "book.xlsx")
        async with example_session() as session:
            loop = asyncio.get_running_loop()
            refresh = partial(_refresh, session, loop, book)
            memory = await asyncio.to_thread(_memory, book)
            works: dict[str, Callable[[], object]] = {
                "engine": _engine_in_its_process,
                "here": _engine_alone,
                "file": partial(_engine_on_file, book),
                "refresh": refresh,
                "without": partial(_without_engine, refresh),
            }
            times = await asyncio.to_thread(alternating, works, repeats=3)
    more_s = times["refresh"] - times["without"]
    return [
        Row("the engine alone", times["engine"], note=f"in a process of its own, cell by cell; {TWICE}"),
        Row("refresh", times["refresh"], times["engine"], reach=TIMES_ENGINE, note=memory),
        Row("refresh without calculation", times["without"]),
        Row("difference of the two", more_s, reach_s=MORE_S),
        Row("the engine in this process", times["here"], note=f"cell by cell; {TWICE}"),
        Row("the engine on the file", times["file"], note=f"in this process, which reads the file; {TWICE}"),
    ]


def _refresh(session: Session, loop: asyncio.AbstractEventLoop, book: Path) -> None:
    target = book.with_name("out.xlsx")
    asyncio.run_coroutine_threadsafe(refresh_book(session, book, target), loop).result()


def _without_engine(work: Callable[[], object]) -> None:
    """Do what is done where the engine is not installed."""
    with patch.object(glue, "is_installed", lambda: False), patch.object(whole, "is_installed", lambda: False):
        work()


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
    values = _engine_alone()
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        for row in range(OUR_CELLS):
            sheet.write_formula(row, 0, f'=_xldudf_DS_SIGNAL("{SLUGS[row % len(SLUGS)]}")', None, 100)
        for (row, column, text), value in zip(_cells(), values, strict=True):
            sheet.write_formula(row - 1, column - 1, f"={text}", None, value)
    return path


OURS = [(row, 1) for row in range(1, OUR_CELLS + 1)]


def _engine_in_its_process() -> None:
    """The least that a program does that gives these formulas to the engine, before and after a change of ours."""
    cells = _cells()
    shown = [("Sheet1", (row, column)) for row, column, _ in cells]
    with EngineProcess(Kind.FORMUALIZER, now=time.time()) as engine:
        engine.load(["Sheet1"], [])
        engine.set([("Sheet1", *spot, VALUE, 100.0) for spot in OURS])
        engine.set([("Sheet1", row, column, PLAIN, f"={text}") for row, column, text in cells])
        engine.evaluate()
        engine.values(shown)
        engine.set([("Sheet1", *spot, VALUE, 101.0) for spot in OURS])
        engine.evaluate()
        assert engine.values(shown)[0] == 203.0


def _engine_alone() -> list[object]:
    """The same without a process of its own, as the engine works out by itself; the first values."""
    book = formualizer.Workbook()
    book.add_sheet("Sheet1")
    for spot in OURS:
        book.set_value("Sheet1", *spot, 100.0)
    for row, column, text in _cells():
        book.set_formula("Sheet1", row, column, f"={text}")
    return _worked_out_twice(book)


def _engine_on_file(path: Path) -> None:
    book = formualizer.load_workbook(str(path), strategy="eager_all")
    _worked_out_twice(book)


def _worked_out_twice(book: formualizer.Workbook) -> list[object]:
    cells = _cells()
    book.evaluate_all()
    first = [book.get_value("Sheet1", row, column) for row, column, _ in cells]
    for spot in OURS:
        book.set_value("Sheet1", *spot, 101.0)
    book.evaluate_all()
    second = [book.get_value("Sheet1", row, column) for row, column, _ in cells]
    assert second[0] == 203.0
    return first


_FOR_ITSELF = "import sys, benchmarks.calculation as measured; measured.print_memory(sys.argv[1])"


def _memory(book: Path) -> str:
    """What a refresh adds to a program that has refreshed a small book, and what the engine's process takes in all.

    Measured in a process of its own: in this one a refresh would use again what other works have given back.
    """
    printed = subprocess.run(
        [sys.executable, "-c", _FOR_ITSELF, str(book)], check=True, capture_output=True, text=True
    ).stdout
    more, engine = printed.split()
    return f"{more} MB more memory, and {engine} MB in the engine's process"


def print_memory(book: str) -> None:
    """Print what refreshing the book adds to this process at the peak, and the engine's process in all, in MB."""
    more = asyncio.run(_more_mb(Path(book)))
    with EngineProcess(Kind.FORMUALIZER, now=time.time()) as engine:  # it gets the process of the refresh
        sys.stdout.write(f"{more:.0f} {_peak_mb(engine.process_id):.0f}\n")


async def _more_mb(book: Path) -> float:
    async with example_session() as session:
        await refresh_book(session, _small_book(book.with_name("small.xlsx"), 0), book.with_name("out.xlsx"))
        before = _peak_from_now_mb()
        await refresh_book(session, book, book.with_name("out.xlsx"))
        return _peak_mb(os.getpid()) - before


def _peak_from_now_mb() -> float:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_mb(os.getpid())


def _peak_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024


if __name__ == "__main__":
    run_alone(main)
