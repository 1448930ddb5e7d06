"""The demo's book in the sheet in the browser, from opening the page to its values, beside the component alone; and how
long large books hold the page up: `python -m benchmarks.sheet_opening`."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape

import httpx
import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.excel import pages
from addin.sheet.component import ADVICE, is_here
from addin.sheet.opening.opened import opened_book
from addin.sheet.routes import BookToOpen, routes
from addin.workbook.ooxml.positions import address
from addin.workbook.template.build import example_session, write_template
from benchmarks.figures.measuring import Row, report
from benchmarks.figures.results import run_alone
from benchmarks.figures.served import service_settings
from tests.addin.excel.parts.chromium import Chromium, executable
from tests.addin.sheet.parts.pages import opened_sheet
from tests.addin.sheet.parts.tasks import book_of_values, longest_tasks, open_large

RUNS = 6
REACH_S = 3.0
VALUES = 50_000, 300_000
TASK_REACH_S = 0.2

FILLED = "document.documentElement.hasAttribute('data-ready')"

# The least that the component takes: its scripts, the same parts of the same book, its own calculation and drawing.
ALONE = """
const [book, xml] = ["whole", document.currentScript.dataset.templates].map((address) => fetch(address));
addEventListener("DOMContentLoaded", async () => {
  const { parts } = await (await book).json();
  const model = new o_spreadsheet.Model(o_spreadsheet.load(parts), { mode: "normal" });
  const props = { model, notifyUser() {}, raiseError() {}, askConfirmation() {} };
  const templates = await (await xml).text();
  await new owl.App(o_spreadsheet.Spreadsheet, { props, templates, warnIfNoStaticProps: false }).mount(document.body);
  document.documentElement.dataset.ready = "";
});
"""
MAY = "script-src 'self' 'unsafe-inline' 'unsafe-eval'"
_OF_COMPONENT = re.compile(r'<(?:link rel="stylesheet"|script defer)[^>]*component/[^>]*>(?:</script>)?')


def main() -> None:
    """Print the table."""
    program = executable()
    if program is None or not is_here():
        sys.exit(f"there is no Chromium here, or no sheet: {ADVICE}")
    chromium = Chromium(program)
    try:
        with service_settings() as (settings, key), _served(settings, key) as url:
            runs = [(_opened(chromium, f"{url}/sheet"), _opened(chromium, f"{url}/alone")) for _ in range(RUNS)]
            large = [row for values in VALUES for row in _large(chromium, url, values)]
    finally:
        chromium.close()
    taken, floor = (median(times[1:]) for times in zip(*runs, strict=True))  # the first run warms up
    row = Row("a new profile", taken, floor, note="floor: the component alone, with the same book", reach_s=REACH_S)
    report("The demo's book in the sheet, from opening the page to its values", [row])
    report("Processor time of the longest task of the sheet's page, with large books", large)


def _large(chromium: Chromium, url: str, values: int) -> Iterator[Row]:
    """How long a book with so many values holds the page up while it is read, and while it is saved."""
    with TemporaryDirectory(prefix="dataservice-benchmark-") as folder, opened_sheet(chromium, url) as page:
        path = book_of_values(Path(folder) / "large.xlsx", values)
        with longest_tasks(page) as reading:
            open_large(page, path)
        with longest_tasks(page) as saving:
            page.put({"A1": "7"})
            page.download(Path(folder) / "copy.xlsx")
    yield Row(f"{values:,} values read", reading[0], note=f"of {sum(reading):.1f} s in all", reach_s=TASK_REACH_S)
    yield Row(f"{values:,} values saved", saving[0], note=f"of {sum(saving):.1f} s in all", reach_s=TASK_REACH_S)


def _opened(chromium: Chromium, url: str) -> float:
    """The seconds from opening a page in a new profile until it is filled."""

    async def visit() -> float:
        context = await chromium.profile()
        page = await context.new_page()
        await page.goto(url, wait_until="commit")
        await page.wait_for_function(FILLED, polling=10)
        taken: float = await page.evaluate("performance.now() / 1000")
        await context.close()
        return taken

    seconds: float = chromium.run(visit())
    return seconds


@contextmanager
def _served(settings: Settings, key: str) -> Iterator[str]:
    """A backend that serves the sheet with the demo's book, and the component alone at `/alone`."""
    with TemporaryDirectory(prefix="dataservice-benchmark-") as name:
        book = Path(name) / "workbook_template.xlsx"
        asyncio.run(_write(book))
        keys = KeyStore(settings.url, open_keychain=no_keychain, file=Path(name) / "keys.json")
        page = Response(media_type="text/html", headers={"content-security-policy": MAY})

        whole = Response(orjson.dumps({"parts": _whole(opened_book(book, name=book.name))}))

        async def alone(_: Request) -> Response:
            return page

        async def parts(_: Request) -> Response:
            return whole

        own = [Route("/alone", alone), Route("/whole", parts)]
        served = [*pages.routes(settings), *routes(settings, BookToOpen(book.name, lambda: book)), *own]
        app = create_app(settings, keys=keys, key=ConfiguredKey(key, KeySource.CONFIG), pages=served)
        with running(app, listen("127.0.0.1", 0)) as url:
            page.body = _page_of(httpx.get(f"{url}/sheet", trust_env=False).text).encode()
            page.headers["content-length"] = str(len(page.body))
            yield url


def _whole(opened: dict[str, Any]) -> dict[str, str]:
    """The parts with all cells in them, as the component reads a book by itself."""
    parts: dict[str, str] = opened["parts"]
    for number, sheet in enumerate(opened["cells"].values(), 1):
        rows = "".join(f'<row r="{row}">{_cells(row, cells)}</row>' for row, cells, *_ in sheet["rows"])
        name = f"xl/worksheets/sheet{number}.xml"
        before, _, after = parts[name].partition("<sheetData>")
        parts[name] = f"{before}<sheetData>{rows}</sheetData>{after.partition('</sheetData>')[2]}"
    return parts


def _cells(row: int, cells: list[Any]) -> str:
    written = []
    for column, style, content in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
        value = escape(content or "")
        inside = f"<f>{value[1:]}</f>" if value.startswith("=") else f"<v>{value}</v>" if value else ""
        written.append(f'<c r="{address((row, column))}" s="{style}" t="str">{inside}</c>')
    return "".join(written)


def _page_of(sheet: str) -> str:
    """A page with nothing but the component, from the sheet's own."""
    tags = "".join(_OF_COMPONENT.findall(sheet))
    templates = re.search(r'href="([^"]*o_spreadsheet\.xml)"', sheet)
    assert templates is not None
    script = f'<script data-templates="{templates[1]}">{ALONE}</script>'
    return f'<!doctype html><meta charset="utf-8">{tags}<body style="height: 100vh; margin: 0">{script}</body>'


async def _write(path: Path) -> None:
    async with example_session() as session:
        await write_template(path, session, created=datetime(2026, 8, 31, tzinfo=UTC), opens_on="Dashboard")


if __name__ == "__main__":
    run_alone(main)
