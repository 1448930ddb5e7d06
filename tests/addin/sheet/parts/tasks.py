"""How long a page's own thread is busy without a pause, by the browser's trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openpyxl

from tests.addin.sheet.parts.pages import SheetPage

CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"]


@contextmanager
def longest_tasks(page: SheetPage) -> Iterator[list[float]]:
    """The processor time of each task of the page while the block runs, in seconds, the longest first.

    It is known at the end of the block. A busy machine makes it no longer, as it does what the page itself can measure.
    """
    browser = page.tab.page.context.browser
    assert browser is not None
    page.run(lambda traced: browser.start_tracing(page=traced, categories=CATEGORIES))
    taken: list[float] = []
    yield taken
    events = json.loads(page.run(lambda _: browser.stop_tracing()))["traceEvents"]
    named = [event for event in events if event["name"] == "thread_name"]
    threads = {(event["pid"], event["tid"]) for event in named if event["args"]["name"] == "CrRendererMain"}
    tasks = [event for event in events if event["name"] == "RunTask" and "tdur" in event]
    taken += sorted((each["tdur"] / 1e6 for each in tasks if (each["pid"], each["tid"]) in threads), reverse=True)


def book_of_values(path: Path, values: int) -> Path:
    """A workbook with so many values in ten columns, a tenth of them dates and a tenth texts, and some formulas."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    for row in range(1, values // 10 + 1):
        numbers = [row + column / 8 for column in range(8)]
        sheet.append([*numbers, f"row {row}", row % 2 == 0, *([f"=A{row}+B{row}"] if row % 10 == 0 else [])])
    book.save(path)
    return path


def open_large(page: SheetPage, path: Path) -> None:
    """Choose a book, and wait until it is there and nothing more is done with it."""
    page.open_file(path)
    page.until(f"sheet.book.name === {json.dumps(path.name)} && document.getElementById('loading').textContent === ''")
    page.until("document.querySelector('#sheet canvas') !== null && sheet.book.workedOut.flushing === null")
