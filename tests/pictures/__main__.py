"""Take a picture of every state of the sheet and the pane: `python -m tests.pictures FOLDER [--browser firefox]`.

Light and dark, 1440, 1024 and 400 pixels wide. Needs Chromium, and Firefox for its own. Look at them when the pages
look different; what the demo shows first is compared by a test.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from addin.workbook.template.build import example_session, write_template
from dataservice.server import Store, import_directory, running, write_sample
from tests.addin.backends import backend_of
from tests.addin.sheet.parts.pages import SETTLED, sheet_server
from tests.embedded import SAMPLE_AS_OF, EmbeddedService
from tests.pictures.browsers import BROWSERS, Window, drawn, until
from tests.pictures.states import AWAY, DRAFT, NO_KEY, PANE, SHEET, SPENT, State

HEIGHT = 860
WIDTHS = (1440, 1024, 400)


class Album:
    """Pictures of one window in one scheme."""

    def __init__(self, window: Window, folder: Path, scheme: str) -> None:
        self._window, self._folder, self._scheme = window, folder, scheme
        self.missed: list[str] = []

    def take(self, page: str, states: Iterable[State], *, only_one_width: bool) -> None:
        """Go through the states, and take a picture of each in every width it is wanted in."""
        for state in states:
            self._window.size(WIDTHS[0], HEIGHT)
            try:
                state.reach(self._window)
            except Exception as error:  # noqa: BLE001 - one state must not hide the others
                self.missed.append(f"{page}-{state.name}-{self._scheme}: {str(error)[:200]}")
            for width in WIDTHS if state.at_every_width or not only_one_width else WIDTHS[:1]:
                self._window.size(width, HEIGHT)
                drawn(self._window)
                self._window.picture(self._folder / f"{page}-{state.name}-{self._scheme}-{width}.png")
            self._window.size(WIDTHS[0], HEIGHT)
            state.leave(self._window)


def take_all(browser: str, scheme: str, into: Path, scratch: Path) -> list[str]:
    """Take every picture of one browser in one scheme; returns the states that were not reached, and why."""
    book = scratch / "workbook_template.xlsx"
    if not book.exists():
        asyncio.run(_write_demo_book(book))
    scratch = scratch / f"{browser}-{scheme}"
    (scratch / "browser").mkdir(parents=True)
    write_sample(scratch / "data", as_of=SAMPLE_AS_OF)
    with Store(scratch / "service.db") as store:
        import_directory(store, scratch / "data")
        with running(store) as started, BROWSERS[browser](scheme, scratch / "browser") as window:
            service = EmbeddedService(started, store.create_key("pro"), store.create_key("free"))
            album = Album(window, into, scheme)
            _sheet(album, window, service, scratch, book)
            _panes(album, window, service, scratch)
            return album.missed


async def _write_demo_book(path: Path) -> None:
    async with example_session() as session:
        await write_template(path, session, created=datetime(2026, 8, 31, tzinfo=UTC), opens_on="Dashboard")


def _sheet(album: Album, window: Window, service: EmbeddedService, scratch: Path, book: Path) -> None:
    with sheet_server(service, scratch / "sheet", book) as url:
        window.goto(f"{url}/sheet")
        album.take("sheet", SHEET, only_one_width=True)
        window.evaluate("() => sheet.drafts.write()")
        window.goto("about:blank")
        window.goto(f"{url}/sheet")
        album.take("sheet", [DRAFT], only_one_width=True)
    with sheet_server(service, scratch / "slow") as url:
        window.goto(f"{url}/sheet")
        until(window, SETTLED)
        service.running.latency_s = 3.0
        state = State("loading", lambda window: window.evaluate(LOAD_SLOWLY), at_every_width=True)
        album.take("sheet", [state], only_one_width=True)
        service.running.latency_s = 0.0


LOAD_SLOWLY = """async () => {
  for (const [row, slug] of ["us-cpi", "sp-500", "btc-usd", "us-10y"].entries()) {
    sheet.book.model.dispatch("UPDATE_CELL", { sheetId: "Sheet1", col: 0, row, content: `=DS.SIGNAL("${slug}")` });
  }
  await new Promise((go) => setTimeout(go, 800));
}"""


def _panes(album: Album, window: Window, service: EmbeddedService, scratch: Path) -> None:
    with backend_of(service, scratch / "pane") as backend:
        window.goto(f"{backend.url}/taskpane.html")
        album.take("pane", PANE, only_one_width=False)
    with backend_of(service, scratch / "no-key", key="") as backend:
        window.goto(f"{backend.url}/taskpane.html")
        album.take("pane", NO_KEY, only_one_width=False)
    with backend_of(service, scratch / "spent", key=service.free_key) as backend:
        backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
        _spend_all(service)
        backend.refresh("force")
        backend.batch(["SIGNAL", "us-cpi"])
        window.goto(f"{backend.url}/taskpane.html")
        album.take("pane", SPENT, only_one_width=False)
    with backend_of(service, scratch / "away") as backend:
        backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
        window.goto(f"{backend.url}/taskpane.html")
        until(window, "document.body.innerText.includes('15 signals')")
        service.running.stop()
        backend.refresh("force")
        album.take("pane", AWAY, only_one_width=False)


def _spend_all(service: EmbeddedService) -> None:
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.free_key}"}) as http:
        while http.get("/v1/indices").status_code != httpx.codes.TOO_MANY_REQUESTS:
            pass


def main() -> None:
    """Take the pictures that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--browser", choices=BROWSERS, action="append", help="both, unless one is named")
    parser.add_argument("--scheme", choices=("light", "dark"), action="append", help="both, unless one is named")
    options = parser.parse_args()
    missed = []
    with TemporaryDirectory(prefix="pictures-") as name:
        for browser in options.browser or BROWSERS:
            into = options.folder / browser
            into.mkdir(parents=True, exist_ok=True)
            for scheme in options.scheme or ("light", "dark"):
                missed += [f"{browser} {each}" for each in take_all(browser, scheme, into, Path(name))]
    if missed:
        raise SystemExit("\n".join(["not reached, so their pictures show something else:", *missed]))


if __name__ == "__main__":
    main()
