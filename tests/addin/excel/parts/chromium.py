"""A headless Chromium for tests: its pages are used from ordinary, synchronous tests."""

import asyncio
import shutil
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LONGEST_STEP_S = 60

MODULES = ("/functions.js", "/refresh.js")
"""Scripts that are modules; a page waits for what they load."""


class Chromium:
    """A browser in a thread of its own, because its event loop and a test's do not go together."""

    def __init__(self, executable: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._playwright = self.run(async_playwright().start())
        self._browser: Browser = self.run(
            self._playwright.chromium.launch(executable_path=executable, args=FLAGS, headless=True)
        )

    def run(self, step: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(step, self._loop).result(LONGEST_STEP_S)

    @contextmanager
    def page(self, url: str = "about:blank", **context: Any) -> Iterator["Tab"]:
        """A page in a fresh profile, as a new user would have it."""
        profile = self.run(self._browser.new_context(**context))
        try:
            tab = Tab(self, self.run(profile.new_page()))
            tab.goto(url)
            yield tab
        finally:
            self.run(profile.close())

    async def profile(self) -> BrowserContext:
        """A fresh profile, for who talks to it in the browser's own thread."""
        return await self._browser.new_context()

    def close(self) -> None:
        self.run(self._browser.close())
        self.run(self._playwright.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Tab:
    """One page."""

    def __init__(self, chromium: Chromium, page: Page) -> None:
        self._chromium = chromium
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def goto(self, url: str) -> None:
        self._chromium.run(self.page.goto(url))

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """What a function in the page gives, its promise awaited."""
        return self._chromium.run(self.page.evaluate(script, argument))

    def command(self, *names: str) -> Any:
        """What the last of some commands to the browser's debugger gives."""

        async def run() -> Any:
            session = await self.page.context.new_cdp_session(self.page)
            for name in names:
                told = await session.send(name)
            await session.detach()
            return told

        return self._chromium.run(run())

    def load_module(self, path: Path) -> None:
        """Make what a module without imports exports global."""
        self.evaluate(
            """async (source) => {
              const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
              Object.assign(globalThis, module);
            }""",
            path.read_text(encoding="utf-8"),
        )

    def add_script(self, **source: Any) -> None:
        kind = {"type": "module"} if source.get("url", "").endswith(MODULES) else {}
        self._chromium.run(self.page.add_script_tag(**source, **kind))


def executable() -> str | None:
    """Return the path of this machine's Chromium: the shell without windows first, a page costs it a third."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    program = executable()
    if program is None:
        pytest.skip("no Chromium here")
    browser = Chromium(program)
    yield browser
    browser.close()
