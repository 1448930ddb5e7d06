"""How fast a book is refreshed without a spreadsheet program: `python -m benchmarks.workbook`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from lxml import etree
from xlsxwriter import Workbook

from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.build import example_session
from benchmarks.measuring import Row, alternating, report
from udfs import Session

OTHER_CELLS = (50_000, 200_000)
OUR_CELLS = 500
SLUGS = ("us-cpi", "us-10y", "eia.wti.spot", "wb.gold", "btc-usd")
REACH_S = 3.0

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
    main()
