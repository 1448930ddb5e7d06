"""The sheet in a real Chromium, before a real backend and an embedded service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from addin.backend import create_app
from addin.backend.serving import running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.excel import pages
from addin.sheet.routes import BookToOpen, routes
from tests.addin.backends import usual_listener
from tests.addin.excel.parts.chromium import Chromium
from tests.addin.excel.parts.panes import Pane
from tests.embedded import EmbeddedService

READY = "document.documentElement.hasAttribute('data-ready')"
SETTLED = f"{READY} && sheet.calls.waiting === 0 && !sheet.calls.promised"

PLACE = "const { col, row } = o_spreadsheet.helpers.toCartesian(xc); const { model } = sheet.book;"
ASK_ANEW = """async () => {
  const bar = document.getElementById("held");
  while (sheet.calls?.held.size > 0 && bar.hidden) await new Promise((go) => setTimeout(go, 5));
  if (!bar.hidden) bar.querySelector("button").click();
}"""
CELL = f"""([sheetId, xc]) => {{
  {PLACE}
  const cell = model.getters.getEvaluatedCell({{ sheetId, col, row }});
  return {{ value: cell.value, shown: cell.formattedValue, message: String(cell.message ?? "") }};
}}"""
PUT = f"""([sheetId, cells]) => {{
  for (const [xc, content] of Object.entries(cells)) {{
    {PLACE}
    model.dispatch("UPDATE_CELL", {{ sheetId, col, row, content }});
  }}
}}"""
ERRORS = """() => {
  const { getters } = sheet.book.model;
  return getters.getSheetIds().flatMap((sheetId) =>
    getters.getEvaluatedCellsPositions(sheetId)
      .filter((position) => getters.getEvaluatedCell(position).type === "error")
      .map(({ col, row }) => `${sheetId}!${o_spreadsheet.helpers.toXC(col, row)}`));
}"""


BLANK = """async () => {
  globalThis.blank ??= sheet.book.content;
  sheet.drafts.isUnsaved = false;
  await sheet.drafts.remove(sheet.drafts.id);
  DataServiceAddin.forget();
  sheet.calls.known.clear();
  await sheet.open(new File([Uint8Array.from(atob(blank), (letter) => letter.charCodeAt(0))], "sheet.xlsx"));
  performance.clearResourceTimings();
}"""


class SheetPage(Pane):
    """What a user does and sees in the sheet."""

    def cell(self, xc: str, sheet: str = "Sheet1") -> dict[str, Any]:
        """The value, the text shown and the message of a cell, as soon as nothing is on its way."""
        self.until(SETTLED)
        return self.tab.evaluate(CELL, [sheet, xc])

    def begin_anew(self) -> None:
        """An empty sheet again, and nothing known of any call: as after loading the page, in a tenth of the time."""
        self.tab.evaluate(BLANK)
        self.until(SETTLED)

    def values(self, *cells: str, sheet: str = "Sheet1") -> list[Any]:
        return [self.cell(xc, sheet)["value"] for xc in cells]

    def put(self, cells: dict[str, str], sheet: str = "Sheet1") -> None:
        """Enter cells one after the other, each as an edit of its own."""
        self.tab.evaluate(PUT, [sheet, cells])

    def errors(self) -> list[str]:
        """The cells that show an error, as soon as nothing is on its way."""
        self.until(SETTLED)
        return self.tab.evaluate(ERRORS)

    def posts(self) -> int:
        self.until(SETTLED)
        return self.tab.evaluate("DataServiceAddin.totals.batches")

    def show(self, sheet: str) -> None:
        """Bring a sheet to the front."""
        from_to = "{ sheetIdFrom: model.getters.getActiveSheetId(), sheetIdTo }"
        self.tab.evaluate(
            f"(sheetIdTo) => {{ const {{ model }} = sheet.book; model.dispatch('ACTIVATE_SHEET', {from_to}); }}", sheet
        )

    def select(self, xc: str) -> None:
        """Make a cell of the sheet in front the active one."""
        self.tab.evaluate(f"(xc) => {{ {PLACE} model.selection.selectCell(col, row); }}", xc)

    def download(self, path: Path) -> str:
        """Press Ctrl+S and save what comes; the file's name."""

        async def press(page: Any) -> str:
            async with page.expect_download() as started:
                await page.keyboard.press("Control+s")
            file = await started.value
            await file.save_as(path)
            return file.suggested_filename

        self.until(SETTLED)
        return self.run(press)

    def open_file(self, path: Path) -> None:
        self.run(lambda page: page.locator("#file").set_input_files(path))


@contextmanager
def sheet_server(
    service: EmbeddedService, folder: Path, book: Path | None = None, *, key: str | None = None, **settings: Any
) -> Iterator[str]:
    """The address of a backend that serves the sheet, with a cold cache and a Pro key."""
    chosen = Settings(url=service.url, cache_dir=folder / "cache", **settings)
    keys = KeyStore(service.url, open_keychain=no_keychain, file=folder / "keys.json")
    first = BookToOpen(book.name, lambda: book) if book else None
    in_use = ConfiguredKey(key or service.key, KeySource.CONFIG)
    app = create_app(chosen, keys=keys, key=in_use, pages=[*pages.routes(chosen), *routes(chosen, first)])
    with running(app, usual_listener()) as url:
        yield url


@contextmanager
def opened_sheet(
    chromium: Chromium, url: str, *, width: int = 1300, height: int = 800, ask_anew: bool = True, **context: Any
) -> Iterator[SheetPage]:
    """The page, ready and with its first values; where it asks, it may spend on newer ones."""
    with chromium.page(viewport={"width": width, "height": height}, **context) as tab:
        page = SheetPage(chromium, tab)
        tab.goto(f"{url}/sheet")
        page.until(f"{SETTLED} || !document.getElementById('message').hidden")
        if ask_anew:
            page.tab.evaluate(ASK_ANEW)
        yield page
        assert tab.errors + page.complaints == [], tab.errors + page.complaints


@contextmanager
def empty_sheet(chromium: Chromium, service: EmbeddedService, folder: Path) -> Iterator[SheetPage]:
    """An empty sheet before a backend of its own."""
    with sheet_server(service, folder) as url, opened_sheet(chromium, url) as page:
        yield page
