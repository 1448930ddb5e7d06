"""How fast a book is refreshed without a spreadsheet program: `python -m benchmarks.workbook`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path

from lxml import etree
from xlsxwriter import Workbook

from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.build import example_session
from benchmarks.figures.measuring import Row, alternating, report
from benchmarks.figures.results import run_alone
from udfs import Session

OTHER_CELLS = (50_000, 200_000)
OUR_CELLS = 500
SLUGS = ("us-cpi", "us-10y", "eia.wti.spot", "wb.gold", "btc-usd")
REACH_S = 3.0
FORMULAS = (500, 5_000, 50_000)
LINEAR = 1.5
"""How much longer one ordinary formula may take among many than among few: growing with the square it would be 100."""

_LOADED = """
import pandas, addin.workbook.refresh.refresh
from pathlib import Path
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.plan import make_plan
"""
_WORK = """
book = Book(Package(Path({!r})))
make_plan(book)
for name in book.sheet_names:
    book.sheet(name).is_changed = True
book.changed_parts()
"""
_PEAK = """
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def main() -> None:
    """Print the table."""
    rows = [row for cells in OTHER_CELLS for row in asyncio.run(_measure(cells))]
    report(f"Refreshing a book with {OUR_CELLS} formulas of ours", rows)
    report("Refreshing a book with one formula of ours and ordinary formulas over far ranges", asyncio.run(_linear()))


async def _linear() -> list[Row]:
    """The time of a refresh by the number of ordinary formulas; its floor is that of the fewest, times their number."""
    with tempfile.TemporaryDirectory() as folder:
        books = {str(count): _formulas(Path(folder) / f"{count}.xlsx", count) for count in FORMULAS}
        async with example_session() as session:
            loop = asyncio.get_running_loop()
            works = {name: partial(_refresh, session, loop, book) for name, book in books.items()}
            times = await asyncio.to_thread(alternating, works, repeats=1)
    each_s = times[str(FORMULAS[0])] / FORMULAS[0]
    return [
        Row(
            f"{count:,} ordinary formulas",
            times[str(count)],
            each_s * count,
            reach=LINEAR,
            note="floor: each as in the first",
        )
        for count in FORMULAS
    ]


def _formulas(path: Path, count: int) -> Path:
    """A book in which one call of ours has an argument that ordinary formulas with far ranges might influence."""
    with Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_formula(0, 0, '=_xldudf_DS_SIGNAL("us-cpi","name")', None, "")
        sheet.write_formula(1, 0, "=_xldudf_DS_SIGNAL(C9)", None, 0)
        for row in range(count // 2):
            sheet.write_number(row, 4, row)
            sheet.write_formula(row, 2, f"=SUM(E$1:E${count})+COUNT(D$1:D{row + 1})", None, 1)
            sheet.write_formula(row, 3, f"=VLOOKUP(E{row + 1},E:E,1,FALSE)", None, 1)
    return path


async def _measure(cells: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        book = _book(Path(folder) / "book.xlsx", cells)
        async with example_session() as session:
            loop = asyncio.get_running_loop()
            works = {"floor": lambda: _rewrite(book), "refresh": lambda: _refresh(session, loop, book)}
            times = await asyncio.to_thread(alternating, works, repeats=3)
        note = f"floor: parse and write the sheet; {_peak_mb(book):.0f} MB at the peak above the loaded program"
        return [Row(f"{cells:,} other cells", times["refresh"], times["floor"], reach_s=REACH_S, note=note)]


def _refresh(session: Session, loop: asyncio.AbstractEventLoop, book: Path) -> None:
    asyncio.run_coroutine_threadsafe(refresh_book(session, book, book), loop).result()


def _book(path: Path, cells: int) -> Path:
    with Workbook(path) as book:
        sheet = book.add_worksheet()
        for number in range(cells):
            sheet.write_number(number // 20, 5 + number % 20, number * 1.5)
        for number in range(OUR_CELLS):
            formula = f'=_xldudf_DS_SIGNAL("{SLUGS[number % len(SLUGS)]}")'
            sheet.write_dynamic_array_formula(number, 0, number, 0, formula, None, 0)
    return path


def _rewrite(book: Path) -> None:
    """The least that any change of a sheet needs."""
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(book.with_suffix(".copy"), "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            content = source.read(name)
            if name == "xl/worksheets/sheet1.xml":
                content = etree.tostring(etree.fromstring(content))
            out.writestr(name, content)


def _peak_mb(book: Path) -> float:
    """The peak memory that planning and writing the book add to a program that has only loaded the code."""
    peaks = [
        int(subprocess.run([sys.executable, "-c", part], check=True, capture_output=True, text=True).stdout)
        for part in (_LOADED + _PEAK, _LOADED + _WORK.format(str(book)) + _PEAK)
    ]
    return (peaks[1] - peaks[0]) / 1024


if __name__ == "__main__":
    run_alone(main)
